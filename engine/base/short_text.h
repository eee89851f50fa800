// Comparing and hashing texts of a few bytes without a call.
//
// The fold compares and looks up dozens of names for an event, and for texts that short the call of
// memcmp or of the library's hash costs more than its work
// (docs/decisions/0023-short-texts-without-calls.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

namespace short_text {

template <class Word>
Word load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Compares the first and the last word of two texts. These cover the texts if `size` is between one
// word and two.
template <class Word>
bool same_ends(const char* a, const char* b, std::size_t size) {
  const std::size_t last = size - sizeof(Word);
  return ((load<Word>(a) ^ load<Word>(b)) | (load<Word>(a + last) ^ load<Word>(b + last))) == 0;
}

// Multiplies to 128 bits and folds the halves, so that every input bit affects the whole result.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a ^ 0x9E3779B97F4A7C15} * (b ^ 0xD1B54A32D192ED03);
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

}  // namespace short_text

/// Returns whether a == b.
[[gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) {
  using namespace short_text;
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return same_ends<std::uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return same_ends<std::uint32_t>(a.data(), b.data(), size);
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

/// Returns a hash for tables in memory. It must not be stored: it depends on the byte order.
inline std::size_t hash_text(std::string_view text) {
  using namespace short_text;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = left;
  for (; left > 16; left -= 8, at += 8) hash = mixed(load<std::uint64_t>(at), hash);
  if (left >= 8) return mixed(load<std::uint64_t>(at) ^ hash, load<std::uint64_t>(at + left - 8));
  if (left >= 4) return mixed(load<std::uint32_t>(at) ^ hash, load<std::uint32_t>(at + left - 4));
  for (; left > 0; --left, ++at) hash = hash << 8 | static_cast<unsigned char>(*at);
  return mixed(hash, 0);
}

}  // namespace fairlead
