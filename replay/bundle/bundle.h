// A history in one file: exported from a data directory, imported into one, or read in place.
//
// bundle_file.h defines the bytes and their digests. Opening a bundle checks every byte against its
// digest and every group commit against the hash chain, so a reader sees exactly what was exported.
// Raw objects, which the hub keeps beside events for a while, are not exported.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/json.h"
#include "engine/log/commit.h"
#include "engine/log/event_log.h"
#include "engine/log/pack.h"
#include "replay/bundle/bundle_file.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

class RocksdbLog;
class SnapshotStore;

/// An open bundle with its sections parsed.
struct Bundle {
  /// A group commit.
  struct Pack {
    PackHeader header;
    std::string_view value;
  };
  /// A snapshot and the bytes that hold it.
  struct StoredSnapshot {
    SnapshotInfo info;
    std::string_view bytes;
  };

  std::unique_ptr<BundleFile> file;
  LogTail base;  ///< the log's tail before the first pack
  LogTail tail;  ///< the log's tail after the last pack
  std::map<Epoch, std::string> epochs;
  Json configuration;  ///< in force after the last event, with the seq that set it; null if unknown
  std::vector<StoredSnapshot> snapshots;  ///< by seq
  std::vector<Pack> packs;
};

/// Opens and verifies a bundle. Fails as BundleFile::open does, and with `incompatible` if a newer
/// program wrote it.
Result<std::shared_ptr<const Bundle>> open_bundle(const std::filesystem::path& path);

/// The result of an export or an import.
struct BundleReport {
  Seq first;  ///< first event; 0 if there are none
  Seq last;
  std::uint64_t events = 0;
  std::uint64_t commits = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t bytes = 0;  ///< size of the bundle
  Digest chain;             ///< after the last event
};

/// Writes the events up to and including the group commit that holds `to` (which may be beyond the
/// last event), and the good snapshots among them. A hub may be writing to the log meanwhile.
Result<BundleReport> export_bundle(const RocksdbLog& log, const SnapshotStore& snapshots, Seq to,
                                   const std::filesystem::path& path, const LogProgress& progress);

/// Creates a data directory from a bundle and verifies every record of it. Fails with `bad_input`
/// unless `directory` is new or empty.
Result<BundleReport> import_bundle(const Bundle& bundle, const std::filesystem::path& directory,
                                   const LogProgress& progress);

/// The events of a bundle.
class BundleLog final : public ReadableLog {
 public:
  explicit BundleLog(std::shared_ptr<const Bundle> bundle) : bundle_(std::move(bundle)) {}

  Result<std::unique_ptr<EventReader>> read(Seq from) const override;
  Result<Seq> last_at(LogTime time) const override;
  Result<std::optional<std::string>> raw(Seq seq) const override;
  /// The first call of history or signs reads every event once to build the index.
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override;
  Result<std::vector<Seq>> signs(std::string_view source) const override;
  Seq first_seq() const override;
  Seq last_seq() const override;
  LogTime last_time() const override;
  Digest chain() const override;
  Result<Digest> chain_at(Seq seq) const override;
  Result<LogStat> stat() const override;
  Result<LogVerdict> verify(const LogProgress& progress = {}) const override;
  /// Always holds: opening the bundle verified the chain.
  Result<LogVerdict> verify_chain() const override;

 private:
  struct Index {
    std::map<std::tuple<SourceName, ObjectKey>, std::vector<Seq>> by_object;
    std::map<SourceName, std::vector<Seq>, std::less<>> signs;
  };
  Result<void> index_events() const;

  std::shared_ptr<const Bundle> bundle_;
  mutable std::mutex mutex_;  ///< guards index_
  mutable std::unique_ptr<const Index> index_;
};

/// The snapshots of a bundle.
class BundleSnapshots final : public SnapshotSource {
 public:
  explicit BundleSnapshots(std::shared_ptr<const Bundle> bundle) : bundle_(std::move(bundle)) {}

  Result<std::vector<SnapshotInfo>> list() const override;
  Result<std::optional<Snapshot>> newest(Seq seq) const override;
  Result<std::string> bytes(Seq seq) const override;

 private:
  std::shared_ptr<const Bundle> bundle_;
};

}  // namespace fairlead
