#include "engine/fold/members/kept.h"

#include <algorithm>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/terms.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/queues/dirty_queues.h"

namespace fairlead {

namespace {

Amount amount_of(const std::map<MemberPair, Amount>& pairs, const MemberPair& pair) {
  const auto at = pairs.find(pair);
  return at == pairs.end() ? 0 : at->second;
}

}  // namespace

Amount confirmed_amount(const Cluster& cluster, const MemberPair& pair) {
  return amount_of(cluster.member.confirmed, pair);
}

Amount admitted(const Cluster& cluster, const MemberPair& pair) {
  return std::max(confirmed_amount(cluster, pair), kept_of(cluster, pair));
}

Amount kept_of(const Cluster& cluster, const MemberPair& pair) {
  return amount_of(cluster.member.taken_over, pair);
}

void drop_confirmed(Cluster& cluster, const std::string& queue) {
  // Where the member has confirmed as much, nothing rests on what was taken over any more.
  auto& kept = cluster.member.taken_over;
  for (auto at = kept.lower_bound({queue, "", ""});
       at != kept.end() && at->first.cluster_queue == queue;)
    at = amount_of(cluster.member.confirmed, at->first) >= at->second ? kept.erase(at)
                                                                      : std::next(at);
}

void bound_taken_over(StateView<Clusters, const ClaimTables> state, const std::string& name) {
  const auto at = state.clusters.find(name);
  if (at == state.clusters.end() || at->second.member.taken_over.empty()) return;
  // What was taken over counts as admitted only as far as it is granted: a smaller grant cuts it
  // for good.
  std::map<MemberPair, Amount> granted;
  if (const Claim* claim = winning_claim(state.claims, name))
    for (const Grant& grant : claim->grants)
      granted[{grant.row.cluster_queue, grant.row.flavor, grant.row.resource}] = grant.granted;
  std::set<std::string> queues;
  for (auto& [pair, amount] : at->second.member.taken_over) {
    amount = std::min(amount, amount_of(granted, pair));
    queues.insert(pair.cluster_queue);
  }
  for (const std::string& queue : queues) drop_confirmed(at->second, queue);
}

}  // namespace fairlead
