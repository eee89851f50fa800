#include "engine/plan/members/work_proposal.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/causes.h"

namespace fairlead {

namespace {

constexpr const char* kTouchLabel = "fairlead.io/apply-again";

using PairOfWork = std::tuple<std::string_view, std::string_view, std::string_view>;

PairOfWork pair_of(const WorkQuota& quota) {
  return {quota.cluster_queue, quota.flavor, quota.resource};
}

std::map<PairOfWork, Amount> amounts_of(const ManifestWorkFacts& work) {
  std::map<PairOfWork, Amount> amounts;
  for (const WorkQuota& quota : work.quotas) amounts.emplace(pair_of(quota), quota.nominal);
  return amounts;
}

bool lowers(const ManifestWorkFacts& before, const ManifestWorkFacts& after) {
  const auto amounts = amounts_of(before);
  return std::any_of(after.quotas.begin(), after.quotas.end(), [&](const WorkQuota& is) {
    const auto was = amounts.find(pair_of(is));
    return was != amounts.end() && is.nominal < was->second;
  });
}

std::string text_of(const ManifestWorkFacts& before, const ManifestWorkFacts& after) {
  std::string text;
  const auto amounts = amounts_of(before);
  for (const WorkQuota& is : after.quotas) {
    const auto was = amounts.find(pair_of(is));
    const Amount old = was == amounts.end() ? 0 : was->second;
    if (old == is.nominal) continue;
    text += (text.empty() ? "" : "; ") + is.cluster_queue + " " + is.flavor + " " + is.resource +
            " " + amount_text(is.resource, old) + " -> " + amount_text(is.resource, is.nominal);
  }
  return text.empty() ? "content follows the hub" : text;
}

// As the projection of the watch reads it.
Digest feedback_digest(const Json& spec) {
  std::string rules;
  for (const Json& config : spec.value("manifestConfigs", Json::array()))
    if (config.contains("feedbackRules")) rules += to_text(config["feedbackRules"]);
  return sha256(rules);
}

bool owns_flavors(const Work& work) {
  const auto owned = [](const WorkFlavor& flavor) { return !flavor.orphaned; };
  return std::ranges::any_of(work.facts.flavors, owned) ||
         std::ranges::any_of(work.facts.topologies, owned);
}

// Gives a work of an earlier version, or with another deleteOption, the rules for what stays at the
// member. Nothing else changes, because its next content may not be known yet.
void propose_orphaning(const MemberWork& of, std::vector<PatchIntended>& proposals) {
  const auto& [state, cluster, name, work] = of;
  PatchIntended intent = hub_intent(Verb::patch, {Kind::manifest_work, cluster, std::string(name)},
                                    "v1", work.uid, work.resource_version);
  ManifestWorkFacts expected = work.facts;
  Json rules = Json::array();
  for (WorkFlavor& topology : expected.topologies) {
    topology.orphaned = true;
    rules.push_back(
        orphaning_rule(info(Kind::topology).group, info(Kind::topology).resource, topology.name));
  }
  for (WorkFlavor& flavor : expected.flavors) {
    flavor.orphaned = true;
    rules.push_back(orphaned_flavor(flavor.name));
  }
  const Json body{{"metadata", {{"resourceVersion", work.resource_version}}},
                  {"spec", {{"deleteOption", selectively_orphan(std::move(rules))}}}};
  intent.body = to_text(body);
  intent.expected = std::move(expected);
  intent.reason = {rule::kMembersOrphan, seqs_of_cluster(state, cluster, intent.target),
                   "the member keeps its ResourceFlavors when the work goes"};
  add(proposed(state, Rank::member, std::move(intent)), proposals);
}

// Changes a label of the work, because the agent then applies the work again. The value is a seq
// that no touch before had.
void propose_touch(const MemberWork& of, std::vector<PatchIntended>& proposals) {
  const auto& [state, cluster_name, name, work] = of;
  const auto touch = touch_due(state, cluster_name, std::string(name));
  if (!touch || touch->due > state.now) return;
  const Cluster& cluster = state.clusters.at(cluster_name);
  PatchIntended intent =
      hub_intent(Verb::patch, {Kind::manifest_work, cluster_name, std::string(name)}, "v1",
                 work.uid, work.resource_version);
  std::vector<Seq> causes{work.seq};
  if (const auto queue = cluster.member.queues.find(touch->cluster_queue);
      queue != cluster.member.queues.end())
    causes.push_back(queue->second.seq);
  // A touch is a write of the work whose mark is older than itself. So a mark that is not below the
  // seq of the last write was never used.
  Seq mark = causes.back();
  if (const WriteState* write = write_of(state.writes, intent.target))
    mark = std::max(mark, write->last_write_seq);
  intent.body = to_text(Json{{"metadata",
                              {{"resourceVersion", work.resource_version},
                               {"labels", {{kTouchLabel, std::to_string(mark.value)}}}}}});
  intent.expected = work.facts;
  intent.reason = {
      rule::kMembersTouch, deciding(std::move(causes)),
      "ClusterQueue " + touch->cluster_queue + " of the member is not as it was applied"};
  add(proposed(state, Rank::member, std::move(intent)), proposals);
}

// The agent removes its ownerReference from a flavor when it applies a work that orphans it. If the
// work lost the flavor or were deleted before that, the agent would delete the flavor as its own.
bool agent_may_own_lost_flavor(const Work& work, const std::optional<WorkContent>& content) {
  if (!work.present || work.facts.applied.observed_generation == work.generation) return false;
  const ManifestWorkFacts after = content ? content->facts : ManifestWorkFacts{};
  const auto loses = [](const std::vector<WorkFlavor>& has, const std::vector<WorkFlavor>& keeps) {
    return std::ranges::any_of(has, [&](const WorkFlavor& flavor) {
      return std::ranges::find(keeps, flavor) == keeps.end();
    });
  };
  return loses(work.facts.flavors, after.flavors) || loses(work.facts.topologies, after.topologies);
}

}  // namespace

Json orphaning_rule(std::string_view group, std::string_view resource, const std::string& name) {
  return {{"group", std::string(group)},
          {"resource", std::string(resource)},
          {"namespace", ""},
          {"name", name}};
}

Json selectively_orphan(Json rules) {
  return {{"propagationPolicy", "SelectivelyOrphan"},
          {"selectivelyOrphans", {{"orphaningRules", std::move(rules)}}}};
}

Json orphaned_flavor(const std::string& name) {
  return orphaning_rule("kueue.x-k8s.io", "resourceflavors", name);
}

void propose_work(const MemberWork& of, std::optional<WorkContent> content,
                  std::vector<PatchIntended>& proposals) {
  const auto& [state, cluster, name, work] = of;
  if (work.present && work.facts.deleting) return;
  // Before anything else: without the option, a change of the content would take flavors from the
  // member.
  if (work.present && owns_flavors(work)) return propose_orphaning(of, proposals);
  if (agent_may_own_lost_flavor(work, content)) return;
  PatchIntended intent = hub_intent(content ? Verb::apply : Verb::remove,
                                    {Kind::manifest_work, cluster, std::string(name)}, "v1",
                                    work.uid, work.resource_version);
  if (!content) {
    if (!work.present) return;
    intent.reason = {rule::kMembersRemove, seqs_of_cluster(state, cluster, intent.target),
                     "nothing is left in it"};
    add(proposed(state, Rank::member, std::move(intent)), proposals);
    return;
  }
  content->facts.spec_digest = sha256(to_text(content->spec["workload"]["manifests"]));
  content->facts.feedback_digest = feedback_digest(content->spec);
  if (work.present && carries(work.facts, content->facts)) return propose_touch(of, proposals);
  const bool shrink = work.present && lowers(work.facts, content->facts);
  Json body = object_head(Kind::manifest_work, "v1", cluster, std::string(name), work.uid,
                          work.resource_version);
  body["metadata"]["labels"] = {{"app.kubernetes.io/managed-by", "fairlead"}};
  body["spec"] = std::move(content->spec);
  intent.verb = Verb::apply;
  intent.force = true;
  intent.body = to_text(body);
  if (shrink) intent.direction = Direction::lowers;
  intent.reason = {shrink         ? rule::kMembersShrink
                   : work.present ? rule::kMembersUpdate
                                  : rule::kMembersCreate,
                   seqs_of_cluster(state, cluster, intent.target),
                   text_of(work.facts, content->facts)};
  // The projection of the watch sorts these sets too, and is compared with these facts.
  std::sort(content->facts.quotas.begin(), content->facts.quotas.end());
  std::sort(content->facts.local_queues.begin(), content->facts.local_queues.end());
  intent.expected = std::move(content->facts);
  add(proposed(state, Rank::member, std::move(intent)), proposals);
}

}  // namespace fairlead
