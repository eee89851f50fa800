// `fairlead log export` from a running hub: the pages on the hub's side, the file on the command's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/log/event_log.h"
#include "engine/main/client/hub_place.h"
#include "replay/bundle/bundle.h"

namespace fairlead {

class RocksdbLog;
class SnapshotStore;

/// Its own path, so that an account can be given the right to it and to nothing else.
inline constexpr std::string_view kExportPath = "/log/export";

/// Whether GET `target` asks for a page of an export.
bool is_export_target(std::string_view target);
/// Answers `/log/export?to=POSITION&from=CURSOR` with a page (bundle_page.h). Without `to` the
/// bundle ends where the log ends now, which the page names; without `from` it is the first page.
Result<std::string> answer_export_target(const RocksdbLog& log, const SnapshotStore& snapshots,
                                         std::string_view target);

/// Writes the bundle of a running hub's log up to position `to` (empty: all) into `file`, as
/// export_bundle() does where the log is.
Result<BundleReport> export_from_hub(const AskHub& ask, const std::filesystem::path& file,
                                     const std::string& to, const LogProgress& progress);

}  // namespace fairlead
