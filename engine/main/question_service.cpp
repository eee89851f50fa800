#include "engine/main/audit_service.h"

#include <future>
#include <memory>

#include "connectors/kube/http_client.h"

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

AuditService::AuditService(const EventLog& log, const std::filesystem::path& data)
    : log_(log), snapshots_(data) {}

HttpReply AuditService::reply(std::string_view target) const {
  auto question = from_target(target);
  if (!question) return refusal(question.error());
  auto answer = answer_question({log_, &snapshots_}, *question);
  if (!answer) return refusal(answer.error());
  return {200, kJsonType, to_text(answer->document) + "\n"};
}

Result<AuditAnswer> ask_server(const std::string& server, const AuditQuestion& question) {
  auto response = get(server, to_target(question));
  if (!response) return in_context(server, response.error());
  Json document = Json::parse(response->body, nullptr, false);
  if (response->status == 200 && document.is_object()) return AuditAnswer{std::move(document)};
  std::string why = document.is_object() ? document.value("error", "") : "";
  if (why.empty()) why = "answered " + std::to_string(response->status);
  return Error{response->status == 400 ? ErrorCode::bad_input : ErrorCode::unavailable,
               response->status == 400 ? why : server + ": " + why};
}

}  // namespace fairlead
