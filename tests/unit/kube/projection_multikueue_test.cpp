// The kinds between a Placement and a running Workload, in every version that is served of them.
#include <catch2/catch.hpp>

#include "connectors/kube/projection/projection.h"
#include "schema/event_json.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F facts(const std::string& api_version, const std::string& kind, const std::string& rest) {
  const std::string text =
      R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(",)" +
      (rest.find("\"metadata\"") == std::string::npos ? R"("metadata":{"name":"x","uid":"u"},)"
                                                      : "") +
      rest + "}";
  INFO(text);
  return std::get<F>(seen(text).facts);
}

std::string raw_kept(Kind kind, std::string_view text) {
  auto document = parse_json(text);
  REQUIRE(document.has_value());
  return raw_to_keep(kind, document->root());
}

const std::string kKueue2 = "kueue.x-k8s.io/v1beta2";
const std::string kKueue1 = "kueue.x-k8s.io/v1beta1";
const std::string kOcm = "cluster.open-cluster-management.io/";

}  // namespace

TEST_CASE("a MultiKueueCluster names one source, in both served versions") {
  const auto secret = facts<MultiKueueClusterFacts>(
      kKueue2, "MultiKueueCluster",
      R"("spec":{"clusterSource":{"kubeConfig":{"location":"s","locationType":"Secret"}}})");
  CHECK(secret.secret == "s");
  CHECK(secret.path.empty());
  CHECK(secret.cluster_profile.empty());
  CHECK(facts<MultiKueueClusterFacts>(
            kKueue1, "MultiKueueCluster",
            R"("spec":{"kubeConfig":{"location":"s","locationType":"Secret"}})") == secret);
  // locationType has the default Secret.
  CHECK(facts<MultiKueueClusterFacts>(
            kKueue2, "MultiKueueCluster",
            R"("spec":{"clusterSource":{"kubeConfig":{"location":"s"}}})") == secret);

  const auto path = facts<MultiKueueClusterFacts>(
      kKueue1, "MultiKueueCluster",
      R"("spec":{"kubeConfig":{"location":"/p","locationType":"Path"}})");
  CHECK(path.path == "/p");
  CHECK(path.secret.empty());

  const auto profile = facts<MultiKueueClusterFacts>(
      kKueue2, "MultiKueueCluster",
      R"("spec":{"clusterSource":{"clusterProfileRef":{"name":"p"}}})");
  CHECK(profile.cluster_profile == "p");
  // The older version cannot be without a kubeConfig.
  CHECK(
      facts<MultiKueueClusterFacts>(
          kKueue1, "MultiKueueCluster",
          R"("spec":{"clusterProfileRef":{"name":"p"},"kubeConfig":{"location":"","locationType":"Secret"}})") ==
      profile);

  CHECK(facts<MultiKueueClusterFacts>(kKueue2, "MultiKueueCluster", R"("spec":7)") ==
        MultiKueueClusterFacts{});
}

TEST_CASE("a mark is ours only with label and value; the owner is as written") {
  const auto ours = facts<MultiKueueClusterFacts>(
      kKueue2, "MultiKueueCluster",
      R"("metadata":{"name":"x","labels":{"app.kubernetes.io/managed-by":"fairlead"},
        "annotations":{"fairlead.io/owner":"placement/gpu"},"deletionTimestamp":"2026-01-01T00:00:00Z"},
        "status":{"conditions":[{"type":"Active","status":"False","reason":"ClientConnectionFailed",
          "message":"never read","observedGeneration":2}]})");
  CHECK(ours.mark == OwnerMark{true, "placement/gpu"});
  CHECK(ours.active == ConditionFacts{ConditionStatus::no, "ClientConnectionFailed", 2});
  CHECK(ours.deleting);
  const auto theirs = facts<MultiKueueConfigFacts>(
      kKueue1, "MultiKueueConfig",
      R"("metadata":{"name":"x","labels":{"app.kubernetes.io/managed-by":"Helm"}},
        "spec":{"clusters":["b","","a"],"quotaManagement":"Manual"})");
  CHECK(theirs.mark == OwnerMark{});
  CHECK(theirs.clusters == std::vector<std::string>{"b", "", "a"});
  CHECK(theirs.quota_management == "Manual");
  CHECK_FALSE(theirs.deleting);
}

TEST_CASE("an AdmissionCheck keeps its settings, finalizers and our conditions") {
  for (const std::string& version : {kKueue1, kKueue2}) {
    const auto check = facts<AdmissionCheckFacts>(
        version, "AdmissionCheck",
        R"("metadata":{"name":"x","annotations":{"fairlead.io/multikueue.settle":"5s",
            "fairlead.io/multikueue.moveWindow":"never","fairlead.io/other":"1","fairlead.io/multikueue.n":7},
          "finalizers":["b","a"],"deletionTimestamp":"2026-01-01T00:00:00Z"},
          "spec":{"controllerName":"open-cluster-management.io/placement","parameters":
            {"apiGroup":"cluster.open-cluster-management.io","kind":"Placement","name":"gpu"}},
          "status":{"conditions":[{"type":"Other","status":"True"},
            {"type":"AllClustersUsed","status":"False","reason":"NameTaken","observedGeneration":4},
            {"type":"DispatcherReady","status":"False","reason":"ClearingPolicyMissing","observedGeneration":5},
            {"type":"Active","status":"True","reason":"Active","observedGeneration":3}]})");
    CHECK(check.controller_name == "open-cluster-management.io/placement");
    CHECK(check.parameters_kind == "Placement");
    CHECK(check.settings ==
          std::map<std::string, std::string>{{"moveWindow", "never"}, {"settle", "5s"}});
    CHECK(check.finalizers == std::vector<std::string>{"b", "a"});
    CHECK(check.active == ConditionFacts{ConditionStatus::yes, "Active", 3});
    CHECK(check.all_clusters_used == ConditionFacts{ConditionStatus::no, "NameTaken", 4});
    CHECK(check.dispatcher_ready ==
          ConditionFacts{ConditionStatus::no, "ClearingPolicyMissing", 5});
    CHECK(check.deleting);
  }
}

TEST_CASE("a ClusterProfile keeps where its cluster's name comes from, and its providers") {
  const std::string version = "multicluster.x-k8s.io/v1alpha1";
  const auto labelled = facts<ClusterProfileFacts>(
      version, "ClusterProfile",
      R"("metadata":{"name":"p","labels":{"open-cluster-management.io/cluster-name":"c"}},
        "status":{"accessProviders":[{"name":"z"},{"name":"a"},{"cluster":{}},{"name":"a"}],
          "credentialProviders":[{"name":"old"}]})");
  CHECK(labelled.cluster == "c");
  CHECK(labelled.labelled);
  CHECK(labelled.access_providers == std::vector<std::string>{"a", "old", "z"});
  const auto plain = facts<ClusterProfileFacts>(
      version, "ClusterProfile", R"("status":{"credentialProviders":[{"name":"old"}]})");
  CHECK(plain.cluster == "x");
  CHECK_FALSE(plain.labelled);
  CHECK(plain.access_providers == std::vector<std::string>{"old"});
  CHECK(facts<ClusterProfileFacts>(version, "ClusterProfile",
                                   R"("status":{"accessProviders":{"name":"a"}})")
            .access_providers.empty());
}

TEST_CASE("a ClusterQueue keeps the terms of its workers' quota as written") {
  const auto queue = facts<ClusterQueueFacts>(
      kKueue2, "ClusterQueue",
      R"("metadata":{"name":"q","annotations":{"fairlead.io/quota-from":"workers",
        "fairlead.io/quota-percent":"110","fairlead.io/quota-reserve":"{bad"}})");
  CHECK(queue.worker_quota == WorkerQuotaTerms{"workers", "110", "{bad"});
  CHECK(facts<ClusterQueueFacts>(kKueue2, "ClusterQueue", R"("spec":{})").worker_quota ==
        WorkerQuotaTerms{});
}

TEST_CASE("a Placement keeps its AddOn prioritizers, sorted, with the default weight 1") {
  const auto placement =
      facts<PlacementFacts>(kOcm + "v1beta1", "Placement",
                            R"("spec":{"prioritizerPolicy":{"mode":"Exact","configurations":[
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r","scoreName":"z"}},"weight":-3},
        {"scoreCoordinate":{"type":"BuiltIn","builtIn":"Steady"},"weight":5},
        {"scoreCoordinate":{"builtIn":"Balance"}},
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r"}}},
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r","scoreName":"a"}}},
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r","scoreName":"b"}},"weight":"2"},
        {"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"r","scoreName":"a"}}}]}})");
  CHECK(placement.prioritizers ==
        std::vector<ScorePrioritizer>{{"r", "a", 1}, {"r", "a", 1}, {"r", "b", 1}, {"r", "z", -3}});
  CHECK_FALSE(placement.deleting);
}

TEST_CASE("a PlacementDecision is a set of clusters, empty names left out") {
  const auto decision = facts<PlacementDecisionFacts>(
      kOcm + "v1beta1", "PlacementDecision",
      R"("metadata":{"name":"x","labels":{"cluster.open-cluster-management.io/placement":"gpu",
          "cluster.open-cluster-management.io/decision-group-index":"1"}},
        "status":{"decisions":[{"clusterName":"b","reason":"r"},{"clusterName":""},{"clusterName":"a"},{"clusterName":"b"},7]})");
  CHECK(decision == PlacementDecisionFacts{"gpu", {"a", "b"}});
}

TEST_CASE("an AddOnPlacementScore keeps whole numbers, and its end only where it is a time") {
  const std::string version = kOcm + "v1alpha1";
  const auto score = facts<AddOnPlacementScoreFacts>(
      version, "AddOnPlacementScore",
      R"("status":{"validUntil":"2026-11-21T15:22:56+01:00","scores":[{"name":"b","value":-100},{"name":"a","value":1},
        {"name":"c","value":"7"},{"value":3},{"name":"a","value":2}]})");
  CHECK(score.scores == std::map<std::string, std::int64_t>{{"a", 2}, {"b", -100}});
  CHECK(score.valid_until == parse_rfc3339("2026-11-21T14:22:56Z"));
  for (const std::string bad : {R"("tomorrow")", R"("")", "null", "17"})
    CHECK_FALSE(facts<AddOnPlacementScoreFacts>(version, "AddOnPlacementScore",
                                                R"("status":{"validUntil":)" + bad + "}")
                    .valid_until);
}

TEST_CASE("a Secret is known by the names of its keys and a digest under its uid") {
  const auto secret = [](const std::string& uid, const std::string& data) {
    return facts<SecretFacts>("v1", "Secret",
                              R"("metadata":{"name":"s","namespace":"n","uid":")" + uid +
                                  R"("},"data":)" + data + R"(,"type":"Opaque")");
  };
  const auto one = secret("u", R"({"kubeconfig":"aGVsbG8=","ca":"eA=="})");
  CHECK(one.keys == std::vector<std::string>{"ca", "kubeconfig"});
  // printf 'u\0{"ca":"eA==","kubeconfig":"aGVsbG8="}' | sha256sum
  CHECK(one.content.hex() == "5a89f791aa31a7859727d11dd9c52d80d2a6bb1a8e076b5c21100894d5418de5");
  CHECK(secret("u", R"({ "ca":"eA==", "kubeconfig":"aGVsbG8=" })") == one);
  CHECK(secret("u", R"({"ca":"eA==","kubeconfig":"aGVsbG9="})").content != one.content);
  CHECK(secret("v", R"({"ca":"eA==","kubeconfig":"aGVsbG8="})").content != one.content);
  CHECK(secret("u", "null").keys.empty());
  CHECK(secret("u", "null") == secret("u", "{}"));
  // Nothing of the content is in what is kept or printed.
  ObjectSeen all =
      seen(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n",
    "uid":"u","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"aGVsbG8="}},
    "data":{"kubeconfig":"aGVsbG8="},"stringData":{"more":"hello"}})");
  CHECK(to_text(to_json(all.facts)).find("aGVsbG8") == std::string::npos);
  CHECK(all.raw.text.empty());
}

TEST_CASE("a CustomResourceDefinition tells of its best served version that we understand") {
  const auto crd = [](const std::string& plural, const std::string& versions) {
    return facts<CustomResourceDefinitionFacts>(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition",
        R"("metadata":{"name":")" + plural + R"(.kueue.x-k8s.io"},"spec":{"names":{"plural":")" +
            plural + R"("},"versions":[)" + versions + "]}");
  };
  const auto version = [](const std::string& name, const std::string& served,
                          const std::string& fields) {
    return R"({"name":")" + name + R"(","served":)" + served +
           R"(,"schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":)" + fields +
           "}}}}}";
  };
  const std::string ten = version("v1beta1", "true", R"({"clusters":{"maxItems":10}})");
  CHECK(crd("multikueueconfigs", ten).clusters_max == 10);
  const std::string both =
      ten + "," + version("v1beta2", "true", R"({"clusters":{"maxItems":20}})");
  CHECK(crd("multikueueconfigs", both).clusters_max == 20);
  CHECK(crd("multikueueconfigs",
            ten + "," + version("v1beta2", "false", R"({"clusters":{"maxItems":20}})"))
            .clusters_max == 10);
  CHECK_FALSE(crd("multikueueconfigs", version("v9", "true", R"({"clusters":{"maxItems":20}})"))
                  .clusters_max);
  CHECK_FALSE(
      crd("multikueueconfigs", version("v1beta2", "true", R"({"clusters":{}})")).clusters_max);
  CHECK_FALSE(crd("multikueueclusters", both).clusters_max);

  const std::string old_ref =
      version("v1beta1", "true", R"({"clusterProfileRef":{},"kubeConfig":{}})");
  const std::string new_ref =
      version("v1beta2", "true",
              R"({"clusterSource":{"properties":{"clusterProfileRef":{"type":"object"}}}})");
  CHECK(crd("multikueueclusters", old_ref).cluster_profile_ref);
  CHECK(crd("multikueueclusters", old_ref + "," + new_ref).cluster_profile_ref);
  CHECK_FALSE(crd("multikueueclusters", version("v1beta1", "true", R"({"kubeConfig":{}})"))
                  .cluster_profile_ref);
  CHECK_FALSE(
      crd("multikueueclusters",
          old_ref + "," +
              version("v1beta2", "true", R"({"clusterSource":{"properties":{"kubeConfig":{}}}})"))
          .cluster_profile_ref);
  CHECK_FALSE(crd("multikueueconfigs", old_ref).cluster_profile_ref);
}

TEST_CASE("a MutatingAdmissionPolicy clears nominations by its name or its label") {
  const auto policy = [](const std::string& metadata) {
    MutatingAdmissionPolicyFacts found;
    for (const char* version : {"v1", "v1beta1"})
      found = facts<MutatingAdmissionPolicyFacts>(
          std::string("admissionregistration.k8s.io/") + version, "MutatingAdmissionPolicy",
          R"("metadata":{)" + metadata + R"(},"spec":{"mutations":[]})");
    return found;
  };
  const auto clears = [&](const std::string& metadata) {
    return policy(metadata).clears_nominations;
  };
  CHECK(clears(R"("name":"clear-nominated-cluster-names")"));
  CHECK(clears(R"("name":"kueue-clear-nominated-cluster-names")"));
  CHECK_FALSE(clears(R"("name":"unclear-nominated-cluster-names")"));
  CHECK_FALSE(clears(R"("name":"clear-nominated-cluster-names-2")"));
  CHECK_FALSE(clears(R"("name":"fairlead-clear-nominations")"));
  const auto labelled = [](const std::string& value) {
    return R"("name":"x","labels":{"fairlead.io/clears-nominations":)" + value + "}";
  };
  CHECK(clears(labelled(R"("true")")));
  CHECK_FALSE(clears(labelled(R"("false")")));
  CHECK_FALSE(clears(labelled("true")));
  CHECK_FALSE(policy(labelled(R"("true")")).deleting);
  CHECK(policy(labelled(R"("true")") + R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")").deleting);
}

TEST_CASE(
    "of CustomResourceDefinitions two are read; of kinds that machines write no raw is kept") {
  CHECK(is_read(Kind::custom_resource_definition, "multikueueconfigs.kueue.x-k8s.io"));
  CHECK(is_read(Kind::custom_resource_definition, "multikueueclusters.kueue.x-k8s.io"));
  CHECK_FALSE(is_read(Kind::custom_resource_definition, "workloads.kueue.x-k8s.io"));
  CHECK_FALSE(is_read(Kind::custom_resource_definition, "multikueueconfigs.example.com"));
  CHECK(is_read(Kind::secret, "anything"));
  const std::string_view text = R"({"metadata":{"name":"x"},"spec":{"a":1}})";
  CHECK_FALSE(raw_kept(Kind::multikueue_cluster, text).empty());
  CHECK_FALSE(raw_kept(Kind::placement, text).empty());
  for (const Kind kind :
       {Kind::placement_decision, Kind::addon_placement_score, Kind::workload, Kind::secret,
        Kind::custom_resource_definition, Kind::mutating_admission_policy})
    CHECK(raw_kept(kind, text).empty());
}
