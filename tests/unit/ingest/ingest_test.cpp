#include "engine/ingest/ingest.h"

#include <catch2/catch.hpp>

#include "tests/unit/ingest/ingest_bench.h"

namespace fairlead::ingest_test {
namespace {

const std::string kHubName(kHub);

NodeFacts node_with(Amount cpu) {
  NodeFacts facts;
  facts.ready = true;
  facts.allocatable = {{"cpu", cpu}};
  return facts;
}

WatchFact seen(const std::string& source, Kind kind, Facts facts, const std::string& version,
               const std::string& uid = "u") {
  ObjectSeen object;
  object.key = {kind, "", "n"};
  object.uid = uid;
  object.resource_version = version;
  object.facts = std::move(facts);
  return {source, std::move(object)};
}

WatchFact node(Amount cpu, const std::string& version, const std::string& uid = "u") {
  return seen("c1", Kind::node, node_with(cpu), version, uid);
}

TEST_CASE("ingest: only a change of facts is logged") {
  IngestBench bench;
  CHECK(bench.take("c1", node(1000, "1")));
  CHECK_FALSE(bench.take("c1", node(1000, "2")));
  CHECK(bench.take("c1", node(2000, "3")));
  CHECK(bench.ingest.counts().logged == 2);
  CHECK(bench.ingest.counts().unchanged == 1);
  // Unlogged updates count as seen.
  CHECK(bench.ingest.newest_version("c1", {Kind::node, "", "n"}) == "3");
}

TEST_CASE("ingest: who wrote a change is logged with it, another writer of the same is no change") {
  IngestBench bench;
  const auto queue = [](const std::string& cohort, const std::string& version,
                        const std::string& time) {
    ClusterQueueFacts facts;
    facts.cohort = cohort;
    WatchFact fact = seen(kHubName, Kind::cluster_queue, facts, version);
    std::get<ObjectSeen>(fact.said).writers = {{"kubectl-edit", "Update", "", time}};
    return fact;
  };
  const auto first = bench.ingest.draft(bench.state, queue("a", "1", "2026-01-01T00:00:00Z"));
  REQUIRE(first);
  CHECK(std::get<ObjectObserved>(first->fact).writers ==
        std::vector<FieldWriter>{{"kubectl-edit", "Update", "", "2026-01-01T00:00:00Z"}});
  CHECK(bench.take(kHubName, queue("a", "2", "2026-01-01T00:00:00Z")));
  CHECK_FALSE(bench.take(kHubName, queue("a", "3", "2026-01-01T00:00:09Z")));
}

TEST_CASE("ingest: a state older than one that was seen is dropped, unless the object is another") {
  IngestBench bench;
  CHECK(bench.take("c1", node(1000, "10")));
  CHECK_FALSE(bench.take("c1", node(2000, "9")));
  CHECK(bench.ingest.counts().older == 1);
  CHECK(bench.take("c1", node(2000, "9", "another")));
  // What is gone is forgotten with its version.
  CHECK(bench.take("c1", {"c1", ObjectMissing{{Kind::node, "", "n"}, "another", ""}}));
  CHECK(bench.ingest.newest_version("c1", {Kind::node, "", "n"}).empty());
  CHECK(bench.take("c1", node(3000, "2", "another")));
}

TEST_CASE("ingest: what a store that went back shows counts again") {
  IngestBench bench;
  CHECK(bench.take("c1", node(1000, "10")));
  WatchFact fact = node(2000, "9");
  std::get<ObjectSeen>(fact.said).went_back = true;
  CHECK(bench.take("c1", fact));
  CHECK(bench.ingest.newest_version("c1", {Kind::node, "", "n"}) == "9");
}

TEST_CASE("ingest: a kind means nothing from an API server that does not decide by it") {
  IngestBench bench;
  CHECK_FALSE(bench.take(kHubName, seen(kHubName, Kind::node, node_with(1000), "1")));
  CHECK_FALSE(bench.take("c1", seen("c1", Kind::claim, ClaimFacts{}, "1")));
  CHECK_FALSE(bench.take("c1", {"c1", ObjectMissing{{Kind::claim, "", "n"}, "", ""}}));
  CHECK(bench.ingest.counts().foreign == 3);
  CHECK(bench.take("c1", seen("c1", Kind::cluster_queue, ClusterQueueFacts{}, "1")));
  CHECK(bench.take("c1", seen("c1", Kind::local_queue, LocalQueueFacts{"q", {}, {}}, "1")));
}

TEST_CASE("ingest: another text of a hub queue's quota is news, of a member's it is not") {
  IngestBench bench;
  const auto queue = [](const std::string& text) {
    ClusterQueueFacts facts;
    const SpelledQuantity quota(*Quantity::parse(text), text);
    facts.groups = {{{"cpu"}, {{"od", {{"cpu", quota, {}, {}}}}}}};
    return facts;
  };
  for (const std::string& source : {kHubName, std::string("c1")}) {
    CAPTURE(source);
    CHECK(bench.take(source, seen(source, Kind::cluster_queue, queue("12"), "1")));
    CHECK_FALSE(bench.take(source, seen(source, Kind::cluster_queue, queue("12"), "2")));
    CHECK(bench.take(source, seen(source, Kind::cluster_queue, queue("12000m"), "3")) ==
          (source == kHubName));
    CHECK_FALSE(bench.take(source, seen(source, Kind::cluster_queue, queue("12000m"), "4")));
  }
}

TEST_CASE("ingest: whether a member's queues admit is news, of the hub's LocalQueues it is not") {
  IngestBench bench;
  const LocalQueueFacts admits{"q", "", {ConditionStatus::yes, "Ready", 0}};
  const LocalQueueFacts held{"q", "Hold", {ConditionStatus::no, "Stopped", 0}};
  for (const std::string& source : {kHubName, std::string("c1")}) {
    CAPTURE(source);
    CHECK(bench.take(source, seen(source, Kind::local_queue, admits, "1")));
    CHECK(bench.take(source, seen(source, Kind::local_queue, held, "2")) == (source != kHubName));
  }
  ClusterQueueFacts queue;
  CHECK(bench.take("c1", seen("c1", Kind::cluster_queue, queue, "1")));
  queue.stop_policy = "Hold";
  CHECK(bench.take("c1", seen("c1", Kind::cluster_queue, queue, "2")));
  queue.active = {ConditionStatus::no, "Stopped", 3};
  CHECK(bench.take("c1", seen("c1", Kind::cluster_queue, queue, "3")));
  queue.active.observed_generation = 4;
  CHECK_FALSE(bench.take("c1", seen("c1", Kind::cluster_queue, queue, "4")));
}

TEST_CASE("ingest: what is not there cannot go") {
  IngestBench bench;
  const WatchFact gone{"c1", ObjectMissing{{Kind::node, "", "n"}, "u", "5"}};
  CHECK_FALSE(bench.take("c1", gone));
  CHECK(bench.take("c1", node(1000, "1")));
  CHECK(bench.take("c1", gone));
  CHECK_FALSE(bench.take("c1", gone));
  CHECK(bench.ingest.counts().unchanged == 2);
}

TEST_CASE("ingest: an answer tells a version before the stream, of an object that was shown") {
  IngestBench bench;
  const ObjectKey key{Kind::cluster_queue, "", "n"};
  bench.ingest.wrote(kHubName, key, "u", "7");
  CHECK(bench.ingest.newest_version(kHubName, key).empty());  // never shown
  CHECK(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "5")));
  bench.ingest.wrote(kHubName, key, "another", "7");
  bench.ingest.wrote(kHubName, key, "u", "");
  CHECK(bench.ingest.newest_version(kHubName, key) == "5");
  bench.ingest.wrote(kHubName, key, "u", "7");
  CHECK(bench.ingest.newest_version(kHubName, key) == "7");
  // What the stream shows from before the answer is older.
  ClusterQueueFacts other;
  other.cohort = "x";
  CHECK_FALSE(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, other, "6")));
  CHECK(bench.ingest.counts().older == 1);
}

TEST_CASE("ingest: whether the stream has shown an object since the write was derived") {
  IngestBench bench;
  const ObjectKey key{Kind::cluster_queue, "", "n"};
  const auto shown = [&](const std::string& before) {
    return bench.ingest.observed_since(kHubName, key, "v1beta2", before);
  };
  CHECK_FALSE(shown("4"));
  CHECK(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "5")));
  CHECK_FALSE(shown("5"));
  CHECK_FALSE(shown("6"));
  bench.ingest.wrote(kHubName, key, "u", "7");  // an answer is no sight
  CHECK_FALSE(shown("5"));
  const auto since = shown("4");
  REQUIRE(since);
  const auto& same = std::get<ObjectUnchanged>(since->said);
  CHECK(same.resource_version == "5");
  CHECK(same.uid == "u");
}

TEST_CASE("ingest: a bookmark or list is logged only where something waits for it") {
  IngestBench bench;
  CHECK(bench.take("c1", {"c1", ListCompleted{Kind::node, "5"}}));  // the first: a delivery
  CHECK_FALSE(bench.take("c1", {"c1", StreamAlive{Kind::node, "6"}}));
  CHECK(bench.take("c1", {"c1", StreamStale{Kind::node}}));
  CHECK_FALSE(bench.take("c1", {"c1", StreamStale{Kind::node}}));
  CHECK(bench.take("c1", {"c1", StreamLost{Kind::node}}));
  const auto alive = bench.ingest.draft(bench.state, {"c1", StreamAlive{Kind::node, "7"}});
  REQUIRE(alive);
  CHECK(std::get<SourceSynced>(alive->fact).resource_version.empty());  // nothing was listed
  CHECK(bench.take("c1", {"c1", StreamAlive{Kind::node, "7"}}));
  CHECK_FALSE(bench.take("c1", {"c1", StreamAlive{Kind::node, "8"}}));
}

TEST_CASE("ingest: an update without a change is logged where our write waits to be seen") {
  IngestBench bench;
  const ObjectKey key{Kind::cluster_queue, "", "n"};
  CHECK(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "5")));
  const WatchFact same{kHubName, ObjectUnchanged{key, "v1beta2", "u", "7"}};
  CHECK_FALSE(bench.take(kHubName, same));
  WriteState& write = bench.state.writes.by_key[{kHubName, key, false}];
  write.awaited_version = "8";
  CHECK(bench.take(kHubName, {kHubName, ObjectUnchanged{key, "v1beta2", "u", "8"}}));
  CHECK(!write.awaits());
  // The same where the stream repeats the whole object.
  CHECK_FALSE(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "9")));
  write.awaited_version = "10";
  CHECK(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "10")));
  CHECK(!write.awaits());
}

TEST_CASE(
    "ingest: a status that was dropped because our write makes it is logged if that has no "
    "answer") {
  IngestBench bench;
  const ObjectKey key{Kind::claim, "", "n"};
  ClaimFacts facts;
  facts.status_digest = sha256("before");
  CHECK(bench.take(kHubName, seen(kHubName, Kind::claim, facts, "5")));
  facts.status_digest = sha256("ours");
  facts.status_grants = {{"q", "od", "cpu", "5"}};
  WriteState& write = bench.state.writes.by_key[{kHubName, key, true}];
  write.outstanding.emplace().intent.expected = facts;
  const auto outcome_of = [&](const std::string& version) {
    write.outstanding->doubted_until = kForever;
    const auto since = bench.ingest.observed_since(kHubName, key, "v1alpha1", "5");
    REQUIRE(since);
    CHECK(std::get<ObjectUnchanged>(since->said).resource_version == version);
    const auto draft = bench.ingest.draft(bench.state, *since);
    REQUIRE(draft);
    return std::get<ClaimFacts>(std::get<ObjectObserved>(draft->fact).facts);
  };
  CHECK_FALSE(bench.take(kHubName, seen(kHubName, Kind::claim, facts, "6")));
  SECTION("at once") { CHECK(outcome_of("6") == facts); }
  SECTION("after an update of something that is not kept") {
    CHECK_FALSE(bench.take(kHubName, {kHubName, ObjectUnchanged{key, "v1alpha1", "u", "7"}}));
    CHECK(outcome_of("7") == facts);
  }
  SECTION("unless another writer has put back what was there before") {
    facts.status_digest = sha256("before");
    facts.status_grants = {};
    CHECK_FALSE(bench.take(kHubName, seen(kHubName, Kind::claim, facts, "7")));
    CHECK(outcome_of("7") == facts);
  }
}

TEST_CASE("ingest: a list that has passed the version of our write without it is logged") {
  IngestBench bench;
  const ObjectKey key{Kind::cluster_queue, "", "n"};
  CHECK(bench.take(kHubName, seen(kHubName, Kind::cluster_queue, ClusterQueueFacts{}, "5")));
  const auto listed = [&](const std::string& version) {
    return bench.take(kHubName, {kHubName, ListCompleted{Kind::cluster_queue, version}});
  };
  CHECK_FALSE(listed("6"));
  WriteState& write = bench.state.writes.by_key[{kHubName, key, false}];
  write.awaited_version = "8";
  CHECK_FALSE(listed("7"));
  CHECK(write.awaits());
  CHECK(listed("9"));
  CHECK(!write.awaits());
}

TEST_CASE("ingest: a Pod of a member is logged where it belongs to a pod set of a Workload") {
  IngestBench bench;
  const auto pod = [&](const std::string& workload, const std::string& pod_set) {
    PodFacts facts;
    facts.set_origin({workload, pod_set, ""});
    return bench.shows("c1", Kind::pod, "p", std::move(facts));
  };
  CHECK_FALSE(pod("", "main"));
  CHECK_FALSE(pod("w", ""));
  CHECK(pod("w", "main"));
  CHECK_FALSE(pod("w", "main"));
  CHECK(pod("w", "other"));
  PodFacts whole;  // of a manifest: the rest is not looked at
  whole.set_origin({"w", "other", ""});
  whole.bound = true;
  CHECK_FALSE(bench.shows("c1", Kind::pod, "p", std::move(whole)));
  CHECK(pod("", "other"));  // as if it were gone
  CHECK_FALSE(bench.misses("c1", Kind::pod, "p"));
  CHECK(pod("w", "main"));
  CHECK(bench.misses("c1", Kind::pod, "p"));
  // A silent stream of them means nothing.
  CHECK_FALSE(bench.take("c1", {"c1", ListCompleted{Kind::pod, "5"}}));
  CHECK_FALSE(bench.take("c1", {"c1", StreamStale{Kind::pod}}));
  CHECK_FALSE(bench.take("c1", {"c1", StreamLost{Kind::pod}}));
  CHECK_FALSE(bench.shows(std::string(kHub), Kind::pod, "p", PodFacts{}));
}

TEST_CASE("ingest: a Pod of a super cluster is logged where the tenant's Pod may use devices") {
  IngestBench bench;
  const auto made = [&](const std::string& uid) {
    PodFacts facts;
    facts.set_origin({"", "", uid});
    return bench.take("r1", {"r1", ObjectSeen{{Kind::pod, "acme-web", "p"},
                                              "v1",
                                              "u-in-r1",
                                              std::to_string(++bench.version),
                                              1,
                                              std::move(facts),
                                              {}}});
  };
  const auto gone = [&] {
    return bench.take("r1", {"r1", ObjectMissing{{Kind::pod, "acme-web", "p"},
                                                 "u-in-r1",
                                                 std::to_string(++bench.version)}});
  };
  CHECK_FALSE(made(""));
  CHECK(made("u7"));  // the tenant's Pod is not known yet
  CHECK_FALSE(made("u7"));
  CHECK(gone());
  PoolPod& pod = bench.state.pool.tenants["acme"].namespaces["web"].pods["p"];
  pod.seen.uid = "u7";
  SuperNamespace& space = bench.state.pool.super_namespaces[{"r1", "acme-web"}];
  space.seen.facts.tenant = "acme";
  space.seen.facts.tenant_namespace = "web";
  CHECK_FALSE(made("u7"));  // it asks for no devices
  CHECK(made("u8"));        // that one is another Pod
  CHECK(gone());
  pod.seen.facts.devices.emplace();
  CHECK(made("u7"));
}

TEST_CASE("ingest: a tenant whose claims cannot be read is connected all the same") {
  IngestBench bench;
  bench.state.pool.tenants["acme"];
  CHECK_FALSE(bench.take("tenant/acme", {"tenant/acme", StreamLost{Kind::resource_claim}}));
  CHECK_FALSE(
      bench.take("tenant/acme", {"tenant/acme", StreamStale{Kind::resource_claim_template}}));
  CHECK(bench.take("tenant/acme", {"tenant/acme", StreamLost{Kind::pod}}));
  CHECK(bench.state.pool.tenants["acme"].silent == std::set<Kind>{Kind::pod});
}

}  // namespace
}  // namespace fairlead::ingest_test
