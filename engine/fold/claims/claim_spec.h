// A claim's spec, parsed and checked: quantities are integers, resources have canonical names.
//
// A webhook checks the same rules, but a webhook can be bypassed: so the fold checks again, and an
// invalid edit leaves the last valid spec in force. Nothing here depends on other objects, except
// the list of aliases.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/fold/claims/division.h"
#include "schema/facts.h"

namespace fairlead {

using ResourceAliases = std::map<std::string, std::string>;

/// Returns the canonical name of a resource: the target of the alias, or the name itself.
const std::string& canonical_resource(const ResourceAliases& aliases, const std::string& resource);

/// One (clusterQueue, flavor, resource) that a claim assigns.
struct AssignmentRow {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;  ///< canonical
  std::string spelled;   ///< as the claim writes it
  Amount assigned = 0;
  Amount minimum = 0;
  std::int32_t priority = 0;

  friend bool operator==(const AssignmentRow&, const AssignmentRow&) = default;
};

/// The administrator's ceiling for one resource.
struct Nominal {
  std::string spelled;
  Amount amount = 0;

  friend bool operator==(const Nominal&, const Nominal&) = default;
};

/// What a row is worth on a cluster that has more than the nominal amount of its resource.
enum class NominalPolicy : std::uint8_t {
  fixed,           ///< its assignment
  track_capacity,  ///< its assignment times capacity / nominal, rounded down
};
/// Whether the capacity of a flavor bounds its rows beside the cluster's total, where it is known
/// by flavor.
enum class FlavorCapacity : std::uint8_t {
  automatic,   ///< if the flavor ever won a node
  strict,      ///< always
  total_only,  ///< never
};

/// A valid claim spec.
struct ClaimTerms {
  std::string cluster;
  std::map<std::string, Nominal> nominal;  ///< by canonical resource
  std::vector<AssignmentRow> rows;         ///< sorted by queue, flavor, resource
  NominalPolicy nominal_policy = NominalPolicy::fixed;
  ShrinkPolicy shrink_policy = ShrinkPolicy::proportional;
  FlavorCapacity flavor_capacity = FlavorCapacity::automatic;
  std::optional<std::map<std::string, std::int64_t>> headroom_percent;  ///< by canonical resource
  std::optional<std::map<std::string, Amount>> headroom_reserved;       ///< by canonical resource

  friend bool operator==(const ClaimTerms&, const ClaimTerms&) = default;
};

/// Why a spec is rejected.
enum class ClaimFaultReason : std::uint8_t {
  malformed,
  negative_quantity,
  alias_with_canonical_name,
  not_in_nominal,
  duplicate_assignment,
  assignments_exceed_nominal,
  cluster_name_immutable,
};

/// Returns the reason in CamelCase, as the condition Valid has it.
std::string_view text_of(ClaimFaultReason reason);

/// A reason, and a sentence that names the field.
struct ClaimFault {
  ClaimFaultReason reason{};
  std::string message;

  friend bool operator==(const ClaimFault&, const ClaimFault&) = default;
};

/// Parses and checks `spec`. Returns the first fault in the order of the checks.
std::variant<ClaimTerms, ClaimFault> understand(const ClaimSpec& spec,
                                                const ResourceAliases& aliases);

}  // namespace fairlead
