#include "engine/runtime/configuration_dra.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/devices/cel.h"
#include "engine/runtime/configuration_values.h"

namespace fairlead {

namespace {

// The limits of Kueue, and of Kubernetes for drivers and selectors.
constexpr std::size_t kMappingsMax = 16;
constexpr std::size_t kClassesMax = 8;  // of one mapping
constexpr std::size_t kMappedNameMax = 253;
constexpr std::size_t kDriverMax = 63;

std::string read_mapped_name(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected a name such as gpus or example.com/gpu";
  std::string name = read_text(node, key, expected);
  if (!is_resource_name(name) || name.size() > kMappedNameMax)
    refuse(node, key, std::string(expected));
  return name;
}

std::vector<std::string> read_class_names(const YamlNode& node, const std::string& key) {
  auto names = read_items(node, key, read_mapped_name);
  if (names.empty()) refuse(node, key, "expected at least one DeviceClass");
  if (names.size() > kClassesMax)
    refuse(node, key, "expected at most " + std::to_string(kClassesMax) + " DeviceClasses");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!seen.insert(names[i]).second)
      refuse(node.items()[i], key + "[" + std::to_string(i) + "]", "expected each name only once");
  return names;
}

// What is not understood would be true for no device.
void check_expression(const YamlNode& node, const std::string& key, const std::string& text) {
  if (text.size() > kCelBytesMax)
    refuse(node, key, "expected at most " + std::to_string(kCelBytesMax) + " bytes");
  const CelSelector selector = CelSelector::compile(text);
  if (!selector.supported())
    refuse(node, key,
           "expected a CEL expression that is understood (docs/devices.md), not " +
               selector.unsupported());
}

// {cel: {expression: ...}}
std::string read_expression(const YamlNode& node, const std::string& key) {
  constexpr std::string_view outer = "expected {cel: {expression}}",
                             inner = "expected {expression}";
  std::string expression;
  for (const ConfigurationEntry& entry : entries_of(node, key, outer)) {
    if (entry.first != "cel") refuse_key(entry, key, outer);
    const std::string path = key + ".cel";
    for (const ConfigurationEntry& part : entries_of(entry.second, path, inner)) {
      if (part.first != "expression") refuse_key(part, path, inner);
      expression = read_text(part.second, path + ".expression", "expected a CEL expression");
      check_expression(part.second, path + ".expression", expression);
    }
  }
  if (expression.empty()) refuse(node, key, std::string(outer));
  return expression;
}

std::string read_source_name(const YamlNode& node, const std::string& key, DeviceSourceKind kind) {
  const bool counter = kind == DeviceSourceKind::counter;
  const std::string_view expected = counter ? "expected the name of a counter"
                                            : "expected the name of a capacity, such as memory";
  std::string name = read_text(node, key, expected);
  const bool named =
      counter ? is_object_name(name) && is_name_part(name, 63, "-") : is_resource_name(name);
  if (!named) refuse(node, key, std::string(expected));
  return name;
}

DeviceSource read_source(const YamlNode& node, const std::string& key) {
  constexpr std::string_view one = "expected one of {counter}, {capacity}";
  constexpr std::string_view expected = "expected {name, driver, deviceSelector}";
  const auto entries = entries_of(node, key, one);
  for (const ConfigurationEntry& entry : entries)
    if (entry.first != "counter" && entry.first != "capacity") refuse_key(entry, key, one);
  if (entries.size() != 1) refuse(node, key, std::string(one));
  const auto& [kind, value] = entries.front();
  const std::string path = key + "." + kind;
  DeviceSource source;
  source.kind = kind == "counter" ? DeviceSourceKind::counter : DeviceSourceKind::capacity;
  for (const ConfigurationEntry& part : entries_of(value, path, expected)) {
    const std::string at = path + "." + part.first;
    if (part.first == "name") {
      source.name = read_source_name(part.second, at, source.kind);
    } else if (part.first == "driver") {
      source.driver = read_text(part.second, at, "expected the name of a driver");
      if (!is_object_name(source.driver) || source.driver.size() > kDriverMax)
        refuse(part.second, at, "expected the name of a driver");
    } else if (part.first == "deviceSelector") {
      source.expression = read_expression(part.second, at);
    } else {
      refuse_key(part, path, expected);
    }
  }
  if (source.name.empty() || source.driver.empty() || source.expression.empty())
    refuse(value, path, std::string(expected));
  return source;
}

std::vector<DeviceSource> read_device_sources(const YamlNode& node, const std::string& key) {
  auto sources = read_items(node, key, read_source);
  for (std::size_t i = 1; i < sources.size(); ++i)
    if (sources[i].kind != sources.front().kind)
      refuse(node.items()[i], key + "[" + std::to_string(i) + "]",
             "expected no counters beside capacities in one mapping");
  return sources;
}

DeviceClassMapping read_mapping(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected {name, deviceClassNames, sources}";
  DeviceClassMapping mapping;
  for (const ConfigurationEntry& entry : entries_of(node, key, expected)) {
    const std::string path = key + "." + entry.first;
    if (entry.first == "name")
      mapping.name = read_mapped_name(entry.second, path);
    else if (entry.first == "deviceClassNames")
      mapping.device_class_names = read_class_names(entry.second, path);
    else if (entry.first == "sources")
      mapping.sources = read_device_sources(entry.second, path);
    else
      refuse_key(entry, key, expected);
  }
  if (mapping.name.empty() || mapping.device_class_names.empty())
    refuse(node, key, "expected a name and deviceClassNames; " + std::string(expected));
  return mapping;
}

// The counter by which a mapping may share its classes with others; empty for any other mapping.
std::string counter_of(const DeviceClassMapping& mapping) {
  if (mapping.sources.empty() || mapping.sources.front().kind != DeviceSourceKind::counter)
    return "";
  return mapping.sources.front().name;
}

// A class gives one name, or several for different counters of its devices.
void refuse_shared_classes(const YamlNode& node, const std::string& key,
                           const std::vector<DeviceClassMapping>& mappings) {
  std::map<std::string, std::set<std::string>> counters;  // by class
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const std::string counter = counter_of(mappings[i]);
    for (const std::string& name : mappings[i].device_class_names) {
      std::set<std::string>& taken = counters[name];
      const bool bare = counter.empty() || taken.contains("");
      if (!taken.empty() && (bare || taken.contains(counter)))
        refuse(node.items()[i], key + "[" + std::to_string(i) + "].deviceClassNames",
               "expected " + name + " in one mapping only, or for different counters");
      taken.insert(counter);
    }
  }
}

}  // namespace

std::vector<DeviceClassMapping> read_device_class_mappings(const YamlNode& node,
                                                           const std::string& key) {
  auto mappings = read_items(node, key, read_mapping);
  if (mappings.size() > kMappingsMax)
    refuse(node, key, "expected at most " + std::to_string(kMappingsMax) + " mappings");
  refuse_repetition(node, key, "name", mappings);
  refuse_shared_classes(node, key, mappings);
  return mappings;
}

std::vector<std::string> gated_mappings(const std::vector<DeviceClassMapping>& mappings) {
  std::vector<std::string> gated;
  for (const DeviceClassMapping& mapping : mappings) {
    // All sources of a mapping are of one kind. Counters are on by default since 0.19.
    if (mapping.sources.empty() || mapping.sources.front().kind != DeviceSourceKind::capacity)
      continue;
    gated.push_back("dra.deviceClassMappings: " + mapping.name +
                    " counts by capacity: Kueue refuses such sources in its own Configuration "
                    "unless its feature gate KueueDRAIntegrationConsumableCapacity is on (in 0.19 "
                    "it is off by default)");
  }
  return gated;
}

}  // namespace fairlead
