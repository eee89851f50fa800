// The liveness of a cluster by its sources: docs/decisions/0004-one-capacity-source-a-cluster.md.
#include "engine/fold/capacity/liveness.h"

#include <catch2/catch.hpp>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/state.h"

namespace fairlead::liveness_test {
namespace {

const std::string kHubName(kHub);

// One cluster at 1000 s, whose ManagedCluster is lost after 900 s without being available.
struct Hub {
  State state;
  Cluster& cluster = state.clusters["c1"];
  DebounceSettings settings;

  Hub() {
    state.now = LogTime{} + seconds(1000);
    settings.lost_after = seconds(900);
  }
  Liveness& stream(CapacitySource source) {
    return cluster.reports.liveness[static_cast<std::size_t>(source)];
  }
  Liveness liveness() const { return liveness_of(state, cluster, settings); }
  Liveness of_pool() const { return pool_liveness_of(state, cluster, settings); }
  void observes(const std::string& source, std::optional<Kind> kind, Liveness liveness,
                const std::string& about = "") {
    state.dirty_clusters.clear();
    observe_liveness(state, source, kind, about, liveness, Seq{9});
  }
};

TEST_CASE("liveness: a cluster is as live as the stream of the source in force") {
  Hub hub;
  hub.stream(CapacitySource::nodes) = Liveness::lost;
  CHECK(hub.liveness() == Liveness::live);  // no source is in force
  hub.cluster.source = CapacitySource::cluster_metrics;
  CHECK(hub.liveness() == Liveness::live);
  hub.stream(CapacitySource::cluster_metrics) = Liveness::stale;
  CHECK(hub.liveness() == Liveness::stale);
  hub.cluster.source = CapacitySource::nodes;
  CHECK(hub.liveness() == Liveness::lost);
}

TEST_CASE("liveness: a source on the hub is no more live than the hub's stream of its kind") {
  Hub hub;
  hub.state.hub_streams = {Liveness::stale, Liveness::lost};
  hub.cluster.source = CapacitySource::nodes;
  CHECK(hub.liveness() == Liveness::live);
  hub.cluster.source = CapacitySource::cluster_metrics;
  CHECK(hub.liveness() == Liveness::stale);
  hub.stream(CapacitySource::cluster_metrics) = Liveness::lost;
  CHECK(hub.liveness() == Liveness::lost);
  hub.cluster.source = CapacitySource::managed_cluster;
  CHECK(hub.liveness() == Liveness::lost);
}

TEST_CASE("liveness: a stream that changes faster than it is read counts as stale") {
  CHECK(liveness_of(StaleCause::too_many_changes) == Liveness::overrun);
  CHECK(liveness_of(StaleCause::too_many) == Liveness::stale);
  CHECK(liveness_of(StaleCause::silence) == Liveness::stale);
  Hub hub;
  hub.stream(CapacitySource::nodes) = Liveness::overrun;
  CHECK(hub.of_pool() == Liveness::stale);  // also of a member without a source
  hub.cluster.source = CapacitySource::nodes;
  CHECK(hub.liveness() == Liveness::stale);
  CHECK(hub.of_pool() == Liveness::stale);
}

TEST_CASE("liveness: a cluster that only hides its devices is stale, where they count as quota") {
  Hub hub;
  hub.cluster.device_capacity.stream = Liveness::lost;
  CHECK(hub.liveness() == Liveness::live);  // it never published a device
  hub.cluster.device_capacity.published = true;
  CHECK(hub.liveness() == Liveness::stale);
  hub.cluster.device_capacity.stream = Liveness::live;
  CHECK(hub.liveness() == Liveness::live);
  hub.cluster.device_capacity.stream = Liveness::lost;
  hub.state.configuration.dra.quota = false;
  CHECK(hub.liveness() == Liveness::live);
}

TEST_CASE("liveness: a ManagedCluster that is not available is stale, and lost after lostAfter") {
  Hub hub;
  hub.cluster.reports.unavailable_since = LogTime{} + seconds(101);
  CHECK(hub.liveness() == Liveness::stale);
  hub.cluster.reports.unavailable_since = LogTime{} + seconds(100);
  CHECK(hub.liveness() == Liveness::lost);
  CHECK(hub.of_pool() == Liveness::lost);
  // Being available again takes nothing from what the source in force says.
  hub.cluster.reports.unavailable_since.reset();
  hub.cluster.source = CapacitySource::nodes;
  hub.stream(CapacitySource::nodes) = Liveness::stale;
  CHECK(hub.liveness() == Liveness::stale);
}

TEST_CASE("liveness: a super cluster may be lost before a Node of it was observed") {
  Hub hub;
  hub.stream(CapacitySource::nodes) = Liveness::lost;
  CHECK(hub.of_pool() == Liveness::lost);
  hub.stream(CapacitySource::nodes) = Liveness::live;
  hub.stream(CapacitySource::cluster_metrics) = Liveness::lost;
  CHECK(hub.of_pool() == Liveness::live);
  hub.cluster.source = CapacitySource::cluster_metrics;
  CHECK(hub.of_pool() == Liveness::lost);
}

TEST_CASE("liveness: a stream of a member is that of its Nodes, or of its devices") {
  Hub hub;
  hub.observes("c1", Kind::node, Liveness::stale);
  CHECK(hub.stream(CapacitySource::nodes) == Liveness::stale);
  CHECK(hub.stream(CapacitySource::cluster_metrics) == Liveness::live);
  CHECK(hub.cluster.device_capacity.stream == Liveness::live);
  CHECK(hub.cluster.reports.liveness_seq == Seq{9});
  CHECK(hub.state.dirty_clusters == std::set<std::string>{"c1"});
  hub.observes("c1", Kind::resource_slice, Liveness::lost);
  CHECK(hub.cluster.device_capacity.stream == Liveness::lost);
  CHECK_FALSE(hub.cluster.search.slices_listed);
  hub.observes("c1", Kind::resource_slice, Liveness::live);
  CHECK(hub.cluster.search.slices_listed);
  hub.observes("c1", Kind::resource_slice, Liveness::lost);
  CHECK(hub.cluster.search.slices_listed);  // it was, once
  hub.observes("c1", Kind::cluster_queue, Liveness::lost);
  CHECK(hub.state.dirty_clusters.empty());
}

TEST_CASE("liveness: a cluster without a kind is all of its sources") {
  Hub hub;
  hub.observes(kHubName, std::nullopt, Liveness::lost, "c1");
  for (const CapacitySource source :
       {CapacitySource::nodes, CapacitySource::cluster_metrics, CapacitySource::managed_cluster})
    CHECK(hub.stream(source) == Liveness::lost);
  CHECK(hub.cluster.device_capacity.stream == Liveness::lost);
  CHECK(hub.state.hub_streams == std::array<Liveness, 2>{});
}

TEST_CASE("liveness: a stream of the hub concerns every cluster, when it changes") {
  Hub hub;
  hub.state.clusters["c2"];
  hub.observes(kHubName, Kind::managed_cluster, Liveness::stale);
  CHECK(hub.state.hub_streams == std::array<Liveness, 2>{Liveness::live, Liveness::stale});
  CHECK(hub.state.dirty_clusters == std::set<std::string>{"c1", "c2"});
  CHECK(hub.cluster.reports.liveness_seq == Seq{9});
  hub.observes(kHubName, Kind::managed_cluster, Liveness::stale);
  CHECK(hub.state.dirty_clusters.empty());
  hub.observes(kHubName, Kind::cluster_metrics, Liveness::lost);
  CHECK(hub.state.hub_streams == std::array<Liveness, 2>{Liveness::lost, Liveness::stale});
  hub.observes(kHubName, Kind::node, Liveness::lost);
  hub.observes(kHubName, Kind::resource_slice, Liveness::lost);
  CHECK(hub.state.dirty_clusters.empty());
  CHECK_FALSE(hub.state.clusters.contains(kHubName));
}

TEST_CASE("liveness: the search for devices looks at a cluster whose stream turned, and no other") {
  Hub hub;
  hub.observes("c1", Kind::node, Liveness::stale);
  CHECK(hub.state.searches.dirty_clusters.empty());  // nothing searches
  hub.state.configuration.dra.dispatch = hub.state.configuration.multikueue.dispatcher = true;
  hub.observes("c1", Kind::node, Liveness::stale);
  CHECK(hub.state.searches.dirty_clusters.empty());
  hub.observes("c1", Kind::node, Liveness::live);
  CHECK(hub.state.searches.dirty_clusters == std::set<std::string>{"c1"});
  hub.state.searches.dirty_clusters.clear();
  hub.observes("c1", Kind::resource_slice, Liveness::live);  // its first list
  CHECK(hub.state.searches.dirty_clusters == std::set<std::string>{"c1"});
  hub.state.searches.dirty_clusters.clear();
  hub.observes("c1", Kind::resource_slice, Liveness::live);
  CHECK(hub.state.searches.dirty_clusters.empty());
}

}  // namespace
}  // namespace fairlead::liveness_test
