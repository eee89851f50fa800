// Projected facts of fleet claims (dra.fairlead.io/v1alpha1): claims on what exists once per fleet,
// such as licences and external machines. As facts.h says: an allow-list in canonical form.
//
// The kinds have the shape of resource.k8s.io/v1alpha1 of Kubernetes 1.26 (KEP-3063), with clusters
// for nodes. A driver's resourceHandle is never kept, but for the one that Fairlead writes itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// parametersRef: an object that only the driver reads. Empty texts where it is absent.
struct FleetParameters {
  std::string api_group;
  std::string kind;
  std::string name;

  friend bool operator==(const FleetParameters&, const FleetParameters&) = default;
};
template <class V, Of<FleetParameters> T>
void fields(V& visit, T& parameters) {
  visit.field("apiGroup", parameters.api_group, kSparse);
  visit.field("kind", parameters.kind);
  visit.field("name", parameters.name);
}

/// FleetResourceClass.
struct FleetResourceClassFacts {
  std::string driver;  ///< driverName
  FleetParameters parameters;
  std::optional<std::vector<std::string>> suitable;  ///< suitableClusters, sorted; absent: all

  friend bool operator==(const FleetResourceClassFacts&, const FleetResourceClassFacts&) = default;
};
template <class V, Of<FleetResourceClassFacts> T>
void fields(V& visit, T& of) {
  visit.field("driver", of.driver, printed_as("driverName"));
  visit.field("parameters", of.parameters, printed_as("parametersRef").but_sparse().but_late());
  visit.flagged("bounded", "suitable", of.suitable, printed_as("suitableClusters"));
}

/// spec of a FleetResourceClaim, and of a template of them.
struct FleetClaimSpec {
  std::string resource_class;
  FleetParameters parameters;
  bool immediate = false;  ///< allocationMode Immediate; else WaitForFirstConsumer

  friend bool operator==(const FleetClaimSpec&, const FleetClaimSpec&) = default;
};
template <class V, Of<FleetClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("resourceClass", spec.resource_class, printed_as("resourceClassName"));
  visit.field("parameters", spec.parameters, printed_as("parametersRef").but_sparse().but_late());
  visit.unprinted("immediate", spec.immediate);
  visit.printed("allocationMode", spec.immediate ? "Immediate" : "WaitForFirstConsumer");
}

/// status.allocation of a FleetResourceClaim.
struct FleetAllocation {
  std::optional<std::vector<std::string>> clusters;  ///< availableOnClusters, sorted; absent: all
  bool shareable = false;
  /// resourceHandle of a booking, in its order; absent where another driver wrote it, or where it
  /// is not a list of `driver/pool/device`.
  std::optional<std::vector<std::string>> booked;

  friend bool operator==(const FleetAllocation&, const FleetAllocation&) = default;
};
template <class V, Of<FleetAllocation> T>
void fields(V& visit, T& allocation) {
  visit.flagged("bounded", "clusters", allocation.clusters, printed_as("availableOnClusters"));
  visit.field("shareable", allocation.shareable);
  visit.flagged("booking", "booked", allocation.booked);
}

/// FleetResourceClaim.
struct FleetResourceClaimFacts {
  FleetClaimSpec spec;
  std::string driver;  ///< status.driverName
  std::optional<FleetAllocation> allocation;
  std::vector<ClaimConsumer> reserved_for;  ///< as listed
  bool deallocation_requested = false;
  std::vector<std::string> workload_owners;  ///< uids of the Workloads among its owners, sorted
  LogTime created;
  bool deleting = false;

  friend bool operator==(const FleetResourceClaimFacts&, const FleetResourceClaimFacts&) = default;
};
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

/// FleetResourceClaimTemplate.
struct FleetResourceClaimTemplateFacts {
  std::map<std::string, std::string> labels;       ///< spec.metadata.labels
  std::map<std::string, std::string> annotations;  ///< spec.metadata.annotations
  FleetClaimSpec spec;

  friend bool operator==(const FleetResourceClaimTemplateFacts&,
                         const FleetResourceClaimTemplateFacts&) = default;
};
template <class V, Of<FleetResourceClaimTemplateFacts> T>
void fields(V& visit, T& of) {
  visit.field("labels", of.labels, kSparse);
  visit.field("annotations", of.annotations, kSparse);
  visit.field("spec", of.spec);
}

/// FleetScheduling: which clusters a Workload may go to, and which of them drivers cannot serve.
struct FleetSchedulingFacts {
  std::vector<std::string> potential;  ///< spec.potentialClusters, in order
  std::string selected;                ///< spec.selectedCluster
  /// status.resourceClaims: the entry's name -> unsuitableClusters, sorted.
  std::map<std::string, std::vector<std::string>> unsuitable;
  std::vector<std::string> workload_owners;  ///< as of a claim

  friend bool operator==(const FleetSchedulingFacts&, const FleetSchedulingFacts&) = default;
};
template <class V, Of<FleetSchedulingFacts> T>
void fields(V& visit, T& scheduling) {
  visit.field("potential", scheduling.potential, printed_as("potentialClusters"));
  visit.field("selected", scheduling.selected, printed_as("selectedCluster").but_sparse());
  visit.field("unsuitable", scheduling.unsuitable, printed_as("resourceClaims").but_sparse());
  visit.field("workloadOwners", scheduling.workload_owners, kSparse);
}

/// The annotation dra.fairlead.io/claims of a pod template: fleet claims have the same three fields
/// as the claims that a pod's spec lists.
struct FleetClaimEntries {
  std::vector<PodClaim> entries;  ///< as listed
  std::string fault;              ///< why it cannot be read; empty: it can

  friend bool operator==(const FleetClaimEntries&, const FleetClaimEntries&) = default;
};

}  // namespace fairlead
