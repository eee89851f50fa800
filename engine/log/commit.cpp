#include "engine/log/commit.h"

#include <algorithm>

#include "engine/log/hash_chain.h"
#include "schema/codec.h"

namespace fairlead {

Result<Commit> make_commit(const LogTail& tail, std::span<const EventDraft> drafts, LogTime time,
                           Epoch epoch) {
  Commit commit;
  commit.previous = tail.chain;
  commit.events.reserve(drafts.size());
  commit.records.reserve(drafts.size());
  const LogTime log_time = std::max(time, tail.last_time);
  Seq seq = tail.last;
  std::size_t bytes = 0;
  for (const EventDraft& draft : drafts) {
    seq = next(seq);
    commit.events.push_back({seq, log_time, epoch, draft.source, draft.cause, draft.fact});
    commit.records.push_back(encode(commit.events.back()));
    const std::size_t size = commit.records.back().size();
    bytes += size;
    if (size > kRecordBytesMax || bytes > kCommitBytesMax)
      return Error{ErrorCode::bad_input, "event " + std::to_string(seq.value) +
                                             " makes a record of " + std::to_string(size) +
                                             " bytes in a commit of " + std::to_string(bytes) +
                                             " bytes: too large for the log"};
  }
  commit.digest = extend_chain(commit.previous, commit.records);
  return commit;
}

LogTail tail_after(const Commit& commit) {
  return {commit.events.back().seq, commit.events.back().log_time, commit.digest};
}

const SourceName& holder_of(const Event& event) {
  const auto* intended = std::get_if<PatchIntended>(&event.fact);
  return intended != nullptr ? intended->cluster : event.source;
}

void count_event(LogStat& stat, const Event& event) {
  if (stat.events == 0) {
    stat.first = event.seq;
    stat.first_time = event.log_time;
  }
  ++stat.events;
  stat.last = event.seq;
  stat.last_time = event.log_time;
  const auto place = std::lower_bound(stat.epochs.begin(), stat.epochs.end(), event.epoch);
  if (place == stat.epochs.end() || *place != event.epoch) stat.epochs.insert(place, event.epoch);
  if (const auto* started = std::get_if<EpochStarted>(&event.fact))
    stat.program_version = started->program_version;
}

std::string fault_in_record(const Event& event, std::string_view record, Seq expected,
                            LogTime not_before) {
  if (event.seq != expected) return "the record holds seq " + std::to_string(event.seq.value);
  if (event.log_time < not_before) return "its time is before that of the event before it";
  // All released versions are version 1 so far: every record must encode to its own bytes.
  static_assert(kSchemaVersion == 1);
  if (encode(event) != record) return "its bytes are not those of the event they hold";
  return {};
}

}  // namespace fairlead
