// A history in one file: exported from a data directory, imported into one, and read in place.
//
// What the file holds and how it proves itself is in bundle_file.h. Opening it holds every byte
// against its digest and every group commit against the hash chain, so whoever reads one reads what
// was exported. Raw objects that the hub keeps beside events for a while are not exported.
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
#include "replay/bundle_file.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

class RocksdbLog;

/// An open bundle: its sections, understood.
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
  LogTail base;  ///< what the first pack goes on from
  LogTail tail;  ///< where the last ends
  std::map<Epoch, std::string> epochs;
  Json configuration;  ///< in force after the last event, with the seq that set it; null if unknown
  std::vector<StoredSnapshot> snapshots;  ///< by seq
  std::vector<Pack> packs;
};

/// Opens and proves a bundle. Errors as BundleFile::open; `incompatible` too if a newer program
/// wrote it.
Result<std::shared_ptr<const Bundle>> open_bundle(const std::filesystem::path& path);

/// What was exported or imported.
struct BundleReport {
  Seq first;  ///< of the events; 0 if there are none
  Seq last;
  std::uint64_t events = 0;
  std::uint64_t commits = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t bytes = 0;  ///< of the bundle
  Digest chain;             ///< after the last event
};

/// Writes the events up to and with the group commit that holds `to` (which may be beyond the
/// last), and the good snapshots among them. The log may be one that a hub is writing.
Result<BundleReport> export_bundle(const RocksdbLog& log, const SnapshotSource& snapshots, Seq to,
                                   const std::filesystem::path& path, const LogProgress& progress);

/// Makes a data directory out of a bundle, every record of it verified. `bad_input` unless
/// `directory` is new or empty.
Result<BundleReport> import_bundle(const Bundle& bundle, const std::filesystem::path& directory,
                                   const LogProgress& progress);

/// The events of a bundle. Takes no more: appends are refused with `read_only`.
class BundleLog final : public EventLog {
 public:
  explicit BundleLog(std::shared_ptr<const Bundle> bundle) : bundle_(std::move(bundle)) {}

  Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time,
                                    Epoch epoch) override;
  Result<std::unique_ptr<EventReader>> read(Seq from) const override;
  Result<Seq> last_at(LogTime time) const override;
  Result<std::optional<std::string>> raw(Seq seq) const override;
  Result<void> drop_raw_before(Seq seq) override;
  /// The first call of these two reads every event once.
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override;
  Result<std::vector<Seq>> signs(std::string_view source) const override;
  Seq first_seq() const override;
  Seq last_seq() const override;
  LogTime last_time() const override;
  Digest chain() const override;
  Result<Digest> chain_at(Seq seq) const override;
  Result<LogStat> stat() const override;
  Result<LogVerdict> verify() const override;
  /// Was proved when the bundle was opened.
  Result<LogVerdict> verify_chain() const override;

 private:
  struct Index {
    std::map<std::tuple<SourceName, ObjectKey>, std::vector<Seq>> by_object;
    std::map<SourceName, std::vector<Seq>, std::less<>> signs;
  };
  Result<void> index_events() const;

  std::shared_ptr<const Bundle> bundle_;
  mutable std::mutex mutex_;  ///< guards the rest
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
