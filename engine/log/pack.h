// A pack: one group commit as one stored value.
//
// Packing costs one Put and one compression a commit instead of one an event, and a tenth of the
// disk space. A reader verifies a pack's own check before it uses anything in it, and finds its
// seqs and times without decompressing. All integers are little-endian.
//
//   offset  size  what
//        0     4  "FLPK"
//        4     2  schema version of the program that wrote it
//        6     1  codec of the payload: 1 = one Zstandard frame
//        7     1  0
//        8     8  first seq (also the key in RocksDB, there big-endian so that packs sort)
//       16     4  count of events, at least 1
//       20     4  bytes of the plain payload
//       24     8  log_time of the first event, ns since 1970
//       32     8  log_time of the last event
//       40    32  digest of the commit before (hash_chain.h)
//       72    32  digest of this commit
//      104     8  check: the first 8 bytes of SHA-256 over bytes 0..103 and the payload
//      112     -  payload
//
// The plain payload is `count` sizes in 8-byte words (4 bytes each, then 4 zero bytes if count is
// odd), followed by the canonical records back to back, so each starts at a multiple of 8 and is
// read in place.
//
// Example: two events of 240 and 96 bytes, seqs 7 and 8, both at 2026-01-01T00:00:15Z. The plain
// payload has 344 bytes: `1e 00 00 00 0c 00 00 00` (30 and 12 words), 240 bytes, 96 bytes. The
// value under the key `00 00 00 00 00 00 00 07` begins
//   46 4c 50 4b  08 00  01  00  07 00 00 00 00 00 00 00  02 00 00 00  58 01 00 00
//   00 d6 0b 6c 55 72 86 18  00 d6 0b 6c 55 72 86 18  <32> <32> <8> then the frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/commit.h"

namespace fairlead {

inline constexpr std::size_t kPackHeaderBytes = 112;
/// The largest payload, in bytes, whose literals a frame keeps plain. A reader of a small payload
/// spends more time on the Huffman table of the literals than on all else
/// (docs/decisions/0031-small-packs-keep-literals-plain.md).
inline constexpr std::size_t kPlainLiteralsMax = 2048;

/// The header of a pack.
struct PackHeader {
  std::uint16_t schema_version = 0;
  Seq first;
  std::uint32_t count = 0;
  std::uint32_t plain_bytes = 0;
  LogTime first_time;
  LogTime last_time;
  Digest previous;
  Digest digest;

  /// The seq of its last event.
  Seq last() const { return {first.value + count - 1}; }
};

/// The events of a pack, decompressed.
struct UnpackedRecords {
  WordBuffer words;                       ///< what `records` view
  std::vector<std::string_view> records;  ///< canonical bytes, 8-byte aligned, in seq order
};

/// Returns the header of `commit`, which must have events.
PackHeader header_of(const Commit& commit);

/// Returns the stored value of `commit`.
std::string pack(const Commit& commit);
/// Returns the same from a commit's header and payload, for a caller that has given its events
/// away.
std::string pack(const PackHeader& header, std::string_view payload);

/// Reads the header and verifies the check over the whole value. Fails with `corrupt` if a bit
/// differs from what was written, with `incompatible` if a newer program wrote it.
Result<PackHeader> read_pack_header(std::string_view value);

/// Decompresses a value whose header read_pack_header() returned. Fails with `corrupt` if the
/// payload does not have the shape above.
Result<UnpackedRecords> unpack(std::string_view value, const PackHeader& header);
/// Decompresses into the memory of `unpacked`. After an error it holds no records.
Result<void> unpack_into(std::string_view value, const PackHeader& header,
                         UnpackedRecords& unpacked);

}  // namespace fairlead
