#include "engine/fold/writes/interval.h"

#include <algorithm>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/terms.h"
#include "engine/fold/members/works.h"

namespace fairlead {

bool has_own_windows(Kind kind) {
  return kind == Kind::multikueue_config || kind == Kind::multikueue_cluster ||
         kind == Kind::admission_check || kind == Kind::workload || is_of_fleet_claims(kind);
}

// Returns the longest interval of the claims in force that name the queue; nullopt if none does.
static std::optional<Duration> interval_of_queue(TermsReader state, const std::string& queue) {
  const auto claims = state.claims.of_queue.find(queue);
  if (claims == state.claims.of_queue.end()) return std::nullopt;
  std::optional<Duration> longest;
  for (const std::string& name : claims->second)
    if (const Claim& claim = state.claims.by_name.at(name); claim.winner)
      longest =
          std::max(longest.value_or(Duration{0}), write_interval_of(state, claim.terms->cluster));
  return longest;
}

Duration write_interval(TermsReader state, const WriteKeyView& key) {
  if (has_own_windows(key.kind)) return {};
  const Duration default_interval = state.configuration.debounce.write_interval;
  if (is_tenant(key.cluster)) return default_interval;
  const std::string name(key.name);
  if (key.kind == Kind::cluster_queue)
    return interval_of_queue(state, name).value_or(default_interval);
  if (key.kind == Kind::manifest_work) return write_interval_of(state, std::string(key.namespace_));
  if (key.kind == Kind::binding_policy) return write_interval_of(state, cluster_of_policy(name));
  const auto claim = state.claims.by_name.find(name);
  if (claim == state.claims.by_name.end()) return default_interval;
  return write_interval_of(state, claim->second.terms ? claim->second.terms->cluster
                                                      : claim->second.facts.spec.cluster_name);
}

}  // namespace fairlead
