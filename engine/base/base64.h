// Base64 (RFC 4648), the only encoder and decoder of the program.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// Encodes with the standard alphabet and padding, in one line: the form of Secrets.
std::string encode_base64(std::string_view bytes);
/// Decodes what encode_base64 makes, also with line breaks and blanks in it. Fails with
/// `bad_input`; an empty text is none.
Result<std::string> decode_base64(std::string_view text);

/// Encodes with the alphabet for URLs and without padding (RFC 4648, section 5).
std::string encode_base64url(std::string_view bytes);
/// Decodes what encode_base64url makes. Fails with `bad_input`.
Result<std::string> decode_base64url(std::string_view text);

}  // namespace fairlead
