#include "engine/fold/capacity/flavors.h"

#include <algorithm>
#include <set>

#include "engine/fold/capacity/cluster.h"

namespace fairlead {

namespace {

bool named_by_a_claim(const State& state, const std::string& flavor) {
  return std::any_of(
      state.claims.by_name.begin(), state.claims.by_name.end(), [&](const auto& entry) {
        const auto& terms = entry.second.terms;
        return terms && std::any_of(terms->rows.begin(), terms->rows.end(),
                                    [&](const AssignmentRow& row) { return row.flavor == flavor; });
      });
}

bool named_by_a_work(const State& state, const std::string& flavor) {
  return std::any_of(state.clusters.begin(), state.clusters.end(), [&](const auto& entry) {
    const auto& works = entry.second.member.quota_works;
    return std::any_of(works.begin(), works.end(), [&](const auto& work) {
      const auto& quotas = work.second.facts.quotas;
      return std::any_of(quotas.begin(), quotas.end(),
                         [&](const WorkQuota& quota) { return quota.flavor == flavor; });
    });
  });
}

bool needed(const State& state, const std::string& flavor) {
  return named_by_a_claim(state, flavor) || named_by_a_work(state, flavor);
}

}  // namespace

bool flavor_exists(const State& state, const std::string& flavor) {
  return state.flavors.by_name.contains(flavor) && !state.flavors.gone.contains(flavor);
}

void observe_flavor(State& state, const std::string& flavor, const ResourceFlavorFacts* facts,
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
    if (state.flavors.by_name.contains(flavor) && needed(state, flavor)) {
      state.flavors.gone.insert(flavor);
      return;
    }
    state.flavors.by_name.erase(flavor);
    state.flavors.gone.erase(flavor);
  }
  recount_everything(state);
}

void release_gone_flavors(State& state) {
  const auto dropped = std::erase_if(state.flavors.gone, [&](const std::string& flavor) {
    if (needed(state, flavor)) return false;
    state.flavors.by_name.erase(flavor);
    return true;
  });
  if (dropped == 0) return;
  recount_everything(state);
  state.all_dirty = true;
}

}  // namespace fairlead
