// A bundle in pages of bounded size, so that it can be sent by a program that keeps no state of the
// reader.
//
// A page is a run of the bundle's sections (bundle_file.h) without headers, from a cursor on; a
// section that is longer than the page goes on in the next one. All pages of one bundle have the
// same last event, so what is appended meanwhile is not in it. Over HTTP a page is one line of JSON
// and then the bytes of its parts, one after another:
//
//   {"to":9,"next":"pack:7:0","parts":[{"tag":"PACK","seq":4,"size":500,"offset":0,"bytes":500}]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/base/types.h"

namespace fairlead {

class RocksdbLog;
class SnapshotStore;

/// The bytes of sections in one page, at most; the head and the configuration come on top.
inline constexpr std::uint64_t kBundlePageBytes = std::uint64_t{1} << 20;

/// Where a page begins.
struct BundleCursor {
  enum class Stage : std::uint8_t { head, snapshots, packs };
  Stage stage = Stage::head;
  Seq seq;                   ///< of the section; of a snapshot: at or after this seq
  std::uint64_t offset = 0;  ///< bytes of it that were in earlier pages

  friend bool operator==(const BundleCursor&, const BundleCursor&) = default;
};

/// "" for the beginning, else "snapshot:SEQ:OFFSET" or "pack:SEQ:OFFSET".
std::string to_text(const BundleCursor& cursor);
/// Reads such a text; fails with `bad_input`.
Result<BundleCursor> parse_bundle_cursor(std::string_view text);

/// A section, or a piece of one.
struct BundlePart {
  std::string tag;
  Seq seq;
  std::uint64_t size = 0;        ///< of the whole payload
  std::uint64_t offset = 0;      ///< of `bytes` in it
  std::optional<Digest> digest;  ///< SHA-256 of the whole payload, with its first piece
  std::string bytes;
};

struct BundlePage {
  Seq to;  ///< the last event of the bundle
  std::vector<BundlePart> parts;
  std::optional<BundleCursor> next;  ///< nullopt: this is the last page
};

/// Returns the page from `from` on of the bundle of the events up to the group commit that holds
/// `to`, and of the good snapshots among them. A hub may be writing to the log meanwhile. Fails
/// with `not_found` if a snapshot was removed between two pages of it.
Result<BundlePage> bundle_page(const RocksdbLog& log, const SnapshotStore& snapshots, Seq to,
                               const BundleCursor& from);

/// The page as it is sent.
std::string to_bytes(const BundlePage& page);
/// Reads it again. Fails with `unavailable` if it is not a page: another program answered.
Result<BundlePage> read_bundle_page(std::string_view bytes);

}  // namespace fairlead
