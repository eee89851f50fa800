// The HTTP servers of a hub: `--listen`, plain, and `--listen-secure`, TLS 1.3 for callers that the
// hub's API server allows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/main/service/caller_guard.h"
#include "engine/main/service/hub_connections.h"
#include "engine/main/service/index_keeper.h"
#include "engine/main/service/question_service.h"
#include "engine/main/service/webhook_listener.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/hub_loop.h"
#include "engine/runtime/loop_watch.h"

namespace fairlead {

/// Where a hub listens, as the command line has it; empty: not there.
struct ListenOptions {
  std::string plain;
  std::string secure;
  std::string certificate;  ///< folder with tls.crt and tls.key
  std::string frame_ancestors;
};

/// The same, understood.
struct ListenAddresses {
  std::optional<ListenAddress> plain;
  std::optional<ListenAddress> secure;
  std::string certificate;
  std::string frame_ancestors;  ///< as HttpServing has it
};
/// Fails with `bad_input`, naming the option.
Result<ListenAddresses> listen_addresses(const ListenOptions& options);

/// What the servers answer from; all of it outlives them.
struct HubPages {
  const HubStatus& status;
  const HubConnections& connections;
  const QuestionService& questions;
  const std::string& data;
  const WebhookListener* webhook;  ///< null: the hub has none
  LoopWatch& watch;
};

/// Serves until it is destroyed. The plain server answers probes alone, unless its address is
/// loopback: then metrics, the audit page and questions, too. The secure one answers probes, gives
/// the files of the page, which hold no data and ask for the token, and answers the rest for
/// bearers of a token who may `get` the path. /livez is 500 while a loop hangs, /readyz 503.
class HubListeners {
 public:
  explicit HubListeners(const HubPages& pages) : pages_(pages) {}

  /// Starts the servers that `addresses` names. `credentials` are the hub's own, for reviews of
  /// callers. Fails with `unavailable` where it cannot listen.
  Result<void> start(const ListenAddresses& addresses, const Credentials& credentials,
                     const Logger& logger);
  /// Saves the index of the page, and leaves it as it is from now on; waits a second or two at
  /// most, also for a question.
  void save_index() { keeper_.reset(); }

 private:
  HttpReply reply_to(std::string_view path) const;
  HttpServing everything(const ListenAddresses& addresses) const;
  Result<void> start_plain(const ListenAddresses& addresses, const Logger& logger);
  Result<void> start_secure(const ListenAddresses& addresses, const Credentials& credentials,
                            const Logger& logger);

  const HubPages pages_;
  std::shared_ptr<ServedCertificate> certificate_;
  std::unique_ptr<CallerGuard> guard_;  // outlives the servers
  std::unique_ptr<HttpEndpoint> plain_;
  std::unique_ptr<HttpEndpoint> secure_;
  std::unique_ptr<IndexKeeper> keeper_;  // null: no server answers questions
  std::vector<std::unique_ptr<LoopWatch::Loop>> watched_;
};

}  // namespace fairlead
