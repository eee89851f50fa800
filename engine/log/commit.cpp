#include "engine/log/commit.h"

#include <algorithm>
#include <utility>

#include "engine/log/hash_chain.h"
#include "schema/codec.h"

namespace fairlead {

namespace {

constexpr std::size_t kWord = 8;

void put_size(std::string& payload, std::size_t index, std::size_t bytes) {
  // Four bytes count up to 32 GiB in words, and a record has kRecordBytesMax at most.
  for (std::size_t i = 0; i < 4; ++i)
    payload[4 * index + i] = static_cast<char>(bytes / kWord >> 8 * i & 0xFF);
}

std::size_t size_at(std::string_view payload, std::size_t index) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < 4; ++i)
    words |= std::size_t{static_cast<unsigned char>(payload[4 * index + i])} << 8 * i;
  return words * kWord;
}

Error too_large(Seq seq, std::size_t record, std::size_t commit) {
  return {ErrorCode::bad_input, "event " + std::to_string(seq.value) + " makes a record of " +
                                    std::to_string(record) + " bytes in a commit of " +
                                    std::to_string(commit) + " bytes: too large for the log"};
}

}  // namespace

Result<Commit> make_commit(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                           Epoch epoch, std::string memory) {
  Result<Commit> commit = make_unchained(tail, drafts, time, epoch, std::move(memory));
  if (!commit) return commit;
  commit->previous = tail.chain;
  commit->digest = extend_chain(commit->previous, commit->payload, drafts.size());
  return commit;
}

Result<Commit> make_unchained(const LogTail& tail, std::span<EventDraft> drafts, LogTime time,
                              Epoch epoch, std::string memory) {
  Commit commit;
  commit.events.reserve(drafts.size());
  commit.payload = std::move(memory);
  const std::size_t table = size_table_bytes(drafts.size());
  // Keeps the capacity of `memory`. The zeros are also the padding behind an odd count, so equal
  // commits give equal packs.
  commit.payload.assign(table, '\0');
  // A clock that went back must not reverse log time: last_at() halves by it.
  const LogTime log_time = std::max(time, tail.last_time);
  Seq seq = tail.last;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    seq = next(seq);
    EventDraft& draft = drafts[i];
    commit.events.emplace_back(seq, log_time, epoch, std::move(draft.source), draft.cause,
                               std::move(draft.fact));
    const std::size_t before = commit.payload.size();
    encode_to(commit.events.back(), commit.payload);
    const std::size_t size = commit.payload.size() - before;
    put_size(commit.payload, i, size);
    if (size <= kRecordBytesMax && commit.payload.size() - table <= kCommitBytesMax) continue;
    // Too large: the caller gets its drafts back as they were.
    for (std::size_t moved = 0; moved <= i; ++moved) {
      drafts[moved].source = std::move(commit.events[moved].source);
      drafts[moved].fact = std::move(commit.events[moved].fact);
    }
    return too_large(seq, size, commit.payload.size() - table);
  }
  return commit;
}

Digest extend_chain(const Digest& previous, std::string_view payload, std::size_t count) {
  const std::string_view records = payload.substr(size_table_bytes(count));
  return extend_chain(previous, std::span(&records, 1));
}

std::vector<std::string_view> records_in(std::string_view payload, std::size_t count) {
  std::vector<std::string_view> records;
  records.reserve(count);
  std::size_t offset = size_table_bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    records.push_back(payload.substr(offset, size_at(payload, i)));
    offset += records.back().size();
  }
  return records;
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
  // This program encodes older versions in another form, so only the chain vouches for them.
  if (schema_version_of(record) == kSchemaVersion && encode(event) != record)
    return "its bytes are not those of the event they hold";
  return {};
}

}  // namespace fairlead
