// The webhook of a hub as API servers reach it: TLS, a certificate, and the hub's own user name.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "connectors/kube/access/webhook_secret.h"
#include "connectors/kube/transport/http_client.h"
#include "engine/main/service/webhook_service.h"
#include "engine/runtime/admission_feed.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/inbox.h"
#include "engine/runtime/loop_watch.h"

namespace fairlead {

/// Where the webhook listens, as the command line has it; empty: not given.
struct WebhookOptions {
  std::string listen;
  std::string certificate;  ///< folder with tls.crt and tls.key
  std::string self_signed;  ///< SERVICE.NAMESPACE: the hub makes the certificate
};

/// The same, understood.
struct WebhookPlace {
  ListenAddress listen;
  std::string certificate;                    ///< empty: self-signed
  std::optional<WebhookAddress> self_signed;  ///< one of the two
};
/// Nothing where no webhook is wanted. Fails with `bad_input`, naming the option.
Result<std::optional<WebhookPlace>> webhook_place(const WebhookOptions& options);

/// Serves until it is destroyed. Requests to the hub's API server run on a thread and over
/// connections of their own.
class WebhookListener {
 public:
  /// Starts to serve. `feed`, `inbox` and `watch` outlive it; `credentials` are the hub's own.
  /// Fails with `unavailable` where it cannot listen, with `bad_input` if the credentials cannot be
  /// used.
  static Result<std::unique_ptr<WebhookListener>> start(const WebhookPlace& place,
                                                        const AdmissionFeed& feed, Inbox& inbox,
                                                        Credentials credentials,
                                                        const Logger& logger, LoopWatch& watch);
  ~WebhookListener();
  WebhookListener(const WebhookListener&) = delete;
  WebhookListener& operator=(const WebhookListener&) = delete;

  WebhookStats stats() const { return service_.stats(); }
  /// When the certificate in use expires, since 1970; nullopt: there is none.
  std::optional<LogTime> certificate_expires() const { return certificate_->not_after(); }

 private:
  WebhookListener(const AdmissionFeed& feed, Inbox& inbox, Logger logger);
  Result<void> reach_hub(const WebhookPlace& place, Credentials credentials);
  Result<void> listen(const ListenAddress& address);
  void identify();

  const Logger logger_;
  IoLoop loop_;
  WebhookService service_;
  std::shared_ptr<ServedCertificate> certificate_;
  std::unique_ptr<HttpClient> client_;           // on the loop's thread, as all that follows
  std::unique_ptr<WebhookSecretKeeper> keeper_;  // null: the certificate is of a folder
  std::unique_ptr<IoLoop::Timer> asking_;        // for our own user name again
  std::string problem_;                          // of asking, logged last
  bool ending_ = false;
  std::unique_ptr<HttpEndpoint> endpoint_;
  std::unique_ptr<LoopWatch::Loop> endpoint_watched_, loop_watched_;
};

}  // namespace fairlead
