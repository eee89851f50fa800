// The log that questions over HTTP are answered from: a hub's own, the data directory of a hub that
// runs or not, or a bundle.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/main/client/replication_report.h"
#include "engine/runtime/present_state.h"
#include "replay/history.h"

namespace fairlead {

class RocksdbLog;
class SnapshotStore;

/// The option by which commands name a data directory.
inline constexpr std::string_view kDataOption = "--data";

/// A log at one moment. What it points into lives at least as long as a copy of it.
struct ServedLog {
  std::shared_ptr<const ReadableLog> log;
  std::shared_ptr<const SnapshotSource> snapshots;  ///< what questions are answered from
  /// Those for which the log vouches: what a proof begins with.
  std::shared_ptr<const SnapshotSource> vouched_snapshots;
  /// The log and the snapshots of a hub, from which it hands out exports; null: it hands out none.
  std::shared_ptr<const RocksdbLog> exported_log;
  std::shared_ptr<const SnapshotStore> exported_snapshots;
  /// How a command names the same log: kDataOption or "--bundle", and the path.
  std::string option;
  std::string path;
};

/// Where a served log comes from.
struct ServedLogSource {
  /// Returns the log as it is now. Called by one thread at a time. Fails as open_history() does.
  std::function<Result<ServedLog>()> open;
  /// Returns a text that differs once the log has grown. From any thread; does not wait.
  std::function<std::string()> version;
  /// Returns what is read of the State of the hub that appends to the log; nullopt where it has to
  /// be folded. Empty: no hub does in this process.
  std::function<std::optional<State>(const PresentState::NodesRead&)> present = {};
  /// Returns the time of that hub. Empty: no hub appends in this process.
  std::function<LogTime()> now = {};
  /// Returns what the hub in this process says of its replicated log. Empty: it is not replicated.
  std::function<std::optional<ReplicationReport>()> replication = {};
};

/// The log of a hub in this process: `log` and `present` outlive every copy. Its snapshots are
/// those in `data`. `present` may be null.
ServedLogSource served_log_of_hub(const RocksdbLog& log, const std::filesystem::path& data,
                                  PresentState* present);

/// The log in a data directory or a bundle file; exactly one of the two is not empty. A data
/// directory is opened again when its log has changed since the last call. Fails as open_history()
/// does where it cannot be opened now.
Result<ServedLogSource> served_log_in(const std::filesystem::path& data,
                                      const std::filesystem::path& bundle);

}  // namespace fairlead
