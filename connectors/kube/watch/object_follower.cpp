#include "connectors/kube/watch/object_follower.h"

#include <algorithm>

#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"
#include "connectors/kube/watch/lasting_stream.h"

namespace fairlead {
namespace {

constexpr Duration kRetryFirst = milliseconds(500);
constexpr Duration kRetryMax = seconds(30);
constexpr Duration kServerWaitMax = minutes(5);
constexpr Duration kSilenceMax = seconds(150);  // servers send a bookmark each minute
constexpr std::size_t kStatusTextMax = 300;

// The server's message about a failure; the body of a success is never logged.
std::string status_text(const Result<HttpResponse>& answer, const std::string& path) {
  if (answer.has_error()) return answer.error().message;
  const std::string out = std::to_string(answer->status);
  const std::string said =
      answer->status >= 400 ? failure_message(answer->status, path, answer->body) : std::string();
  return said.empty() ? out : out + ": " + said.substr(0, kStatusTextMax);
}

}  // namespace

ObjectFollower::ObjectFollower(Transport& server, std::string collection, std::string name,
                               std::function<void(std::optional<JsonView>)> on_object,
                               DiagnosticSink log)
    : server_(server),
      collection_(std::move(collection)),
      name_(std::move(name)),
      on_object_(std::move(on_object)),
      log_(std::move(log)) {
  list();
}

ObjectFollower::~ObjectFollower() { *alive_ = false; }

void ObjectFollower::after(Duration span, void (ObjectFollower::*what)()) {
  // One timer for both waits: that for silence and that of a pause replace each other.
  timer_ = server_.after(span, [this, what] { (this->*what)(); });
}

void ObjectFollower::list() {
  stream_.reset();
  HttpRequest request;
  request.target = collection_ + "?fieldSelector=" + url_encode("metadata.name=" + name_);
  server_.send(std::move(request), [this, alive = alive_](const Result<HttpResponse>& answer) {
    if (*alive) listed(answer);
  });
}

void ObjectFollower::listed(const Result<HttpResponse>& answer) {
  if (answer.has_error() || answer->status != 200) return retry(answer);
  JsonFault fault;
  const auto document = parse_json(answer->body, fault);
  if (!document) return retry("the answer is no JSON", std::nullopt);
  if (!std::exchange(said_, {}).empty())
    log_({collection_ + "/" + name_ + ": readable again", LineAbout::recovery});
  const std::string version(document->root()["metadata"]["resourceVersion"].string());
  std::optional<JsonView> found;
  for (JsonView item : document->root()["items"])
    if (item["metadata"]["name"].string() == name_) found = item;
  on_object_(found);
  watch(version);
}

void ObjectFollower::watch(const std::string& resource_version) {
  decoder_.reset();
  watching_since_ = server_.now();
  HttpRequest request;
  request.target = collection_ + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300" +
                   "&fieldSelector=" + url_encode("metadata.name=" + name_) +
                   "&resourceVersion=" + url_encode(resource_version);
  HttpStreamHandler handler;
  handler.opened = [this] { after(kSilenceMax, &ObjectFollower::list); };
  handler.bytes = [this](std::string_view chunk) { bytes(chunk); };
  handler.ended = [this](const Result<HttpResponse>& answer) {
    const bool orderly = answer.has_value() && answer->status == 200;
    if (server_.now() >= watching_since_ + kLastingStream) backoff_.reset();
    orderly ? retry({}, std::nullopt) : retry(answer);
  };
  stream_ = server_.stream(std::move(request), std::move(handler));
}

void ObjectFollower::bytes(std::string_view chunk) {
  after(kSilenceMax, &ObjectFollower::list);
  decoder_.feed(chunk);
  for (;;) {
    const WatchStep step = decoder_.next();
    if (step.kind == WatchStep::Kind::need_more) return;
    if (step.kind != WatchStep::Kind::event || step.event->type == WatchEventType::error) {
      // What follows on the stream does not count: the next list replaces it.
      stream_.reset();
      return retry({}, std::nullopt);
    }
    JsonView object = step.event->object();
    if (step.event->type == WatchEventType::bookmark ||
        object["metadata"]["name"].string() != name_)
      continue;
    backoff_.reset();
    if (step.event->type == WatchEventType::deleted)
      on_object_(std::nullopt);
    else
      on_object_(object);
  }
}

void ObjectFollower::retry(const Result<HttpResponse>& answer) {
  retry(status_text(answer, collection_),
        answer.has_value() ? answer->retry_after : std::optional<Duration>());
}

// A server that names a wait gets it, however many failures came before: a kind that has just
// become served is answered so for a moment.
void ObjectFollower::retry(const std::string& why, std::optional<Duration> asked_wait) {
  if (!why.empty() && std::exchange(said_, why) != why)
    log_({collection_ + "/" + name_ + ": " + why});
  Duration span = backoff_.next(kRetryFirst, kRetryMax);
  if (asked_wait) span = std::clamp(*asked_wait, kRetryFirst, kServerWaitMax);
  after(span, &ObjectFollower::list);
}

}  // namespace fairlead
