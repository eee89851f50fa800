#include "engine/fold/claims/terms.h"

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

const Claim* winning_claim(const ClaimTables& claims, const std::string& cluster) {
  const auto at = claims.of_cluster.find(cluster);
  if (at == claims.of_cluster.end()) return nullptr;
  for (const std::string& name : at->second)
    if (const Claim& claim = claims.by_name.at(name); claim.winner) return &claim;
  return nullptr;
}

DebounceSettings settings_of(TermsReader state, const std::string& cluster) {
  DebounceSettings settings = state.configuration.debounce;
  std::string why_not;
  if (const Claim* claim = winning_claim(state.claims, cluster))
    for (const auto& [parameter, value] : claim->facts.debounce)
      set_debounce_parameter(settings, parameter, value,
                             why_not);  // an invalid one is a warning on the claim
  return settings;
}

const ClusterTerms& terms_of(TermsReader state, const std::string& name, Cluster& cluster) {
  ClusterTerms& terms = *cluster.terms;
  // One more than the count of changes, so that 0 means: not derived yet.
  const std::uint64_t as_of = *state.claims.terms_changes + 1;
  if (terms.as_of == as_of) return terms;
  const Claim* claim = winning_claim(state.claims, name);
  terms = {settings_of(state, name),
           headroom_of(state.configuration, claim && claim->terms ? &*claim->terms : nullptr),
           as_of};
  return terms;
}

Duration write_interval_of(TermsReader state, const std::string& name) {
  const auto at = state.clusters.find(name);
  if (at != state.clusters.end() && at->second.terms->as_of == *state.claims.terms_changes + 1)
    return at->second.terms->settings.write_interval;
  return settings_of(state, name).write_interval;
}

}  // namespace fairlead
