// The configuration file.
//
// A YAML document in the style of Kubernetes component configuration becomes a Configuration and
// back. The reader is strict: an unknown key or a bad value is an error that names file, line and
// key, because a misspelt window that is silently ignored is noticed only during an outage. Keys
// and defaults: docs/configuration.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/runtime/replication_settings.h"
#include "schema/configuration.h"

namespace fairlead {

/// Reads the configuration that `text` describes. A setting that `text` does not mention has its
/// default; a map or list that it mentions replaces the default one whole. Errors are `bad_input`:
/// "FILE:LINE: KEY: expected ...". What read_role_settings() returns is checked value by value
/// only.
Result<Configuration> read_configuration(std::string_view text, std::string_view file_name);

/// Applies one `--set PATH=VALUE`: PATH is dotted, a key with dots is quoted
/// (`capacity.headroom.percent."nvidia.com/gpu"=10`), VALUE is YAML. A path below a map sets that
/// one entry and keeps the others; the path of the map replaces it whole. On error (`bad_input`)
/// nothing changes; the message is "KEY: expected ...", and the caller adds which setting it was. A
/// setting of the process (below) is checked and changes nothing.
Result<void> apply_setting(Configuration& configuration, std::string_view setting);

/// Reads `log.replication` and `leaderElection` from `text` (empty: there is no file), with the
/// `--set` texts `settings` applied over it; their other values are checked as above. Fails with
/// `bad_input` also where the settings contradict each other.
Result<HubRoleSettings> read_role_settings(std::string_view text, std::string_view file_name,
                                           const std::vector<std::string>& settings);

/// Returns the paths of the settings in which the two differ.
std::vector<std::string> changed_role_settings(const HubRoleSettings& before,
                                               const HubRoleSettings& after);

/// Returns the whole file that reads back as `configuration`. (As JSON: to_json in
/// schema/event_json.h.)
std::string to_yaml(const Configuration& configuration);

}  // namespace fairlead
