// Private to the RocksDB log: reads events out of packs, in order.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/log/event_log.h"
#include "engine/log/log_contents.h"
#include "engine/log/pack.h"

namespace fairlead {

/// Reads from one seq to the end that the log had when the reader was made, pack by pack. Each pack
/// must be what was written and continue the one before it.
class PackReader final : public EventReader {
 public:
  /// `damage`: what to answer after `last` instead of "no more".
  PackReader(std::shared_ptr<Store> store, Seq from, Seq last, std::optional<LogDamage> damage);

  Result<std::optional<Event>> next() override;
  /// Whole packs; what their events hold views the memory that they were unpacked into.
  Result<void> next_batch(EventBatch& batch) override;

 private:
  Result<void> load_pack();
  Result<void> take_rest_of_pack(EventBatch& batch);
  Result<void> ending() const;

  std::shared_ptr<Store> store_;
  std::unique_ptr<rocksdb::Iterator> packs_;
  Seq next_;
  Seq last_;
  std::optional<LogDamage> damage_;
  UnpackedRecords unpacked_;
  std::size_t index_ = 0;
  std::optional<Error> failed_;  ///< what no reading gets beyond
  std::optional<Digest> chain_;  ///< after the pack that is being read; none before the first
};

/// Recomputes a log from `base` to `last`: every pack's check and chain, every record's bytes and
/// place, every raw object's digest, the list of epochs, every file's checksum.
Result<LogVerdict> verify_store(const Store& store, const LogTail& base, Seq last,
                                const std::optional<LogDamage>& damage);

}  // namespace fairlead
