// The acknowledged mark: how far the log had certainly come.
//
// A write-ahead log cannot tell by itself whether its last commit was torn by a crash (normal,
// nobody was told of it) or destroyed after it had been acknowledged (corruption). So after each
// commit is durable, and before anyone is told, its seq and digest are written to a small file
// beside RocksDB. That write is not synced: after a crash of the process the mark is exact, after a
// loss of power it may name an earlier commit, but never a later one than was durable. A log that
// ends before the mark has lost what was acknowledged.
//
// The file itself is there, with a mark in it, before the first commit can be: whoever opens a log
// for writing writes where it ends, syncs file and directory, and only then appends (an import
// syncs the mark before the log appears). Between making a log and making its mark a crash may
// come: then the log holds no event. So an empty log needs no mark, and a log with events that has
// none, or none that is whole, has lost a file, and with it the proof that the log itself is whole:
// it is treated as damaged at its end, where something may be missing. It is read up to there and
// not written to; who knows that nothing is missing exports all of it (`--to` its last seq) and
// imports that.
//
// The file has two slots of 64 bytes that are written in turn, so that a torn write leaves the
// other (one disk sector holds both: a loss of power leaves old or new bytes of it, not others):
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

/// The last commit that is known to have been durable.
struct Acknowledged {
  Seq seq;  ///< of its last event
  Digest chain;

  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};

/// Reads the mark; nullopt if there is none or both slots are damaged.
std::optional<Acknowledged> read_acknowledged(const std::filesystem::path& file);

/// Writes the mark. One owner, the appending thread.
class AcknowledgedFile {
 public:
  /// Opens or creates the file.
  static Result<std::unique_ptr<AcknowledgedFile>> open(const std::filesystem::path& file);
  ~AcknowledgedFile();
  AcknowledgedFile(const AcknowledgedFile&) = delete;
  AcknowledgedFile& operator=(const AcknowledgedFile&) = delete;

  /// Writes both slots, so that nothing else is left in them, and makes them survive a loss of
  /// power. False if that failed: then nothing may be appended.
  bool begin(const Acknowledged& mark);
  /// Overwrites the older slot. A failure leaves the older mark, which is weaker but true: it is
  /// not reported.
  void write(const Acknowledged& mark);
  /// Makes the mark survive a loss of power too; when a log is closed in order. False if that
  /// failed.
  bool sync();

 private:
  bool write_slot(const Acknowledged& mark);
  explicit AcknowledgedFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  unsigned next_slot_ = 0;
};

}  // namespace fairlead
