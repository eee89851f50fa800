// What we want to know of a PEM certificate before a handshake depends on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// Fails unless `pem` holds a certificate that is valid at this moment (bad_input; the message says
/// which end it missed).
Result<void> check_certificate_now(std::string_view pem);
/// Fails unless `key_pem` is the private key of the first certificate of `certificate_pem`.
Result<void> check_key_matches(std::string_view certificate_pem, std::string_view key_pem);
/// When the first certificate of `pem` ends, in time since 1970; nullopt if `pem` holds none.
std::optional<LogTime> certificate_end(std::string_view pem);
/// Standard base64 with or without line breaks.
Result<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace fairlead
