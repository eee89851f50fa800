// Finds the object of a watch line, and whether the line reports a change, without parsing it.
//
// Most updates of an object change nothing that a projection reads: a node's heartbeat, a queue's
// count of pending workloads. For each kind there is a list of fields that no projection reads. A
// fingerprint hashes the bytes of everything else, 128 bits under a key of this process. If the
// hash of an object's line is that of the line before, then so are the bytes of every field that
// may be read, and with them the facts: the line need not be read, and nothing of it enters the
// log. (Two different lines of one hash: 2^-128 by chance, and no sender knows the key.) The
// converse does not hold: the same facts in another spelling have another hash, and the line is
// read. What it saves: docs/decisions/0020-watch-line-fingerprint.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/document/json_index.h"
#include "schema/kind.h"

namespace fairlead {

/// Views into the line; empty where it has no such field or writes it with escapes.
struct LineFingerprint {
  using Hash = std::array<std::uint64_t, 2>;
  std::string_view type;
  std::string_view namespace_;
  std::string_view name;
  std::string_view uid;
  std::string_view resource_version;
  Hash rest{};  ///< of everything that a projection may read
};

struct LineField;

/// Makes the fingerprints of watch lines of one kind. One thread.
class LineFingerprinter {
 public:
  explicit LineFingerprinter(Kind kind);

  /// Returns the fingerprint of a line; nullopt if it is no object, or cut. (It does not check that
  /// it is JSON.) The byte behind the line must be readable and one that cannot continue a token: a
  /// newline, or a string's NUL. `left_out` gets the values that no projection reads, in order:
  /// all that is not hashed but identity, version and, where has_quota_writers(), managedFields.
  std::optional<LineFingerprint> fingerprint(const JsonIndex& line,
                                             std::vector<PlaceRange>& left_out) const;

  /// Returns the paths of the fields that are left out, for tests: "status.images",
  /// "status.nodes.*.usage".
  std::vector<std::string> ignored() const;

 private:
  class Walk;
  static const LineField& fields_of(Kind kind);

  Kind kind_;
  const LineField* root_;  // shared by all of the kind, which may be thousands
};

}  // namespace fairlead
