// Projected facts of Dynamic Resource Allocation: devices that drivers publish, classes of them,
// and claims that ask for them. As facts.h says: an allow-list in canonical form.
//
// Source: k8s.io/api/resource/v1. A missing value has the API's default here, so that facts of v1,
// v1beta2 and v1beta1 are equal where they mean the same. Opaque parameters (`config`) of classes,
// claims and results are never kept: they may hold secrets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/base/quantity.h"
#include "engine/base/shared_list.h"
#include "schema/packed_map.h"
#include "schema/taints.h"

namespace fairlead {

// ---- which nodes ----

/// A requirement of a node selector, as the API spells its operator.
struct NodeRequirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt; any other matches no node
  std::vector<std::string> values;

  friend bool operator==(const NodeRequirement&, const NodeRequirement&) = default;
};
struct NodeSelectorTerm {
  std::vector<NodeRequirement> expressions;  ///< on labels
  std::vector<NodeRequirement> fields;       ///< on metadata.name

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};
/// core/v1 NodeSelector: a node matches if one term does.
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

/// How a slice or a device says which nodes it reaches.
enum class NodeReachKind : std::uint8_t {
  none,      ///< nothing is said: no node
  node,      ///< nodeName
  selector,  ///< nodeSelector
  all,       ///< allNodes
  devices,   ///< perDeviceNodeSelection: each device of the slice says it
};
struct NodeReach {
  NodeReachKind kind = NodeReachKind::none;
  std::string node;
  NodeSelector selector;

  friend bool operator==(const NodeReach&, const NodeReach&) = default;
};

// ---- devices ----

/// Attributes by name as written, qualified or not. The value is its type's letter and its text:
/// `i-3`, `btrue`, `stext`, `v1.2.3`. List-typed attributes are left out.
using DeviceAttributes = PackedMap<std::string_view>;
inline constexpr char kIntAttribute = 'i', kBoolAttribute = 'b', kStringAttribute = 's',
                      kVersionAttribute = 'v';

/// What a request may take of a capacity of a shared device (requestPolicy). Where `values` are not
/// empty they are validValues, else `min` is validRange.min if there is a range.
struct CapacityPolicy {
  std::optional<Quantity> standard;  ///< default
  std::vector<Quantity> values;      ///< validValues, ascending
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  friend bool operator==(const CapacityPolicy&, const CapacityPolicy&) = default;
};
struct DeviceCapacity {
  std::string name;  ///< as written, qualified or not
  Quantity value;
  Boxed<CapacityPolicy> policy;

  friend bool operator==(const DeviceCapacity&, const DeviceCapacity&) = default;
};

/// Counters by name.
using Counters = std::map<std::string, Quantity>;
/// Counters with a name: a set that a pool shares, or what a device consumes of one.
struct CounterSet {
  std::string name;
  Counters counters;

  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

/// What few devices have.
struct DeviceExtras {
  NodeReach reach;                   ///< where its slice's reach is `devices`
  std::vector<Taint> taints;         ///< NoSchedule and NoExecute only, sorted
  std::vector<CounterSet> consumes;  ///< consumesCounters, as listed
  bool shared = false;               ///< allowMultipleAllocations
  bool binds = false;                ///< has bindingConditions

  friend bool operator==(const DeviceExtras&, const DeviceExtras&) = default;
};
struct DeviceFacts {
  std::string name;
  DeviceAttributes attributes;
  SharedList<DeviceCapacity> capacity;  ///< by name, bytewise; mostly that of its neighbours
  Boxed<DeviceExtras> extras;           ///< absent if it would equal DeviceExtras{}

  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};

/// resource.k8s.io ResourceSlice.
struct ResourceSliceFacts {
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slice_count = 0;  ///< spec.pool.resourceSliceCount
  NodeReach reach;
  std::vector<DeviceFacts> devices;  ///< as listed
  std::vector<CounterSet> counters;  ///< sharedCounters, as listed

  friend bool operator==(const ResourceSliceFacts&, const ResourceSliceFacts&) = default;
};

/// resource.k8s.io DeviceTaintRule.
struct DeviceTaintRuleFacts {
  /// spec.deviceSelector is given. The API says that a rule without one selects no device;
  /// kube-scheduler up to 1.37.0 lets it select each, and so do we.
  bool selects = false;
  std::optional<std::string> driver;  ///< of the selector: each that is given must be equal
  std::optional<std::string> pool;
  std::optional<std::string> device;
  Taint taint;  ///< only NoSchedule and NoExecute mean something

  friend bool operator==(const DeviceTaintRuleFacts&, const DeviceTaintRuleFacts&) = default;
};

// ---- requests ----

/// One entry of `selectors`.
struct DeviceSelector {
  std::optional<std::string> cel;  ///< cel.expression; absent for a kind that is not understood

  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

/// resource.k8s.io DeviceClass.
struct DeviceClassFacts {
  std::vector<DeviceSelector> selectors;
  std::string extended_resource;  ///< spec.extendedResourceName
  std::int64_t created = 0;       ///< creationTimestamp, seconds since 1970

  friend bool operator==(const DeviceClassFacts&, const DeviceClassFacts&) = default;
};

/// `allocationMode` of a request.
enum class AllocationMode : std::uint8_t {
  exact,    ///< `count` devices
  all,      ///< every device that matches
  unknown,  ///< a mode of a newer API: the request is not understood
};

/// What a request asks for: `exactly`, or one of `firstAvailable`.
struct DeviceAsk {
  std::string name;  ///< of the alternative; empty for `exactly`
  std::string device_class;
  std::vector<DeviceSelector> selectors;
  AllocationMode mode = AllocationMode::exact;
  std::int64_t count = 1;
  bool admin = false;  ///< adminAccess
  std::vector<Toleration> tolerations;
  std::map<std::string, Quantity> capacity;  ///< capacity.requests

  friend bool operator==(const DeviceAsk&, const DeviceAsk&) = default;
};
/// One entry of `requests`.
struct DeviceRequest {
  std::string name;
  bool alternatives = false;  ///< `asks` are firstAvailable, best first; else the one of `exactly`
  std::vector<DeviceAsk> asks;  ///< empty if it asks in a way that is not understood

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};
/// One entry of `constraints`.
struct DeviceConstraint {
  std::vector<std::string> requests;  ///< `request` or `request/alternative`; empty: all
  std::string match;                  ///< matchAttribute
  std::string distinct;  ///< distinctAttribute; where both are empty it is not understood

  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};
/// spec.devices of a claim.
struct DeviceClaimSpec {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;

  friend bool operator==(const DeviceClaimSpec&, const DeviceClaimSpec&) = default;
};

/// resource.k8s.io ResourceClaimTemplate.
struct ResourceClaimTemplateFacts {
  DeviceClaimSpec spec;

  friend bool operator==(const ResourceClaimTemplateFacts&,
                         const ResourceClaimTemplateFacts&) = default;
};

/// One device of an allocation.
struct AllocatedDevice {
  std::string request;  ///< `request` or `request/alternative`
  std::string driver;
  std::string pool;
  std::string device;
  bool admin = false;
  std::string share;                         ///< shareID
  std::map<std::string, Quantity> consumed;  ///< consumedCapacity

  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};
/// status.allocation.
struct ClaimAllocation {
  std::vector<AllocatedDevice> devices;  ///< as listed
  std::optional<NodeSelector> selector;  ///< where it can be used; absent: on every node

  friend bool operator==(const ClaimAllocation&, const ClaimAllocation&) = default;
};
/// One entry of status.reservedFor.
struct ClaimConsumer {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;

  friend bool operator==(const ClaimConsumer&, const ClaimConsumer&) = default;
};
/// resource.k8s.io ResourceClaim.
struct ResourceClaimFacts {
  DeviceClaimSpec spec;
  std::optional<ClaimAllocation> allocation;
  std::vector<ClaimConsumer> reserved_for;  ///< as listed
  std::vector<std::string> pod_owners;      ///< uids of the Pods among its ownerReferences, sorted
  std::string pod_claim;                    ///< annotation resource.kubernetes.io/pod-claim-name
  bool extended = false;  ///< annotation resource.kubernetes.io/extended-resource-claim is "true"
  bool deleting = false;

  friend bool operator==(const ResourceClaimFacts&, const ResourceClaimFacts&) = default;
};

// ---- pods ----

/// One entry of spec.resourceClaims of a pod.
struct PodClaim {
  std::string name;
  std::string claim;      ///< resourceClaimName
  std::string template_;  ///< resourceClaimTemplateName

  friend bool operator==(const PodClaim&, const PodClaim&) = default;
};
/// What of a pod decides where its devices can come from.
struct PodDeviceFacts {
  std::vector<PodClaim> claims;  ///< as listed
  /// Of each resource with a `/` in its name that is asked for: the most that the pod needs at one
  /// time, sidecars beside what runs after them; requests else limits. Without zeros.
  std::map<std::string, Amount> extended;
  std::map<std::string, std::string> node_selector;
  std::optional<NodeSelector> affinity;  ///< required node affinity
  std::vector<Toleration> tolerations;

  friend bool operator==(const PodDeviceFacts&, const PodDeviceFacts&) = default;
};

}  // namespace fairlead
