#include "engine/plan/members/manifest_work.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/members/work_proposal.h"
#include "engine/plan/queues/cluster_queue.h"
#include "engine/plan/queues/resource_groups.h"
#include "schema/work_feedback.h"

namespace fairlead {

namespace {

Json applied_by_server_side_apply(std::string_view group, const std::string& resource,
                                  const std::string& namespace_, const std::string& name,
                                  bool force) {
  Json identifier{{"group", std::string(group)}, {"resource", resource}, {"name", name}};
  if (!namespace_.empty()) identifier["namespace"] = namespace_;
  return Json{
      {"resourceIdentifier", std::move(identifier)},
      {"updateStrategy", {{"type", "ServerSideApply"}, {"serverSideApply", {{"force", force}}}}}};
}

Json feedback_path(std::string name, std::string path) {
  return {{"name", std::move(name)}, {"path", std::move(path)}};
}

// Returns what the agent reports of a queue. Each path leads to a single value: of a list such as
// flavorsUsage OCM's agent reports nothing unless its gate RawFeedbackJsonString is on.
Json quota_feedback(const std::vector<ResourceGroup>& groups) {
  Json paths = Json::array();
  paths.push_back(feedback_path(std::string(kActiveFeedback),
                                R"(.status.conditions[?(@.type=="Active")].status)"));
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        paths.push_back(feedback_path(std::string(kUsageFeedback) + flavor.name + "/" + quota.name,
                                      R"(.status.flavorsUsage[?(@.name==")" + flavor.name +
                                          R"(")].resources[?(@.name==")" + quota.name +
                                          R"(")].total)"));
  Json rule{{"type", "JSONPaths"}, {"jsonPaths", std::move(paths)}};
  Json rules = Json::array();
  rules.push_back(std::move(rule));
  return rules;
}

Json flavor_manifest(const State& state, const std::string& name) {
  // member_groups() has left out the flavors that State does not hold.
  const ResourceFlavorFacts& flavor = state.flavors.by_name.at(name);
  Json spec = Json::object();
  if (!flavor.node_labels.empty()) spec["nodeLabels"] = flavor.node_labels;
  for (const Taint& taint : flavor.node_taints) {
    Json entry{{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) entry["value"] = taint.value;
    spec["nodeTaints"].push_back(std::move(entry));
  }
  for (const Toleration& toleration : flavor.tolerations) {
    Json entry = Json::object();
    if (!toleration.key.empty()) entry["key"] = toleration.key;
    if (!toleration.op.empty()) entry["operator"] = toleration.op;
    if (!toleration.value.empty()) entry["value"] = toleration.value;
    if (!toleration.effect.empty()) entry["effect"] = toleration.effect;
    spec["tolerations"].push_back(std::move(entry));
  }
  if (!flavor.topology_name.empty()) spec["topologyName"] = flavor.topology_name;
  Json manifest = object_head(Kind::resource_flavor, kueue_version(state), "", name, "", "");
  manifest["spec"] = std::move(spec);
  return manifest;
}

const Claim* claim_at(const State& state, const std::string& cluster) {
  return winning_claim(state, cluster);
}

Amount granted(const Claim* claim, const std::string& queue, const QuotaKey& pair) {
  if (!claim) return 0;
  for (const Grant& grant : claim->grants)
    if (grant.row.cluster_queue == queue && grant.row.flavor == pair.flavor &&
        grant.row.resource == pair.resource)
      return grant.granted;
  return 0;
}

bool names(const Claim* claim, const std::string& queue, const QuotaKey& pair) {
  return claim && claim->terms &&
         std::any_of(claim->terms->rows.begin(), claim->terms->rows.end(),
                     [&](const AssignmentRow& row) {
                       return row.cluster_queue == queue && row.flavor == pair.flavor &&
                              row.resource == pair.resource;
                     });
}

bool names_queue(const Claim* claim, const std::string& queue) {
  return claim && claim->terms &&
         std::any_of(claim->terms->rows.begin(), claim->terms->rows.end(),
                     [&](const AssignmentRow& row) { return row.cluster_queue == queue; });
}

// Returns the work's quota of a pair; null if it has none. `resource` is as the queue spells it.
const WorkQuota* quota_in(const Work& work, const std::string& queue, const std::string& flavor,
                          const std::string& resource) {
  for (const WorkQuota& quota : work.facts.quotas)
    if (quota.cluster_queue == queue && quota.flavor == flavor && quota.resource == resource)
      return &quota;
  return nullptr;
}

bool has_flavor(const Work& work, const std::string& queue, const std::string& flavor) {
  return std::any_of(work.facts.quotas.begin(), work.facts.quotas.end(),
                     [&](const WorkQuota& quota) {
                       return quota.cluster_queue == queue && quota.flavor == flavor;
                     });
}

// Returns the desired groups of a queue at the member. A pair gets the grant, or what the hub still
// promises if that is more: a shrink reaches the hub first. A flavor that is gone from the hub
// stays with the quota that the work has, until no claim names it and the hub promises nothing of
// it.
std::vector<ResourceGroup> member_groups(const State& state, const std::string& cluster_name,
                                         const std::string& queue, HubQuotas& quotas) {
  const Cluster& cluster = state.clusters.at(cluster_name);
  // queues_at_member() has chosen the queue from `named`.
  const std::set<std::string>& flavors = cluster.member.named.at(queue);
  const Work& work = cluster.member.quota_work;
  const Claim* claim = claim_at(state, cluster_name);
  std::map<QuotaKey, Amount> wanted;
  for (const QuotaKey& pair : quotas.owned_pairs(queue))
    wanted[pair] =
        std::max(granted(claim, queue, pair), quotas.promised(queue, cluster_name, pair));
  std::map<QuotaKey, Place> places;
  for (const auto& [pair, amount] : wanted)
    places[pair] = amount > 0 || names(claim, queue, pair) ? Place::made : Place::if_there;
  Shape shape = shape_groups(state, queue, places);
  for (ResourceGroup& group : shape.groups) {
    std::erase_if(group.flavors, [&](const FlavorQuotas& flavor) {
      if (!flavors.contains(flavor.name) || !state.flavors.by_name.contains(flavor.name))
        return true;
      return !flavor_exists(state, flavor.name) && !has_flavor(work, queue, flavor.name);
    });
    for (FlavorQuotas& flavor : group.flavors)
      for (ResourceQuota& quota : flavor.resources) {
        // The member's queue has no cohort, and Kueue rejects limits without one.
        quota.borrowing_limit.reset();
        quota.lending_limit.reset();
        const QuotaKey pair{flavor.name,
                            canonical_resource(state.configuration.resource_aliases, quota.name)};
        const WorkQuota* held = quota_in(work, queue, flavor.name, quota.name);
        if (held && !flavor_exists(state, flavor.name)) {
          const bool asked_for =
              names(claim, queue, pair) || quotas.promised(queue, cluster_name, pair) > 0;
          quota.nominal = to_quantity(quota.name, asked_for ? held->nominal : 0);
          continue;
        }
        const Amount amount =
            wanted.contains(pair) && !shape.withheld.contains(pair) ? wanted.at(pair) : 0;
        if (names(claim, queue, pair) || amount > 0)
          quota.nominal = to_quantity(quota.name, amount);
        else if (quotas.assigns(queue, pair.resource))
          quota.nominal = to_quantity(quota.name, 0);
      }
  }
  std::erase_if(shape.groups, [](const ResourceGroup& group) { return group.flavors.empty(); });
  return shape.groups;
}

void add_quotas(const std::string& queue, const std::vector<ResourceGroup>& groups,
                ManifestWorkFacts& facts) {
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        facts.quotas.push_back(
            {queue, flavor.name, quota.name, to_amount(quota.name, quota.nominal)});
}

Json queue_manifest(const State& state, const std::string& name,
                    const std::vector<ResourceGroup>& groups) {
  const ClusterQueueFacts& facts = state.queues.by_name.at(name).facts;
  Json spec{{"resourceGroups", groups_json(groups)}};
  if (!facts.namespace_selector.empty())
    spec["namespaceSelector"] = read_own_json(facts.namespace_selector);
  if (!facts.queueing_strategy.empty()) spec["queueingStrategy"] = facts.queueing_strategy;
  if (!facts.preemption.empty()) spec["preemption"] = read_own_json(facts.preemption);
  Json manifest = object_head(Kind::cluster_queue, kueue_version(state), "", name, "", "");
  manifest["spec"] = std::move(spec);
  return manifest;
}

std::optional<WorkContent> quota_content(const State& state, const std::string& cluster,
                                         HubQuotas& quotas) {
  std::set<std::string> flavors;
  Json queues = Json::array();
  Json configs = Json::array();
  WorkContent content;
  for (const std::string& queue : queues_at_member(state, cluster, quotas)) {
    const std::vector<ResourceGroup> groups = member_groups(state, cluster, queue, quotas);
    if (groups.empty()) continue;
    for (const ResourceGroup& group : groups)
      for (const FlavorQuotas& flavor : group.flavors) flavors.insert(flavor.name);
    queues.push_back(queue_manifest(state, queue, groups));
    Json config = applied_by_server_side_apply("kueue.x-k8s.io", "clusterqueues", "", queue, true);
    config["feedbackRules"] = quota_feedback(groups);
    configs.push_back(std::move(config));
    add_quotas(queue, groups, content.facts);
  }
  if (queues.empty()) return std::nullopt;
  Json manifests = Json::array();
  Json orphans = Json::array();
  // The cluster's BindingPolicy brings them instead.
  if (has_policies(state)) flavors.clear();
  for (const std::string& flavor : flavors) {
    manifests.push_back(flavor_manifest(state, flavor));
    configs.push_back(
        applied_by_server_side_apply("kueue.x-k8s.io", "resourceflavors", "", flavor, true));
    orphans.push_back(orphaned_flavor(flavor));
    content.facts.flavors.push_back({flavor, true});
  }
  for (Json& queue : queues) manifests.push_back(std::move(queue));
  content.spec = {{"workload", {{"manifests", std::move(manifests)}}},
                  {"manifestConfigs", std::move(configs)}};
  if (!orphans.empty()) content.spec["deleteOption"] = selectively_orphan(std::move(orphans));
  return content;
}

bool in_our_work(const Work& work, const LocalQueueId& id) {
  return std::any_of(work.facts.local_queues.begin(), work.facts.local_queues.end(),
                     [&](const WorkLocalQueue& queue) {
                       return queue.namespace_ == id.first && queue.name == id.second;
                     });
}

// Whether the member has such a LocalQueue that is not ours and has another target: it is never
// overwritten.
bool conflicts(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  return points_elsewhere(cluster, id, target) && !in_our_work(cluster.member.queue_work, id);
}

// Kueue makes spec.clusterQueue immutable: a LocalQueue with a new target leaves the work first and
// comes back once that is applied.
bool retargets(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  const Work& work = cluster.member.queue_work;
  if (!work.present) return false;
  for (const WorkLocalQueue& queue : work.facts.local_queues)
    if (queue.namespace_ == id.first && queue.name == id.second)
      return queue.cluster_queue != target;
  // It is not in the work. Until the agent has applied that, the member may still have it with its
  // former target.
  return work.facts.applied.observed_generation != work.generation;
}

std::optional<WorkContent> queue_content(const State& state, const std::string& cluster_name,
                                         const std::set<std::string>& queues) {
  const Cluster& cluster = state.clusters.at(cluster_name);
  std::set<std::string> namespaces;
  Json manifests = Json::array();
  Json local_queues = Json::array();
  Json configs = Json::array();
  WorkContent content;
  for (const auto& [id, local_queue] : state.queues.local) {
    const std::string& target = local_queue.cluster_queue;
    if (!queues.contains(target) || conflicts(cluster, id, target) ||
        retargets(cluster, id, target))
      continue;
    namespaces.insert(id.first);
    Json manifest =
        object_head(Kind::local_queue, kueue_version(state), id.first, id.second, "", "");
    manifest["spec"] = {{"clusterQueue", target}};
    local_queues.push_back(std::move(manifest));
    // Not forced: where another manager of the member owns a field, the apply fails and the agent
    // reports it.
    configs.push_back(
        applied_by_server_side_apply("kueue.x-k8s.io", "localqueues", id.first, id.second, false));
    content.facts.local_queues.push_back({id.first, id.second, target});
  }
  if (local_queues.empty()) return std::nullopt;
  Json orphans = Json::array();
  for (const std::string& name : namespaces) {
    manifests.push_back(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    configs.push_back(applied_by_server_side_apply("", "namespaces", "", name, false));
    orphans.push_back(orphaning_rule("", "namespaces", name));
  }
  for (Json& queue : local_queues) manifests.push_back(std::move(queue));
  content.spec = {{"deleteOption", selectively_orphan(std::move(orphans))},
                  {"workload", {{"manifests", std::move(manifests)}}},
                  {"manifestConfigs", std::move(configs)}};
  return content;
}

// Whether all quota of the queue in the work is zero and applied, and no usage is reported. The
// deletion of a work is the end of it: the agent applies no generation after that.
bool drained(const Cluster& cluster, const std::string& queue) {
  const Work& work = cluster.member.quota_work;
  const auto of_queue = [&](const WorkQuota& quota) { return quota.cluster_queue == queue; };
  if (!work.present || std::none_of(work.facts.quotas.begin(), work.facts.quotas.end(), of_queue))
    return true;
  return (work.applied_and_available() || work.facts.deleting) &&
         unused_at_member(cluster, queue) &&
         std::all_of(
             work.facts.quotas.begin(), work.facts.quotas.end(),
             [&](const WorkQuota& quota) { return !of_queue(quota) || quota.nominal == 0; });
}

}  // namespace

bool unused_at_member(const Cluster& cluster, const std::string& queue) {
  const auto idle = [](const std::vector<FlavorUsage>& usage) {
    return std::all_of(usage.begin(), usage.end(),
                       [](const FlavorUsage& used) { return used.total == 0; });
  };
  const auto watched = cluster.member.queues.find(queue);
  if (watched != cluster.member.queues.end() && !idle(watched->second.usage)) return false;
  return std::all_of(cluster.member.quota_work.facts.feedback.begin(),
                     cluster.member.quota_work.facts.feedback.end(),
                     [&](const WorkFeedback& feedback) {
                       return feedback.cluster_queue != queue || idle(feedback.usage);
                     });
}

bool has_policies(const State& state) {
  return state.configuration.member_mode == MemberMode::binding_policy;
}

std::set<std::string> queues_at_member(const State& state, const std::string& cluster_name,
                                       HubQuotas& quotas) {
  std::set<std::string> queues;
  const Cluster& cluster = state.clusters.at(cluster_name);
  const Claim* claim = claim_at(state, cluster_name);
  for (const auto& [queue, flavors] : cluster.member.named) {
    if (!state.queues.by_name.contains(queue)) continue;
    bool needed = names_queue(claim, queue) || !drained(cluster, queue);
    for (const QuotaKey& pair : quotas.owned_pairs(queue))
      needed = needed || quotas.promised(queue, cluster_name, pair) > 0;
    if (needed) queues.insert(queue);
  }
  return queues;
}

std::set<std::string> flavors_at_member(const State& state, const std::string& cluster,
                                        HubQuotas& quotas) {
  std::set<std::string> flavors;
  for (const std::string& queue : queues_at_member(state, cluster, quotas))
    for (const ResourceGroup& group : member_groups(state, cluster, queue, quotas))
      for (const FlavorQuotas& flavor : group.flavors) flavors.insert(flavor.name);
  return flavors;
}

bool points_elsewhere(const Cluster& cluster, const LocalQueueId& id, const std::string& target) {
  const auto there = cluster.member.local_queues.find(id);
  return there != cluster.member.local_queues.end() && there->second.cluster_queue != target;
}

std::vector<std::string> local_queue_conflicts(const State& state, const std::string& cluster_name,
                                               HubQuotas& quotas) {
  std::vector<std::string> found;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || !has_member(state, at->second)) return found;
  const std::set<std::string> queues = queues_at_member(state, cluster_name, quotas);
  for (const auto& [id, local_queue] : state.queues.local)
    if (queues.contains(local_queue.cluster_queue) &&
        conflicts(at->second, id, local_queue.cluster_queue))
      found.push_back(id.first + "/" + id.second);
  return found;
}

bool member_is_frozen(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  const Claim* claim = claim_at(state, cluster_name);
  if (at == state.clusters.end() || !claim || !claim->terms) return false;
  const auto& rows = claim->terms->rows;
  return std::any_of(rows.begin(), rows.end(), [&](const AssignmentRow& row) {
    return has_flavor(at->second.member.quota_work, row.cluster_queue, row.flavor) &&
           !(state.queues.by_name.contains(row.cluster_queue) &&
             state.flavors.by_name.contains(row.flavor));
  });
}

bool member_is_written(const State& state, const std::string& cluster_name) {
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end() || !has_member(state, at->second)) return false;
  const Cluster& cluster = at->second;
  if (cluster.presence.detached || cluster.lost() || !cluster.known) return false;
  if (member_is_frozen(state, cluster_name)) return false;
  const Claim* claim = claim_at(state, cluster_name);
  return !claim || claim->known;  // else the claim waits for the cluster's first value
}

std::vector<Proposal> emit_works(const State& state, const std::string& cluster_name,
                                 HubQuotas& quotas) {
  std::vector<Proposal> proposals;
  if (!member_is_written(state, cluster_name)) return proposals;
  const Cluster& cluster = state.clusters.at(cluster_name);
  std::optional<WorkContent> quota = quota_content(state, cluster_name, quotas);
  std::optional<WorkContent> queues;
  // Without content of the quota work the queue work is to go too: LocalQueues stay exactly as long
  // as their queues.
  if (quota && !has_policies(state))
    queues = queue_content(state, cluster_name, queues_at_member(state, cluster_name, quotas));
  propose_work({state, cluster_name, kQuotaWork, cluster.member.quota_work}, std::move(quota),
               proposals);
  // A queue work from before the mode changed stays: removing it would delete the member's
  // LocalQueues.
  if (!has_policies(state))
    propose_work({state, cluster_name, kQueueWork, cluster.member.queue_work}, std::move(queues),
                 proposals);
  return proposals;
}

}  // namespace fairlead
