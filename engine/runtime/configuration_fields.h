// The settings as one table: where each stands in the file, how it is read, how it is printed.
//
// configuration.cpp walks a document along this table, so a setting is added by adding a row, and
// reading,
// `--set` and printing cannot disagree. Private to the configuration reader.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "schema/configuration.h"

namespace fairlead {

/// Thrown while a document is read and caught in configuration.cpp: what is wrong, and where.
struct RefusedValue {
  YAML::Mark where;
  std::string key;       ///< dotted path
  std::string expected;  ///< "expected ..."
};

/// One setting.
struct ConfigurationField {
  std::string path;  ///< dotted: `debounce.growWindow`
  /// Sets it from `node`; throws RefusedValue.
  std::function<void(Configuration&, const YAML::Node& node)> read;
  /// Only for a map: sets the entry `key` and keeps the others; throws RefusedValue.
  std::function<void(Configuration&, const std::string& key, const YAML::Node& node)> read_entry;
  std::function<Json(const Configuration&)> print;
};

/// Every setting, in the order of the file.
const std::vector<ConfigurationField>& configuration_fields();

}  // namespace fairlead
