#include "engine/main/client/hub_client.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "connectors/kube/transport/http_client.h"
#include "engine/base/bounded_file.h"
#include "engine/base/json.h"
#include "engine/main/client/hub_route.h"
#include "engine/main/client/remote_hub.h"

namespace fairlead {

namespace {

// HttpClient gives one error for a failed TLS handshake and for a failed connection.
constexpr const char* kUntrustedHint =
    " (where the certificate is not trusted: give its authority with --server-ca, or a name of it "
    "with --server-name)";
constexpr const char* kUnknownCaller =
    "; give the token of an account of the hub's cluster with --server-token-file "
    "(`kubectl create token ACCOUNT`)";
constexpr const char* kForbiddenCaller =
    "; bind the account to the ClusterRole fairlead-viewer (`kubectl create clusterrolebinding`)";

// The reason of a failure in the answer: a hub gives it in {"error"}, an API server in front of it
// in a Status.
std::string sentence_of(const HttpResponse& response) {
  const Json document = read_json(response.body);
  return text_in(document, text_in(document, "kind") == "Status" ? "message" : "error");
}

class HubClient {
 public:
  static Result<std::shared_ptr<HubClient>> make(const HubPlace& place) {
    auto credentials = credentials_for(place);
    if (!credentials) return credentials.error();
    std::shared_ptr<HubClient> made(new HubClient(place.server, credentials->server.tls));
    auto client = HttpClient::make(made->loop_, *std::move(credentials), {});
    if (!client) {
      // Nothing but the authority can be unusable now.
      const Error& error = client.error();
      return Error{ErrorCode::bad_input, "--server-ca " + place.ca_file + ": " + error.message};
    }
    made->client_ = *std::move(client);
    return made;
  }
  ~HubClient() {
    loop_.run([this] {
      if (client_) client_->stop();
      client_.reset();
    });
  }
  HubClient(const HubClient&) = delete;
  HubClient& operator=(const HubClient&) = delete;

  Result<std::string> ask(const std::string& target) {
    auto response = ask_patiently([&] { return get(target); });
    if (!response) {
      Error error = in_context(server_, response.error());
      if (tls_) error.message += kUntrustedHint;
      return error;
    }
    if (response->status == 200) return std::move(response->body);
    Error error = hub_failure(*response, server_);
    if (tls_) error.message += hint_for_caller(response->status);
    return error;
  }

 private:
  HubClient(std::string server, bool tls) : server_(std::move(server)), tls_(tls) {}

  Result<HttpResponse> get(const std::string& target) {
    std::promise<Result<HttpResponse>> answered;
    auto answer = answered.get_future();
    loop_.run([this, &answered, &target] {
      HttpRequest request;
      request.target = target;
      // The request is answered once in any case, by a timeout if need be: `answered` outlives it.
      client_->send(std::move(request),
                    [&answered](Result<HttpResponse> got) { answered.set_value(std::move(got)); });
    });
    return answer.get();
  }

  const std::string server_;
  const bool tls_;
  IoLoop loop_;
  std::unique_ptr<HttpClient> client_;
};

Result<AskHub> reach_behind(const HubPlace& place) {
  auto route = route_of(place);
  if (!route) return route.error();
  auto hub = RemoteHub::make(*std::move(route));
  if (!hub) return hub.error();
  return AskHub([hub = std::shared_ptr<RemoteHub>(*std::move(hub))](const std::string& target) {
    return hub->ask(target);
  });
}

}  // namespace

Result<Credentials> credentials_for(const HubPlace& place) {
  auto address = parse_server(place.server);
  if (!address) return in_context("--server", address.error());
  Credentials credentials;
  credentials.server = *address;
  if (!address->tls) {
    for (const auto& [option, value] : {std::pair{"--server-token-file", &place.token_file},
                                        {"--server-ca", &place.ca_file},
                                        {"--server-name", &place.name}})
      if (!value->empty())
        return Error{ErrorCode::bad_input, std::string(option) + " is for --server https://...; " +
                                               place.server + " is not encrypted"};
    return credentials;
  }
  credentials.tls_server_name = place.name;
  credentials.token_file = place.token_file;
  if (auto token = current_token(credentials); !token)
    return Error{ErrorCode::bad_input, "--server-token-file: " + token.error().message};
  if (place.ca_file.empty()) return credentials;
  auto authority = read_bounded(place.ca_file);
  if (!authority) return in_context("--server-ca", authority.error());
  if (authority->empty()) return Error{ErrorCode::bad_input, "--server-ca: the file is empty"};
  credentials.ca_pem = *std::move(authority);
  return credentials;
}

bool is_bad_question(const HttpResponse& response) {
  return response.status == 400 && !sentence_of(response).empty();
}

const char* hint_for_caller(int status) {
  return status == 401 ? kUnknownCaller : status == 403 ? kForbiddenCaller : "";
}

Error hub_failure(const HttpResponse& response, const std::string& name) {
  std::string why = sentence_of(response);
  if (is_bad_question(response)) return {ErrorCode::bad_input, std::move(why)};
  const Json document = read_json(response.body);
  // An API server on the way says with a Status that it does not find the hub.
  if (response.status == 404 && !why.empty() && text_in(document, "kind") != "Status")
    return {ErrorCode::not_found, std::move(why)};
  if (why.empty()) why = "answered " + std::to_string(response.status);
  const bool refused = response.status == 401 || response.status == 403;
  if (!document.is_object() && (refused || response.status == 503) && response.body.size() < 512)
    why += ": " + response.body.substr(0, response.body.find('\n'));
  return {refused ? ErrorCode::denied : ErrorCode::unavailable, name + ": " + why};
}

Result<HttpResponse> ask_patiently(const std::function<Result<HttpResponse>()>& get) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(kBusyHubSeconds);
  for (;;) {
    auto response = get();
    const bool busy = response && response->status == 503 && response->retry_after &&
                      std::chrono::steady_clock::now() < until;
    if (!busy) return response;
    std::this_thread::sleep_for(std::chrono::nanoseconds(
        std::clamp(*response->retry_after, seconds(1), seconds(kBusyHubSeconds)).ns));
  }
}

Result<AskHub> reach_hub(const HubPlace& place) {
  if (place.server.empty()) return reach_behind(place);
  auto client = HubClient::make(place);
  if (!client) return client.error();
  return AskHub([client = *client](const std::string& target) { return client->ask(target); });
}

}  // namespace fairlead
