#include "engine/runtime/configuration_usage.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/runtime/configuration_values.h"

namespace fairlead {

namespace {

// Digits on each side of the point: more than prices have, and few enough to compute charges in
// integers.
constexpr std::size_t kPriceDigitsMax = 9;

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= kPriceDigitsMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// No sign, no exponent, no suffix: what is written is what is charged.
bool is_plain_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return is_digits(text);
  return is_digits(text.substr(0, point)) && is_digits(text.substr(point + 1));
}

bool is_currency(std::string_view text) {
  return text.size() == 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// The key of a label has the form of a resource name: an optional domain, and a name.
std::string read_label_key(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected the key of a label such as example.com/team";
  std::string name = read_text(node, key, expected);
  if (!is_resource_name(name)) refuse(node, key, std::string(expected));
  return name;
}

UsagePrice read_price(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected {flavor, resource, perHour, currency}";
  UsagePrice price;
  const auto read = [&](const ConfigurationEntry& entry, std::string& field, auto fits,
                        std::string_view what) {
    const std::string path = key + "." + entry.first;
    field = read_text(entry.second, path, what);
    if (!fits(field)) refuse(entry.second, path, std::string(what));
  };
  for (const ConfigurationEntry& entry : entries_of(node, key, expected)) {
    if (entry.first == "flavor")
      read(entry, price.flavor, is_object_name, "expected the name of a ResourceFlavor");
    else if (entry.first == "resource")
      read(entry, price.resource, is_resource_name,
           "expected a resource name such as nvidia.com/gpu");
    else if (entry.first == "perHour")
      read(entry, price.per_hour, is_plain_decimal,
           "expected a plain decimal such as \"2.50\", with at most 9 digits on each side");
    else if (entry.first == "currency")
      read(entry, price.currency, is_currency, "expected three capitals such as EUR");
    else
      refuse_key(entry, key, expected);
  }
  if (price.flavor.empty() || price.resource.empty() || price.per_hour.empty() ||
      price.currency.empty())
    refuse(node, key, std::string(expected));
  return price;
}

}  // namespace

Duration read_usage_interval(const YamlNode& node, const std::string& key) {
  const Duration interval = read_duration(node, key);
  if (interval > hours(1)) refuse(node, key, "expected a duration of at most 1h");
  return interval;
}

std::vector<std::string> read_usage_labels(const YamlNode& node, const std::string& key) {
  auto labels = read_items(node, key, read_label_key);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!seen.insert(labels[i]).second)
      refuse(node.items()[i], key + "[" + std::to_string(i) + "]", "expected each label only once");
  return labels;
}

std::vector<UsagePrice> read_usage_prices(const YamlNode& node, const std::string& key) {
  auto prices = read_items(node, key, read_price);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < prices.size(); ++i)
    if (!seen.emplace(prices[i].flavor, prices[i].resource).second)
      refuse(node.items()[i], key + "[" + std::to_string(i) + "]",
             "expected each flavor and resource only once");
  return prices;
}

}  // namespace fairlead
