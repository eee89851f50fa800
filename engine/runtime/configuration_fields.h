// The settings as one table: the path of each in the file and how it is read.
//
// configuration.cpp walks a document along this table, so that a setting is added by adding a row,
// and the file and `--set` cannot disagree. Private to the configuration reader.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/yaml_tree.h"
#include "engine/runtime/replication_settings.h"
#include "schema/configuration.h"

namespace fairlead {

/// A value that cannot be used, and its place. Thrown while a document is read and caught in
/// configuration.cpp.
struct RefusedValue {
  std::size_t line;      ///< of the file
  std::string key;       ///< dotted path
  std::string expected;  ///< "expected ..."
};

/// One setting.
struct ConfigurationField {
  std::string path;  ///< dotted: `debounce.growWindow`
  /// Sets the setting from `node`; throws RefusedValue. Null: it is one of the process.
  std::function<void(Configuration&, const YamlNode& node)> read;
  /// Only for a map: sets the entry `key` and keeps the others; throws RefusedValue.
  std::function<void(Configuration&, const std::string& key, const YamlNode& node)> read_entry;
  /// Instead of `read` for a setting of the process, which is not logged.
  std::function<void(HubRoleSettings&, const YamlNode& node)> read_role;
  /// Of such a setting: whether two processes have the same.
  std::function<bool(HubRoleSettings, HubRoleSettings)> same_role;
};

/// Returns every setting, in the order of the file.
const std::vector<ConfigurationField>& configuration_fields();

}  // namespace fairlead
