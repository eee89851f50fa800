// Prints the facts of fleet claims.
#include "schema/event_json_fleet.h"

#include "engine/base/time.h"
#include "schema/event_json_devices.h"

namespace fairlead {

namespace {

void put_parameters(Json& json, const FleetParameters& parameters) {
  if (parameters == FleetParameters{}) return;
  Json& printed = json["parametersRef"] = {{"kind", parameters.kind}, {"name", parameters.name}};
  put_text(printed, "apiGroup", parameters.api_group);
}

Json spec_of(const FleetClaimSpec& spec) {
  Json json{{"resourceClassName", spec.resource_class},
            {"allocationMode", spec.immediate ? "Immediate" : "WaitForFirstConsumer"}};
  put_parameters(json, spec.parameters);
  return json;
}

Json allocation_of(const FleetAllocation& allocation) {
  Json json{{"shareable", allocation.shareable}};
  if (allocation.clusters) json["availableOnClusters"] = *allocation.clusters;
  if (allocation.booked) json["booked"] = *allocation.booked;
  return json;
}

}  // namespace

Json json_of(const FleetResourceClassFacts& of) {
  Json json{{"driverName", of.driver}};
  put_parameters(json, of.parameters);
  if (of.suitable) json["suitableClusters"] = *of.suitable;
  return json;
}

Json json_of(const FleetResourceClaimFacts& claim) {
  Json json{{"spec", spec_of(claim.spec)}, {"deleting", claim.deleting}};
  put_text(json, "driverName", claim.driver);
  if (claim.allocation) json["allocation"] = allocation_of(*claim.allocation);
  for (const ClaimConsumer& consumer : claim.reserved_for)
    json["reservedFor"].push_back(json_of(consumer));
  if (claim.deallocation_requested) json["deallocationRequested"] = true;
  if (!claim.workload_owners.empty()) json["workloadOwners"] = claim.workload_owners;
  if (claim.created != LogTime{}) json["created"] = to_rfc3339(claim.created);
  return json;
}

Json json_of(const FleetResourceClaimTemplateFacts& of) {
  Json json{{"spec", spec_of(of.spec)}};
  if (!of.labels.empty()) json["labels"] = of.labels;
  if (!of.annotations.empty()) json["annotations"] = of.annotations;
  return json;
}

Json json_of(const FleetSchedulingFacts& scheduling) {
  Json json{{"potentialClusters", scheduling.potential}};
  put_text(json, "selectedCluster", scheduling.selected);
  for (const auto& [entry, clusters] : scheduling.unsuitable)
    json["resourceClaims"].push_back({{"name", entry}, {"unsuitableClusters", clusters}});
  if (!scheduling.workload_owners.empty()) json["workloadOwners"] = scheduling.workload_owners;
  return json;
}

}  // namespace fairlead
