// Bodies as gzip (RFC 1952).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

/// How much time is spent on fewer bytes: `once` for what is kept, `each` for an answer.
enum class GzipEffort : std::uint8_t { once, each };

/// Returns `text` as one gzip member. The same text gives the same bytes.
std::string gzip(std::string_view text, GzipEffort effort);

/// Whether a client that sent this Accept-Encoding takes gzip (RFC 9110, 12.5.3).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace fairlead
