#include "replay/audit/fleet_evidence.h"

#include "engine/fold/fleet_claims/needs.h"

namespace fairlead {

namespace {

Json class_json(const State& state, const std::string& name, EventLookup& events) {
  Json json{{"name", name}, {"event", nullptr}, {"driver", nullptr}, {"suitableClusters", nullptr}};
  const auto at = state.fleet.classes.find(name);
  if (at == state.fleet.classes.end()) return json;
  json["event"] = events.place(at->second.seq);
  json["driver"] = at->second.facts.driver;
  if (at->second.facts.suitable) json["suitableClusters"] = *at->second.facts.suitable;
  return json;
}

Json allocation_json(const FleetClaimRecord& claim, EventLookup& events) {
  const auto& allocation = claim.seen.facts.allocation;
  if (!allocation) return nullptr;
  Json json{{"event", events.place(claim.allocated_seq)},
            {"clusters", nullptr},
            {"shareable", allocation->shareable},
            {"devices", nullptr}};
  if (allocation->clusters) json["clusters"] = *allocation->clusters;
  if (allocation->booked) json["devices"] = *allocation->booked;
  return json;
}

// Entries of status.reservedFor, and Workloads that it does not show yet.
Json consumers_json(const State& state, const NamespacedName& id, const FleetClaimRecord& claim) {
  Json consumers = Json::array();
  for (const ClaimConsumer& one : wished_consumers(state.multikueue, id, claim))
    consumers.push_back(is_workload(one) ? one.name : one.resource + "/" + one.name);
  return consumers;
}

}  // namespace

Json fleet_claims_json(const State& state, const NamespacedName& id, const WorkloadRecord& record,
                       EventLookup& events) {
  Json rows = Json::array();
  for (const FleetNeed& need : fleet_needs(state.configuration, id, record.seen->facts).all) {
    Json row{{"entry", need.entry},
             {"claim", name_of(need.claim)},
             {"template", need.template_.empty() ? Json() : Json(need.template_)},
             {"event", nullptr},
             {"class", nullptr},
             {"allocationMode", nullptr},
             {"allocation", nullptr},
             {"reservedFor", Json::array()},
             {"deallocationRequested", false}};
    if (const FleetClaimRecord* claim = find_claim(state.fleet, need.claim)) {
      const FleetResourceClaimFacts& facts = claim->seen.facts;
      row["event"] = events.place(claim->seen.seq);
      row["class"] = class_json(state, facts.spec.resource_class, events);
      row["allocationMode"] = facts.spec.immediate ? "Immediate" : "WaitForFirstConsumer";
      row["allocation"] = allocation_json(*claim, events);
      row["reservedFor"] = consumers_json(state, need.claim, *claim);
      row["deallocationRequested"] = facts.deallocation_requested || claim->release;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json fleet_scheduling_json(const State& state, const NamespacedName& id,
                           const WorkloadRecord& record, EventLookup& events) {
  const Observed<FleetSchedulingFacts>* asked = scheduling_of(state.fleet, id, record);
  if (!asked) return nullptr;
  const FleetSchedulingFacts& facts = asked->facts;
  return {{"event", events.place(asked->seq)},
          {"potentialClusters", facts.potential},
          {"selectedCluster", facts.selected},
          {"unsuitableClusters", facts.unsuitable}};
}

std::string entry_that_keeps_from(const State& state, const NamespacedName& id,
                                  const WorkloadRecord& record, const std::string& cluster) {
  const Observed<FleetSchedulingFacts>* asked = scheduling_of(state.fleet, id, record);
  for (const FleetNeed& need : fleet_needs(state.configuration, id, record.seen->facts).all) {
    const FleetClaimRecord* claim = find_claim(state.fleet, need.claim);
    if (!claim) continue;
    const FleetResourceClaimFacts& facts = claim->seen.facts;
    if (!is_suitable(state.fleet, facts, cluster) || !is_in_reach(facts, cluster) ||
        (asked && !facts.allocation && is_called_unsuitable(asked->facts, need.entry, cluster)))
      return need.entry;
  }
  return "";
}

}  // namespace fairlead
