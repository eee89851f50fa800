// Which kinds are watched on the hub and of members, and in which namespace those that are not
// watched in all.
#pragma once

#include <string>

#include "schema/configuration.h"
#include "schema/event.h"
#include "schema/kind.h"

namespace fairlead {

/// Returns the namespace in which `kind` is watched on the hub, so that a Role suffices to read it;
/// empty: all namespaces. Placements are watched in all of them where that is allowed; only those
/// of this namespace count, so it suffices where the others may not be read.
inline std::string hub_namespace(Kind kind, const Configuration& configuration) {
  const bool one = kind == Kind::secret || kind == Kind::placement_decision;
  return one || kind == Kind::placement ? configuration.kueue_namespace : "";
}

/// Returns whether a rule reads `kind` of the hub under `configuration`. The others are not asked
/// for, so that nothing has to be granted for them.
inline bool is_read_on_hub(Kind kind, const Configuration& configuration) {
  if (configuration.record) return info(kind).has(kIsRecorded);
  // What is written to members and nowhere else.
  if (kind == Kind::manifest_work || kind == Kind::topology)
    return configuration.member_mode != MemberMode::none;
  if (kind == Kind::binding_policy) return configuration.member_mode == MemberMode::binding_policy;
  if (kind == Kind::mutating_admission_policy) return configuration.multikueue.dispatcher;
  if (kind == Kind::virtual_cluster) return !configuration.pool.clusters.empty();
  if (is_of_fleet_claims(kind) || kind == Kind::resource_claim_template)
    return configuration.dra.fleet_claims;
  // The hub's own Nodes and devices are no capacity of a member; tenants and super clusters have
  // the others.
  return is_read_from(kHub, kind);
}

/// Returns whether a rule reads `kind`, one of devices, of members under `configuration`. Quota
/// counts devices and who uses them; what has to fit asks by templates of claims, too.
inline bool are_devices_read(Kind kind, const Configuration& configuration) {
  const DraSettings& dra = configuration.dra;
  return dra.dispatch || dra.fleet_claims || (dra.quota && kind != Kind::resource_claim_template);
}

/// Returns whether a rule reads `kind`, one of devices, of super clusters for tenants' pods. The
/// templates that these name are the tenants' own.
inline bool are_devices_read_for_pool(Kind kind) { return kind != Kind::resource_claim_template; }

/// Returns whether a rule reads the Pods that Kueue made at members: the claims of a Pod replace
/// what its Workload has reserved there.
inline bool are_member_pods_read(const Configuration& configuration) {
  const DraSettings& dra = configuration.dra;
  return (dra.dispatch || dra.fleet_claims) && configuration.multikueue.dispatcher;
}

}  // namespace fairlead
