// The part of State about fleet claims: the objects of dra.fairlead.io as observed, and what is
// decided about them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// Devices of one cluster that a claim on them keeps until it is deleted or deallocated. Fairlead
/// is the driver of such claims.
struct Booking {
  std::string cluster;
  std::vector<FitDevice> devices;  ///< in the order in which they were taken
  std::vector<Seq> causes;         ///< the events of the moment that led to it

  friend bool operator==(const Booking&, const Booking&) = default;
};

/// A FleetResourceClaim.
struct FleetClaimRecord {
  Observed<FleetResourceClaimFacts> seen;
  Seq allocated_seq;     ///< of the event that showed its allocation first; 0: none
  bool release = false;  ///< its driver is asked to deallocate it
  /// Workloads that status.reservedFor names, or has to name; it also has entries of other
  /// consumers.
  std::set<NamespacedName> holders;
  std::optional<Booking> booking;

  friend bool operator==(const FleetClaimRecord&, const FleetClaimRecord&) = default;
};

/// What the drivers of a Workload's claims were asked last.
struct FleetQuestion {
  std::vector<std::string> potential;  ///< spec.potentialClusters of its FleetScheduling
  std::string selected;                ///< spec.selectedCluster; empty: none

  friend bool operator==(const FleetQuestion&, const FleetQuestion&) = default;
};

/// The part of State about all of them.
struct FleetClaims {
  std::map<std::string, Observed<FleetResourceClassFacts>> classes;
  std::map<NamespacedName, FleetClaimRecord> claims;
  std::map<NamespacedName, Observed<FleetResourceClaimTemplateFacts>> templates;
  std::map<NamespacedName, Observed<FleetSchedulingFacts>> schedulings;
  /// ResourceClaimTemplates of the hub: bookings ask for devices by them.
  std::map<NamespacedName, Observed<ResourceClaimTemplateFacts>> device_templates;

  std::map<std::string, std::set<NamespacedName>> claims_of_class;
  std::map<NamespacedName, std::set<NamespacedName>> users;              ///< Workloads, by claim
  std::map<NamespacedName, std::set<NamespacedName>> users_of_template;  ///< Workloads
  std::map<std::string, std::set<NamespacedName>> booked_on;  ///< claims with a booking, by cluster
  std::set<NamespacedName> unbooked;  ///< Immediate claims on devices that have none yet

  // The open moment
  std::set<NamespacedName> dirty_claims;       ///< whose writes may have changed
  std::set<NamespacedName> dirty_schedulings;  ///< the same

  friend bool operator==(const FleetClaims&, const FleetClaims&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<FleetResourceClassFacts>, Of<FleetClaims> auto& part) { return part.classes; }
auto& table_of(KindOf<FleetResourceClaimFacts>, Of<FleetClaims> auto& part) { return part.claims; }
auto& table_of(KindOf<FleetResourceClaimTemplateFacts>, Of<FleetClaims> auto& part) {
  return part.templates;
}
auto& table_of(KindOf<FleetSchedulingFacts>, Of<FleetClaims> auto& part) {
  return part.schedulings;
}
auto& table_of(KindOf<ResourceClaimTemplateFacts>, Of<FleetClaims> auto& part) {
  return part.device_templates;
}

}  // namespace fairlead
