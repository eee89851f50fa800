#include "engine/runtime/configuration_values.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/quantity.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

static bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void refuse(const YamlNode& node, std::string key, std::string expected) {
  throw RefusedValue{node.line, std::move(key), std::move(expected)};
}

std::string read_text(const YamlNode& node, const std::string& key, std::string_view expected) {
  if (!node.is_scalar() || node.text.empty()) refuse(node, key, std::string(expected));
  return node.text;
}

std::int64_t read_number(const YamlNode& node, const std::string& key, std::int64_t min,
                         std::int64_t max) {
  const std::string expected =
      "expected a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  const std::string text = read_text(node, key, expected);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < min || number > max) refuse(node, key, expected);
  return number;
}

Duration read_duration(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected a duration such as 15s, 5m or 1h30m";
  const std::string text = read_text(node, key, expected);
  const std::optional<Duration> span =
      text == "0" ? std::optional<Duration>(Duration{}) : parse_go_duration(text);
  if (!span || span->ns < 0 || *span > kDebounceDurationMax)
    refuse(node, key, std::string(expected));
  return *span;
}

bool is_name_part(std::string_view text, std::size_t length_max, std::string_view also) {
  if (text.empty() || text.size() > length_max) return false;
  if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || also.find(c) != std::string_view::npos;
  });
}

bool is_object_name(std::string_view text) {
  const bool lower =
      std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return lower && is_name_part(text, 253, "-.");
}

bool is_resource_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name_part(text, 63, "-_.");
  return is_object_name(text.substr(0, slash)) && is_name_part(text.substr(slash + 1), 63, "-_.");
}

bool is_namespaced_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && is_name_part(text.substr(0, slash), 63, "-") &&
         is_object_name(text.substr(0, slash)) && is_object_name(text.substr(slash + 1));
}

std::vector<ConfigurationEntry> entries_of(const YamlNode& node, const std::string& key,
                                           std::string_view expected) {
  if (!node.is_map()) refuse(node, key, std::string(expected));
  std::vector<ConfigurationEntry> entries;
  std::set<std::string> seen;
  for (const auto& entry : node.entries()) {
    const std::string name = read_text(entry.first, key, expected);
    if (!seen.insert(name).second) refuse(entry.first, key + "." + name, "expected it only once");
    entries.emplace_back(name, entry.second);
  }
  return entries;
}

void refuse_key(const ConfigurationEntry& entry, const std::string& key,
                std::string_view expected) {
  refuse(entry.second, key + "." + entry.first, "unknown key; " + std::string(expected));
}

std::string read_namespace(const YamlNode& node, const std::string& key) {
  const std::string text = read_text(node, key, "expected a namespace");
  if (!is_object_name(text) || !is_name_part(text, 63, "-"))
    refuse(node, key, "expected a namespace");
  return text;
}

std::int64_t read_percent(const YamlNode& node, const std::string& key) {
  return read_number(node, key, 0, 100);
}

std::string read_reserved(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected a Quantity of at least 0 such as 500m or 2Gi";
  const std::string text = read_text(node, key, expected);
  const std::optional<Quantity> quantity = Quantity::parse(text);
  if (!quantity || quantity->negative()) refuse(node, key, std::string(expected));
  return quantity->text();
}

}  // namespace fairlead
