// One group commit: drafts with their places in the log and their link in the hash chain.
//
// Both logs make commits here, so that they number, time, encode and chain alike; they differ only
// in where a commit is kept.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/log/event_log.h"
#include "schema/event.h"

namespace fairlead {

/// Bound on the canonical bytes of one commit: it is compressed and written in one piece.
inline constexpr std::size_t kCommitBytesMax = std::size_t{256} << 20;

/// Where a log ends.
struct LogTail {
  Seq last;           ///< 0 of an empty log
  LogTime last_time;  ///< of that event; 1970 of an empty log, the earliest time a log can hold
  Digest chain;       ///< after the last commit; zero of an empty log
};

/// Events in seq order with their canonical bytes.
struct Commit {
  std::vector<Event> events;
  std::string payload;  ///< their records as a pack holds them (pack.h): sizes, then records
  Digest previous;
  Digest digest;
};

/// Makes a commit of `drafts` at the places after `tail`: dense seqs and one log_time, not before
/// the tail's. Moves sources and facts out of `drafts`; reuses `memory` for the payload. Fails with
/// `bad_input` if a record or the commit is too large, and then restores the drafts.
Result<Commit> make_commit(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                           Epoch epoch, std::string memory = {});
/// Makes the same commit without a link in the chain: both digests are zeros.
Result<Commit> make_unchained(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                              Epoch epoch, std::string memory = {});

/// Returns the digest of a commit of `count` events with this payload, after `previous`.
Digest extend_chain(const Digest& previous, std::string_view payload, std::size_t count);

/// Returns views of the records in a payload of `count` events.
std::vector<std::string_view> records_in(std::string_view payload, std::size_t count);
/// Returns the bytes of the size table before the records: 4 an event, padded to a multiple of 8.
constexpr std::size_t size_table_bytes(std::size_t count) { return (count * 4 + 7) / 8 * 8; }

/// Returns where a log ends after `commit`.
LogTail tail_after(const Commit& commit);

/// Returns the API server that holds the object of an event: the target of an intent, else the
/// event's source.
const SourceName& holder_of(const Event& event);

/// The `not_found` error of chain_at() for a seq at which no commit ends.
Error no_commit_ends_at(Seq seq);

/// The `gone` errors of a question about pruned events, by seq and by time. `base` is where the
/// pruned events ended.
Error was_pruned(Seq seq, Seq first);
Error was_pruned_at(const LogTail& base);

/// Counts `event`, the next in seq order, in `stat`.
void count_event(LogStat& stat, const Event& event);

/// Returns the fault of `record`, which was decoded to `event`; empty if it has none. Checks the
/// seq, the time and that encoding the event gives the same bytes. Records of older schema
/// versions have other bytes, and the hash chain alone vouches for them.
std::string fault_in_record(const Event& event, std::string_view record, Seq expected,
                            LogTime not_before);

}  // namespace fairlead
