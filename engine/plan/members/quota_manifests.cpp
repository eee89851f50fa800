#include "engine/plan/members/quota_manifests.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/members/works.h"
#include "engine/plan/members/work_layout.h"
#include "engine/plan/queues/resource_groups.h"
#include "schema/work_feedback.h"

namespace fairlead {

namespace {

Json feedback_path(std::string name, std::string path) {
  return {{"name", std::move(name)}, {"path", std::move(path)}};
}

// Returns what the agent reports of a queue. Each path leads to a single value: of a list such as
// flavorsUsage OCM's agent reports nothing unless its gate RawFeedbackJsonString is on.
Json quota_feedback(const std::vector<ResourceGroup>& groups) {
  Json paths = Json::array();
  paths.push_back(feedback_path(std::string(kActiveFeedback),
                                R"(.status.conditions[?(@.type=="Active")].status)"));
  paths.push_back(feedback_path(std::string(kActiveReasonFeedback),
                                R"(.status.conditions[?(@.type=="Active")].reason)"));
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
  // groups() has left out the flavors that State does not hold.
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

Json topology_manifest(const State& state, const std::string& name) {
  Json levels = Json::array();
  for (const std::string& level : state.flavors.topologies.at(name).levels)
    levels.push_back({{"nodeLabel", level}});
  Json manifest = object_head(Kind::topology, kueue_version(state), "", name, "", "");
  manifest["spec"] = {{"levels", std::move(levels)}};
  return manifest;
}

void add_quotas(const std::string& queue, const std::vector<ResourceGroup>& groups,
                std::vector<WorkQuota>& quotas) {
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        quotas.push_back({queue, flavor.name, quota.name, to_amount(quota.name, quota.nominal)});
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

// A queue of the member and what its work has for it.
struct QueuePart {
  Json manifest;
  Json config;
  std::vector<WorkQuota> quotas;
  std::set<std::string> flavors;
};

// The parts of all queues of a member, and the manifests of their flavors.
struct Manifests {
  std::map<std::string, QueuePart> queues;
  std::map<std::string, Json> flavors;
  std::map<std::string, Json> topologies;
};

Manifests manifests_of(const State& state, const MemberQuotas& member,
                       const std::set<std::string>& names) {
  Manifests parts;
  for (const std::string& name : names) {
    const std::vector<ResourceGroup> groups = member.groups(name);
    if (groups.empty()) continue;
    QueuePart& part = parts.queues[name];
    part.manifest = queue_manifest(state, name, groups);
    part.config = applied_by_server_side_apply(Kind::cluster_queue, "", name, Force::yes);
    part.config["feedbackRules"] = quota_feedback(groups);
    add_quotas(name, groups, part.quotas);
    for (const ResourceGroup& group : groups)
      for (const FlavorQuotas& flavor : group.flavors) part.flavors.insert(flavor.name);
    for (const std::string& flavor : part.flavors) {
      // The cluster's BindingPolicy brings them instead.
      if (has_policies(state) || parts.flavors.contains(flavor)) continue;
      parts.flavors[flavor] = flavor_manifest(state, flavor);
      if (const auto topology = topology_of(state, flavor))
        parts.topologies[*topology] = topology_manifest(state, *topology);
    }
    if (has_policies(state)) part.flavors.clear();
  }
  return parts;
}

std::map<std::string, std::size_t> layout_of(const State& state, const Cluster& cluster,
                                             const Manifests& parts) {
  std::map<std::string, std::size_t> flavor_bytes;
  for (const auto& [name, manifest] : parts.flavors) {
    flavor_bytes[name] = to_text(manifest).size();
    if (const auto topology = topology_of(state, name))
      flavor_bytes[name] += to_text(parts.topologies.at(*topology)).size();
  }
  std::vector<QueueSize> sizes;
  for (const auto& [name, part] : parts.queues)
    sizes.push_back({name, to_text(part.manifest).size(),
                     part.config["feedbackRules"][0]["jsonPaths"].size(), part.flavors});
  return place_queues(cluster, sizes, flavor_bytes);
}

// Adds an object that stays at the member when the work goes.
void add_orphaned(Kind kind, const std::string& name, const Json& manifest, WorkContent& content,
                  Json& orphans) {
  content.spec["workload"]["manifests"].push_back(manifest);
  content.spec["manifestConfigs"].push_back(
      applied_by_server_side_apply(kind, "", name, Force::yes));
  orphans.push_back(orphaning_rule(info(kind).group, info(kind).resource, name));
}

WorkContent content_of(const State& state, const Manifests& parts,
                       const std::set<std::string>& queues) {
  WorkContent content;
  content.spec = {{"workload", {{"manifests", Json::array()}}}, {"manifestConfigs", Json::array()}};
  std::set<std::string> flavors;
  std::set<std::string> topologies;
  Json orphans = Json::array();
  for (const std::string& name : queues) {
    const QueuePart& part = parts.queues.at(name);
    content.spec["manifestConfigs"].push_back(part.config);
    content.facts.quotas.insert(content.facts.quotas.end(), part.quotas.begin(), part.quotas.end());
    flavors.insert(part.flavors.begin(), part.flavors.end());
  }
  for (const std::string& flavor : flavors)
    if (const auto topology = topology_of(state, flavor)) topologies.insert(*topology);
  for (const std::string& name : topologies) {
    add_orphaned(Kind::topology, name, parts.topologies.at(name), content, orphans);
    content.facts.topologies.push_back({name, true});
  }
  for (const std::string& name : flavors) {
    add_orphaned(Kind::resource_flavor, name, parts.flavors.at(name), content, orphans);
    content.facts.flavors.push_back({name, true});
  }
  for (const std::string& name : queues)
    content.spec["workload"]["manifests"].push_back(parts.queues.at(name).manifest);
  if (!orphans.empty()) content.spec["deleteOption"] = selectively_orphan(std::move(orphans));
  return content;
}

}  // namespace

std::optional<std::string> topology_of(const State& state, const std::string& flavor) {
  const auto at = state.flavors.by_name.find(flavor);
  if (at == state.flavors.by_name.end() ||
      !state.flavors.topologies.contains(at->second.topology_name))
    return std::nullopt;
  return at->second.topology_name;
}

Json applied_by_server_side_apply(Kind kind, const std::string& namespace_, const std::string& name,
                                  Force force) {
  Json identifier{{"group", std::string(info(kind).group)},
                  {"resource", std::string(info(kind).resource)},
                  {"name", name}};
  if (!namespace_.empty()) identifier["namespace"] = namespace_;
  return Json{
      {"resourceIdentifier", std::move(identifier)},
      {"updateStrategy",
       {{"type", "ServerSideApply"}, {"serverSideApply", {{"force", force == Force::yes}}}}}};
}

MemberQuotas::MemberQuotas(const State& state, const std::string& name, HubQuotas& quotas)
    : state_(state), name_(name), cluster_(state.clusters.at(name)), quotas_(quotas) {
  const Claim* claim = winning_claim(state.claims, name);
  if (!claim || !claim->terms) return;
  for (const AssignmentRow& row : claim->terms->rows) {
    assigned_[{row.cluster_queue, row.flavor, row.resource}];
    queues_.insert(row.cluster_queue);
  }
  for (const Grant& grant : claim->grants)
    assigned_[{grant.row.cluster_queue, grant.row.flavor, grant.row.resource}] = grant.granted;
}

Amount MemberQuotas::granted(const std::string& queue, const QuotaKey& pair) const {
  const auto at = assigned_.find({queue, pair.flavor, pair.resource});
  return at == assigned_.end() ? 0 : at->second;
}

bool MemberQuotas::names(const std::string& queue, const QuotaKey& pair) const {
  return assigned_.contains({queue, pair.flavor, pair.resource});
}

const WorkQuota* MemberQuotas::in_works(const std::string& queue, const std::string& flavor,
                                        const std::string& resource) const {
  for (const std::string& work : works_with(cluster_, queue))
    for (const WorkQuota& quota : quotas_in(cluster_.member.quota_works.at(work), queue))
      if (quota.flavor == flavor && quota.resource == resource) return &quota;
  return nullptr;
}

// The group has a place for no claim: credits, licences, pods.
bool MemberQuotas::is_unclaimed(const std::string& queue, const ResourceGroup& group) const {
  const std::set<std::string>& named = cluster_.member.named.at(queue);
  std::set<std::string> owned;
  for (const QuotaKey& pair : quotas_.owned_pairs(queue)) owned.insert(pair.flavor);
  return std::none_of(group.flavors.begin(), group.flavors.end(), [&](const FlavorQuotas& flavor) {
    return named.contains(flavor.name) || owned.contains(flavor.name);
  });
}

// A flavor that is gone from the hub stays with the quota that the work has, until nothing asks for
// it.
Quantity MemberQuotas::nominal_of(const std::string& queue, const FlavorQuotas& flavor,
                                  const ResourceQuota& quota, const Wish& wish) const {
  const QuotaKey pair{flavor.name,
                      canonical_resource(state_.configuration.resource_aliases, quota.name)};
  const auto at = wish.amounts.find(pair);
  const Amount amount = at != wish.amounts.end() && !wish.withheld.contains(pair) ? at->second : 0;
  const bool asked_for = names(queue, pair) || wish.unclaimed.contains(flavor.name) ||
                         quotas_.promised(queue, name_, pair) > 0;
  if (!flavor_exists(state_.flavors, flavor.name))
    if (const WorkQuota* held = in_works(queue, flavor.name, quota.name))
      return to_quantity(quota.name, asked_for ? held->nominal : 0);
  if (names(queue, pair) || amount > 0) return to_quantity(quota.name, amount);
  if (wish.leaves || quotas_.assigns(queue, pair.resource)) return to_quantity(quota.name, 0);
  return quota.nominal;
}

std::vector<ResourceGroup> MemberQuotas::groups(const std::string& queue) const {
  Wish wish;
  std::map<QuotaKey, Place> places;
  for (const QuotaKey& pair : quotas_.owned_pairs(queue)) {
    // The member shrinks after the hub: it keeps what the hub may still dispatch.
    const Amount amount = std::max(granted(queue, pair), quotas_.promised(queue, name_, pair));
    wish.amounts[pair] = amount;
    places[pair] = amount > 0 || names(queue, pair) ? Place::made : Place::if_there;
  }
  // Such a queue admits nothing, so that it can go.
  wish.leaves = !queues_.contains(queue) &&
                std::ranges::all_of(wish.amounts, [](const auto& of) { return of.second == 0; });
  Shape shape = shape_groups(state_, queue, places);
  wish.withheld = std::move(shape.withheld);
  // queues_at_member() has chosen the queue from `named`.
  const std::set<std::string>& named = cluster_.member.named.at(queue);
  for (ResourceGroup& group : shape.groups) {
    const bool unclaimed = is_unclaimed(queue, group);
    std::erase_if(group.flavors, [&](const FlavorQuotas& flavor) {
      if (!(unclaimed || named.contains(flavor.name)) ||
          !state_.flavors.by_name.contains(flavor.name))
        return true;
      return !flavor_exists(state_.flavors, flavor.name) &&
             std::none_of(flavor.resources.begin(), flavor.resources.end(),
                          [&](const ResourceQuota& quota) {
                            return in_works(queue, flavor.name, quota.name) != nullptr;
                          });
    });
    if (unclaimed)
      for (const FlavorQuotas& flavor : group.flavors) wish.unclaimed.insert(flavor.name);
    for (FlavorQuotas& flavor : group.flavors)
      for (ResourceQuota& quota : flavor.resources) {
        // The member's queue has no cohort, and Kueue rejects limits without one.
        quota.borrowing_limit.reset();
        quota.lending_limit.reset();
        quota.nominal = nominal_of(queue, flavor, quota, wish);
      }
  }
  std::erase_if(shape.groups, [](const ResourceGroup& group) { return group.flavors.empty(); });
  return std::move(shape.groups);
}

QuotaContents quota_contents(const State& state, const std::string& cluster_name,
                             const std::set<std::string>& queues, HubQuotas& quotas) {
  const Cluster& cluster = state.clusters.at(cluster_name);
  const Manifests parts = manifests_of(state, MemberQuotas(state, cluster_name, quotas), queues);
  std::map<std::string, std::set<std::string>> of_work;
  for (const auto& [queue, number] : layout_of(state, cluster, parts)) {
    of_work[quota_work_name(number)].insert(queue);
    if (has_arrived(cluster, queue, number)) continue;
    // A queue that moves stays in its former work until the next one is applied: the member never
    // loses it.
    for (const std::string& before : works_with(cluster, queue)) of_work[before].insert(queue);
  }
  QuotaContents contents;
  for (const auto& [work, of] : of_work) contents[work] = content_of(state, parts, of);
  return contents;
}

}  // namespace fairlead
