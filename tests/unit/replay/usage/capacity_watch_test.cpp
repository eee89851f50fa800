// The changes that CapacityWatch returns after each event add up to a count of all nodes.
#include "replay/usage/capacity_watch.h"

#include <random>

#include "engine/fold/evolve.h"
#include "tests/unit/replay/usage/usage_log.h"

namespace fairlead {

namespace {

ResourceFlavorFacts flavor_of(const std::string& pool) {
  ResourceFlavorFacts facts;
  facts.node_labels = {{"pool", pool}};
  return facts;
}

ClusterQueueFacts queue_with(const std::vector<std::string>& flavors, Amount used = 0) {
  ClusterQueueFacts facts;
  ResourceGroup group{{"gpu"}, {}};
  for (const std::string& flavor : flavors) {
    const Quantity amount(Int128{8} * 1'000'000'000, QuantityFormat::decimal_si);
    group.flavors.push_back({flavor, {{"gpu", amount, std::nullopt, std::nullopt}}});
  }
  facts.groups = {group};
  facts.usage = {{flavors.front(), "gpu", used}};
  return facts;
}

NodeFacts node_of(const std::string& pool, bool ready, Amount gpus) {
  NodeFacts facts;
  facts.labels = Labels{{"pool", pool}};
  facts.ready = ready;
  facts.allocatable = {{"gpu", gpus}};
  return facts;
}

/// A fold that a watch follows. Each event is a moment.
class WatchedFold {
 public:
  using Capacities =
      std::map<std::tuple<std::string, std::string, std::string>, std::pair<Int128, Int128>>;

  WatchedFold() { fold(SourceName(kSelf), ConfigChanged{Configuration{}}); }

  void observe(const SourceName& source, Kind kind, const std::string& name, Facts facts) {
    fold(source, ObjectObserved{{kind, "", name}, "", "", "", 0, std::move(facts), {}});
  }
  void lose(const SourceName& source, Kind kind, const std::string& name) {
    fold(source, ObjectGone{{kind, "", name}, "", ""});
  }
  void fold(const SourceName& source, Fact fact) {
    Event event;
    event.seq = next(state_.seq);
    event.log_time = state_.now + seconds(1);
    event.source = source;
    event.fact = std::move(fact);
    close_moment(state_, dirty_);
    watch_.note(event);
    evolve(state_, event, dirty_);
    close_moment(state_, dirty_);
    take(watch_.changes(state_, dirty_), reported);
    dirty_ = {};
  }
  /// Returns what a new watch counts in the present State.
  Capacities counted_now() const {
    CapacityWatch anew;
    DirtySet everything;
    everything.everything = true;
    Capacities all;
    take(anew.changes(state_, everything), all);
    return all;
  }

  /// The sum of all changes: (accepted, down) by cluster, flavor and resource. Pairs of 0 are left
  /// out.
  Capacities reported;

 private:
  static void take(const std::vector<UsageCapacityChange>& changes, Capacities& reported) {
    for (const UsageCapacityChange& change : changes) {
      const std::tuple key{change.cluster, change.flavor, change.resource};
      reported[key] = {change.accepted, change.down};
      if (change.accepted == 0 && change.down == 0) reported.erase(key);
    }
  }

  State state_;
  DirtySet dirty_;
  CapacityWatch watch_;
};

const SourceName kHubName(kHub);

}  // namespace

TEST_CASE("a node that is not ready is down for its flavor until it is ready or gone") {
  WatchedFold fold;
  fold.observe(kHubName, Kind::resource_flavor, "red", flavor_of("red"));
  fold.observe(kHubName, Kind::cluster_queue, "q", queue_with({"red"}));
  fold.observe("c1", Kind::node, "n1", node_of("red", false, 8));
  fold.observe("c1", Kind::node, "n2", node_of("red", true, 4));
  CHECK(fold.reported.at({"c1", "red", "nvidia.com/gpu"}).second == 8'000);
  SECTION("ready") {
    fold.observe("c1", Kind::node, "n1", node_of("red", true, 8));
    CHECK(fold.reported == WatchedFold::Capacities{});
  }
  SECTION("gone") {
    fold.lose("c1", Kind::node, "n1");
    CHECK(fold.reported == WatchedFold::Capacities{});
  }
  SECTION("the queue names another flavor, to which the nodes do not belong") {
    fold.observe(kHubName, Kind::resource_flavor, "blue", flavor_of("blue"));
    fold.observe(kHubName, Kind::cluster_queue, "q", queue_with({"blue"}));
    fold.lose(kHubName, Kind::resource_flavor, "red");
    CHECK(fold.reported == WatchedFold::Capacities{});
  }
}

TEST_CASE("the changes of each event add up to what a new watch counts") {
  std::mt19937 random(11);
  const auto draw = [&random](unsigned most) { return random() % (most + 1); };
  const auto amount = [&draw](unsigned most) { return static_cast<Amount>(draw(most)); };
  const std::vector<std::string> pools{"red", "blue"}, members{"c1", "c2"};
  std::size_t with_down = 0;
  for (int round = 0; round < 40; ++round) {
    WatchedFold fold;
    for (int step = 0; step < 60; ++step) {
      const std::string& pool = pools[draw(1)];
      const std::string& member = members[draw(1)];
      const std::string node = "n" + std::to_string(draw(4));
      switch (draw(8)) {
        case 0: fold.lose(member, Kind::node, node); break;
        case 1:
          fold.observe(kHubName, Kind::resource_flavor, pool, flavor_of(pools[draw(1)]));
          break;
        case 2: fold.lose(kHubName, Kind::resource_flavor, pool); break;
        case 3:
          fold.observe(kHubName, Kind::cluster_queue, "q",
                       draw(1) == 0 ? queue_with({pool}) : queue_with(pools));
          break;
        case 4: {
          Configuration configuration;
          if (draw(1) == 0) configuration.resource_aliases.clear();
          fold.fold(SourceName(kSelf), ConfigChanged{configuration});
          break;
        }
        case 5: {
          ClusterMetricsFacts metrics;
          for (const char* name : {"m1", "m2"})
            if (draw(1) == 0) metrics.nodes[name] = node_of(pools[draw(1)], true, amount(8));
          fold.observe(kHubName, Kind::cluster_metrics, member, metrics);
          break;
        }
        case 6:
          fold.observe(member, Kind::cluster_queue, "q", queue_with({pool}, amount(8)));
          break;
        default: fold.observe(member, Kind::node, node, node_of(pool, draw(1) == 0, amount(8)));
      }
      for (const auto& [key, amounts] : fold.reported) with_down += amounts.second != 0 ? 1 : 0;
      REQUIRE(fold.reported == fold.counted_now());
    }
  }
  CHECK(with_down > 100);
}

}  // namespace fairlead
