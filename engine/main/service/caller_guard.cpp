#include "engine/main/service/caller_guard.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace fairlead {

namespace {

HttpReply refusal_of(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text), status == 503 ? 1 : 0};
}

// The token of `Authorization: Bearer TOKEN`; empty: there is none. The scheme may have any case.
std::string bearer_of(const std::string& authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return {};
  const auto same = [](char lower, char given) {
    return std::tolower(static_cast<unsigned char>(given)) == static_cast<unsigned char>(lower);
  };
  if (!std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), same)) return {};
  const std::size_t begin = authorization.find_first_not_of(' ', kScheme.size());
  if (begin == std::string::npos) return {};
  const std::size_t end = authorization.find_last_not_of(' ') + 1;
  return authorization.substr(begin, end - begin);
}

std::optional<HttpReply> refusal_for(CallerAnswer answer, const std::string& path) {
  switch (answer) {
    case CallerAnswer::allowed: return std::nullopt;
    case CallerAnswer::unknown:
      return refusal_of(401, "the API server of the hub does not know this bearer token\n");
    case CallerAnswer::forbidden:
      return refusal_of(403,
                        "RBAC of the hub does not allow this account to get the "
                        "nonResourceURL " +
                            path + "\n");
    case CallerAnswer::unavailable:
      return refusal_of(503, "the API server of the hub does not say who may ask\n");
  }
  return refusal_of(503, "");
}

}  // namespace

Result<std::unique_ptr<CallerGuard>> CallerGuard::make(Credentials credentials,
                                                       const Logger& logger) {
  std::unique_ptr<CallerGuard> guard(new CallerGuard());
  auto client = HttpClient::make(guard->loop_, std::move(credentials), {});
  if (client.has_error()) return client.error();
  guard->client_ = std::move(*client);
  guard->review_ =
      std::make_unique<CallerReview>(*guard->client_, [logger](const std::string& why) {
        logger({Severity::error, "callers cannot be reviewed: they get 503", {{"why", why}}});
      });
  return guard;
}

CallerGuard::~CallerGuard() {
  loop_.run([this] {
    if (client_) client_->stop();
    review_.reset();
    client_.reset();
  });
  loop_.stop();
}

HttpGuard CallerGuard::guard() {
  return [this](const ReceivedRequest& request,
                std::function<void(std::optional<HttpReply>)> decided) {
    std::string token = bearer_of(request.authorization.empty() ? request.own_authorization
                                                                : request.authorization);
    if (token.empty()) return decided(refusal_of(401, "a bearer token is needed\n"));
    loop_.post([this, token = std::move(token), path = std::string(request.path()),
                decided = std::move(decided)]() mutable {
      review_->ask(token, path, [decided = std::move(decided), path](CallerAnswer answer) {
        decided(refusal_for(answer, path));
      });
    });
  };
}

}  // namespace fairlead
