#include "engine/fold/capacity/flavors.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_search_state.h"

namespace fairlead {

namespace {

bool named_by_a_claim(const ClaimTables& claims, const std::string& flavor) {
  return std::any_of(claims.by_name.begin(), claims.by_name.end(), [&](const auto& entry) {
    const auto& terms = entry.second.terms;
    return terms && std::any_of(terms->rows.begin(), terms->rows.end(),
                                [&](const AssignmentRow& row) { return row.flavor == flavor; });
  });
}

bool named_by_a_work(const NameMap<Cluster>& clusters, const std::string& flavor) {
  return std::any_of(clusters.begin(), clusters.end(), [&](const auto& entry) {
    const auto& works = entry.second.member.quota_works;
    return std::any_of(works.begin(), works.end(), [&](const auto& work) {
      const auto& quotas = work.second.facts.quotas;
      return std::any_of(quotas.begin(), quotas.end(),
                         [&](const WorkQuota& quota) { return quota.flavor == flavor; });
    });
  });
}

bool needed(CapacityReader state, const std::string& flavor) {
  return named_by_a_claim(state.claims, flavor) || named_by_a_work(state.clusters, flavor);
}

void note_use(FlavorTables& flavors, const std::string& resource, const std::string& flavor,
              Sign sign, Seq seq) {
  auto& uses = flavors.uses[resource];
  std::int64_t& count = uses[flavor];
  if (sign == Sign::plus) {
    if (++count == 1) flavors.edited = seq;
    return;
  }
  if (--count > 0) return;
  flavors.edited = seq;
  uses.erase(flavor);
  if (uses.empty()) flavors.uses.erase(resource);
}

void note_groups_of(StateView<FlavorTables, const LogPosition> state,
                    const std::vector<ResourceGroup>& groups, Sign sign) {
  for (const ResourceGroup& group : groups)
    for (const std::string& resource : group.covered_resources)
      for (const FlavorQuotas& flavor : group.flavors)
        note_use(state.flavors, resource, flavor.name, sign, state.seq);
}

// Whether the groups differ in nothing but quotas.
bool same_pairs(const std::vector<ResourceGroup>& a, const std::vector<ResourceGroup>& b) {
  const auto same_name = [](const FlavorQuotas& x, const FlavorQuotas& y) {
    return x.name == y.name;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const ResourceGroup& x, const ResourceGroup& y) {
                      return x.covered_resources == y.covered_resources &&
                             std::equal(x.flavors.begin(), x.flavors.end(), y.flavors.begin(),
                                        y.flavors.end(), same_name);
                    });
}

}  // namespace

bool flavor_exists(const FlavorTables& flavors, const std::string& flavor) {
  return flavors.by_name.contains(flavor) && !flavors.gone.contains(flavor);
}

void observe_flavor(FlavorRoom state, const std::string& flavor, const ResourceFlavorFacts* facts,
                    Seq seq) {
  if (facts) {
    state.flavors.seqs[flavor] = seq;
    // A flavor in `gone` is still in `by_name`, so at() finds it.
    const bool returned = state.flavors.gone.erase(flavor) > 0;
    if (returned && state.flavors.by_name.at(flavor) == *facts)
      return;  // it was in force all the time
    state.flavors.by_name[flavor] = *facts;
  } else {
    state.flavors.seqs.erase(flavor);
    // Quota would vanish with it: it stays in force while it is named
    // (docs/decisions/0005-flavors-stay-in-force.md).
    if (state.flavors.by_name.contains(flavor) && needed(state, flavor)) {
      state.flavors.gone.insert(flavor);
      return;
    }
    state.flavors.by_name.erase(flavor);
    state.flavors.gone.erase(flavor);
  }
  recount_everything(state);
}

void release_gone_flavors(FlavorRoom state) {
  const auto dropped = std::erase_if(state.flavors.gone, [&](const std::string& flavor) {
    if (needed(state, flavor)) return false;
    state.flavors.by_name.erase(flavor);
    return true;
  });
  if (dropped == 0) return;
  recount_everything(state);
  state.all_dirty = true;
}

void note_groups(StateView<FlavorTables, const LogPosition> state,
                 const std::vector<ResourceGroup>* before,
                 const std::vector<ResourceGroup>* after) {
  if (before && after && same_pairs(*before, *after)) return;
  // Added before the former ones are taken away: a use that stays never falls to 0, which would be
  // an edit.
  if (after) note_groups_of(state, *after, Sign::plus);
  if (before) note_groups_of(state, *before, Sign::minus);
}

void note_rows(StateView<FlavorTables, const LogPosition> state, const ClaimTerms& terms,
               Sign sign) {
  for (const AssignmentRow& row : terms.rows)
    note_use(state.flavors, row.spelled, row.flavor, sign, state.seq);
}

// Not at each event: a list of queues brings many uses, and each recount looks at every node.
void adopt_uses(CapacityRoom state) {
  FlavorTables& flavors = state.flavors;
  const auto edited = std::exchange(flavors.edited, std::nullopt);
  if (!edited) return;
  flavors.in_force.clear();
  for (const auto& [resource, uses] : flavors.uses)
    for (const auto& [flavor, count] : uses) flavors.in_force[resource].insert(flavor);
  CandidateTable candidates =
      candidates_of(flavors.in_force, flavors.by_name, state.configuration.resource_aliases);
  if (candidates == flavors.candidates) return;
  flavors.candidates = std::move(candidates);
  recount_for_uses(state, *edited);
  // Whether a pod may use a tainted node follows from the tolerations of the node's flavors.
  state.searches.all_dirty |=
      std::any_of(flavors.by_name.begin(), flavors.by_name.end(),
                  [](const auto& flavor) { return !flavor.second.tolerations.empty(); });
}

}  // namespace fairlead
