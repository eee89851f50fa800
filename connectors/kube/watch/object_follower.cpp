#include "connectors/kube/watch/object_follower.h"

#include <algorithm>

#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"

namespace fairlead {
namespace {

constexpr Duration kRetryFirst = milliseconds(500);
constexpr Duration kRetryMax = seconds(30);
constexpr Duration kLastingWatch = seconds(10);  // a watch that lived so long was no failure
constexpr Duration kSilenceMax = seconds(150);   // servers send a bookmark each minute
constexpr std::size_t kStatusTextMax = 300;

// The server's message about a failure; the body of a success is never logged.
std::string status_text(const Result<HttpResponse>& answer) {
  if (answer.has_error()) return answer.error().message;
  const std::string out = std::to_string(answer->status);
  const std::string said = answer->status >= 400 ? failure_message(answer->body) : std::string();
  return said.empty() ? out : out + ": " + said.substr(0, kStatusTextMax);
}

}  // namespace

ObjectFollower::ObjectFollower(IoLoop& loop, HttpClient& http, std::string collection,
                               std::string name, std::function<void(std::optional<JsonView>)> told,
                               std::function<void(const std::string&)> say)
    : loop_(loop),
      http_(http),
      collection_(std::move(collection)),
      name_(std::move(name)),
      told_(std::move(told)),
      say_(std::move(say)) {
  list();
}

ObjectFollower::~ObjectFollower() { *alive_ = false; }

void ObjectFollower::after(Duration span, void (ObjectFollower::*what)()) {
  timer_ = loop_.after(span, [this, what] { (this->*what)(); });
}

void ObjectFollower::list() {
  stream_.reset();
  HttpRequest request;
  request.target = collection_ + "?fieldSelector=" + url_encode("metadata.name=" + name_);
  http_.send(std::move(request), [this, alive = alive_](const Result<HttpResponse>& answer) {
    if (*alive) listed(answer);
  });
}

void ObjectFollower::listed(const Result<HttpResponse>& answer) {
  if (answer.has_error() || answer->status != 200) return retry(status_text(answer));
  JsonFault fault;
  const auto document = parse_json(answer->body, fault);
  if (!document) return retry("the answer is no JSON");
  if (!std::exchange(said_, {}).empty()) say_(collection_ + "/" + name_ + ": readable again");
  const std::string version(document->root()["metadata"]["resourceVersion"].string());
  std::optional<JsonView> found;
  for (JsonView item : document->root()["items"])
    if (item["metadata"]["name"].string() == name_) found = item;
  told_(found);
  watch(version);
}

void ObjectFollower::watch(const std::string& resource_version) {
  decoder_.reset();
  watching_since_ = loop_.now();
  HttpRequest request;
  request.target = collection_ + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300" +
                   "&fieldSelector=" + url_encode("metadata.name=" + name_) +
                   "&resourceVersion=" + url_encode(resource_version);
  HttpStreamHandler handler;
  handler.opened = [this] { after(kSilenceMax, &ObjectFollower::list); };
  handler.bytes = [this](std::string_view chunk) { bytes(chunk); };
  handler.ended = [this](const Result<HttpResponse>& answer) {
    const bool orderly = answer.has_value() && answer->status == 200;
    if (loop_.now() >= watching_since_ + kLastingWatch) failures_ = 0;
    retry(orderly ? std::string() : status_text(answer));
  };
  stream_ = http_.stream(std::move(request), std::move(handler));
}

void ObjectFollower::bytes(std::string_view chunk) {
  after(kSilenceMax, &ObjectFollower::list);
  decoder_.feed(chunk);
  for (;;) {
    const WatchStep step = decoder_.next();
    if (step.kind == WatchStep::Kind::need_more) return;
    if (step.kind != WatchStep::Kind::event || step.event->type == WatchEventType::error)
      return after(kRetryFirst, &ObjectFollower::list);
    JsonView object = step.event->object();
    if (step.event->type == WatchEventType::bookmark ||
        object["metadata"]["name"].string() != name_)
      continue;
    failures_ = 0;
    if (step.event->type == WatchEventType::deleted)
      told_(std::nullopt);
    else
      told_(object);
  }
}

void ObjectFollower::retry(const std::string& why) {
  if (!why.empty() && std::exchange(said_, why) != why)
    say_(collection_ + "/" + name_ + ": " + why);
  Duration span = kRetryFirst;
  for (int i = 0; i < failures_ && span < kRetryMax; ++i) span.ns *= 2;
  ++failures_;
  after(std::min(span, kRetryMax), &ObjectFollower::list);
}

}  // namespace fairlead
