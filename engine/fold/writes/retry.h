// When a refused write is tried again.
#pragma once

#include <cstdint>

#include "engine/fold/deadlines.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

/// After a conflict the object is derived again once the watch reports it. Without a report the
/// write is tried again after this, doubling up to kRefusalRetryMax.
inline constexpr Duration kConflictRetry = seconds(1);
/// A write that was refused for its content is tried again after this, doubling likewise: it would
/// be refused again.
inline constexpr Duration kRefusalRetry = seconds(5);
inline constexpr Duration kRefusalRetryMax = minutes(10);
/// After an outage it is tried again in the write interval, at least kConflictRetry, doubling up to
/// this: a shrink may be waiting.
inline constexpr Duration kOutageRetryMax = seconds(30);
/// A person grants missing rights, and no event reports it: after kRefusalRetry, doubling up to
/// this.
inline constexpr Duration kRightsRetryMax = minutes(1);

/// Returns how long a write waits after `attempts` conflicts in a row.
Duration wait_after_conflicts(std::int64_t attempts);
/// Returns how long a write waits that was refused `attempts` times in a row for `cause`.
Duration wait_after_refusals(TermsReader state, const WriteKey& key, RejectionCause cause,
                             std::int64_t attempts);

/// Keeps WriteTables::held_up equal to the refusals: the one of `write`, whose key is `key`, may
/// have changed.
void note_held_up(StateView<MultiKueue, WriteTables> state, const WriteKey& key,
                  const WriteState& write);
/// Whether Fairlead lacks the right to write some object of the kind on the hub, or its status.
bool lacks_rights(const WriteTables& writes, Kind kind);

}  // namespace fairlead
