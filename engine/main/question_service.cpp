#include "engine/main/question_service.h"

#include <future>
#include <memory>

#include "connectors/kube/transport/http_client.h"
#include "engine/main/log_page.h"

namespace fairlead {

namespace {

constexpr const char* kJsonType = "application/json";

HttpReply refusal(const Error& error) {
  const int status = error.code == ErrorCode::bad_input ? 400 : 500;
  return {status, kJsonType, to_text(Json{{"error", error.message}}) + "\n"};
}

Result<HttpResponse> get(const std::string& server, const std::string& target) {
  auto address = parse_server(server);
  if (!address) return in_context("--server", address.error());
  Credentials credentials;
  credentials.server = *address;
  IoLoop loop;
  auto made = HttpClient::make(loop, std::move(credentials), {});
  if (!made) return in_context("--server", made.error());
  std::unique_ptr<HttpClient> client = std::move(*made);
  std::promise<Result<HttpResponse>> answered;
  auto answer = answered.get_future();
  loop.run([&client, &answered, &target] {
    HttpRequest request;
    request.target = target;
    client->send(std::move(request),
                 [&answered](Result<HttpResponse> got) { answered.set_value(std::move(got)); });
  });
  Result<HttpResponse> got = answer.get();
  loop.run([&client] {
    client->stop();
    client.reset();
  });
  return got;
}

}  // namespace

QuestionService::QuestionService(const EventLog& log, const std::filesystem::path& data)
    : log_(log), snapshots_(data) {}

HttpReply QuestionService::reply(std::string_view target) const {
  const std::lock_guard lock(one_at_a_time_);
  const auto answer = [&]() -> Result<std::string> {
    if (target.starts_with(kLogPath)) return answer_log_target(log_, target);
    auto question = from_target(target);
    if (!question) return question.error();
    auto told = answer_question({log_, &snapshots_}, *question);
    if (!told) return told.error();
    return to_text(told->document);
  };
  const Result<std::string> document = answer();
  if (!document) return refusal(document.error());
  return {200, kJsonType, *document + "\n"};
}

Result<std::string> ask_hub(const std::string& server, const std::string& target) {
  auto response = get(server, target);
  if (!response) return in_context(server, response.error());
  const Json document = Json::parse(response->body, nullptr, false);
  if (response->status == 200 && document.is_object()) return std::move(response->body);
  std::string why = document.is_object() ? document.value("error", "") : "";
  if (why.empty()) why = "answered " + std::to_string(response->status);
  // A hub that serves probes alone on this address says where the rest is, in one line of text.
  if (response->status == 403 && !document.is_object() && response->body.size() < 512)
    why += ": " + response->body.substr(0, response->body.find('\n'));
  return Error{response->status == 400 ? ErrorCode::bad_input : ErrorCode::unavailable,
               response->status == 400 ? why : server + ": " + why};
}

}  // namespace fairlead
