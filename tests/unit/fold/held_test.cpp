#include "engine/fold/held.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "engine/fold/objects.h"
#include "engine/fold/pool/super_clusters.h"
#include "tests/support/edit_workload.h"

namespace fairlead {
namespace {

// Facts of an object that Fairlead does not ignore.
Facts facts_of(Kind kind) {
  Facts facts = with_kind<Facts>(kind, []<class F>(KindOf<F>) { return Facts(F()); });
  if (kind == Kind::placement_decision) std::get<PlacementDecisionFacts>(facts).placement = "p";
  if (kind == Kind::pod) std::get<PodFacts>(facts).set_origin({"w", "main", ""});
  return facts;
}

// A key of such an object.
ObjectKey key_of(Kind kind) {
  if (kind == Kind::manifest_work) return {kind, "c1", std::string(kQuotaWork)};
  if (kind == Kind::binding_policy) return {kind, "", policy_name("c1")};
  if (kind == Kind::config_map)
    return {kind, std::string(kSuperClusterInfoNamespace), std::string(kSuperClusterInfo)};
  return {kind, is_namespaced(kind) ? "c1" : "", "c1"};
}

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
  cluster.member.local_queues[{"team", "main"}] = {"q", {}, {}};
  CHECK(names(state, "c1", Kind::node) == "a b ");
  CHECK(names(state, "c1", Kind::cluster_queue) == "q ");
  CHECK(names(state, "c1", Kind::local_queue) == "team/main ");
  cluster.member.cohorts["all"].parent = "root";
  edit(cluster.member.workloads[{"team", "w"}])->uid = "u";
  CHECK(names(state, "c1", Kind::cohort) == "all ");
  CHECK(names(state, "c1", Kind::workload) == "team/w ");
  CHECK(held(state, "c1", {Kind::workload, "team", "w"})->uid == "u");
  CHECK(held_facts(state, "c1", {Kind::cohort, "", "all"}) == Facts(cluster.member.cohorts["all"]));
  CHECK(held_workloads(state, "c1") == 1);
  CHECK(held_workloads(state, std::string(kHub)) == 0);
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
  state.queues.by_name["there"].present = true;
  state.queues.by_name["named by a claim"].present = false;
  CHECK(names(state, std::string(kHub), Kind::cluster_queue) == "there ");
  state.claims.by_name["c"] = {};
  CHECK(names(state, std::string(kHub), Kind::claim) == "c ");
  Cluster& cluster = state.clusters["c1"];
  CHECK(names(state, std::string(kHub), Kind::managed_cluster).empty());
  cluster.presence.managed.emplace();
  cluster.member.quota_works["fairlead-quota"].present = true;
  cluster.presence.profiles.insert({"fleet", "c1"});
  CHECK(names(state, std::string(kHub), Kind::managed_cluster) == "c1 ");
  CHECK(names(state, std::string(kHub), Kind::manifest_work) == "c1/fairlead-quota ");
  CHECK(names(state, std::string(kHub), Kind::cluster_profile) == "fleet/c1 ");
}

TEST_CASE(
    "an object is found with its uid, version and generation, and its facts where all are kept") {
  const std::string hub(kHub);
  State state;
  Queue& queue = state.queues.by_name["q"];
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

TEST_CASE(
    "an object of each kind that is read of an API server is held from then on, until it is gone") {
  for (const KindInfo& row : kKinds)
    for (const SourceName& source : {SourceName(kHub), SourceName("c1"), tenant_source("acme")}) {
      CAPTURE(row.name, source);
      State state;
      ObjectObserved seen;
      seen.key = key_of(row.kind);
      seen.uid = "u";
      seen.facts = facts_of(row.kind);
      const auto listed = [&] {
        const auto keys = held_objects(state, source, row.kind);
        return std::count(keys.begin(), keys.end(), seen.key);
      };
      const bool read = is_read_from(source, row.kind);
      fold_object(state, source, seen.key, &seen, Seq{1});
      CHECK(listed() == (read ? 1 : 0));
      CHECK(held(state, source, seen.key).has_value() == read);
      fold_object(state, source, seen.key, nullptr, Seq{2});
      CHECK(listed() == 0);
      CHECK_FALSE(held(state, source, seen.key));
    }
}

TEST_CASE("a ManifestWork of another name is none of ours") {
  const std::string hub(kHub);
  State state;
  Cluster& cluster = state.clusters["c1"];
  cluster.member.quota_works["fairlead-quota"].present = cluster.member.queue_work.present = true;
  CHECK(held(state, hub, {Kind::manifest_work, "c1", "fairlead-quota"}));
  CHECK(held(state, hub, {Kind::manifest_work, "c1", "fairlead-queues"}));
  CHECK_FALSE(held(state, hub, {Kind::manifest_work, "c1", "another"}));
}

}  // namespace
}  // namespace fairlead
