#include "engine/runtime/hub_snapshots.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead {

namespace {

std::size_t nodes_in(const State& state) {
  std::size_t nodes = 0;
  for (const auto& [name, cluster] : state.clusters) nodes += cluster.reports.nodes.size();
  return nodes;
}

}  // namespace

HubSnapshots::HubSnapshots(SnapshotStore* store, EventLog& log, std::size_t aside_nodes,
                           std::function<int()> stops, std::function<LogTime()> now, Logger logger)
    : store_(store),
      log_(log),
      aside_nodes_(aside_nodes),
      stops_(std::move(stops)),
      now_(std::move(now)),
      logger_(std::move(logger)) {}

void HubSnapshots::begin_with(const SnapshotInfo& newest) {
  last_ = newest.seq;
  last_bytes_ = newest.bytes;
}

void HubSnapshots::noted(const Checkpoint& checkpoint) {
  last_ = std::max(last_, Seq{checkpoint.events});
}

bool HubSnapshots::is_due(const State& state) const {
  return store_ != nullptr && !saving_ &&
         state.seq.value >=
             last_.value + snapshot_spacing(state.configuration.snapshot_every, last_bytes_);
}

// The events that snapshot_spacing() counts for the bytes take no longer to fold than a snapshot
// takes to save: with a million nodes (14 MiB) 280,000 events, as many as ever come between two of
// them. Below 1 MiB one takes a fraction of a second, and is always saved.
bool HubSnapshots::last_pays(const State& state) const {
  return store_ != nullptr && state.seq.value - last_.value >= snapshot_spacing(0, last_bytes_);
}

void HubSnapshots::wind_down() {
  if (stops_) stops_known_ = stops_();
  saving_.reset();
}

// The seq is noted before it is saved: one that fails is tried again after the usual spacing, not
// after each commit.
std::optional<Checkpoint> HubSnapshots::take(const State& state, const Digest& chain,
                                             Saving saving) {
  last_ = state.seq;
  began_ = now_();
  if (saving == Saving::aside && begin_aside(state, chain))
    return Checkpoint{{}, state.seq.value, chain};
  return report(store_->save(state, chain, [this] { return stops_ && stops_() > stops_known_; }),
                state);
}

bool HubSnapshots::begin_aside(const State& state, const Digest& chain) {
  if (nodes_in(state) < aside_nodes_) return false;
  saving_ = AsideSave::begin(*store_, state, chain);
  return saving_ != nullptr;
}

std::optional<Checkpoint> HubSnapshots::collect(const State& state) {
  if (!saving_) return std::nullopt;
  const auto saved = saving_->result();
  if (!saved) return std::nullopt;
  saving_.reset();
  return report(*saved, state);
}

std::optional<Checkpoint> HubSnapshots::report(const Result<SnapshotInfo>& saved,
                                               const State& state) {
  if (!saved) {
    logger_({Severity::warn, "no snapshot was taken", {{"why", saved.error().message}}});
    return std::nullopt;
  }
  const Duration took = now_() - began_;
  ++taken_;
  last_bytes_ = saved->bytes;
  logger_({Severity::info,
           "snapshot taken",
           {{"seq", std::to_string(saved->seq.value)},
            {"bytes", std::to_string(saved->bytes)},
            {"took", to_go_duration(milliseconds(took.ns / 1'000'000))}}});
  apply_retention(state);
  return Checkpoint{saved->state_digest, saved->seq.value, saved->log_digest};
}

// Applies retention to what is kept beside the events: old snapshots and raw objects.
void HubSnapshots::apply_retention(const State& state) {
  const auto warn = [&](const char* what, const Error& error) {
    logger_({Severity::warn, what, {{"why", error.message}}});
  };
  if (auto retained = store_->apply_retention(log_, kSnapshotsMax); !retained)
    warn("old snapshots cannot be removed", retained.error());
  const LogTime now = log_.last_time();
  const Duration retention = state.configuration.raw_retention;
  // A log that is younger has nothing too old, and a time before 0 would be asked for.
  if (now.ns <= retention.ns) return;
  const auto last = log_.last_at(LogTime{now.ns - retention.ns});
  if (!last) return warn("the log cannot be read", last.error());
  if (auto dropped = log_.drop_raw_before(next(*last)); !dropped)
    warn("raw objects that are too old cannot be removed", dropped.error());
}

}  // namespace fairlead
