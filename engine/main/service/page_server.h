// The server of `fairlead serve` and `fairlead dev`: the audit page on loopback.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/main/client/remote_hub.h"
#include "engine/main/service/served_log.h"
#include "engine/runtime/http_endpoint.h"

namespace fairlead {

/// Parses where to listen; without a host it is 127.0.0.1. Fails with `bad_input`, naming
/// `--listen`, unless it is an address of this machine alone: the page asks for no token.
Result<ListenAddress> page_address(const std::string& text);

/// What the page asks, as HttpQuestions and HttpStreams have it; what it needs lives with it.
struct PageAnswers {
  std::function<HttpReply(std::string_view target)> reply;
  std::function<std::string()> version;
  std::string frame_ancestors = "'none'";  ///< as HttpServing has it
};
/// Answers from a log in this process or on this machine.
PageAnswers answers_from(ServedLogSource source);
/// Answers from a hub elsewhere.
PageAnswers answers_from(std::unique_ptr<RemoteHub> hub);

/// Serves until it is destroyed.
class PageServer {
 public:
  /// Serves the page. Fails with `unavailable` if it cannot listen there.
  static Result<std::unique_ptr<PageServer>> start(const ListenAddress& address,
                                                   PageAnswers answers);
  /// "http://127.0.0.1:8787", as --server has it.
  std::string server() const;
  /// The same with the path of the page.
  std::string url() const;

 private:
  explicit PageServer(ListenAddress address) : address_(std::move(address)) {}

  const ListenAddress address_;
  std::unique_ptr<HttpEndpoint> endpoint_;
};

}  // namespace fairlead
