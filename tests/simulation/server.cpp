#include "tests/simulation/server.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/model/model_transport.h"
#include "engine/fleet/world.h"
#include "tests/simulation/kueue_rules.h"

namespace fairlead::simulation {
namespace {

model::ModelOptions options_of_server(const Storm& storm, std::int64_t number) {
  model::ModelOptions options;
  options.seed = static_cast<std::uint64_t>(storm.seed) * 101 + static_cast<std::uint64_t>(number);
  return options;
}

const std::string kDryRun = "dryRun=All";

bool is_of_queue(const model::ApiRequest& write) {
  return write.path.starts_with(kQueues) && !write.path.ends_with("/status") &&
         write.method != "GET" && write.method != "DELETE";
}

// As an API server answers where a webhook denies.
std::string status_text(const std::string& fault) {
  return to_text(
      {{"kind", "Status"},
       {"apiVersion", "v1"},
       {"status", "Failure"},
       {"message", "admission webhook \"vclusterqueue.kb.io\" denied the request: " + fault},
       {"reason", "Forbidden"},
       {"code", 403}});
}

}  // namespace

// The run has one thread, so the model needs no lock.
Server::Server(model::VirtualTime& time, SourceName name, const Storm& storm, std::int64_t number,
               Wrote wrote)
    : time_(time),
      name_(std::move(name)),
      wrote_(std::move(wrote)),
      watch_lists_(storm.watch_lists != 0),
      shared_(time, options_of_server(storm, number)),
      model_(*shared_.with_model([](model::Model& model) { return &model; })) {
  model_.observe([this](const model::ApiRequest& request, const model::ApiAnswer& answer,
                        std::span<const model::Change> changes) { saw(request, answer, changes); });
  send_bookmarks();
}

void Server::send_bookmarks() {
  bookmarks_ = time_.after(minutes(1), [this] {
    model_.send_bookmarks();
    send_bookmarks();
  });
}

void Server::saw(const model::ApiRequest& request, const model::ApiAnswer& answer,
                 std::span<const model::Change> changes) {
  if (unrecorded_) return;
  SeenWrite write;
  write.time = write.sent = time_.now();
  write.server = name_;
  const auto manager = request.query.find("fieldManager");
  write.who = sender_ != nullptr               ? sender_->replica
              : manager != request.query.end() ? manager->second
                                               : request.user_agent;
  write.method = request.method;
  write.path = request.path;
  write.content_type = request.content_type;
  write.body = request.body;
  write.query = request.query;
  write.status = answer.code;
  write.answer_lost = fate_ == AnswerFate::lost;
  if (sender_ != nullptr) {
    write.sent = sender_->sent;
    write.epoch = sender_->epoch;
  }
  for (const model::Change& change : changes)
    write.changes.push_back({change.resource, change.key, change.before, change.after});
  wrote_(std::move(write));
}

std::string Server::refusal(const model::ApiRequest& write, const std::function<Json()>& dry_run) {
  if (!is_of_queue(write)) return {};
  unrecorded_ = true;
  const Json queue = dry_run();
  unrecorded_ = false;
  if (!queue.contains("spec")) return {};  // the server itself refuses it
  std::string fault = fault_of_queue(queue);
  model::ApiAnswer denied;
  denied.code = 403;
  if (!fault.empty()) saw(write, denied, {});
  return fault;
}

HttpResponse Server::answer(const HttpRequest& request, const Sender& sender, AnswerFate fate) {
  sender_ = &sender;
  fate_ = fate;
  model::ApiRequest write = model::parse_target(request.method, request.target);
  write.body = request.body;
  const std::string fault = refusal(write, [&] {
    HttpRequest dry = request;
    dry.target += (dry.target.find('?') == std::string::npos ? "?" : "&") + kDryRun;
    return read_json(model::answer_of(model_, dry, sender.replica).body);
  });
  HttpResponse response = fault.empty() ? model::answer_of(model_, request, sender.replica)
                                        : HttpResponse{403, {}, status_text(fault), {}};
  sender_ = nullptr;
  fate_ = AnswerFate::heard;
  return response;
}

Json Server::try_write(std::string_view who, std::string_view method, const std::string& path,
                       const Json& body, std::string_view content_type) {
  const char query = path.find('?') == std::string::npos ? '?' : '&';
  const std::string target = path + query + "fieldManager=" + std::string(who);
  const std::string fault = refusal(model::parse_target(method, target), [&] {
    auto done = model_.call(method, target + "&" + kDryRun, body, content_type);
    return done ? std::move(*done) : Json();
  });
  if (!fault.empty()) return {};
  auto done = model_.call(method, target, body, content_type);
  return done ? std::move(*done) : Json();
}

Json Server::write(std::string_view who, std::string_view method, const std::string& path,
                   const Json& body) {
  Json done = try_write(who, method, path, body);
  check(!done.is_null(), "the world's own writes succeed");
  return done;
}

void Server::beat(const std::string& path, const Json& body) {
  unrecorded_ = true;
  (void)model_.call("PATCH", path, body);
  unrecorded_ = false;
}

Json Server::read(const std::string& path) {
  auto done = model_.call("GET", path);
  return done ? std::move(*done) : Json();
}

Json Server::items(const std::string& collection) {
  Json list = read(collection);
  return list.is_object() ? std::move(list["items"]) : Json::array();
}

std::uint64_t Server::some_past(std::uint64_t changes) const {
  const std::uint64_t now = model_.revision();
  return std::max(model_.oldest(), now - std::min(now, changes));
}

void Server::cut_streams() {
  for (const auto& weak : std::exchange(cuts_, {}))
    if (const auto cut = weak.lock()) (*cut)();
}

void Server::restart() {
  cut_streams();
  model_.compact();
}

void Server::compact() {
  model_.compact();
  cut_streams();
}

void Server::restore(const model::ObjectStore& saved, std::uint64_t jump) {
  const model::ObjectStore before = model_.save();
  cut_streams();
  model_.restore(saved, jump);
  SeenWrite write;
  write.time = write.sent = time_.now();
  write.server = name_;
  write.who = "restore";
  write.status = 200;
  for (const auto& [resource, objects] : before.all())
    for (const auto& [key, object] : objects)
      if (auto now = saved.find(resource, key); now != object)
        write.changes.push_back({resource, key, object, std::move(now)});
  for (const auto& [resource, objects] : saved.all())
    for (const auto& [key, object] : objects)
      if (before.find(resource, key) == nullptr)
        write.changes.push_back({resource, key, nullptr, object});
  wrote_(std::move(write));
}

}  // namespace fairlead::simulation
