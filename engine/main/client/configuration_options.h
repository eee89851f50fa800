// `--config FILE` and `--set a.b=VALUE`: shared by every command that takes a configuration.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/runtime/replication_settings.h"
#include "schema/configuration.h"

namespace CLI {
class App;
}

namespace fairlead {

struct ConfigurationOptions {
  std::string file;                   ///< empty: the defaults
  std::vector<std::string> settings;  ///< in the order given

  friend bool operator==(const ConfigurationOptions&, const ConfigurationOptions&) = default;
};

void add_configuration_options(CLI::App& command, ConfigurationOptions& options);
/// Returns the file's configuration (or the defaults) with the settings applied to it. Fails with
/// `bad_input`, naming file, line and key.
Result<Configuration> effective_configuration(const ConfigurationOptions& options);
/// Returns `log.replication` and `leaderElection` of the same options.
Result<HubRoleSettings> effective_role_settings(const ConfigurationOptions& options);

}  // namespace fairlead
