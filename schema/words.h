// Enumerations that users know by words. Each has one table, from which configuration, outputs and
// texts of other writers are read and written.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fairlead {

/// The word of each value. A value without a row has none.
template <class Enum>
inline constexpr std::array<std::pair<std::string_view, Enum>, 0> kWordsOf{};

template <class Enum>
concept HasWords = std::is_enum_v<Enum> && !kWordsOf<Enum>.empty();

/// Returns the word of the value; empty if it has none.
template <HasWords Enum>
constexpr std::string_view text_of(Enum value) {
  for (const auto& [word, named] : kWordsOf<Enum>)
    if (named == value) return word;
  return "";
}

/// Returns the value of exactly that word.
template <HasWords Enum>
constexpr std::optional<Enum> parse_word(std::string_view text) {
  for (const auto& [word, named] : kWordsOf<Enum>)
    if (word == text) return named;
  return std::nullopt;
}

}  // namespace fairlead
