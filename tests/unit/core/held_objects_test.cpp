#include "engine/core/held_objects.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

std::string held(const State& state, const SourceName& source, Kind kind) {
  std::string text;
  for (const ObjectKey& key : objects_held(state, source, kind)) {
    CHECK(key.kind == kind);
    text += (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name + " ";
  }
  return text;
}

TEST_CASE("what a member's lists would name is what its cluster has") {
  State state;
  Cluster& cluster = state.clusters["c1"];
  for (const char* name : {"b", "a"}) cluster.nodes[name] = {};
  cluster.member_queues["q"] = {};
  cluster.member_local_queues[{"team", "main"}] = "q";
  CHECK(held(state, "c1", Kind::node) == "a b ");
  CHECK(held(state, "c1", Kind::cluster_queue) == "q ");
  CHECK(held(state, "c1", Kind::local_queue) == "team/main ");
  CHECK(held(state, "c2", Kind::node).empty());
  CHECK(held(state, std::string(kHub), Kind::node).empty());
}

TEST_CASE("an object of the hub counts while it is there, not while it is only remembered") {
  State state;
  state.queues["there"].present = true;
  state.queues["named by a claim"].present = false;
  CHECK(held(state, std::string(kHub), Kind::cluster_queue) == "there ");
  state.claims["c"] = {};
  CHECK(held(state, std::string(kHub), Kind::claim) == "c ");
  Cluster& cluster = state.clusters["c1"];
  CHECK(held(state, std::string(kHub), Kind::managed_cluster).empty());
  cluster.managed.emplace();
  cluster.quota_work.present = true;
  cluster.profiles.insert({"fleet", "c1"});
  CHECK(held(state, std::string(kHub), Kind::managed_cluster) == "c1 ");
  CHECK(held(state, std::string(kHub), Kind::manifest_work) == "c1/fairlead-quota ");
  CHECK(held(state, std::string(kHub), Kind::cluster_profile) == "fleet/c1 ");
}

}  // namespace
}  // namespace fairlead
