// One group commit: drafts that got their place in the log and their link in the hash chain.
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

/// Gives `drafts` the places after `tail`: dense seqs, one log_time, not before the last.
/// Sources and facts are moved out of `drafts`. `bad_input` if it is too large: then the drafts are
/// as they were. `memory` is used for the payload.
Result<Commit> make_commit(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                           Epoch epoch, std::string memory = {});
/// The same without a link in the chain: both digests are zeros.
Result<Commit> make_unchained(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                              Epoch epoch, std::string memory = {});

/// The digest of a commit whose payload this is, of `count` events.
Digest extend_chain(const Digest& previous, std::string_view payload, std::size_t count);

/// The records of a payload of `count` events.
std::vector<std::string_view> records_in(std::string_view payload, std::size_t count);
/// How many bytes of a payload are sizes.
constexpr std::size_t size_table_bytes(std::size_t count) { return (count * 4 + 7) / 8 * 8; }

/// Where a log ends after `commit`.
LogTail tail_after(const Commit& commit);

/// The API server that holds the object an event is about: the target of an intent, else where it
/// came from.
const SourceName& holder_of(const Event& event);

/// What chain_at answers where no commit ends.
Error no_commit_ends_at(Seq seq);

/// What is answered to who asks for pruned events, by seq or by time. `base` is where they ended.
Error was_pruned(Seq seq, Seq first);
Error was_pruned_at(const LogTail& base);

/// Takes `event`, the next in order, into what `stat` tells.
void count_event(LogStat& stat, const Event& event);

/// Whether `event` is a record in the right place, and its bytes those that the encoder gives.
/// Records of older schema versions have other bytes and are checked by the chain alone. Empty if
/// all is well, else what is wrong.
std::string fault_in_record(const Event& event, std::string_view record, Seq expected,
                            LogTime not_before);

}  // namespace fairlead
