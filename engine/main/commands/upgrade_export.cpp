#include "engine/main/commands/upgrade_export.h"

#include "replay/bundle/bundle.h"
#include "schema/codec.h"
#include "snapshots/data_directory.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

std::filesystem::path upgrade_export_file(const std::filesystem::path& data) {
  return data / "before-" FAIRLEAD_VERSION ".export";
}

Result<std::optional<std::filesystem::path>> export_before_upgrade(
    const std::filesystem::path& data, const LogProgress& progress) {
  const std::optional<std::filesystem::path> nothing;
  const auto log = open_data_directory(data, OpenMode::read);
  // The hub opens the log for writing next, which makes a missing one and reports what is wrong.
  if (!log || !(*log)->damage().empty()) return nothing;
  if ((*log)->schema_version() >= kSchemaVersion || (*log)->last_seq() == Seq{}) return nothing;
  const std::filesystem::path file = upgrade_export_file(data);
  const auto report = export_bundle(**log, SnapshotStore(data), (*log)->last_seq(), file, progress);
  if (!report)
    return in_context(file.string() +
                          ": the log of the older version cannot be kept as a way back "
                          "(log.exportBeforeUpgrade)",
                      report.error());
  return std::optional(file);
}

}  // namespace fairlead
