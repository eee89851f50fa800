// How a replica gets the part of the log that the ring no longer has: from another replica.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/main/client/hub_place.h"
#include "engine/runtime/diagnostics.h"

namespace fairlead {

/// Copies the log and the snapshots of the running hub `from` into `data`, which holds no log. The
/// copy proves itself, as an export does, and appears whole or not at all. Fails as the hub fails
/// to answer, and with `corrupt` if a bit of the copy differs.
Result<void> copy_log(const HubPlace& from, const std::filesystem::path& data,
                      const Logger& logger);

}  // namespace fairlead
