// Lets a request to the hub's secure listener pass if the hub's API server allows its bearer.
#pragma once

#include <memory>

#include "connectors/kube/access/caller_review.h"
#include "connectors/kube/transport/http_client.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/http_exchange.h"

namespace fairlead {

/// Asks the API server on a thread and over connections of its own, so that neither the hub's
/// streams nor its thread wait for callers. It outlives the endpoint that uses guard().
class CallerGuard {
 public:
  /// Fails with `bad_input` if the credentials cannot be used.
  static Result<std::unique_ptr<CallerGuard>> make(Credentials credentials, const Logger& logger);
  ~CallerGuard();
  CallerGuard(const CallerGuard&) = delete;
  CallerGuard& operator=(const CallerGuard&) = delete;

  /// Refuses with 401 (no bearer token, or one that the API server does not know), 403 (it may not
  /// `get` the path) or 503 (the API server did not say).
  HttpGuard guard();
  /// Runs `work` on its thread soon.
  void post(std::function<void()> work) { loop_.post(std::move(work)); }

 private:
  CallerGuard() = default;

  IoLoop loop_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<CallerReview> review_;
};

}  // namespace fairlead
