// The bytes of a bundle: one file that holds a history and proves that it is what was written.
//
// A bundle is a row of sections, one behind the other and nothing else. Each has a header of 64
// bytes and a payload; all integers are little-endian.
//
//   offset  size  what
//        0     4  tag
//        4     4  0
//        8     8  bytes of the payload
//       16     8  seq: of a PACK its first event, of a SNAP its last, of CONF the event that set it
//       24     8  place of the section in the file: 0, 1, 2 ...
//       32    32  SHA-256 over bytes 0..31 and the payload
//       64     -  payload
//
//   tag   how many  payload
//   FLB1  1, first  JSON: format and version, what wrote it, where the events begin and end with
//   the
//                   digests of the hash chain there, the epochs and their programs
//   CONF  0 or 1    JSON: the configuration in force after the last event
//   SNAP  any       a snapshot, as SnapshotSource::bytes gives it (schema/codec.h), by seq
//   PACK  any       a group commit, verbatim as the log stores it (engine/log/pack.h), in order
//   TAIL  1, last   SHA-256 over the headers of all sections before it
//
// So every bit is under a digest, and every section is under the last one: a bundle that was cut,
// patched or stitched together is refused with the section and offset where that shows. The digest
// of the hash chain in FLB1 is the one that `fairlead log verify` prints on the hub.
//
// Example: the third section is a pack of 500 bytes whose first event is seq 7. Its header begins
//   50 41 43 4b 00 00 00 00  f4 01 00 00 00 00 00 00  07 00 00 00 00 00 00 00
//   02 00 00 00 00 00 00 00  <32 bytes of SHA-256>    and the pack follows: 46 4c 50 4b 01 00 ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/base/types.h"

namespace fairlead {

inline constexpr std::size_t kSectionHeaderBytes = 64;

/// One section of an open bundle.
struct BundleSection {
  std::string_view tag;
  Seq seq;
  std::uint64_t offset = 0;  ///< of its header
  std::string_view payload;

  /// "section PACK of seq 7 at offset 812": for messages.
  std::string place() const;
};

/// A bundle file mapped into memory, every section held against its digest.
class BundleFile {
 public:
  /// `corrupt`, naming the section and its offset, if one bit is not what was written or a byte is
  /// missing; `incompatible` if it is no bundle; `not_found`, `unavailable` if it cannot be read.
  static Result<std::unique_ptr<BundleFile>> open(const std::filesystem::path& path);
  ~BundleFile();
  BundleFile(const BundleFile&) = delete;
  BundleFile& operator=(const BundleFile&) = delete;

  /// All but TAIL, in order. They view the file.
  const std::vector<BundleSection>& sections() const { return sections_; }
  std::uint64_t bytes() const { return bytes_.size(); }

 private:
  explicit BundleFile(std::string_view bytes) : bytes_(bytes) {}
  Result<void> read_sections();

  std::string_view bytes_;
  std::vector<BundleSection> sections_;
};

/// Writes a bundle. It has its name only when it is whole and durable.
class BundleWriter {
 public:
  /// Begins to write beside `path`; what stands there is replaced by finish().
  static Result<std::unique_ptr<BundleWriter>> begin(std::filesystem::path path);
  /// What was begun and not finished leaves nothing behind.
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  Result<void> add(std::string_view tag, Seq seq, std::string_view payload);
  /// Adds TAIL, syncs, renames.
  Result<void> finish();
  std::uint64_t bytes() const { return bytes_; }

 private:
  BundleWriter(std::filesystem::path path, std::filesystem::path fresh, int descriptor);
  Result<void> write(std::string_view bytes);

  const std::filesystem::path path_;
  const std::filesystem::path fresh_;
  int descriptor_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::string buffer_;
  std::string headers_;
  bool finished_ = false;
};

}  // namespace fairlead
