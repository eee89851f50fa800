#include "tests/bench/debounce_traces.h"

#include <algorithm>
#include <map>

#include "engine/base/check.h"
#include "replay/virtual_hub.h"

namespace fairlead::bench {

namespace {

constexpr int kNodes = 100;
constexpr LogTime kBegin{hours(1).ns};
constexpr Amount kCores = 64'000;
const std::string kCluster = "member";

std::string node_name(int number) {
  std::string digits = std::to_string(number);
  return "node-" + std::string(3 - digits.size(), '0') + digits;
}

NodeFacts whole_node() {
  NodeFacts node;
  node.labels = {{"type", "gpu"}};
  node.ready = true;
  node.allocatable = {{"cpu", kCores}, {"nvidia.com/gpu", 8}};
  return node;
}

// Collects facts in order of time.
class TraceMaker {
 public:
  explicit TraceMaker(std::string name) { trace_.name = std::move(name); }

  void nodes_watched() {
    for (int i = 0; i < kNodes; ++i)
      put(LogTime{}, seen(kCluster, Kind::node, node_name(i), whole_node()));
  }
  void node(LogTime at, int number, NodeFacts facts) {
    put(at, seen(kCluster, Kind::node, node_name(number), std::move(facts)));
    ++trace_.changes;
  }
  void node_gone(LogTime at, int number) {
    put(at, {kCluster, ObjectMissing{{Kind::node, "", node_name(number)}, "", ""}});
    ++trace_.changes;
  }
  void metrics(LogTime at, bool wiped) {
    ClusterMetricsFacts facts;
    for (int i = 0; i < kNodes && !wiped; ++i) facts.nodes[node_name(i)] = whole_node();
    put(at, seen(std::string(kHub), Kind::cluster_metrics, kCluster, std::move(facts)));
    if (at > LogTime{}) ++trace_.changes;
  }
  DebounceTrace done(LogTime end) {
    describe_hub();
    std::multimap<LogTime, TimedFact> by_time;  // keeps the order of equal times
    for (TimedFact& each : trace_.facts) by_time.emplace(each.at, std::move(each));
    trace_.facts.clear();
    for (auto& [at, each] : by_time) trace_.facts.push_back(std::move(each));
    trace_.end = end;
    return std::move(trace_);
  }

 private:
  static WatchFact seen(std::string source, Kind kind, std::string name, Facts facts) {
    ObjectSeen object;
    object.key = {kind, "", std::move(name)};
    object.version = kind == Kind::claim || kind == Kind::cluster_metrics ? "v1alpha1" : "v1beta2";
    object.uid = "uid-" + object.key.name;
    object.generation = 1;
    object.facts = std::move(facts);
    return {std::move(source), std::move(object)};
  }
  void put(LogTime at, WatchFact fact) { trace_.facts.push_back({at, std::move(fact)}); }

  // One flavor, one queue, one claim for all of it.
  void describe_hub() {
    const std::string hub(kHub);
    ResourceFlavorFacts flavor;
    flavor.node_labels = {{"type", "gpu"}};
    put(LogTime{}, seen(hub, Kind::resource_flavor, "gpu", flavor));
    const auto none = [](const std::string& resource) {
      return ResourceQuota{resource, to_quantity(resource, 0), {}, {}};
    };
    ClusterQueueFacts queue;
    queue.groups = {{{"cpu", "nvidia.com/gpu"}, {{"gpu", {none("cpu"), none("nvidia.com/gpu")}}}}};
    put(LogTime{}, seen(hub, Kind::cluster_queue, "queue", queue));
    ClaimFacts claim;
    claim.spec.cluster_name = kCluster;
    claim.spec.nominal_resources = {{"cpu", "6400"}, {"nvidia.com/gpu", "800"}};
    claim.spec.assignments = {
        {"queue", "gpu", {{"cpu", "6080"}, {"nvidia.com/gpu", "800"}}, {}, {}}};
    put(LogTime{}, seen(hub, Kind::claim, kCluster + "-resource-claim", claim));
  }

  DebounceTrace trace_;
};

NodeFacts not_ready() {
  NodeFacts node = whole_node();
  node.ready = false;
  return node;
}

int rounds(TraceLength length, int full, int tiny) {
  return length == TraceLength::full ? full : tiny;
}

}  // namespace

DebounceTrace node_flap(TraceLength length) {
  TraceMaker maker("node flap");
  maker.nodes_watched();
  const int minutes_long = rounds(length, 240, 40);
  for (int minute = 0; minute < minutes_long; ++minute) {
    const LogTime at = kBegin + minutes(minute);
    for (int node = 0; node < 5; ++node) {
      maker.node(at + seconds(7 * node), node, not_ready());
      maker.node(at + seconds(7 * node + 20), node, whole_node());
    }
    for (int second = 0; second < 60; second += 6) {
      maker.node(at + seconds(second), 50, not_ready());
      maker.node(at + seconds(second + 3), 50, whole_node());
    }
  }
  return maker.done(kBegin + minutes(minutes_long + 120));
}

DebounceTrace rolling_upgrade(TraceLength length) {
  TraceMaker maker("rolling upgrade");
  maker.nodes_watched();
  const int nodes = rounds(length, kNodes, 8);
  for (int node = 0; node < nodes; ++node) {
    const LogTime at = kBegin + seconds(90 * node);
    NodeFacts cordoned = whole_node();
    cordoned.unschedulable = true;
    maker.node(at, node, cordoned);
    maker.node_gone(at + seconds(30), node);
    maker.node(at + seconds(60), node, not_ready());
    maker.node(at + seconds(75), node, whole_node());
  }
  return maker.done(kBegin + seconds(90 * nodes) + hours(1));
}

DebounceTrace mass_failure(TraceLength length) {
  TraceMaker maker("mass failure");
  maker.nodes_watched();
  for (int round = 0; round < rounds(length, 3, 1); ++round) {
    const LogTime at = kBegin + hours(round);
    for (int node = 0; node < kNodes / 2; ++node) {
      maker.node(at + milliseconds(100 * node), node, not_ready());
      maker.node(at + minutes(10) + milliseconds(200 * node), node, whole_node());
    }
  }
  return maker.done(kBegin + hours(rounds(length, 3, 1)));
}

DebounceTrace status_wipe(TraceLength length) {
  TraceMaker maker("status wipe");
  maker.metrics(LogTime{}, false);
  const int wipes = rounds(length, 24, 3);
  for (int wipe = 0; wipe < wipes; ++wipe) {
    maker.metrics(kBegin + minutes(5 * wipe), true);
    maker.metrics(kBegin + minutes(5 * wipe) + seconds(40), false);
  }
  return maker.done(kBegin + minutes(5 * wipes) + hours(1));
}

DebounceTrace slow_drift(TraceLength length) {
  TraceMaker maker("slow drift");
  maker.nodes_watched();
  const int steps = rounds(length, 240, 40);
  for (int step = 0; step < steps; ++step) {
    NodeFacts node = whole_node();
    // Down for half of the time, then up; a node is a percent of the cluster.
    const int depth = step < steps / 2 ? step + 1 : steps - step - 1;
    node.allocatable = {{"cpu", kCores - kCores / 100 * (depth % 50)}, {"nvidia.com/gpu", 8}};
    maker.node(kBegin + minutes(step), step % kNodes, node);
  }
  return maker.done(kBegin + minutes(steps) + hours(1));
}

std::vector<DebounceTrace> debounce_traces(TraceLength length) {
  return {node_flap(length), rolling_upgrade(length), mass_failure(length), status_wipe(length),
          slow_drift(length)};
}

Configuration ours() {
  Configuration configuration;
  configuration.create_claims = false;
  return configuration;
}

Configuration no_debounce() {
  Configuration configuration = ours();
  DebounceSettings& debounce = configuration.debounce;
  debounce.ingest_coalesce = debounce.shrink_window = debounce.grow_window = {};
  debounce.first_quiet = debounce.min_grow_interval = debounce.deadband_max_age = {};
  debounce.mass_shrink_hold = debounce.write_interval = {};
  debounce.grow_deadband_percent = debounce.flap_penalty = debounce.mass_shrink_percent = 0;
  return configuration;
}

Configuration fixed_delay() {
  Configuration configuration = no_debounce();
  configuration.debounce.shrink_window = configuration.debounce.grow_window = seconds(15);
  return configuration;
}

Configuration pod_autoscaler() {
  Configuration configuration = no_debounce();
  configuration.debounce.shrink_window = seconds(300);
  return configuration;
}

Totals damped(const DebounceTrace& trace, const Configuration& configuration) {
  Seq last;
  TotalsMeter meter;
  bool measured = false;
  VirtualPorts ports;
  ports.append = [&last](std::vector<EventDraft> drafts, LogTime at) {
    return Result<std::vector<Event>>(numbered(std::move(drafts), at, last));
  };
  ports.decided = [&](const State& state, const DirtySet& dirty) {
    if (measured) meter.decided(state, dirty);
  };
  VirtualHub hub(std::move(ports), Feedback::assumed);
  std::vector<EventDraft> begin;
  begin.push_back({std::string(kSelf), {}, ConfigChanged{configuration}});
  check(hub.append(LogTime{}, std::move(begin)).has_value(), "the trace begins");
  std::size_t before = 0;
  for (const TimedFact& each : trace.facts) {
    if (each.at > hub.now()) check(hub.run_to(each.at).has_value(), "time goes on");
    if (!measured && each.at >= kBegin) {
      measured = true;
      before = hub.writes().size();
      DirtySet all;
      all.everything = true;
      meter.decided(hub.state(), all);
    }
    check(hub.offer(each.fact).has_value(), "facts are taken in");
  }
  check(hub.run_to(trace.end + Duration{1}).has_value(), "time goes on");
  for (std::size_t i = before; i < hub.writes().size(); ++i) meter.wrote(hub.writes()[i].intent);
  return meter.totals(trace.end);
}

}  // namespace fairlead::bench
