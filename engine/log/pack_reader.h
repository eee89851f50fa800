// Private to the RocksDB log: reads events out of packs, in order.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/log/event_log.h"
#include "engine/log/pack.h"
#include "engine/log/rocksdb/log_contents.h"

namespace fairlead {

/// Reads from one seq to the end that the log had when the reader was made, pack by pack. Fails
/// with `corrupt`, naming the seq, at a pack that is not what was written or does not continue the
/// one before it, and stays failed.
class PackReader final : public EventReader {
 public:
  /// `damage`, if set, is the error after `last` instead of the end.
  PackReader(std::shared_ptr<Store> store, Seq from, Seq last, std::optional<LogDamage> damage);

  Result<std::optional<Event>> next() override;
  /// Reads whole packs. The texts of their events view the memory that they were unpacked into,
  /// which the batch keeps.
  Result<void> next_batch(EventBatch& batch) override;

 private:
  Result<void> load_pack();
  Result<void> copy_rest_of_pack(EventBatch& batch);
  Result<void> ending() const;

  std::shared_ptr<Store> store_;
  std::unique_ptr<rocksdb::Iterator> packs_;
  Seq next_;
  Seq last_;
  std::optional<LogDamage> damage_;
  UnpackedRecords unpacked_;
  std::size_t index_ = 0;
  std::optional<Error> failed_;  ///< the error of every call after the first that failed
  std::optional<Digest> chain_;  ///< after the pack that is being read; none before the first
};

/// Verifies a log from `base` to `last`: every pack's check and chain, every record's bytes and
/// place, every raw object's digest, the list of epochs, every file's checksum. Known `damage` is
/// the verdict if nothing before it is wrong. `report` receives the progress.
Result<LogVerdict> verify_store(const Store& store, const LogTail& base, Seq last,
                                const std::optional<LogDamage>& damage, const LogProgress& report);

}  // namespace fairlead
