#include "tests/simulation/server.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/model/model_transport.h"

namespace fairlead::simulation {
namespace {

model::ModelOptions options_of_server(const Storm& storm, std::int64_t number) {
  model::ModelOptions options;
  options.seed = static_cast<std::uint64_t>(storm.seed) * 101 + static_cast<std::uint64_t>(number);
  return options;
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

HttpResponse Server::answer(const HttpRequest& request, const Sender& sender, AnswerFate fate) {
  sender_ = &sender;
  fate_ = fate;
  HttpResponse response = model::answer_of(model_, request, sender.replica);
  sender_ = nullptr;
  fate_ = AnswerFate::heard;
  return response;
}

Json Server::try_write(std::string_view who, std::string_view method, const std::string& path,
                       const Json& body) {
  const char query = path.find('?') == std::string::npos ? '?' : '&';
  auto done = model_.call(method, path + query + "fieldManager=" + std::string(who), body);
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
