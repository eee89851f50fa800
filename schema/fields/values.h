// The fields of values that several kinds have.
#pragma once

#include "schema/event.h"
#include "schema/fields/field.h"

namespace fairlead {

template <>
inline constexpr unsigned kValuesOf<Kind> = kKindCount;
template <>
inline constexpr unsigned kValuesOf<ConditionStatus> = 4;
template <>
inline constexpr unsigned kValuesOf<QuantityFormat> = 2;

template <class V, Of<ObjectKey> T>
void fields(V& visit, T& key) {
  visit.field("kind", key.kind);
  visit.field("namespace", key.namespace_);
  visit.field("name", key.name);
}

template <class V, Of<Taint> T>
void fields(V& visit, T& taint) {
  visit.field("key", taint.key);
  visit.field("value", taint.value);
  visit.field("effect", taint.effect);
}

template <class V, Of<Toleration> T>
void fields(V& visit, T& toleration) {
  visit.field("key", toleration.key);
  visit.field("op", toleration.op, printed_as("operator"));
  visit.field("value", toleration.value);
  visit.field("effect", toleration.effect);
}

template <class V, Of<ConditionFacts> T>
void fields(V& visit, T& condition) {
  visit.field("status", condition.status);
  visit.field("reason", condition.reason);
  visit.field("observedGeneration", condition.observed_generation);
}

template <class V, Of<OwnerMark> T>
void fields(V& visit, T& mark) {
  visit.field("managed", mark.managed);
  visit.field("owner", mark.owner);
}

template <class V, Of<FlavorUsage> T>
void fields(V& visit, T& usage) {
  visit.field("flavor", usage.flavor);
  visit.field("resource", usage.resource);
  visit.field("total", usage.total);
}

template <class V, Of<ResourceQuota> T>
void fields(V& visit, T& quota) {
  visit.field("name", quota.name);
  visit.field("nominal", quota.nominal, printed_as("nominalQuota"));
  visit.field("borrowingLimit", quota.borrowing_limit);
  visit.field("lendingLimit", quota.lending_limit);
}

template <class V, Of<FlavorQuotas> T>
void fields(V& visit, T& flavor) {
  visit.field("name", flavor.name);
  visit.field("resources", flavor.resources);
}

template <class V, Of<ResourceGroup> T>
void fields(V& visit, T& group) {
  visit.field("coveredResources", group.covered_resources);
  visit.field("flavors", group.flavors);
}

template <class V, Of<OrchestratorRef> T>
void fields(V& visit, T& orchestrator) {
  visit.field("apiGroup", orchestrator.api_group);
  visit.field("kind", orchestrator.kind);
  visit.field("name", orchestrator.name);
}

template <class V, Of<EffectiveQuotas> T>
void fields(V& visit, T& quotas) {
  visit.presence("given");
  visit.group("orchestrator", [&](V& inner) { fields(inner, quotas.orchestrator); });
  visit.field("groups", quotas.groups, printed_as("resourceGroups"));
}

}  // namespace fairlead
