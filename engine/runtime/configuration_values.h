// Reads single values of the configuration file. Each function throws RefusedValue, which names the
// key and what was expected there, for a value that it does not accept.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

[[noreturn]] void refuse(const YamlNode& node, std::string key, std::string expected);

/// A scalar that is not empty.
std::string read_text(const YamlNode& node, const std::string& key, std::string_view expected);
/// A whole number from `min` to `max`.
std::int64_t read_number(const YamlNode& node, const std::string& key, std::int64_t min,
                         std::int64_t max);
/// A duration as Go writes it, at most kDebounceDurationMax.
Duration read_duration(const YamlNode& node, const std::string& key);
std::string read_namespace(const YamlNode& node, const std::string& key);
/// A whole number from 0 to 100.
std::int64_t read_percent(const YamlNode& node, const std::string& key);
/// A Quantity of at least 0, in canonical text.
std::string read_reserved(const YamlNode& node, const std::string& key);

/// The last part of a Kubernetes qualified name; with `also` the characters allowed inside besides
/// letters and digits.
bool is_name_part(std::string_view text, std::size_t length_max, std::string_view also);
bool is_object_name(std::string_view text);
bool is_resource_name(std::string_view text);
/// namespace/name
bool is_namespaced_name(std::string_view text);

/// An entry of a map in the file.
using ConfigurationEntry = std::pair<std::string, YamlNode>;
/// The entries of a map, each key once. `expected` says what the map should be.
std::vector<ConfigurationEntry> entries_of(const YamlNode& node, const std::string& key,
                                           std::string_view expected);
/// Refuses an entry of the map at `key` whose own key is not known.
[[noreturn]] void refuse_key(const ConfigurationEntry& entry, const std::string& key,
                             std::string_view expected);

/// The items of a list, each as `read` reads it.
template <class T>
std::vector<T> read_items(const YamlNode& node, const std::string& key,
                          T (*read)(const YamlNode&, const std::string&)) {
  if (!node.is_list() && !node.is_null()) refuse(node, key, "expected a list");
  std::vector<T> items;
  for (std::size_t i = 0; i < node.items().size(); ++i)
    items.push_back(read(node.items()[i], key + "[" + std::to_string(i) + "]"));
  return items;
}
/// Refuses two items of one `name`; `field` is what the file calls it.
template <class T>
void refuse_repetition(const YamlNode& node, const std::string& key, std::string_view field,
                       const std::vector<T>& items) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!names.insert(items[i].name).second)
      refuse(node.items()[i], key + "[" + std::to_string(i) + "]." + std::string(field),
             "expected each name only once");
}

/// The words that a setting may have in the file, each with its value.
template <class T>
using Words = std::span<const std::pair<std::string_view, T>>;

template <class T>
T read_word(const YamlNode& node, const std::string& key, Words<T> words) {
  std::string expected = "expected one of";
  for (const auto& [word, value] : words) {
    if (node.is_scalar() && node.text == word) return value;
    expected.append(value == words.front().second ? " " : ", ").append(word);
  }
  refuse(node, key, expected);
}

template <HasWords Enum>
Enum read_word_of(const YamlNode& node, const std::string& key) {
  return read_word<Enum>(node, key, kWordsOf<Enum>);
}

inline constexpr std::array<std::pair<std::string_view, bool>, 2> kSwitch{
    {{"true", true}, {"false", false}}};

}  // namespace fairlead
