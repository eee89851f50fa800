#include "tests/simulation/server.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/model/model_transport.h"

namespace fairlead::simulation {
namespace {

model::ModelOptions options_of_server(std::uint64_t seed) {
  model::ModelOptions options;
  options.seed = seed;
  return options;
}

}  // namespace

// The run has one thread, so the model needs no lock.
Server::Server(model::VirtualTime& time, SourceName name, std::uint64_t seed, Wrote wrote)
    : time_(time),
      name_(std::move(name)),
      wrote_(std::move(wrote)),
      shared_(time, options_of_server(seed)),
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

}  // namespace fairlead::simulation
