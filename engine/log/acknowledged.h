// The durable watermark (the file `acknowledged`): the last commit that was certainly durable.
//
// A write-ahead log alone does not show whether its last commit was torn by a crash (normal: the
// append had not returned) or destroyed after it had been acknowledged (corruption). So after each
// commit is durable, and before its append returns, its seq and digest are written to a small file
// beside RocksDB. That write is not synced: after a crash of the process the watermark is exact;
// after a loss of power it may name an earlier commit, but never one that was not durable. A log
// that ends before the watermark has lost acknowledged events.
//
// The file exists, with a watermark in it, before the first commit: a writer that opens a log
// writes where the log ends, syncs file and directory, and only then appends (an import syncs the
// watermark before the log appears). A crash between making a log and making its watermark leaves a
// log without events. So an empty log needs no watermark, and a log with events that has no intact
// one has lost a file, and with it the proof that its end is the end: it is treated as damaged
// there. It can be read up to its end and not written to; an operator who knows that nothing is
// missing exports all of it (`--to` its last seq) and imports that.
//
// The file has two slots of 64 bytes that are written in turn, so that a torn write leaves the
// other one whole (one disk sector holds both: a loss of power leaves it old or new, not mixed):
//   0  "FLACK001"   8  seq, little-endian   16  digest of the chain, 32 bytes   48  0 (8 bytes)
//   56 check: the first 8 bytes of SHA-256 over bytes 0..55
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/base/types.h"

namespace fairlead {

/// A durable watermark: the last commit that is known to have been durable.
struct Acknowledged {
  Seq seq;  ///< of its last event
  Digest chain;

  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};

/// Reads the watermark; nullopt if the file is missing or both slots are damaged.
std::optional<Acknowledged> read_acknowledged(const std::filesystem::path& file);

/// Writes the watermark. Has one user at a time: the thread that opens or closes the log, or the
/// one that writes commits.
class AcknowledgedFile {
 public:
  /// Opens or creates the file; fails as open_private_file() does.
  static Result<std::unique_ptr<AcknowledgedFile>> open(const std::filesystem::path& file);
  ~AcknowledgedFile();
  AcknowledgedFile(const AcknowledgedFile&) = delete;
  AcknowledgedFile& operator=(const AcknowledgedFile&) = delete;

  /// Writes `mark` to both slots, which removes any older watermark, and syncs them. Returns false
  /// if that failed: then nothing may be appended.
  bool begin(const Acknowledged& mark);
  /// Overwrites the older slot, without a sync. A failure is not reported: it leaves the older
  /// watermark, which is weaker but true.
  void write(const Acknowledged& mark);
  /// Syncs the watermark when a log is closed in order. Returns false if that failed.
  bool sync();

 private:
  bool write_slot(const Acknowledged& mark);
  explicit AcknowledgedFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  unsigned next_slot_ = 0;
};

}  // namespace fairlead
