#include "engine/log/commit.h"

#include <algorithm>
#include <utility>

#include "engine/log/hash_chain.h"
#include "schema/codec.h"

namespace fairlead {

Result<Commit> make_commit(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                           Epoch epoch) {
  Commit commit;
  commit.previous = tail.chain;
  commit.events.reserve(drafts.size());
  commit.records.reserve(drafts.size());
  const LogTime log_time = std::max(time, tail.last_time);
  Seq seq = tail.last;
  std::size_t bytes = 0;
  for (EventDraft& draft : drafts) {
    seq = next(seq);
    commit.events.push_back(
        {seq, log_time, epoch, std::move(draft.source), draft.cause, std::move(draft.fact)});
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

Error no_commit_ends_at(Seq seq) {
  return {ErrorCode::not_found, "no group commit ends with seq " + std::to_string(seq.value)};
}

Error was_pruned(Seq seq, Seq first) {
  return {ErrorCode::gone, "seq " + std::to_string(seq.value) +
                               " was pruned: the log begins at seq " + std::to_string(first.value)};
}

Error was_pruned_at(const LogTail& base) {
  return {ErrorCode::gone, "the events until " + to_rfc3339(base.last_time) +
                               " were pruned: the log begins at seq " +
                               std::to_string(next(base.last).value)};
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
  // A record of an older version is held by the chain alone: this program writes another form.
  if (schema_version_of(record) == kSchemaVersion && encode(event) != record)
    return "its bytes are not those of the event they hold";
  return {};
}

}  // namespace fairlead
