// Facts of a family of kinds (schema/facts.h): ClusterResourceClaims.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/time.h"
#include "schema/fields/field.h"

namespace fairlead {

/// One row of a claim's resourceAssignments. Quantities stay text here: a malformed one must reach
/// the fold, which then keeps the last valid spec and reports the fault in a condition. Well-formed
/// ones are canonical.
struct ClaimAssignment {
  std::string cluster_queue;
  std::string flavor;
  std::map<std::string, std::string> resources;
  std::map<std::string, std::string> min_resources;
  std::optional<std::int32_t> priority;

  friend bool operator==(const ClaimAssignment&, const ClaimAssignment&) = default;
};
template <class V, Of<ClaimAssignment> T>
void fields(V& visit, T& row) {
  visit.field("clusterQueue", row.cluster_queue);
  visit.field("flavor", row.flavor);
  visit.field("resources", row.resources);
  visit.field("minResources", row.min_resources);
  visit.field("priority", row.priority);
}

/// A claim's own headroom: a map that is set replaces the configuration's map completely.
struct ClaimHeadroom {
  std::optional<std::map<std::string, std::string>> percent;
  std::optional<std::map<std::string, std::string>> reserved;

  friend bool operator==(const ClaimHeadroom&, const ClaimHeadroom&) = default;
};
template <class V, Of<ClaimHeadroom> T>
void fields(V& visit, T& headroom) {
  visit.flagged("percentGiven", "percent", headroom.percent);
  visit.flagged("reservedGiven", "reserved", headroom.reserved);
}

struct ClaimSpec {
  std::string cluster_name;
  std::map<std::string, std::string> nominal_resources;
  std::vector<ClaimAssignment> assignments;  ///< in the order given
  std::string nominal_policy;   ///< "", "Fixed", "TrackCapacity", or what was written instead
  std::string shrink_policy;    ///< "", "Proportional", "Priority", or what was written instead
  std::string flavor_capacity;  ///< "", "Auto", "Strict", "TotalOnly", or what was written instead
  ClaimHeadroom headroom;
  std::string malformed;  ///< the first field whose JSON type is not the schema's, with the
                          ///< type that was found; else ""

  friend bool operator==(const ClaimSpec&, const ClaimSpec&) = default;
};
template <class V, Of<ClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("clusterName", spec.cluster_name);
  visit.field("nominalResources", spec.nominal_resources);
  visit.field("assignments", spec.assignments, printed_as("resourceAssignments"));
  visit.field("nominalPolicy", spec.nominal_policy);
  visit.field("shrinkPolicy", spec.shrink_policy);
  visit.field("flavorCapacity", spec.flavor_capacity);
  visit.field("headroom", spec.headroom);
  visit.field("malformed", spec.malformed, kSparse);
}

/// One row of status.grants as stored: a new log begins with these grants.
struct ClaimGrant {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  std::string granted;  ///< canonical Quantity text

  friend auto operator<=>(const ClaimGrant&, const ClaimGrant&) = default;
};
template <class V, Of<ClaimGrant> T>
void fields(V& visit, T& grant) {
  visit.field("clusterQueue", grant.cluster_queue);
  visit.field("flavor", grant.flavor);
  visit.field("resource", grant.resource);
  visit.field("granted", grant.granted);
}

/// galaxy.kubestellar.io ClusterResourceClaim.
struct ClaimFacts {
  ClaimSpec spec;
  LogTime created;
  bool deleting = false;
  std::vector<std::string> finalizers;  ///< all of them, in order: a release must keep the others
  std::map<std::string, std::string>
      debounce;  ///< annotations fairlead.io/debounce.<parameter>, by parameter
  std::vector<ClaimGrant> status_grants;  ///< sorted
  /// claim_status_digest of its status; zero in records without it, which are older.
  Digest status_digest;

  friend bool operator==(const ClaimFacts&, const ClaimFacts&) = default;
};
template <class V, Of<ClaimFacts> T>
void fields(V& visit, T& claim) {
  visit.field("spec", claim.spec);
  visit.field("created", claim.created);
  visit.field("deleting", claim.deleting);
  visit.field("finalizers", claim.finalizers);
  visit.field("debounce", claim.debounce);
  visit.field("statusGrants", claim.status_grants, printed_as("grants"));
  visit.field("statusDigest", claim.status_digest, kSparse);
}

}  // namespace fairlead
