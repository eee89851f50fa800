// Encodes events and snapshot envelopes as stored bytes, and decodes them.
//
// The stored form is schema/event.capnp in canonical Cap'n Proto: one segment, no segment table, so
// that equal events give equal bytes on every compiler, on which the hash chain rests. Records of
// every released schema version can be read; a record of a newer one is refused, because a part of
// it would be lost. Cap'n Proto's own types never leave the codec's sources. Pure: may be called
// from any thread.
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

/// The schema version that this program writes. schema/CHANGELOG.md lists what each version added.
inline constexpr std::uint16_t kSchemaVersion = 8;

/// The largest record in bytes: a reader holds one in memory. A ClusterMetrics of 10000 nodes needs
/// about 10 MiB.
inline constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;

/// Returns the canonical bytes of `event`, a multiple of 8. Equal events give equal bytes.
std::string encode(const Event& event);
/// Appends them to `out`, whose size must be a multiple of 8: a commit is encoded without a copy of
/// each record.
void encode_to(const Event& event, std::string& out);

/// Appends the same bytes, built by Cap'n Proto for every event: the reference for the fast path of
/// encode_to().
void encode_as_message(const Event& event, std::string& out);

/// Decodes an event. Fails with `corrupt` if `bytes` are not a record, with `incompatible` if a
/// newer program wrote them. Reads bytes whose address is a multiple of 8 in place and copies
/// others once.
Result<Event> decode(std::string_view bytes);

/// Decodes into `event` and reuses its memory. The labels and amounts of a node may view `bytes`,
/// which must outlive `event` and everything that is moved out of it; a copy of `event` owns its
/// memory. Fails like decode(); the contents of `event` are unspecified then.
Result<void> decode_into(std::string_view bytes, Event& event);

/// Returns the schema version in a record; 0 if `bytes` are not a record.
std::uint16_t schema_version_of(std::string_view bytes);

/// A folded state as it is stored, with what identifies it, so that it can be placed and compared
/// without reading the state.
struct SnapshotEnvelope {
  std::uint32_t fold_version = 0;  ///< of the program that folded
  Seq seq;                         ///< the last event folded into the state
  LogTime log_time;                ///< of that event
  Digest state_digest;             ///< SHA-256 of the canonical bytes of State
  Digest log_digest;               ///< hash chain of the log up to and with `seq`
  std::string state;               ///< those canonical bytes, compressed (snapshots/state_frame.h)

  friend bool operator==(const SnapshotEnvelope&, const SnapshotEnvelope&) = default;
};

/// Returns the canonical bytes of a snapshot.
std::string encode(const SnapshotEnvelope& snapshot);

/// Decodes a snapshot without reading its state. Fails like decode().
Result<SnapshotEnvelope> decode_snapshot(std::string_view bytes);

}  // namespace fairlead
