// Characters of UTF-8 texts, which is what CEL counts in where a program counts bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::cel {

inline constexpr std::string_view kDecimalDigits = "0123456789";

/// Whether `text` is UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// Returns how many code points `text` has.
std::int64_t count_characters(std::string_view text);

/// Returns the offset in bytes of the code point `index`, which is at least 0; text.size() for the
/// one behind the last, npos for one further on.
std::size_t offset_of(std::string_view text, std::int64_t index);

/// Appends one code point. Returns false, and appends nothing, if `character` is none: a surrogate,
/// or above U+10FFFF.
bool append_character(std::string& out, std::uint32_t character);

/// Returns at most 64 bytes of `text` in backquotes, for a message: what an expression names may be
/// long.
std::string in_quotes(std::string_view text);

}  // namespace fairlead::cel
