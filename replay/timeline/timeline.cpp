#include "replay/timeline/timeline.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/log/read_ahead.h"
#include "replay/beginning.h"
#include "replay/timeline/foreign_writes.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

Timeline::Timeline(TimelineContents contents, State state)
    : state_(std::move(state)), begun_(true), contents_(std::move(contents)) {
  // Which events of its moment were folded already is not known.
  dirty_.everything = true;
}

bool Timeline::has_folded(const ReadableLog& log) const {
  if (log.last_seq() < contents_.seq) return false;
  const auto chain = log.chain_at(contents_.seq);
  return chain && *chain == contents_.chain;
}

Result<void> Timeline::begin_with(const ReadableLog& log, const SnapshotSource* snapshots) {
  *this = Timeline();
  State start;
  if (log.first_seq() > Seq{1}) {
    auto oldest = oldest_beginning(log, snapshots);
    if (!oldest) return oldest.error();
    if (!*oldest)
      return Error{ErrorCode::not_found, "the log was pruned and begins at seq " +
                                             std::to_string(log.first_seq().value) +
                                             ", and no good snapshot holds what was before"};
    start = std::move((*oldest)->state);
  }
  state_ = std::move(start);
  contents_.begin = state_.now;
  begun_ = true;
  dirty_.everything = true;
  return {};
}

Result<bool> Timeline::follow(const ReadableLog& log, const SnapshotSource* snapshots,
                              std::uint64_t events_max) {
  if (!begun_ || !has_folded(log))
    if (auto begun = begin_with(log, snapshots); !begun) return begun.error();
  if (state_.seq >= log.last_seq()) return true;
  auto opened = log.read(next(state_.seq));
  if (!opened) return opened.error();
  EventBatch batch;
  Result<void> read;
  for (std::uint64_t folded = 0; read && folded < events_max; folded += batch.size()) {
    read = (*opened)->next_batch(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::span<const Event> rest = batch.events().subspan(i);
      if (i % kPrefetchEvents == 0) prefetch(state_, rest);
      fold(rest.front());
    }
    if (batch.size() == 0) break;
  }
  // A batch ends with a group commit, but for one that is damaged behind it.
  if (const auto chain = log.chain_at(state_.seq)) {
    contents_.chain = *chain;
    contents_.seq = state_.seq;
  }
  if (!read) return read.error();
  return state_.seq >= log.last_seq();
}

// The open moment is sampled in a copy that is closed: state_ folds on as if it had not been asked,
// since more events of that moment may follow.
Result<bool> Timeline::advance(const ReadableLog& log, const SnapshotSource* snapshots,
                               std::uint64_t events_max) {
  const auto ended = follow(log, snapshots, events_max);
  if (!begun_ || closed_.seq == state_.seq) return ended;
  closed_ = state_;
  DirtySet dirty = dirty_;
  close_moment(closed_, dirty);
  contents_.values.sample(closed_, dirty, observed_);
  return ended;
}

void Timeline::fold(const Event& event) {
  if (state_.seq == Seq{}) contents_.begin = event.log_time;
  if (event.log_time > state_.now && state_.seq != Seq{}) pass_until(event.log_time);
  count(event);
  evolve(state_, event, dirty_);
}

// Closes the open moment, and lets every deadline before `time` pass as a moment of its own.
void Timeline::pass_until(LogTime time) {
  close_moment(state_, dirty_);
  const auto take = [this] {
    contents_.values.sample(state_, dirty_, observed_);
    count_holds(dirty_);
    dirty_ = {};
  };
  take();
  observed_ = {};
  while (state_.deadlines.next() < time) {
    run_until(state_, state_.deadlines.next(), dirty_);
    take();
  }
}

// A loss is held from the close of the moment that brought it on.
void Timeline::count_holds(const DirtySet& dirty) {
  std::set<std::string> clusters = dirty.clusters;
  clusters.insert(dirty.capacities.begin(), dirty.capacities.end());
  if (dirty.everything) {
    clusters.insert(contents_.held.begin(), contents_.held.end());
    for (const auto& [name, cluster] : state_.clusters) clusters.insert(name);
  }
  for (const std::string& name : clusters) {
    const auto cluster = state_.clusters.find(name);
    const bool holds = cluster != state_.clusters.end() && cluster->second.hold.has_value();
    if (!holds)
      contents_.held.erase(name);
    else if (contents_.held.insert(name).second)
      contents_.counts.add(state_.now, {.events = 0, .ours = 0, .foreign = 0, .losses = 1});
  }
}

void Timeline::count(const Event& event) {
  EventCounts counts;
  counts.events = 1;
  if (std::holds_alternative<PatchIntended>(event.fact)) counts.ours = 1;
  if (std::holds_alternative<SourceLost>(event.fact)) counts.losses = 1;
  observed_.note(event);
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  // Asked before the event is folded.
  if (seen != nullptr && is_foreign_write(state_, event.source, *seen)) counts.foreign = 1;
  contents_.counts.add(event.log_time, counts);
}

Result<std::optional<ValueSeries>> exact_values(const ReadableLog& log,
                                                const SnapshotSource* snapshots, LogTime from,
                                                LogTime to) {
  const auto first = log.last_at(from);
  if (!first) return first.error();
  const auto last = log.last_at(to);
  if (!last) return last.error();
  if (last->value - first->value > kExactEventsMax) return std::optional<ValueSeries>();
  const auto chain = log.chain_at(*first);  // the events of a time end with a commit
  if (!chain) return chain.error();
  auto state = state_at(log, snapshots, *first);
  if (!state) return state.error();
  TimelineContents contents;
  contents.seq = *first;
  contents.chain = *chain;
  contents.begin = state->now;
  // follow() folds whole batches, so steps behind `to` may follow: steps_between() leaves them out.
  Timeline timeline(std::move(contents), *std::move(state));
  const std::uint64_t events = std::max<std::uint64_t>(last->value - first->value, 1);
  if (const auto folded = timeline.advance(log, snapshots, events); !folded) return folded.error();
  return std::optional(timeline.values());
}

}  // namespace fairlead
