// Reads the lists of the section `usage` of the configuration file.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

/// Reads `usage.interval`: at most an hour, because an observation counts from no earlier time
/// (kReadBack in engine/fold/usage/usage_state.h).
Duration read_usage_interval(const YamlNode& node, const std::string& key);
/// Reads `usage.labels`: keys of labels, each once.
std::vector<std::string> read_usage_labels(const YamlNode& node, const std::string& key);

/// Reads `usage.prices`: {flavor, resource, perHour, currency}, each (flavor, resource) once.
std::vector<UsagePrice> read_usage_prices(const YamlNode& node, const std::string& key);

}  // namespace fairlead
