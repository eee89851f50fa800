// Whether two short texts are the same, without a call.
//
// The fold compares names of a few bytes, dozens for an event; there the call of memcmp costs more
// than the comparison.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

namespace same_text_detail {

// The words of N bytes that begin and end the texts, which cover them up to 2N bytes.
template <class Word>
bool same_ends(const char* a, const char* b, std::size_t size) {
  const auto load = [](const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
  };
  const std::size_t last = size - sizeof(Word);
  return ((load(a) ^ load(b)) | (load(a + last) ^ load(b + last))) == 0;
}

}  // namespace same_text_detail

/// a == b.
inline bool same_text(std::string_view a, std::string_view b) {
  using same_text_detail::same_ends;
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return same_ends<std::uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return same_ends<std::uint32_t>(a.data(), b.data(), size);
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace fairlead
