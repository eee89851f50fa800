// Reads the sections `log.replication` and `leaderElection` of the configuration file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/runtime/configuration_fields.h"

namespace fairlead {

/// The sections and settings that were read, with their line in the file; 0: from `--set`.
using MentionedPaths = std::map<std::string, std::size_t>;

/// The settings of the process.
std::vector<ConfigurationField> role_fields();

/// Sets the defaults that depend on other settings and checks what concerns several. Throws
/// RefusedValue.
void complete_roles(HubRoleSettings& roles, const MentionedPaths& mentioned);

}  // namespace fairlead
