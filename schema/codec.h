// Turns events and snapshot envelopes into stored bytes and back.
//
// The stored form is schema/event.capnp in canonical Cap'n Proto: one segment, no segment table, so
// that equal events give equal bytes on every compiler and the hash chain means something. Records
// of every released schema version can be read; a record of a newer one is refused rather than half
// understood. Cap'n Proto's own types never leave the codec's sources. Pure: may be called from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/digest.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/types.h"
#include "schema/event.h"

namespace fairlead {

/// What this program writes. schema/CHANGELOG.md says what each version added.
inline constexpr std::uint16_t kSchemaVersion = 4;

/// No record is larger: a reader may hold one in memory. A ClusterMetrics of 10000 nodes takes some
/// 10 MiB.
inline constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;

/// The canonical bytes of `event`, a multiple of 8. Equal events give equal bytes.
std::string encode(const Event& event);
/// The same, behind what is in `out`, whose size is a multiple of 8: a commit is encoded without a
/// copy of each record.
void encode_to(const Event& event, std::string& out);

/// The same bytes, made by Cap'n Proto for every event: what the shorter ways of encode_to are held
/// against.
void encode_as_message(const Event& event, std::string& out);

/// The event that `bytes` hold. `corrupt` if they are no record, `incompatible` if a newer program
/// wrote them. Bytes that start at a multiple of 8 in memory are read in place, others are copied
/// once.
Result<Event> decode(std::string_view bytes);

/// The same into `event`, which may hold anything: its memory is used again. The labels and amounts
/// of a node view `bytes`, which must outlive `event` and whatever is moved out of it; a copy of
/// `event` stands alone. After an error `event` holds something.
Result<void> decode_into(std::string_view bytes, Event& event);

/// The schema version that a record says it has; 0 if it is none.
std::uint16_t schema_version_of(std::string_view bytes);

/// A folded state on its way to disk: enough to judge it without reading the state itself.
struct SnapshotEnvelope {
  std::uint32_t fold_version = 0;  ///< of the program that folded
  Seq seq;                         ///< the last event folded into the state
  LogTime log_time;                ///< of that event
  Digest state_digest;             ///< SHA-256 of the canonical bytes of State
  Digest log_digest;               ///< hash chain of the log up to and with `seq`
  std::string state;               ///< those bytes, compressed (snapshots/ knows how)

  friend bool operator==(const SnapshotEnvelope&, const SnapshotEnvelope&) = default;
};

/// The canonical bytes of a snapshot.
std::string encode(const SnapshotEnvelope& snapshot);

/// The snapshot that `bytes` hold; its state is not looked at. Errors as `decode`.
Result<SnapshotEnvelope> decode_snapshot(std::string_view bytes);

}  // namespace fairlead
