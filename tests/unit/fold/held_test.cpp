#include "engine/fold/held.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

std::string names(const State& state, const SourceName& source, Kind kind) {
  std::string text;
  for (const ObjectKey& key : held_objects(state, source, kind)) {
    CHECK(key.kind == kind);
    text += (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name + " ";
  }
  return text;
}

TEST_CASE("what a member's lists would name is what its cluster has") {
  State state;
  Cluster& cluster = state.clusters["c1"];
  for (const char* name : {"b", "a"}) cluster.reports.nodes[name] = {};
  cluster.member.queues["q"] = {};
  cluster.member.local_queues[{"team", "main"}] = "q";
  CHECK(names(state, "c1", Kind::node) == "a b ");
  CHECK(names(state, "c1", Kind::cluster_queue) == "q ");
  CHECK(names(state, "c1", Kind::local_queue) == "team/main ");
  cluster.devices.pods[{"team", "p"}].uid = "u";
  CHECK(names(state, "c1", Kind::pod) == "team/p ");
  const auto pod = held(state, "c1", {Kind::pod, "team", "p"});
  REQUIRE(pod);
  CHECK(pod->uid == "u");
  CHECK_FALSE(held_facts(state, "c1", {Kind::pod, "team", "p"}));
  CHECK_FALSE(held(state, "tenant/c1", {Kind::pod, "team", "p"}));
  CHECK(names(state, "c2", Kind::node).empty());
  CHECK(names(state, std::string(kHub), Kind::node).empty());
}

TEST_CASE("an object of the hub counts while it is there, not while it is only remembered") {
  State state;
  state.queues["there"].present = true;
  state.queues["named by a claim"].present = false;
  CHECK(names(state, std::string(kHub), Kind::cluster_queue) == "there ");
  state.claims["c"] = {};
  CHECK(names(state, std::string(kHub), Kind::claim) == "c ");
  Cluster& cluster = state.clusters["c1"];
  CHECK(names(state, std::string(kHub), Kind::managed_cluster).empty());
  cluster.presence.managed.emplace();
  cluster.member.quota_work.present = true;
  cluster.presence.profiles.insert({"fleet", "c1"});
  CHECK(names(state, std::string(kHub), Kind::managed_cluster) == "c1 ");
  CHECK(names(state, std::string(kHub), Kind::manifest_work) == "c1/fairlead-quota ");
  CHECK(names(state, std::string(kHub), Kind::cluster_profile) == "fleet/c1 ");
}

TEST_CASE(
    "an object is found with its uid, version and generation, and its facts where all are kept") {
  const std::string hub(kHub);
  State state;
  Queue& queue = state.queues["q"];
  queue.uid = "u";
  queue.resource_version = "7";
  queue.generation = 3;
  queue.facts.cohort = "all";
  const ObjectKey key{Kind::cluster_queue, "", "q"};
  CHECK_FALSE(held(state, hub, key));
  queue.present = true;
  const auto found = held(state, hub, key);
  REQUIRE(found);
  CHECK(found->uid == "u");
  CHECK(found->resource_version == "7");
  CHECK(found->generation == 3);
  CHECK(held_facts(state, hub, key) == Facts(queue.facts));
  CHECK_FALSE(held(state, "c1", key));  // the member has another queue of that name, or none
  state.clusters["c1"].member.queues["q"] = {};
  CHECK(held(state, "c1", key));
  CHECK_FALSE(held_facts(state, "c1", key));
}

TEST_CASE("a tenant has what its pods ask of devices by") {
  State state;
  PoolNamespace& of = state.pool.tenants["acme"].namespaces["web"];
  of.claims["shared"] = {};
  of.templates["gpu"].facts.spec.requests.resize(1);
  CHECK(names(state, "tenant/acme", Kind::resource_claim) == "web/shared ");
  CHECK(names(state, "tenant/acme", Kind::resource_claim_template) == "web/gpu ");
  const ObjectKey key{Kind::resource_claim_template, "web", "gpu"};
  CHECK(held_facts(state, "tenant/acme", key) == Facts(of.templates["gpu"].facts));
  CHECK_FALSE(held(state, "tenant/bolt", key));
  CHECK_FALSE(held(state, "acme", key));
}

TEST_CASE("a ManifestWork of another name is none of ours") {
  const std::string hub(kHub);
  State state;
  Cluster& cluster = state.clusters["c1"];
  cluster.member.quota_work.present = cluster.member.queue_work.present = true;
  CHECK(held(state, hub, {Kind::manifest_work, "c1", "fairlead-quota"}));
  CHECK(held(state, hub, {Kind::manifest_work, "c1", "fairlead-queues"}));
  CHECK_FALSE(held(state, hub, {Kind::manifest_work, "c1", "another"}));
}

}  // namespace
}  // namespace fairlead
