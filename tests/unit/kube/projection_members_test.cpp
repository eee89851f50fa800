// Projections of what carries quota to members.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F member_facts(std::string_view text) {
  return std::get<F>(seen(text).facts);
}

}  // namespace

TEST_CASE("the feedback rules of a work are digested in their order, those of a writer's too") {
  const auto digest_with = [](const std::string& configs) {
    return member_facts<ManifestWorkFacts>(
               R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota"},"spec":{"manifestConfigs":[)" +
               configs + "]}}")
        .feedback_digest;
  };
  CHECK(digest_with(
            R"({"feedbackRules":[{"type":"JSONPaths","jsonPaths":[]}]},{"resourceIdentifier":{}},
                      {"feedbackRules":[{"type":"WellKnownStatus"}]})") ==
        sha256(R"([{"jsonPaths":[],"type":"JSONPaths"}][{"type":"WellKnownStatus"}])"));
  CHECK(digest_with("") == sha256(""));
}

TEST_CASE("a Topology is its levels, and our works and policies tell which they bring") {
  CHECK(member_facts<TopologyFacts>(
            R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"t"},
      "spec":{"levels":[{"nodeLabel":"example.com/block"},{"nodeLabel":"kubernetes.io/hostname"}]}})")
            .levels == std::vector<std::string>{"example.com/block", "kubernetes.io/hostname"});
  CHECK(
      member_facts<TopologyFacts>(
          R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Topology","metadata":{"name":"t"},"spec":{"levels":7}})")
          .levels.empty());
  const auto work = member_facts<ManifestWorkFacts>(
      R"({"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"fairlead-quota"},"spec":{
      "deleteOption":{"propagationPolicy":"SelectivelyOrphan","selectivelyOrphans":{"orphaningRules":[
        {"group":"kueue.x-k8s.io","resource":"topologies","namespace":"","name":"t"},
        {"group":"kueue.x-k8s.io","resource":"resourceflavors","namespace":"","name":"v"}]}},
      "workload":{"manifests":[
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"v"}},
        {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"t"}}]}}})");
  CHECK(work.topologies == std::vector<WorkFlavor>{{"t", true}, {"v", false}});
  CHECK(
      member_facts<BindingPolicyFacts>(
          R"({"apiVersion":"control.kubestellar.io/v1alpha1","kind":"BindingPolicy","metadata":{"name":"fairlead-c2"},
      "spec":{"downsync":[{"resources":["topologies"],"objectNames":["v","t"]}]}})")
          .topologies == std::vector<std::string>{"t", "v"});
}
