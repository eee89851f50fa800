#include "replay/timeline/suppressed_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/fold/evolve.h"
#include "replay/timeline/series_json.h"
#include "replay/timeline/timeline.h"

namespace fairlead {

namespace {

// When each suppression ends, by node, as State has it at a closed moment.
std::map<std::string, LogTime> suppressed_now(const State& state, const std::string& name) {
  std::map<std::string, LogTime> now;
  const auto at = state.clusters.find(name);
  if (at == state.clusters.end() || !at->second.source) return now;
  const Cluster& cluster = at->second;
  const auto& nodes = *cluster.source == CapacitySource::nodes ? cluster.reports.nodes
                                                               : cluster.reports.metrics_nodes;
  for (const auto& [until, node] : cluster.releases)
    if (nodes.contains(node)) now[node] = until;
  return now;
}

// Collects the steps of one cluster's nodes, from one closed moment to the next.
class SuppressionWalk {
 public:
  explicit SuppressionWalk(std::string cluster) : cluster_(std::move(cluster)) {}

  void sample(const State& state) {
    auto now = suppressed_now(state, cluster_);
    for (const auto& [node, until] : now)
      if (const auto was = last_.find(node); was == last_.end() || was->second != until)
        add(state, node, until);
    for (const auto& [node, until] : last_)
      if (!now.contains(node)) add(state, node, std::nullopt);
    last_ = std::move(now);
  }
  void sample(const State& state, const DirtySet& dirty) {
    if (dirty.everything || dirty.clusters.contains(cluster_) ||
        dirty.capacities.contains(cluster_))
      sample(state);
  }
  bool full() const { return count_ >= kSuppressedStepsMax; }
  Json rows() const {
    Json rows = Json::array();
    for (const auto& [node, steps] : steps_) rows.push_back({{"node", node}, {"steps", steps}});
    return rows;
  }

 private:
  void add(const State& state, const std::string& node, std::optional<LogTime> until) {
    if (full()) return;
    ++count_;
    steps_[node].push_back({to_rfc3339(state.now), seq_json(state.seq), time_json(until)});
  }

  const std::string cluster_;
  std::map<std::string, LogTime> last_;
  std::map<std::string, Json> steps_;
  std::size_t count_ = 0;
};

// Closes the open moment, and lets every deadline before `time` pass as a moment of its own.
void pass_moments(State& state, DirtySet& dirty, LogTime time, SuppressionWalk& walk) {
  close_moment(state, dirty);
  walk.sample(state, std::exchange(dirty, {}));
  while (state.deadlines.next() < time) {
    run_until(state, state.deadlines.next(), dirty);
    walk.sample(state, std::exchange(dirty, {}));
  }
}

// Folds the events after `state` up to `last`, and every deadline up to `to`.
Result<void> walk_until(const ReadableLog& log, State& state, Seq last, LogTime to,
                        SuppressionWalk& walk) {
  auto opened = log.read(next(state.seq));
  if (!opened) return opened.error();
  DirtySet dirty;
  while (state.seq < last) {
    const auto event = (*opened)->next();
    if (!event) return event.error();
    if (!*event) break;
    if ((*event)->log_time > state.now) pass_moments(state, dirty, (*event)->log_time, walk);
    evolve(state, **event, dirty);
  }
  pass_moments(state, dirty, {to.ns + 1}, walk);
  return {};
}

// The last event until `time`; of a pruned log at least the one before those that are kept.
Result<Seq> event_until(const ReadableLog& log, LogTime time) {
  auto seq = log.last_at(time);
  if (seq || seq.error().code != ErrorCode::gone) return seq;
  return Seq{log.first_seq().value - 1};
}

// The newest snapshot until `first`, or the beginning of the log.
Result<State> state_near(const ReadableLog& log, const SnapshotSource* snapshots, Seq first) {
  auto snapshot = newest_of(log, snapshots, first);
  if (!snapshot) return snapshot.error();
  return *snapshot ? std::move((*snapshot)->state) : State{};
}

}  // namespace

Result<AuditAnswer> suppressed_nodes(const ReadableLog& log, const SnapshotSource* snapshots,
                                     const std::string& cluster, const TimelineSpan& span) {
  Json answer{{"kind", "SuppressedNodes"}, {"cluster", cluster}, {"from", to_rfc3339(span.from)},
              {"to", to_rfc3339(span.to)}, {"leftOut", true},    {"nodes", Json::array()}};
  const auto first = event_until(log, span.from);
  if (!first) return first.error();
  const auto last = event_until(log, span.to);
  if (!last) return last.error();
  auto near = state_near(log, snapshots, *first);
  if (!near) return near.error();
  if (last->value - near->seq.value > kSuppressedEventsMax) return AuditAnswer{std::move(answer)};
  auto state = state_from(log, *std::move(near), *first);
  if (!state) return state.error();
  DirtySet dirty;
  run_until(*state, std::max(span.from, state->now), dirty);
  SuppressionWalk walk(cluster);
  walk.sample(*state);
  if (auto walked = walk_until(log, *state, *last, span.to, walk); !walked) return walked.error();
  answer["leftOut"] = walk.full();
  answer["nodes"] = walk.rows();
  return AuditAnswer{std::move(answer)};
}

}  // namespace fairlead
