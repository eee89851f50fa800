// The part of State about devices: what the API server of a member reports of them.
#pragma once

#include <map>
#include <string>

#include "engine/base/shared_value.h"
#include "engine/fold/name_table.h"
#include "engine/fold/observed.h"
#include "schema/event.h"
#include "schema/kinds/devices.h"
#include "schema/kinds/pool.h"

namespace fairlead {

/// A ResourceSlice and the newest event that reported it.
struct SliceRecord {
  Shared<ResourceSliceFacts> facts;
  Seq seq;

  friend bool operator==(const SliceRecord&, const SliceRecord&) = default;
};
/// Another object of resource.k8s.io, and the newest event that reported it.
template <class Facts>
struct DeviceRecord {
  Facts facts;
  Seq seq;

  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

/// Returns the facts of a record; null if there is none.
template <class Map>
auto facts_in(const Map& map, const typename Map::key_type& id)
    -> decltype(&map.begin()->second.facts) {
  const auto at = map.find(id);
  return at == map.end() ? nullptr : &at->second.facts;
}

/// A Pod of a member that Kueue made there for a Workload, or a syncer for a tenant's Pod, by its
/// metadata.
struct MemberPod {
  std::string uid;
  PodOrigin origin;  ///< a Workload's namespace is the Pod's
  Seq seq;

  friend bool operator==(const MemberPod&, const MemberPod&) = default;
};

/// What a cluster has of resource.k8s.io, and of the Pods that use it.
struct DeviceObjects {
  using FieldsInPlace = void;
  NameTable<SliceRecord> slices;
  std::map<std::string, DeviceRecord<DeviceClassFacts>> classes;
  std::map<std::string, DeviceRecord<DeviceTaintRuleFacts>> rules;
  std::map<NamespacedName, DeviceRecord<ResourceClaimFacts>> claims;
  std::map<NamespacedName, DeviceRecord<ResourceClaimTemplateFacts>> templates;
  std::map<NamespacedName, MemberPod> pods;  ///< of Workloads and of tenants

  friend bool operator==(const DeviceObjects&, const DeviceObjects&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<ResourceSliceFacts>, Of<DeviceObjects> auto& part) { return part.slices; }
auto& table_of(KindOf<DeviceClassFacts>, Of<DeviceObjects> auto& part) { return part.classes; }
auto& table_of(KindOf<DeviceTaintRuleFacts>, Of<DeviceObjects> auto& part) { return part.rules; }
auto& table_of(KindOf<ResourceClaimFacts>, Of<DeviceObjects> auto& part) { return part.claims; }
auto& table_of(KindOf<ResourceClaimTemplateFacts>, Of<DeviceObjects> auto& part) {
  return part.templates;
}
auto& table_of(KindOf<PodFacts>, Of<DeviceObjects> auto& part) { return part.pods; }

}  // namespace fairlead
