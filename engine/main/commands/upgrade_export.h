// The way back from an upgrade.
//
// A program refuses a log that was written with a newer schema version than its own
// (schema/codec.h), because it could not read all of it. So before a program raises the version of
// a log, it exports the log as it found it: the older program imports that file (`fairlead log
// import`) and goes on from there. docs/operating.md, "Upgrade", has the steps.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/result.h"
#include "engine/log/event_log.h"

namespace fairlead {

/// Returns the file that export_before_upgrade() writes: DATA/before-VERSION.export, with this
/// program's version.
std::filesystem::path upgrade_export_file(const std::filesystem::path& data);

/// Exports the log in `data` to upgrade_export_file() if it has an older schema version than this
/// program writes, and returns the path; nothing where there is no log, or none that can be read
/// to its end: opening it for writing says why. To be called before the log is opened for writing.
/// Replaces the file of an earlier attempt. Fails with `unavailable` if it cannot be written.
Result<std::optional<std::filesystem::path>> export_before_upgrade(
    const std::filesystem::path& data, const LogProgress& progress);

}  // namespace fairlead
