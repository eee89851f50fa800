// Checks of a PEM certificate before a handshake depends on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// Fails with `bad_input` unless `pem` holds a certificate that is valid now; the message says
/// whether it is expired or not valid yet.
Result<void> check_certificate_now(std::string_view pem);
/// Fails with `bad_input` unless `pem` holds a certificate, and all that it holds can be read.
Result<void> check_authorities(std::string_view pem);
/// Fails with `bad_input` unless every private key in `pem` is one of RSA, of an elliptic curve or
/// of an Edwards curve, and is not encrypted. Only then OpenSSL may read it: of a key of another
/// algorithm (DSA, DH) it computes the public key, for 15 seconds where the text has 16 KB.
Result<void> check_key_algorithms(std::string_view pem);
/// Fails with `bad_input` unless `key_pem` is the private key of the first certificate of
/// `certificate_pem`, and one that signs within a second.
Result<void> check_key_matches(std::string_view certificate_pem, std::string_view key_pem);
/// Returns when the first certificate of `pem` expires; nullopt if `pem` holds none.
std::optional<LogTime> certificate_end(std::string_view pem);

}  // namespace fairlead
