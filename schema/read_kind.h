// Of which API servers each kind is read. What dispatches on the kind of a member's object, or of a
// tenant's, switches over MemberKind or TenantKind, so that the compiler names the place that a new
// kind of them is missing from.
#pragma once

#include <cstdint>
#include <optional>

#include "schema/kind.h"

namespace fairlead {

/// The kinds that Fairlead reads of a member: Nodes for its capacity, the queues that it placed
/// there, devices with what asks for them, and of a super cluster its id and the tenants'
/// namespaces.
enum class MemberKind : std::uint8_t {
  node,
  cluster_queue,
  local_queue,
  namespace_,
  config_map,
  pod,
  resource_slice,
  device_class,
  device_taint_rule,
  resource_claim,
  resource_claim_template,
};

/// The kinds that Fairlead reads of a tenant of the super cluster pool.
enum class TenantKind : std::uint8_t {
  namespace_,
  resource_quota,
  pod,
  resource_claim,
  resource_claim_template,
};

/// Of which API servers a kind is read.
struct KindReading {
  bool of_hub = false;
  std::optional<MemberKind> of_member;
  std::optional<TenantKind> of_tenant;
};

/// Returns of which API servers `kind` is read. Nodes and devices of the hub are no member's
/// capacity, but bookings ask for devices by its templates of claims.
constexpr KindReading reading_of(Kind kind) {
  switch (kind) {
    case Kind::node: return {false, MemberKind::node, {}};
    case Kind::config_map: return {false, MemberKind::config_map, {}};
    case Kind::resource_slice: return {false, MemberKind::resource_slice, {}};
    case Kind::device_class: return {false, MemberKind::device_class, {}};
    case Kind::device_taint_rule: return {false, MemberKind::device_taint_rule, {}};
    case Kind::resource_quota: return {false, {}, TenantKind::resource_quota};
    case Kind::namespace_: return {false, MemberKind::namespace_, TenantKind::namespace_};
    case Kind::pod: return {false, MemberKind::pod, TenantKind::pod};
    case Kind::resource_claim:
      return {false, MemberKind::resource_claim, TenantKind::resource_claim};
    case Kind::resource_claim_template:
      return {true, MemberKind::resource_claim_template, TenantKind::resource_claim_template};
    case Kind::cluster_queue: return {true, MemberKind::cluster_queue, {}};
    case Kind::local_queue: return {true, MemberKind::local_queue, {}};
    case Kind::cluster_metrics:
    case Kind::managed_cluster:
    case Kind::cluster_profile:
    case Kind::resource_flavor:
    case Kind::admission_check:
    case Kind::multikueue_config:
    case Kind::manifest_work:
    case Kind::claim:
    case Kind::multikueue_cluster:
    case Kind::placement:
    case Kind::placement_decision:
    case Kind::addon_placement_score:
    case Kind::workload:
    case Kind::secret:
    case Kind::custom_resource_definition:
    case Kind::binding_policy:
    case Kind::cohort:
    case Kind::mutating_admission_policy:
    case Kind::virtual_cluster:
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim:
    case Kind::fleet_resource_claim_template:
    case Kind::fleet_scheduling:
    case Kind::topology: return {true, {}, {}};
  }
  return {};
}

/// Returns whether Fairlead reads this kind of a tenant.
constexpr bool is_read_at_tenant(Kind kind) { return reading_of(kind).of_tenant.has_value(); }

}  // namespace fairlead
