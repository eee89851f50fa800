// A hub that runs elsewhere, as the page of `fairlead serve` asks it: questions are passed on, and
// one live stream is followed for all pages.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/main/client/hub_route.h"
#include "engine/runtime/http_exchange.h"

namespace fairlead {

/// Asks over connections and a thread of its own.
class RemoteHub {
 public:
  /// Nothing is sent yet. Fails with `bad_input` if the credentials cannot be used.
  static Result<std::unique_ptr<RemoteHub>> make(HubRoute route);
  ~RemoteHub();
  RemoteHub(const RemoteHub&) = delete;
  RemoteHub& operator=(const RemoteHub&) = delete;

  /// Asks the hub `target` and waits. Answers with 200, 400, and 503 of a hub that is busy are
  /// passed on; any other becomes 502 with {"error"}, one sentence. One call at a time. A path with
  /// other characters than lower-case letters, hyphens and slashes is 404, so that a target never
  /// means another path of the server.
  HttpReply reply(std::string_view target);
  /// For a command: returns the body of an answer 200, and asks a busy hub again. Fails as
  /// hub_failure() says. One call at a time.
  Result<std::string> ask(const std::string& target);
  /// Returns a text that differs once the hub's log has grown, and when the hub begins or ceases to
  /// answer. Does not wait. The hub's stream is open while this is called.
  std::string version();

 private:
  struct Impl;
  explicit RemoteHub(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
