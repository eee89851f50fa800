// The fields of fleet claims.
#pragma once

#include "schema/fields/devices.h"

namespace fairlead {

template <class V, Of<FleetParameters> T>
void fields(V& visit, T& parameters) {
  visit.field("apiGroup", parameters.api_group, kSparse);
  visit.field("kind", parameters.kind);
  visit.field("name", parameters.name);
}

template <class V, Of<FleetResourceClassFacts> T>
void fields(V& visit, T& of) {
  visit.field("driver", of.driver, printed_as("driverName"));
  visit.field("parameters", of.parameters, printed_as("parametersRef").but_sparse().but_late());
  visit.flagged("bounded", "suitable", of.suitable, printed_as("suitableClusters"));
}

template <class V, Of<FleetClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("resourceClass", spec.resource_class, printed_as("resourceClassName"));
  visit.field("parameters", spec.parameters, printed_as("parametersRef").but_sparse().but_late());
  visit.unprinted("immediate", spec.immediate);
  visit.printed("allocationMode", spec.immediate ? "Immediate" : "WaitForFirstConsumer");
}

template <class V, Of<FleetAllocation> T>
void fields(V& visit, T& allocation) {
  visit.flagged("bounded", "clusters", allocation.clusters, printed_as("availableOnClusters"));
  visit.field("shareable", allocation.shareable);
  visit.flagged("booking", "booked", allocation.booked);
}

template <class V, Of<FleetResourceClaimFacts> T>
void fields(V& visit, T& claim) {
  visit.field("spec", claim.spec);
  visit.field("driver", claim.driver, printed_as("driverName").but_sparse());
  visit.field("allocation", claim.allocation);
  visit.derived("allocated", claim.allocation.has_value());
  visit.field("reservedFor", claim.reserved_for, kSparse);
  visit.field("deallocationRequested", claim.deallocation_requested, kSparse);
  visit.field("workloadOwners", claim.workload_owners, kSparse);
  visit.field("created", claim.created, kSparse);
  visit.field("deleting", claim.deleting);
}

template <class V, Of<FleetResourceClaimTemplateFacts> T>
void fields(V& visit, T& of) {
  visit.field("labels", of.labels, kSparse);
  visit.field("annotations", of.annotations, kSparse);
  visit.field("spec", of.spec);
}

template <class V, Of<FleetSchedulingFacts> T>
void fields(V& visit, T& scheduling) {
  visit.field("potential", scheduling.potential, printed_as("potentialClusters"));
  visit.field("selected", scheduling.selected, printed_as("selectedCluster").but_sparse());
  visit.field("unsuitable", scheduling.unsuitable, printed_as("resourceClaims").but_sparse());
  visit.field("workloadOwners", scheduling.workload_owners, kSparse);
}

}  // namespace fairlead
