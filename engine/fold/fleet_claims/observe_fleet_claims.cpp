#include "engine/fold/fleet_claims/observe_fleet_claims.h"

#include <utility>

#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

using Users = std::map<NamespacedName, std::set<NamespacedName>>;

void mark_users_dirty(MultiKueue& multikueue, const Users& users, const NamespacedName& id) {
  if (const auto at = users.find(id); at != users.end())
    multikueue.dirty_workloads.insert(at->second.begin(), at->second.end());
}

template <class Map, class Id, class F>
void keep_object(Map& map, const Id& id, std::optional<Observed<F>> seen) {
  if (seen)
    map[id] = std::move(*seen);
  else
    map.erase(id);
}

// Calls `act` with each entry of the Workload, also of pod sets that have no pod now.
template <class Act>
void for_each_need(const NamespacedName& id, const WorkloadFacts& facts, const Act& act) {
  for (const WorkloadPodSet& pods : facts.pod_sets)
    for (const PodClaim& entry : pods.fleet.entries) act(need_of(id, entry));
}

void erase_user(Users& users, const NamespacedName& of, const NamespacedName& id) {
  const auto at = users.find(of);
  if (at == users.end()) return;
  at->second.erase(id);
  if (at->second.empty()) users.erase(at);
}

// Whether both are the same object: uids that input leaves out tell nothing.
bool is_same(const Observed<FleetResourceClaimFacts>& a,
             const Observed<FleetResourceClaimFacts>& b) {
  return a.uid.empty() || b.uid.empty() || a.uid == b.uid;
}

void unindex_class(FleetClaims& fleet, const NamespacedName& id) {
  const auto known = fleet.claims.find(id);
  if (known == fleet.claims.end()) return;
  const auto at = fleet.claims_of_class.find(known->second.seen.facts.spec.resource_class);
  at->second.erase(id);
  if (at->second.empty()) fleet.claims_of_class.erase(at);
}

// Marks the Workloads to which the new facts of a claim may matter. Where only our own entries of
// reservedFor moved these are the Workloads that they name.
void mark_affected_dirty(FleetRoom state, const NamespacedName& id,
                         const FleetResourceClaimFacts& before,
                         const FleetResourceClaimFacts& after) {
  const auto others = [](FleetResourceClaimFacts facts) {
    std::erase_if(facts.reserved_for, is_workload);
    return facts;
  };
  if (others(before) != others(after))
    return mark_users_dirty(state.multikueue, state.fleet.users, id);
  for (const auto* facts : {&before, &after})
    for (const ClaimConsumer& consumer : facts->reserved_for)
      if (const NamespacedName user{id.first, consumer.name};
          is_workload(consumer) && state.multikueue.workloads.contains(user))
        state.multikueue.dirty_workloads.insert(user);
}

}  // namespace

void observe_fleet_class(FleetRoom state, const std::string& name,
                         Seen<FleetResourceClassFacts> seen) {
  keep_object(state.fleet.classes, name, std::move(seen));
  const auto claims = state.fleet.claims_of_class.find(name);
  if (claims == state.fleet.claims_of_class.end()) return;
  for (const NamespacedName& claim : claims->second) {
    state.fleet.dirty_claims.insert(claim);
    mark_users_dirty(state.multikueue, state.fleet.users, claim);
  }
}

void observe_fleet_claim(FleetRoom state, const NamespacedName& id,
                         Seen<FleetResourceClaimFacts> seen, Seq seq) {
  FleetClaims& fleet = state.fleet;
  unindex_class(fleet, id);
  fleet.dirty_claims.insert(id);
  const auto known = fleet.claims.find(id);
  const bool same = known != fleet.claims.end() && seen && is_same(known->second.seen, *seen);
  if (known != fleet.claims.end() && !same) {
    // Before the record is erased, in which it looks the booking up.
    end_booking(state, id);
    fleet.claims.erase(known);
  }
  if (!same) mark_users_dirty(state.multikueue, fleet.users, id);
  if (!seen) return;
  FleetClaimRecord& record = fleet.claims[id];
  if (same) mark_affected_dirty(state, id, record.seen.facts, seen->facts);
  if (!seen->facts.allocation) {
    record.allocated_seq = {};
    record.release = false;
  } else if (record.allocated_seq == Seq{}) {
    record.allocated_seq = seq;
  }
  record.seen = std::move(*seen);
  fleet.claims_of_class[record.seen.facts.spec.resource_class].insert(id);
}

void observe_fleet_template(FleetRoom state, const NamespacedName& id,
                            Seen<FleetResourceClaimTemplateFacts> seen) {
  keep_object(state.fleet.templates, id, std::move(seen));
  const auto users = state.fleet.users_of_template.find(id);
  if (users == state.fleet.users_of_template.end()) return;
  mark_users_dirty(state.multikueue, state.fleet.users_of_template, id);
}

void observe_fleet_scheduling(FleetRoom state, const NamespacedName& id,
                              Seen<FleetSchedulingFacts> seen) {
  keep_object(state.fleet.schedulings, id, std::move(seen));
  state.fleet.dirty_schedulings.insert(id);
  if (state.multikueue.workloads.contains(id)) state.multikueue.dirty_workloads.insert(id);
}

void observe_booked_template(StateView<FleetClaims> state, const NamespacedName& id,
                             Seen<ResourceClaimTemplateFacts> seen) {
  keep_object(state.fleet.device_templates, id, std::move(seen));
  state.fleet.dirty_claims.insert(state.fleet.unbooked.begin(), state.fleet.unbooked.end());
}

void index_fleet_needs(FleetClaims& fleet, const NamespacedName& id, const WorkloadFacts& facts) {
  for_each_need(id, facts, [&](const FleetNeed& need) {
    fleet.users[need.claim].insert(id);
    fleet.dirty_claims.insert(need.claim);
    if (!need.template_.empty()) fleet.users_of_template[{id.first, need.template_}].insert(id);
  });
}

void unindex_fleet_needs(FleetClaims& fleet, const NamespacedName& id, const WorkloadFacts& facts) {
  for_each_need(id, facts, [&](const FleetNeed& need) {
    erase_user(fleet.users, need.claim, id);
    fleet.dirty_claims.insert(need.claim);
    if (!need.template_.empty())
      erase_user(fleet.users_of_template, {id.first, need.template_}, id);
  });
}

}  // namespace fairlead
