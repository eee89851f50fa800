// Projected facts of Dynamic Resource Allocation: devices that drivers publish, classes of them,
// and claims that ask for them. As facts.h says: an allow-list in canonical form.
//
// Source: k8s.io/api/resource/v1. A missing value has the API's default here, so that facts of v1,
// v1beta2 and v1beta1 are equal where they mean the same. A Quantity is stored as its canonical
// text. Opaque parameters (`config`) of classes,
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
#include "schema/kinds/values.h"
#include "schema/packed_map.h"

namespace fairlead {

// ---- which nodes ----

/// A requirement of a node selector, as the API spells its operator.
struct NodeRequirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt; any other matches no node
  std::vector<std::string> values;

  friend bool operator==(const NodeRequirement&, const NodeRequirement&) = default;
};
template <class V, Of<NodeRequirement> T>
void fields(V& visit, T& requirement) {
  visit.field("key", requirement.key);
  visit.field("op", requirement.op, printed_as("operator"));
  visit.field("values", requirement.values, kSparse);
}

struct NodeSelectorTerm {
  std::vector<NodeRequirement> expressions;  ///< on labels
  std::vector<NodeRequirement> fields;       ///< on metadata.name

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};
template <class V, Of<NodeSelectorTerm> T>
void fields(V& visit, T& term) {
  visit.field("expressions", term.expressions, printed_as("matchExpressions").but_sparse());
  visit.field("fields", term.fields, printed_as("matchFields").but_sparse());
}

/// core/v1 NodeSelector: a node matches if one term does.
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};
/// A node selector whose terms are stored beside the Bool `flag`.
template <class V, class Selector>
void node_selector(V& visit, FieldName flag, Selector& selector, const char* key) {
  visit.given(flag, selector, printed_as(key), [](V& inner, auto& of) {
    inner.field("nodeTerms", of.terms, printed_as("nodeSelectorTerms"));
  });
}

/// How a slice or a device says which nodes it reaches.
enum class NodeReachKind : std::uint8_t {
  none,      ///< nothing is said: no node
  node,      ///< nodeName
  selector,  ///< nodeSelector
  all,       ///< allNodes
  devices,   ///< perDeviceNodeSelection: each device of the slice says it
};
template <>
inline constexpr unsigned kValuesOf<NodeReachKind> = 5;
struct NodeReach {
  NodeReachKind kind = NodeReachKind::none;
  std::string node;
  NodeSelector selector;

  friend bool operator==(const NodeReach&, const NodeReach&) = default;
};
/// Printed by what the API calls each kind of it.
template <class V, Of<NodeReach> T>
void fields(V& visit, T& reach) {
  visit.unprinted("kind", reach.kind);
  visit.field("node", reach.node, printed_if(reach.kind == NodeReachKind::node, "nodeName"));
  visit.group("nodeSelector", [&](V& inner) {
    inner.field("terms", reach.selector.terms,
                printed_if(reach.kind == NodeReachKind::selector, "nodeSelectorTerms"));
  });
  visit.printed("allNodes", reach.kind == NodeReachKind::all);
  visit.printed("perDeviceNodeSelection", reach.kind == NodeReachKind::devices);
}

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
template <class V, Of<CapacityPolicy> T>
void fields(V& visit, T& policy) {
  visit.field("standard", policy.standard, printed_as("default"));
  visit.field("values", policy.values, printed_as("validValues").but_sparse());
  visit.group("validRange", [&](V& inner) {
    inner.field("min", policy.min);
    inner.field("max", policy.max);
    inner.field("step", policy.step);
  });
}

struct DeviceCapacity {
  std::string name;  ///< as written, qualified or not
  Quantity value;
  Boxed<CapacityPolicy> policy;

  friend bool operator==(const DeviceCapacity&, const DeviceCapacity&) = default;
};
template <class V, Of<DeviceCapacity> T>
void fields(V& visit, T& capacity) {
  visit.unprinted("name", capacity.name);  // the key of its object
  visit.field("value", capacity.value);
  visit.field("policy", capacity.policy, printed_as("requestPolicy"));
}

/// Counters by name.
using Counters = std::map<std::string, Quantity>;
/// Counters with a name: a set that a pool shares, or what a device consumes of one.
struct CounterSet {
  std::string name;
  Counters counters;

  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};
template <class V, Of<CounterSet> T>
void fields(V& visit, T& set) {
  visit.field("name", set.name);
  visit.field("counters", set.counters, kSparse);
}

/// What few devices have.
struct DeviceExtras {
  NodeReach reach;                   ///< where its slice's reach is `devices`
  std::vector<Taint> taints;         ///< NoSchedule and NoExecute only, sorted
  std::vector<CounterSet> consumes;  ///< consumesCounters, as listed
  bool shared = false;               ///< allowMultipleAllocations
  bool binds = false;                ///< has bindingConditions

  friend bool operator==(const DeviceExtras&, const DeviceExtras&) = default;
};
template <class V, Of<DeviceExtras> T>
void fields(V& visit, T& extras) {
  visit.field("reach", extras.reach, kSpread.but_late());
  visit.field("taints", extras.taints, kBrief.but_sparse());
  visit.field("consumes", extras.consumes, printed_as("consumesCounters").but_sparse());
  visit.field("shared", extras.shared, printed_as("allowMultipleAllocations").but_sparse());
  visit.field("binds", extras.binds, printed_as("bindingConditions").but_sparse());
}

struct DeviceFacts {
  std::string name;
  DeviceAttributes attributes;
  SharedList<DeviceCapacity> capacity;  ///< by name, bytewise; mostly shared with its neighbours
  Boxed<DeviceExtras> extras;           ///< absent if it would equal DeviceExtras{}

  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};
template <class V, Of<DeviceFacts> T>
void fields(V& visit, T& device) {
  visit.field("name", device.name);
  visit.field("attributes", device.attributes, kSparse);
  visit.field("capacity", device.capacity, kSparse);
  visit.field("extras", device.extras, kSpread);
}

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
template <class V, Of<ResourceSliceFacts> T>
void fields(V& visit, T& slice) {
  visit.field("driver", slice.driver);
  visit.group("pool", [&](V& inner) {
    inner.field("pool", slice.pool, printed_as("name"));
    inner.field("generation", slice.generation);
    inner.field("sliceCount", slice.slice_count, printed_as("resourceSliceCount"));
  });
  visit.field("reach", slice.reach, kSpread.but_late());
  visit.field("devices", slice.devices, kSparse);
  visit.field("counters", slice.counters, printed_as("sharedCounters").but_sparse());
}

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
template <class V, Of<DeviceTaintRuleFacts> T>
void fields(V& visit, T& rule) {
  visit.unprinted("selects", rule.selects);
  const auto list = [&](V& inner) {
    inner.field("driver", rule.driver, printed_if(rule.selects));
    inner.field("pool", rule.pool, printed_if(rule.selects));
    inner.field("device", rule.device, printed_if(rule.selects));
  };
  visit.group("deviceSelector", list, rule.selects ? EmptyGroup::printed : EmptyGroup::left_out);
  visit.field("taint", rule.taint, kBrief);
}

// ---- requests ----

/// One entry of `selectors`.
struct DeviceSelector {
  std::optional<std::string> cel;  ///< cel.expression; absent for a kind that is not understood

  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};
template <class V, Of<DeviceSelector> T>
void fields(V& visit, T& selector) {
  visit.group("cel", [&](V& inner) { inner.field("cel", selector.cel, printed_as("expression")); });
}

/// resource.k8s.io DeviceClass.
struct DeviceClassFacts {
  std::vector<DeviceSelector> selectors;
  std::string extended_resource;  ///< spec.extendedResourceName
  std::int64_t created = 0;       ///< creationTimestamp, seconds since 1970

  friend bool operator==(const DeviceClassFacts&, const DeviceClassFacts&) = default;
};
template <class V, Of<DeviceClassFacts> T>
void fields(V& visit, T& of) {
  visit.field("selectors", of.selectors, kSparse);
  visit.field("extendedResource", of.extended_resource,
              printed_as("extendedResourceName").but_sparse());
  visit.field("created", of.created, kSeconds);
}

/// `allocationMode` of a request.
enum class AllocationMode : std::uint8_t {
  exact,    ///< `count` devices
  all,      ///< every device that matches
  unknown,  ///< a mode of a newer API: the request is not understood
};
template <>
inline constexpr unsigned kValuesOf<AllocationMode> = 3;

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
template <class V, Of<DeviceAsk> T>
void fields(V& visit, T& ask) {
  visit.field("name", ask.name, kSparse);
  visit.field("deviceClass", ask.device_class, printed_as("deviceClassName"));
  visit.field("selectors", ask.selectors, kSparse);
  visit.field("mode", ask.mode, printed_as("allocationMode"));
  visit.field("count", ask.count, printed_if(ask.mode == AllocationMode::exact));
  visit.field("admin", ask.admin, printed_as("adminAccess").but_sparse());
  visit.field("tolerations", ask.tolerations, kBrief.but_sparse());
  visit.field("capacity", ask.capacity, kSparse);
}

/// One entry of `requests`.
struct DeviceRequest {
  std::string name;
  bool alternatives = false;  ///< `asks` are firstAvailable, best first; else the one of `exactly`
  std::vector<DeviceAsk> asks;  ///< empty if it asks in a way that is not understood

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};
template <class V, Of<DeviceRequest> T>
void fields(V& visit, T& request) {
  visit.field("name", request.name);
  visit.unprinted("alternatives", request.alternatives);
  FieldStyle style = printed_as(request.alternatives ? "firstAvailable" : "exactly").but_sparse();
  style.first = !request.alternatives;
  visit.field("asks", request.asks, style);
}

/// One entry of `constraints`.
struct DeviceConstraint {
  std::vector<std::string> requests;  ///< `request` or `request/alternative`; empty: all
  std::string match;                  ///< matchAttribute
  std::string distinct;  ///< distinctAttribute; where both are empty it is not understood

  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};
template <class V, Of<DeviceConstraint> T>
void fields(V& visit, T& constraint) {
  visit.field("requests", constraint.requests, kSparse);
  visit.field("match", constraint.match, printed_as("matchAttribute").but_sparse());
  visit.field("distinct", constraint.distinct, printed_as("distinctAttribute").but_sparse());
}

/// spec.devices of a claim.
struct DeviceClaimSpec {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;

  friend bool operator==(const DeviceClaimSpec&, const DeviceClaimSpec&) = default;
};
template <class V, Of<DeviceClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("requests", spec.requests, kSparse);
  visit.field("constraints", spec.constraints, kSparse);
}

/// resource.k8s.io ResourceClaimTemplate.
struct ResourceClaimTemplateFacts {
  DeviceClaimSpec spec;

  friend bool operator==(const ResourceClaimTemplateFacts&,
                         const ResourceClaimTemplateFacts&) = default;
};
template <class V, Of<ResourceClaimTemplateFacts> T>
void fields(V& visit, T& of) {
  visit.field("spec", of.spec, kSpread);
}

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
template <class V, Of<AllocatedDevice> T>
void fields(V& visit, T& device) {
  visit.field("request", device.request);
  visit.field("driver", device.driver);
  visit.field("pool", device.pool);
  visit.field("device", device.device);
  visit.field("admin", device.admin, printed_as("adminAccess").but_sparse());
  visit.field("share", device.share, printed_as("shareID").but_sparse());
  visit.field("consumed", device.consumed, printed_as("consumedCapacity").but_sparse());
}

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
template <class V, Of<ClaimConsumer> T>
void fields(V& visit, T& consumer) {
  visit.field("apiGroup", consumer.api_group, kSparse);
  visit.field("resource", consumer.resource);
  visit.field("name", consumer.name);
  visit.field("uid", consumer.uid);
}

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
template <class V, Of<ResourceClaimFacts> T>
void fields(V& visit, T& claim) {
  visit.field("spec", claim.spec, kSpread);
  // An allocation without devices differs from none, and its selector without terms from no
  // selector: hence the two flags.
  visit.given("allocated", claim.allocation, printed_as("allocation"), [](V& inner, auto& of) {
    inner.field("devices", of.devices);
    node_selector(inner, "selected", of.selector, "nodeSelector");
  });
  visit.field("reservedFor", claim.reserved_for, kSparse);
  visit.field("podOwners", claim.pod_owners, kSparse);
  visit.field("podClaim", claim.pod_claim, kSparse);
  visit.field("extended", claim.extended, printed_as("extendedResourceClaim").but_sparse());
  visit.field("deleting", claim.deleting);
}

// ---- pods ----

/// One entry of spec.resourceClaims of a pod.
struct PodClaim {
  std::string name;
  std::string claim;      ///< resourceClaimName
  std::string template_;  ///< resourceClaimTemplateName

  friend bool operator==(const PodClaim&, const PodClaim&) = default;
};
template <class V, Of<PodClaim> T>
void fields(V& visit, T& claim) {
  visit.field("name", claim.name);
  visit.field("claim", claim.claim, printed_as("resourceClaimName").but_sparse());
  visit.field("template", claim.template_, printed_as("resourceClaimTemplateName").but_sparse());
}

/// The part of a pod that decides where its devices can come from.
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
template <class V, Of<PodDeviceFacts> T>
void fields(V& visit, T& pod) {
  visit.field("claims", pod.claims, printed_as("resourceClaims").but_sparse());
  visit.field("extended", pod.extended, printed_as("extendedResources").but_sparse());
  visit.field("nodeSelector", pod.node_selector, kSparse);
  node_selector(visit, "affine", pod.affinity, "nodeAffinity");
  visit.field("tolerations", pod.tolerations, kBrief.but_sparse());
}

}  // namespace fairlead
