// The bytes of a bundle: one file that holds a history and proves that it is what was written.
//
// A bundle is a sequence of sections, with nothing before, between or after them. Each has a header
// of 64 bytes and a payload; all integers are little-endian.
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
//   FLB1  1, first  JSON: format and version, the program that wrote it, where the events begin
//                   and end with the digests of the hash chain there, the epochs and their programs
//   CONF  0 or 1    JSON: the configuration in force after the last event
//   SNAP  any       a snapshot, as SnapshotSource::bytes gives it (schema/codec.h), by seq
//   PACK  any       a group commit, verbatim as the log stores it (engine/log/pack.h), in order
//   TAIL  1, last   SHA-256 over the headers of all sections before it
//
// A digest thus covers every bit, and the last section covers every other: a bundle that was cut,
// patched or spliced is refused, with the section and the offset where the damage was found. The
// digest of the hash chain in FLB1 is the one that `fairlead log verify` prints on the hub.
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
  std::uint64_t offset = 0;  ///< of its header, in bytes
  std::string_view payload;

  /// For messages: "section PACK of seq 7 at offset 812".
  std::string place() const;
};

/// A bundle file mapped into memory; open has checked every section against its digest.
class BundleFile {
 public:
  /// Opens and verifies a bundle file. Fails with `corrupt`, naming the section and its offset, if
  /// one bit differs or a byte is missing; with `incompatible` if the file is not a bundle; with
  /// `not_found` or `unavailable` if it cannot be read.
  static Result<std::unique_ptr<BundleFile>> open(const std::filesystem::path& path);
  ~BundleFile();
  BundleFile(const BundleFile&) = delete;
  BundleFile& operator=(const BundleFile&) = delete;

  /// All sections but TAIL, in order, as views into the file.
  const std::vector<BundleSection>& sections() const { return sections_; }
  std::uint64_t bytes() const { return bytes_.size(); }

 private:
  explicit BundleFile(std::string_view bytes) : bytes_(bytes) {}
  Result<void> read_sections();

  std::string_view bytes_;
  std::vector<BundleSection> sections_;
};

/// Writes a bundle. The file gets its name only when it is complete and durable.
class BundleWriter {
 public:
  /// Begins to write into `path`.partial; finish() replaces what exists at `path`. Fails with
  /// `bad_input` if that is not a regular file.
  static Result<std::unique_ptr<BundleWriter>> begin(std::filesystem::path path);
  /// Removes the partial file if finish() did not succeed.
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  Result<void> add(std::string_view tag, Seq seq, std::string_view payload);
  /// Adds TAIL, syncs the file, renames it to its name and syncs the directory.
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
