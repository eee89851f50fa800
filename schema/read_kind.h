// Of which API servers each kind is read. What dispatches on the kind of a member's object, or of a
// tenant's, switches over MemberKind or TenantKind, so that the compiler names the place that a new
// kind of them is missing from.
#pragma once

#include <array>
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

/// In the order of MemberKind.
inline constexpr std::array kMemberKinds{Kind::node,
                                         Kind::cluster_queue,
                                         Kind::local_queue,
                                         Kind::namespace_,
                                         Kind::config_map,
                                         Kind::pod,
                                         Kind::resource_slice,
                                         Kind::device_class,
                                         Kind::device_taint_rule,
                                         Kind::resource_claim,
                                         Kind::resource_claim_template};
/// In the order of TenantKind.
inline constexpr std::array kTenantKinds{Kind::namespace_, Kind::resource_quota, Kind::pod,
                                         Kind::resource_claim, Kind::resource_claim_template};

/// Of which API servers a kind is read.
struct KindReading {
  bool of_hub = false;
  std::optional<MemberKind> of_member;
  std::optional<TenantKind> of_tenant;
};

/// By kind.
inline constexpr std::array<KindReading, kKindCount> kReadings = [] {
  std::array<KindReading, kKindCount> readings;
  for (const KindInfo& row : kKinds)
    readings[static_cast<std::size_t>(row.kind)] = {row.has(kIsOfHub),
                                                    among<MemberKind>(kMemberKinds, row.kind),
                                                    among<TenantKind>(kTenantKinds, row.kind)};
  return readings;
}();

/// Returns of which API servers `kind` is read. Nodes and devices of the hub are no member's
/// capacity, but bookings ask for devices by its templates of claims.
constexpr const KindReading& reading_of(Kind kind) {
  return kReadings[static_cast<std::size_t>(kind)];
}

/// Returns whether Fairlead reads this kind of a tenant.
constexpr bool is_read_at_tenant(Kind kind) { return reading_of(kind).of_tenant.has_value(); }

}  // namespace fairlead
