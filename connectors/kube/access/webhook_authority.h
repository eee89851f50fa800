// Certificates of the webhook that the hub makes itself, and when they are made anew.
//
// The hub is its own certificate authority: a key that no other service uses signs the certificate
// that the webhook is served with. Both live in one Secret, so that every start of the hub finds
// them, and the API server learns the authority from the ValidatingWebhookConfiguration. This file
// decides what the Secret should hold; webhook_secret.h reads and writes it.
//
// When the authority comes to its end, a new one joins it in the bundle and signs from the next
// renewal on: no certificate is ever served that a configuration of a moment ago does not trust.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

inline constexpr Duration kAuthorityLife = hours(5 * 365 * 24);
inline constexpr Duration kServingLife = hours(90 * 24);

/// The contents of the Secret, each PEM; empty where the Secret has no such key.
struct WebhookSecret {
  std::string authorities;    ///< `ca.crt`: the newest first; what clients trust
  std::string authority_key;  ///< `ca.key`: of the first authority
  std::string certificate;    ///< `tls.crt`
  std::string key;            ///< `tls.key`

  friend bool operator==(const WebhookSecret&, const WebhookSecret&) = default;
};

/// Returns what the Secret should hold at `now` to serve `host` (SERVICE.NAMESPACE.svc): `stored`
/// itself while that is good. The serving certificate is made anew when two thirds of its life are
/// over, when it is for another host, or when no authority of the bundle signed it; the authority
/// when it would end before a certificate that it signs. What cannot be read is made anew. Fails
/// with `internal` if OpenSSL cannot make a key.
Result<WebhookSecret> renewed(const WebhookSecret& stored, std::string_view host, LogTime now);

}  // namespace fairlead
