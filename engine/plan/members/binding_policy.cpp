#include "engine/plan/members/binding_policy.h"

#include <map>
#include <set>

#include "engine/fold/members/works.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/causes.h"
#include "engine/plan/members/manifest_work.h"
#include "engine/plan/members/quota_manifests.h"

namespace fairlead {

namespace {

constexpr const char* kPolicyVersion = "v1alpha1";

/// The objects that a policy brings its member.
struct CommonObjects {
  std::set<std::string> namespaces;
  std::set<std::string> flavors;
  std::set<std::string> topologies;
  std::map<std::string, std::set<std::string>> local_queues;  // by namespace

  bool empty() const { return namespaces.empty() && flavors.empty() && topologies.empty(); }
};

// A Namespace, ResourceFlavor or Topology that the policy once named stays in it: KubeStellar
// deletes what a policy no longer names: with a Namespace everything in it, and a flavor even if
// the member had it before.
CommonObjects common_objects(const State& state, const std::string& cluster_name,
                             HubQuotas& quotas) {
  const Cluster& cluster = state.clusters.at(cluster_name);
  CommonObjects common;
  common.namespaces.insert(cluster.member.policy.facts.namespaces.begin(),
                           cluster.member.policy.facts.namespaces.end());
  common.flavors = flavors_at_member(state, cluster_name, quotas);
  for (const std::string& flavor : common.flavors)
    if (const auto topology = topology_of(state, flavor)) common.topologies.insert(*topology);
  common.topologies.insert(cluster.member.policy.facts.topologies.begin(),
                           cluster.member.policy.facts.topologies.end());
  common.flavors.insert(cluster.member.policy.facts.flavors.begin(),
                        cluster.member.policy.facts.flavors.end());
  const std::set<std::string> queues = queues_at_member(state, cluster_name, quotas);
  for (const auto& [id, local_queue] : state.queues.local) {
    const std::string& target = local_queue.cluster_queue;
    if (!queues.contains(target) || points_elsewhere(cluster, id, target)) continue;
    common.namespaces.insert(id.first);
    common.local_queues[id.first].insert(id.second);
  }
  return common;
}

Json clause(std::string_view group, std::string_view resource, const std::set<std::string>& names) {
  return {{"apiGroup", std::string(group)},
          {"resources", Json::array({std::string(resource)})},
          {"objectNames", names}};
}

// Only Namespaces have `createOnly`: one that a member has already is not ours to change.
Json spec_of(const std::string& cluster, const CommonObjects& common) {
  Json downsync = Json::array();
  if (!common.namespaces.empty()) {
    downsync.push_back(clause("", "namespaces", common.namespaces));
    downsync.back()["createOnly"] = true;
  }
  const std::string_view kueue = info(Kind::resource_flavor).group;
  if (!common.flavors.empty())
    downsync.push_back(clause(kueue, info(Kind::resource_flavor).resource, common.flavors));
  if (!common.topologies.empty())
    downsync.push_back(clause(kueue, info(Kind::topology).resource, common.topologies));
  for (const auto& [namespace_, names] : common.local_queues) {
    downsync.push_back(clause(kueue, info(Kind::local_queue).resource, names));
    downsync.back()["namespaces"] = Json::array({namespace_});
  }
  return {{"clusterSelectors", Json::array({{{"matchLabels", {{"name", cluster}}}}})},
          {"downsync", std::move(downsync)}};
}

// The desired policy; nullopt if there should be none.
struct WantedPolicy {
  Json spec;
  BindingPolicyFacts facts;
};
std::optional<WantedPolicy> wanted(const State& state, const std::string& cluster,
                                   HubQuotas& quotas) {
  const CommonObjects common = common_objects(state, cluster, quotas);
  if (common.empty()) return std::nullopt;
  WantedPolicy policy{spec_of(cluster, common), state.clusters.at(cluster).member.policy.facts};
  policy.facts.spec_digest = sha256(to_text(policy.spec));
  policy.facts.namespaces.assign(common.namespaces.begin(), common.namespaces.end());
  policy.facts.flavors.assign(common.flavors.begin(), common.flavors.end());
  policy.facts.topologies.assign(common.topologies.begin(), common.topologies.end());
  policy.facts.ours = true;
  return policy;
}

std::string text_of(const Json& spec) {
  std::string text;
  for (const Json& clause : spec["downsync"])
    for (const Json& name : clause["objectNames"]) {
      text += (text.empty() ? "" : ", ") + clause["resources"][0].get<std::string>() + " ";
      if (clause.contains("namespaces")) text += clause["namespaces"][0].get<std::string>() + "/";
      text += name.get<std::string>();
    }
  return text;
}

PatchIntended policy_intent(Verb verb, const std::string& cluster, const Policy& policy) {
  return hub_intent(verb, {Kind::binding_policy, "", policy_name(cluster)}, kPolicyVersion,
                    policy.uid, policy.resource_version);
}

Proposed remove_policy(const State& state, const std::string& cluster, const Policy& policy,
                       const std::string& text) {
  PatchIntended intent = policy_intent(Verb::remove, cluster, policy);
  intent.reason = {rule::kMembersRemove, seqs_of_cluster(state, cluster, intent.target), text};
  return proposed(state, Rank::member, std::move(intent));
}

}  // namespace

Proposed emit_policy(const State& state, const std::string& cluster_name, HubQuotas& quotas) {
  const auto at = state.clusters.find(cluster_name);
  if (!has_policies(state) || at == state.clusters.end()) return std::nullopt;
  const Cluster& cluster = at->second;
  const Policy& policy = cluster.member.policy;
  // A policy that is being deleted takes no content any more, and another owner's is left alone.
  if (policy.present && (policy.facts.deleting || !policy.facts.ours)) return std::nullopt;
  if (policy.present && cluster.presence.detached && !cluster.presence.managed)
    return remove_policy(state, cluster_name, policy, "the cluster is gone");
  if (!member_is_written(state, cluster_name)) return std::nullopt;
  std::optional<WantedPolicy> should = wanted(state, cluster_name, quotas);
  if (!should) {
    if (!policy.present) return std::nullopt;
    return remove_policy(state, cluster_name, policy, "nothing is left in it");
  }
  if (policy.present && policy.facts.spec_digest == should->facts.spec_digest) return std::nullopt;
  PatchIntended intent = policy_intent(Verb::apply, cluster_name, policy);
  Json body = object_head(Kind::binding_policy, intent.version, "", intent.target.name, policy.uid,
                          policy.resource_version);
  body["metadata"]["labels"] = {{"app.kubernetes.io/managed-by", "fairlead"}};
  intent.force = true;
  intent.reason = {policy.present ? rule::kMembersUpdate : rule::kMembersCreate,
                   seqs_of_cluster(state, cluster_name, intent.target), text_of(should->spec)};
  body["spec"] = std::move(should->spec);
  intent.body = to_text(body);
  intent.expected = std::move(should->facts);
  return proposed(state, Rank::member, std::move(intent));
}

bool policy_is_due(const State& state, const std::string& cluster_name, HubQuotas& quotas) {
  const auto at = state.clusters.find(cluster_name);
  if (!has_policies(state) || at == state.clusters.end()) return false;
  const Policy& policy = at->second.member.policy;
  if (policy.present && !policy.facts.ours) return false;
  const auto should = wanted(state, cluster_name, quotas);
  if (!should || !policy.present) return policy.present != should.has_value();
  return policy.facts.spec_digest != should->facts.spec_digest;
}

std::optional<PolicyTrouble> policy_trouble(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  if (!has_policies(state) || at == state.clusters.end()) return std::nullopt;
  const Policy& policy = at->second.member.policy;
  const std::string name = "BindingPolicy " + policy_name(cluster_name);
  if (const Refusal* refusal =
          refusal_of(state.writes, {Kind::binding_policy, "", policy_name(cluster_name)}))
    return PolicyTrouble{std::string(refusal_reason(*refusal)), name + ": " + refusal->reason};
  if (!policy.present) return std::nullopt;
  if (!policy.facts.ours)
    return PolicyTrouble{"BindingPolicyConflict", name + " has another owner"};
  if (at->second.presence.managed && !at->second.presence.managed->labelled)
    return PolicyTrouble{"ClusterNotLabelled", "ManagedCluster " + cluster_name +
                                                   " lacks the label name=" + cluster_name +
                                                   ", by which its BindingPolicy selects it"};
  // Errors of an older generation are about content that was replaced.
  if (policy.facts.observed_generation != policy.generation) return std::nullopt;
  if (!policy.facts.error.empty())
    return PolicyTrouble{"SpaceRejected", name + ": " + policy.facts.error};
  if (policy.facts.synced.status == ConditionStatus::no)
    return PolicyTrouble{"SpaceRejected", name + " is not synced: " + policy.facts.synced.reason};
  return std::nullopt;
}

bool awaits_space(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  if (!has_policies(state) || at == state.clusters.end()) return false;
  const Policy& policy = at->second.member.policy;
  return policy.present && policy.facts.observed_generation != policy.generation;
}

}  // namespace fairlead
