// The fields of Dynamic Resource Allocation. A Quantity is stored as its canonical text there.
#pragma once

#include "schema/fields/values.h"

namespace fairlead {

template <>
inline constexpr unsigned kValuesOf<NodeReachKind> = 5;
template <>
inline constexpr unsigned kValuesOf<AllocationMode> = 3;

template <class V, Of<NodeRequirement> T>
void fields(V& visit, T& requirement) {
  visit.field("key", requirement.key);
  visit.field("op", requirement.op, printed_as("operator"));
  visit.field("values", requirement.values, kSparse);
}

template <class V, Of<NodeSelectorTerm> T>
void fields(V& visit, T& term) {
  visit.field("expressions", term.expressions, printed_as("matchExpressions").but_sparse());
  visit.field("fields", term.fields, printed_as("matchFields").but_sparse());
}

/// A node selector whose terms are stored beside the Bool `flag`.
template <class V, class Selector>
void node_selector(V& visit, FieldName flag, Selector& selector, const char* key) {
  visit.given(flag, selector, printed_as(key), [](V& inner, auto& of) {
    inner.field("nodeTerms", of.terms, printed_as("nodeSelectorTerms"));
  });
}

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

template <class V, Of<CounterSet> T>
void fields(V& visit, T& set) {
  visit.field("name", set.name);
  visit.field("counters", set.counters, kSparse);
}

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

template <class V, Of<DeviceCapacity> T>
void fields(V& visit, T& capacity) {
  visit.unprinted("name", capacity.name);  // the key of its object
  visit.field("value", capacity.value);
  visit.field("policy", capacity.policy, printed_as("requestPolicy"));
}

template <class V, Of<DeviceExtras> T>
void fields(V& visit, T& extras) {
  visit.field("reach", extras.reach, kSpread.but_late());
  visit.field("taints", extras.taints, kBrief.but_sparse());
  visit.field("consumes", extras.consumes, printed_as("consumesCounters").but_sparse());
  visit.field("shared", extras.shared, printed_as("allowMultipleAllocations").but_sparse());
  visit.field("binds", extras.binds, printed_as("bindingConditions").but_sparse());
}

template <class V, Of<DeviceFacts> T>
void fields(V& visit, T& device) {
  visit.field("name", device.name);
  visit.field("attributes", device.attributes, kSparse);
  visit.field("capacity", device.capacity, kSparse);
  visit.field("extras", device.extras, kSpread);
}

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

template <class V, Of<DeviceSelector> T>
void fields(V& visit, T& selector) {
  visit.group("cel", [&](V& inner) { inner.field("cel", selector.cel, printed_as("expression")); });
}

template <class V, Of<DeviceClassFacts> T>
void fields(V& visit, T& of) {
  visit.field("selectors", of.selectors, kSparse);
  visit.field("extendedResource", of.extended_resource,
              printed_as("extendedResourceName").but_sparse());
  visit.field("created", of.created, kSeconds);
}

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

template <class V, Of<DeviceRequest> T>
void fields(V& visit, T& request) {
  visit.field("name", request.name);
  visit.unprinted("alternatives", request.alternatives);
  FieldStyle style = printed_as(request.alternatives ? "firstAvailable" : "exactly").but_sparse();
  style.first = !request.alternatives;
  visit.field("asks", request.asks, style);
}

template <class V, Of<DeviceConstraint> T>
void fields(V& visit, T& constraint) {
  visit.field("requests", constraint.requests, kSparse);
  visit.field("match", constraint.match, printed_as("matchAttribute").but_sparse());
  visit.field("distinct", constraint.distinct, printed_as("distinctAttribute").but_sparse());
}

template <class V, Of<DeviceClaimSpec> T>
void fields(V& visit, T& spec) {
  visit.field("requests", spec.requests, kSparse);
  visit.field("constraints", spec.constraints, kSparse);
}

template <class V, Of<ResourceClaimTemplateFacts> T>
void fields(V& visit, T& of) {
  visit.field("spec", of.spec, kSpread);
}

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

template <class V, Of<ClaimConsumer> T>
void fields(V& visit, T& consumer) {
  visit.field("apiGroup", consumer.api_group, kSparse);
  visit.field("resource", consumer.resource);
  visit.field("name", consumer.name);
  visit.field("uid", consumer.uid);
}

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

template <class V, Of<PodClaim> T>
void fields(V& visit, T& claim) {
  visit.field("name", claim.name);
  visit.field("claim", claim.claim, printed_as("resourceClaimName").but_sparse());
  visit.field("template", claim.template_, printed_as("resourceClaimTemplateName").but_sparse());
}

template <class V, Of<PodDeviceFacts> T>
void fields(V& visit, T& pod) {
  visit.field("claims", pod.claims, printed_as("resourceClaims").but_sparse());
  visit.field("extended", pod.extended, printed_as("extendedResources").but_sparse());
  visit.field("nodeSelector", pod.node_selector, kSparse);
  node_selector(visit, "affine", pod.affinity, "nodeAffinity");
  visit.field("tolerations", pod.tolerations, kBrief.but_sparse());
}

}  // namespace fairlead
