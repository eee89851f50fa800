// The server of `fairlead serve` and `fairlead dev`: the audit page on loopback.
#pragma once

#include <memory>
#include <string>

#include "engine/main/question_service.h"
#include "engine/runtime/http_endpoint.h"

namespace fairlead {

/// Parses where to listen; without a host it is 127.0.0.1. Fails with `bad_input`, naming
/// `--listen`, unless it is an address of this machine alone: the page asks for no token.
Result<ListenAddress> page_address(const std::string& text);

/// Serves until it is destroyed.
class PageServer {
 public:
  /// Serves the page of the log of `source`. Fails with `unavailable` if it cannot listen there.
  static Result<std::unique_ptr<PageServer>> start(const ListenAddress& address,
                                                   ServedLogSource source);
  /// "http://127.0.0.1:8787/ui/".
  std::string url() const;

 private:
  PageServer(ListenAddress address, ServedLogSource source)
      : address_(std::move(address)), questions_(std::move(source)) {}

  const ListenAddress address_;
  const QuestionService questions_;
  std::unique_ptr<HttpEndpoint> endpoint_;
};

}  // namespace fairlead
