#include "replay/history.h"

#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/bundle/bundle.h"
#include "snapshots/data_directory.h"
#include "snapshots/folded_states.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

/// A path that does not exist or is not a log of Fairlead is a mistake in the caller's input.
Error as_input(Error error) {
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::incompatible)
    error.code = ErrorCode::bad_input;
  return error;
}

}  // namespace

Result<History> open_history(const std::filesystem::path& data, const std::filesystem::path& bundle,
                             std::string_view program) {
  if (data.empty() == bundle.empty())
    return Error{ErrorCode::bad_input, "expected either a data directory or a bundle file"};
  if (!bundle.empty()) {
    const auto opened = open_bundle(bundle);
    if (!opened) return as_input(opened.error());
    return History{std::make_unique<BundleLog>(*opened),
                   std::make_unique<BundleSnapshots>(*opened)};
  }
  auto log = open_data_directory(data, OpenMode::read);
  if (!log) return as_input(log.error());
  History history{*std::move(log), std::make_unique<SnapshotStore>(data)};
  if (!program.empty())
    history.folded = std::make_unique<SnapshotsForQuestions>(*history.log, data, program);
  return history;
}

}  // namespace fairlead
