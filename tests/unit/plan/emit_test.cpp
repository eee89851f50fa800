// What emitters share: which version a write carries.
#include "engine/plan/emit.h"

#include <catch2/catch.hpp>
#include <string>

#include "engine/log/memory_log.h"
#include "replay/dry_run.h"

namespace fairlead {
namespace {

const std::string kPlacement = R"json(
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"multikueue"},"spec":{"controllerName":"open-cluster-management.io/placement","parameters":{"apiGroup":"cluster.open-cluster-management.io","kind":"Placement","name":"gpu"}}}}
{"type":"ADDED","object":{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"Placement","metadata":{"name":"gpu","namespace":"kueue-system"},"spec":{}}}
{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"kueue-admin-a-kubeconfig","namespace":"kueue-system"},"data":{"kubeconfig":"eA=="}}}
{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"kueue-admin-b-kubeconfig","namespace":"kueue-system"},"data":{"kubeconfig":"eA=="}}}
)json";

std::string decision(const std::string& type, const std::string& time,
                     const std::string& clusters) {
  return R"({"type":")" + type + R"(","time":"1970-01-01T)" + time +
         R"(Z","object":{"apiVersion":"cluster.open-cluster-management.io/v1beta1","kind":"PlacementDecision","metadata":{"name":"gpu-decision-1","namespace":"kueue-system","labels":{"cluster.open-cluster-management.io/placement":"gpu"}},"status":{"decisions":[)" +
         clusters + "]}}}\n";
}

void run(const std::string& text, DryRun& dry_run) {
  std::vector<InputLine> lines;
  REQUIRE(read_objects_text(text, "story", lines).has_value());
  REQUIRE(dry_run.run(lines).has_value());
}

TEST_CASE("an object that is created again carries neither uid nor version of the deleted one") {
  const std::string a = R"({"clusterName":"a","reason":""})";
  const std::string b = R"({"clusterName":"b","reason":""})";
  MemoryLog log;
  DryRun dry_run(log, {});
  run(kPlacement + decision("ADDED", "00:00:00", a + "," + b) +
          decision("MODIFIED", "02:00:00", a) + decision("MODIFIED", "06:00:00", a + "," + b),
      dry_run);
  int created = 0, removed = 0;
  for (const PlannedWrite& write : dry_run.writes()) {
    const PatchIntended& intent = write.intent;
    if (intent.target.kind != Kind::multikueue_cluster || intent.target.name != "gpu-b") continue;
    if (intent.verb == Verb::remove) ++removed;
    if (intent.verb != Verb::apply || !intent.uid.empty()) continue;
    ++created;
    CHECK(intent.resource_version.empty());
    const Json metadata = Json::parse(intent.body)["metadata"];
    CHECK(!metadata.contains("resourceVersion"));
    CHECK(!metadata.contains("uid"));
  }
  CHECK(removed == 1);
  CHECK(created == 2);
}

TEST_CASE("a newer version is carried by what exists alone") {
  PatchIntended intent =
      hub_intent(Verb::apply, {Kind::multikueue_config, "", "gpu"}, "v1beta2", "u", "7");
  intent.body = to_text(object_head(Kind::multikueue_config, "v1beta2", "", "gpu", "u", "7"));
  carry_version(intent, "9");
  CHECK(intent.resource_version == "9");
  CHECK(Json::parse(intent.body)["metadata"]["resourceVersion"] == "9");

  PatchIntended first = hub_intent(Verb::apply, {Kind::multikueue_config, "", "gpu"}, "v1beta2");
  first.body = to_text(object_head(Kind::multikueue_config, "v1beta2", "", "gpu", "", ""));
  carry_version(first, "9");
  CHECK(first.resource_version.empty());
  CHECK(!Json::parse(first.body)["metadata"].contains("resourceVersion"));
}

}  // namespace
}  // namespace fairlead
