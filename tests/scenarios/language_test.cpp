#include "tests/scenarios/language/language.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <vector>

#include "engine/base/json.h"

namespace fairlead {
namespace {

// The events that `text` means.
std::vector<Json> events(const std::string& text) {
  const auto expanded = language::expand(text);
  INFO(text);
  REQUIRE(expanded.has_value());
  std::vector<Json> all;
  std::istringstream in(*expanded);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) all.push_back(Json::parse(line));
  return all;
}

Json event(const std::string& text) {
  const auto all = events(text);
  REQUIRE_FALSE(all.empty());
  return all.back();
}

std::string refusal(const std::string& text) {
  const auto expanded = language::expand(text);
  INFO(text);
  REQUIRE_FALSE(expanded.has_value());
  CHECK(expanded.error().code == ErrorCode::bad_input);
  return expanded.error().message;
}

TEST_CASE("language: a fact is the event that adds its object") {
  CHECK(event("node c1/n1 type=od cpu=8 nvidia.com/gpu=1 ready\n") == Json::parse(R"({
    "type": "ADDED", "cluster": "c1", "object": {"apiVersion": "v1", "kind": "Node",
      "metadata": {"name": "n1", "labels": {"type": "od"}},
      "status": {"allocatable": {"cpu": "8", "nvidia.com/gpu": "1"},
                 "conditions": [{"type": "Ready", "status": "True"}]}}})"));
  // An entry is an element of the list that its kind has.
  CHECK(event("claim k cluster=c1 cpu=9\n  qa/od cpu=5 min:cpu=1 priority=7\n")["object"]["spec"] ==
        Json::parse(R"({"clusterName": "c1", "nominalResources": {"cpu": "9"},
          "resourceAssignments": [{"clusterQueueName": "qa", "flavor": "od", "priority": 7,
            "resources": {"cpu": "5"}, "minResources": {"cpu": "1"}}]})"));
}

TEST_CASE("language: the kind decides whether a name has a namespace") {
  const Json hub = event("local-queue team/lq queue=qa\n");
  CHECK_FALSE(hub.contains("cluster"));
  CHECK(hub["object"]["metadata"] == Json({{"name", "lq"}, {"namespace", "team"}}));
  const Json member = event("local-queue c1/team/lq queue=qa\n");
  CHECK(member["cluster"] == "c1");
  CHECK(member["object"] == hub["object"]);
  CHECK(refusal("local-queue lq queue=qa\n") == "line 1: expected a namespace/name, got lq");
  CHECK(refusal("node a/b/c ready\n") == "line 1: expected a name, got a/b/c");
}

TEST_CASE("language: a name that begins with a tenant is of that tenant's API server") {
  const Json pod = event("pod tenant/acme/web/a cpu=1500m on=r1 gated\n");
  CHECK(pod == Json::parse(R"({"type": "ADDED", "cluster": "tenant/acme", "object": {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "a", "namespace": "web",
                 "annotations": {"scheduler.virtualcluster.io/superCluster": "r1"}},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1500m"}}}],
             "schedulingGates": [{"name": "wait"}]}}})"));
  const std::string web = "namespace tenant/acme/web slice={\"cpu\":\"1\",\"memory\":\"1Gi\"}\n";
  CHECK(event(web)["cluster"] == "tenant/acme");
  CHECK(event(web)["object"]["metadata"] ==
        Json({{"name", "web"},
              {"annotations",
               {{"scheduler.virtualcluster.io/slice", R"({"cpu":"1","memory":"1Gi"})"}}}}));
  CHECK(event(web + "change namespace tenant/acme/web -slice placements={}\n")["object"] ==
        event("namespace tenant/acme/web placements={}\n")["object"]);
  CHECK(event("stale tenant/acme\n")["cluster"] == "tenant/acme");
  CHECK(refusal("pod tenant/acme/a\n") == "line 1: expected a namespace/name, got tenant/acme/a");
}

TEST_CASE("language: a short name means the usual place of its kind") {
  CHECK(event("vc acme phase=Running\n")["object"] ==
        event("vc default/acme phase=Running\n")["object"]);
  CHECK(event("vc hosting/acme\n")["object"]["metadata"]["namespace"] == "hosting");
  const Json info = event("info r1 id=east\n");
  CHECK(info == event("info r1/kube-system/supercluster-info id=east\n"));
  CHECK(info["cluster"] == "r1");
  CHECK(info["object"]["data"]["id"] == "east");
}

TEST_CASE("language: change keeps what its words do not say, replace and delete do not") {
  const std::string node = "node c1/n1 type=od cpu=8 ready cordoned\n";
  CHECK(event(node + "change node c1/n1 cpu=4 -cordoned\n")["object"] ==
        event("node c1/n1 type=od cpu=4 ready\n")["object"]);
  CHECK(event(node + "change node c1/n1 cpu=4\n")["type"] == "MODIFIED");
  CHECK(event(node + "replace node c1/n1 cpu=4\n")["object"] ==
        event("node c1/n1 cpu=4\n")["object"]);
  CHECK(event(node + "delete node c1/n1\n")["object"] == event(node)["object"]);
  CHECK(event(node + "delete node c1/n1\n")["type"] == "DELETED");
  // Of another cluster: another object.
  CHECK(refusal(node + "change node c2/n1 cpu=4\n") ==
        "line 2: expected an object that was added before, got c2/n1");
}

TEST_CASE("language: an entry that is there is changed in its place") {
  const std::string queue = "queue q\n  od cpu=5 memory=1Gi\n  spot cpu=2\n";
  CHECK(event(queue + "change queue q\n  od cpu=6 lend:cpu=1\n")["object"]["spec"] ==
        event("queue q\n  od cpu=6 lend:cpu=1 memory=1Gi\n  spot cpu=2\n")["object"]["spec"]);
  const Json groups = event(
      queue +
      "change queue q\n  group\n  tpu example.com/tpu=4\n")["object"]["spec"]["resourceGroups"];
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]["coveredResources"] == Json({"cpu", "memory"}));
  CHECK(groups[1]["coveredResources"] == Json::array({"example.com/tpu"}));
}

TEST_CASE("language: a time holds until the next, sources have words of their own") {
  const auto all =
      events("at 00:01:40\nnode c1/n1 ready\nstale c1\nat 2026-01-01T00:00:00Z\nlost c1\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0]["time"] == "1970-01-01T00:01:40Z");
  CHECK(all[1] == Json({{"type", "SOURCE_STALE"}, {"cluster", "c1"}, {"time", all[0]["time"]}}));
  CHECK(all[2]["type"] == "SOURCE_LOST");
  CHECK(all[2]["time"] == "2026-01-01T00:00:00Z");
}

TEST_CASE("language: a list may go on in the next line, and may be empty") {
  const std::string decision = "decision ns/d of=p clusters=a,\n    b,c\n";
  CHECK(event(decision)["object"]["status"]["decisions"].size() == 3);
  CHECK(event(decision + "change decision ns/d clusters=\n")["object"]["status"]["decisions"] ==
        Json::array());
  CHECK(event("claim k finalizers=a/b,c\n")["object"]["metadata"]["finalizers"] ==
        Json({"a/b", "c"}));
}

TEST_CASE("language: a pointer sets what has no word, JSON where it is JSON") {
  const Json spec = event(
      "claim k /spec/shrinkPolicy=Priority /spec/a~1b=[1,{\"c\":\"d e\"}]\n")["object"]["spec"];
  CHECK(spec["shrinkPolicy"] == "Priority");
  CHECK(spec["a/b"] == Json::parse(R"([1,{"c":"d e"}])"));
  CHECK(event("claim k\n  qa/od /x/0/y=1\n")["object"]["spec"]["resourceAssignments"][0]["x"] ==
        Json::parse(R"([{"y": 1}])"));
  CHECK(refusal("claim k uid=a /metadata/uid/x=1\n") ==
        "line 1: expected a word of claim, got /metadata/uid/x=1");
}

TEST_CASE("language: YAML and JSON stay as they are, and lines keep their numbers") {
  const std::string yaml = "kind: Node\nmetadata: {name: n}\n---\n";
  const auto text = language::expand(yaml + "node n ready\n{\"a\":\n 1}\n\nstale c1 c2\n");
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message == "line 8: expected a cluster, as in `stale c1`, got c2");
  const auto good = language::expand(yaml + "{\"a\":\n 1}\n\n{\"b\":\n\n");
  REQUIRE(good.has_value());
  CHECK(*good == yaml + "{\"a\": 1}\n\n\n{\"b\":\n\n");
}

TEST_CASE("language: a word that its kind does not have is refused with its line") {
  CHECK(refusal("\nnode c1/n1 tired\n") == "line 2: expected a word of node, got tired");
  CHECK(refusal("secret ns/s\n  entry x=1\n") == "line 1: expected a word of secret, got entry");
  CHECK(refusal("claim k\n  qa/od priority=high\n") ==
        "line 1: expected a word of claim, got priority=high");
  CHECK(refusal("change\n") == "line 1: expected a kind and a name, got change");
  CHECK(refusal("at\n") == "line 1: expected a time, as in `at 00:01:40`, got at");
}

}  // namespace
}  // namespace fairlead
