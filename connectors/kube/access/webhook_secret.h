// Keeps the webhook's certificate in a Secret, and its authority in the webhook configuration.
//
// Every minute both are read. The Secret is renewed where it must be (webhook_authority.h), and the
// configuration is written where a webhook of it has another authority. A new authority is in the
// configuration before a certificate that it signed is used. The Secret is written with the version
// that was read, so that one of two hubs wins and the other takes over its certificate.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/kube/transport/transport.h"
#include "engine/base/time.h"

namespace fairlead {

/// The name of the ValidatingWebhookConfiguration, and the field manager of its `caBundle` and of
/// the Secret.
inline constexpr const char* kWebhookConfiguration = "fairlead-webhook";
inline constexpr const char* kWebhookManager = "fairlead-webhook";

/// The Service in front of the webhook. The Secret has the same name.
struct WebhookAddress {
  std::string name;
  std::string namespace_;

  /// As the API server connects to it: NAME.NAMESPACE.svc.
  std::string host() const { return name + "." + namespace_ + ".svc"; }
};
/// Parses `NAME.NAMESPACE`. Fails with `bad_input` for another form.
Result<WebhookAddress> parse_webhook_address(std::string_view text);

struct WebhookSecretTimes {
  Duration look = seconds(60);     ///< between two looks at the Secret
  Duration retry = seconds(10);    ///< after a look that failed
  Duration conflict = seconds(1);  ///< after another hub has written it meanwhile
};

/// On the loop's thread only. Needs the rights to get and patch the Secret and the
/// ValidatingWebhookConfiguration.
class WebhookSecretKeeper {
 public:
  struct Ports {
    /// The time of day, which certificates are made for.
    std::function<LogTime()> now;
    /// Takes up a certificate and its key, both PEM; called whenever they are other ones.
    std::function<void(const std::string& certificate, const std::string& key)> use;
    /// Logs why the certificate cannot be kept, once for each problem, and "" when it can again.
    std::function<void(const std::string& problem)> log;
  };

  /// `client`, which reaches the hub's API server, outlives it. Starts at once.
  WebhookSecretKeeper(Transport& client, WebhookAddress address, Ports ports,
                      WebhookSecretTimes times = {});
  ~WebhookSecretKeeper();
  WebhookSecretKeeper(const WebhookSecretKeeper&) = delete;
  WebhookSecretKeeper& operator=(const WebhookSecretKeeper&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
