// Comparing and hashing texts of a few bytes without a call.
//
// The fold compares and looks up names, dozens for an event; there the call of memcmp or of the
// library's hash costs more than its work.
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

// The words that begin and end two texts cover them up to twice a word.
template <class Word>
bool same_ends(const char* a, const char* b, std::size_t size) {
  const std::size_t last = size - sizeof(Word);
  return ((load<Word>(a) ^ load<Word>(b)) | (load<Word>(a + last) ^ load<Word>(b + last))) == 0;
}

// Every bit of the product depends on every bit of both.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a ^ 0x9E3779B97F4A7C15} * (b ^ 0xD1B54A32D192ED03);
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

}  // namespace short_text

/// a == b.
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

/// For a table in memory: neither stored nor the same on every machine.
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
