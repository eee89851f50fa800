#include "engine/main/client/remote_hub.h"

#include <chrono>
#include <future>
#include <mutex>
#include <utility>

#include "connectors/kube/transport/http_client.h"
#include "engine/base/json.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/live_follower.h"

namespace fairlead {

namespace {

using std::chrono::steady_clock;

constexpr const char* kAnswerType = "application/json";
// The shortest life that an API server gives a token; after half of it another one is requested.
constexpr int kTokenSeconds = 600;
constexpr std::chrono::seconds kTokenRenewal{kTokenSeconds / 2};

bool is_plain(std::string_view path) {
  return path.find_first_not_of("abcdefghijklmnopqrstuvwxyz-/") == std::string_view::npos;
}

// The answer to /ui/api/log, in which commands name the hub by the words of `place`.
std::string placed(std::string body, const std::vector<std::string>& place) {
  Json answer = read_json(body);
  if (place.empty() || !answer.is_object()) return body;
  answer["place"] = place;
  return to_text(answer) + "\n";
}

// The token in the answer to a TokenRequest; empty: none.
std::string token_in(const std::string& body) {
  return text_in(member(read_json(body), "status"), "token");
}

}  // namespace

struct RemoteHub::Impl {
  explicit Impl(HubRoute route_given) : route(std::move(route_given)) {}
  ~Impl() {
    loop.run([this] {
      live.reset();
      if (client) client->stop();
      client.reset();
    });
    loop.stop();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // With the token of --server-token-file.
  bool asks_directly() const { return route.token_request.empty() && route.credentials.server.tls; }

  HttpRequest request_of(std::string_view target) {
    HttpRequest request;
    request.target = route.prefix + std::string(target);
    const std::lock_guard lock(mutex);
    if (!token.empty())
      request.more_headers = std::string(kHttpOwnAuthorization) + ": Bearer " + token + "\r\n";
    return request;
  }

  Result<HttpResponse> send(HttpRequest request) {
    std::promise<Result<HttpResponse>> answered;
    auto answer = answered.get_future();
    loop.run([this, &answered, &request] {
      client->send(std::move(request),
                   [&answered](Result<HttpResponse> got) { answered.set_value(std::move(got)); });
    });
    return answer.get();
  }

  Error no_answer(const Error& error) const {
    return {ErrorCode::unavailable,
            "The hub does not answer (" + route.name + "): " + error.message};
  }

  // Requests a token for the hub where there has to be one, and there is none that lives on.
  Result<void> ensure_token() {
    if (route.token_request.empty()) return {};
    if (!token.empty() && steady_clock::now() < token_since + kTokenRenewal) return {};
    HttpRequest request;
    request.method = "POST";
    request.target = route.token_request;
    request.content_type = kAnswerType;
    request.body = to_text(Json{{"apiVersion", "authentication.k8s.io/v1"},
                                {"kind", "TokenRequest"},
                                {"spec", {{"expirationSeconds", kTokenSeconds}}}});
    const auto since = steady_clock::now();
    auto response = send(std::move(request));
    if (!response) return no_answer(response.error());
    std::string given = token_in(response->body);
    if (given.empty()) return hub_failure(*response, "a token for " + route.name);
    const std::lock_guard lock(mutex);
    token = std::move(given);
    token_since = since;
    return {};
  }

  Result<HttpResponse> ask(std::string_view target) {
    if (auto ensured = ensure_token(); !ensured) return ensured.error();
    auto response = send(request_of(target));
    if (!response) return no_answer(response.error());
    if (response->status != 401 || route.token_request.empty()) return response;
    // The hub does not know the token any more: its account was made anew.
    token_since = {};
    if (auto ensured = ensure_token(); !ensured) return ensured.error();
    response = send(request_of(target));
    if (!response) return no_answer(response.error());
    return response;
  }

  const HubRoute route;
  std::mutex mutex;                      // of the token, which the loop reads
  std::string token;                     // for the hub; empty: the client sends its own
  steady_clock::time_point token_since;  // asked for then
  IoLoop loop;
  std::unique_ptr<HttpClient> client;
  std::unique_ptr<LiveFollower> live;
};

RemoteHub::RemoteHub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteHub::~RemoteHub() = default;

Result<std::unique_ptr<RemoteHub>> RemoteHub::make(HubRoute route) {
  auto impl = std::make_unique<Impl>(std::move(route));
  auto client = HttpClient::make(impl->loop, impl->route.credentials, {});
  if (!client) return client.error();
  impl->client = *std::move(client);
  impl->live = std::make_unique<LiveFollower>(
      impl->loop, *impl->client, [at = impl.get()] { return at->request_of(kPageLivePath); });
  return std::unique_ptr<RemoteHub>(new RemoteHub(std::move(impl)));
}

HttpReply RemoteHub::reply(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (!is_plain(path))
    return {404, kAnswerType,
            R"({"error": "there is no such path"})"
            "\n"};
  const auto failed = [](const Error& error) {
    return HttpReply{502, kAnswerType, to_text(Json{{"error", error.message}}) + "\n"};
  };
  auto response = impl_->ask(target);
  if (!response) return failed(response.error());
  if (response->status == 503 && response->retry_after)
    return {503, "text/plain; charset=utf-8", "the hub is busy\n", 1};
  if (response->status == 200 && path == "/ui/api/log")
    return {200, kAnswerType, placed(std::move(response->body), impl_->route.place)};
  if (response->status == 200 || is_bad_question(*response))
    return {response->status, kAnswerType, std::move(response->body)};
  Error failure = hub_failure(*response, impl_->route.name);
  if (impl_->asks_directly()) failure.message += hint_for_caller(response->status);
  return failed(failure);
}

Result<std::string> RemoteHub::ask(const std::string& target) {
  auto response = ask_patiently([&] { return impl_->ask(target); });
  if (!response) return response.error();
  if (response->status == 200) return std::move(response->body);
  return hub_failure(*response, impl_->route.name);
}

std::string RemoteHub::version() {
  impl_->loop.post([impl = impl_.get()] {
    if (impl->live) impl->live->follow();
  });
  return impl_->live->version();
}

}  // namespace fairlead
