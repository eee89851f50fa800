// Facts of a family of kinds (schema/facts.h): Kueue's queues, and what decides who gets quota.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/kinds/values.h"
#include "schema/spelled_quantity.h"

namespace fairlead {

/// One (flavor, resource) pair in the spec of a ClusterQueue.
struct ResourceQuota {
  std::string name;
  SpelledQuantity nominal;
  std::optional<SpelledQuantity> borrowing_limit;
  std::optional<SpelledQuantity> lending_limit;

  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};
template <class V, Of<ResourceQuota> T>
void fields(V& visit, T& quota) {
  visit.field("name", quota.name);
  visit.field("nominal", quota.nominal, printed_as("nominalQuota"));
  visit.field("borrowingLimit", quota.borrowing_limit);
  visit.field("lendingLimit", quota.lending_limit);
}

struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;  ///< in the order of coveredResources

  friend bool operator==(const FlavorQuotas&, const FlavorQuotas&) = default;
};
template <class V, Of<FlavorQuotas> T>
void fields(V& visit, T& flavor) {
  visit.field("name", flavor.name);
  visit.field("resources", flavor.resources);
}

struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;

  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};
template <class V, Of<ResourceGroup> T>
void fields(V& visit, T& group) {
  visit.field("coveredResources", group.covered_resources);
  visit.field("flavors", group.flavors);
}

/// The controller that sets an effective quota (orchestratorRef), e.g. a DynamicQuotaOrchestrator
/// of Kueue.
struct OrchestratorRef {
  std::string api_group;
  std::string kind;
  std::string name;

  friend bool operator==(const OrchestratorRef&, const OrchestratorRef&) = default;
};
template <class V, Of<OrchestratorRef> T>
void fields(V& visit, T& orchestrator) {
  visit.field("apiGroup", orchestrator.api_group);
  visit.field("kind", orchestrator.kind);
  visit.field("name", orchestrator.name);
}

/// status.effectiveQuotas of a ClusterQueue or Cohort (Kueue 0.20, KEP-12382): Kueue's scheduler
/// uses these groups instead of the spec's. Empty groups mean that there is no quota.
struct EffectiveQuotas {
  OrchestratorRef orchestrator;
  std::vector<ResourceGroup> groups;

  friend bool operator==(const EffectiveQuotas&, const EffectiveQuotas&) = default;
};
template <class V, Of<EffectiveQuotas> T>
void fields(V& visit, T& quotas) {
  visit.presence("given");
  visit.group("orchestrator", [&](V& inner) { fields(inner, quotas.orchestrator); });
  visit.field("groups", quotas.groups, printed_as("resourceGroups"));
}

/// The annotations of a ClusterQueue whose quota follows its workers', as written; empty where
/// absent.
struct WorkerQuotaTerms {
  std::string from;     ///< fairlead.io/quota-from: "workers"
  std::string percent;  ///< fairlead.io/quota-percent: whole percents of the workers' sum
  std::string reserve;  ///< fairlead.io/quota-reserve: JSON, flavor -> resource -> quantity

  friend bool operator==(const WorkerQuotaTerms&, const WorkerQuotaTerms&) = default;
};
template <class V, Of<WorkerQuotaTerms> T>
void fields(V& visit, T& terms) {
  visit.field("from", terms.from);
  visit.field("percent", terms.percent);
  visit.field("reserve", terms.reserve);
}

/// What else of a ClusterQueue's spec decides who gets quota. No rule reads it: it is kept for
/// questions about the past. Texts are canonical JSON, empty where absent.
struct SharingTerms {
  std::optional<Quantity> weight;  ///< fairSharing.weight; Kueue takes 1 where it is absent
  std::string flavor_fungibility;  ///< in the spelling of v1beta2
  std::string admission_scope;
  std::string concurrent_admission;  ///< concurrentAdmissionPolicy
  /// admissionChecksStrategy.admissionChecks, where a check is for some flavors only.
  std::string check_flavors;

  friend bool operator==(const SharingTerms&, const SharingTerms&) = default;
};
template <class V, Of<SharingTerms> T>
void fields(V& visit, T& terms) {
  visit.presence("given");
  visit.field("weight", terms.weight, kOrNull);
  visit.field("flavorFungibility", terms.flavor_fungibility);
  visit.field("admissionScope", terms.admission_scope);
  visit.field("concurrentAdmission", terms.concurrent_admission,
              printed_as("concurrentAdmissionPolicy"));
  visit.field("checkFlavors", terms.check_flavors);
}

/// kueue.x-k8s.io ClusterQueue.
struct ClusterQueueFacts {
  std::vector<ResourceGroup> groups;
  std::string cohort;              ///< spec.cohortName (v1beta2) or spec.cohort (v1beta1)
  std::string namespace_selector;  ///< canonical JSON; empty where absent
  std::string queueing_strategy;
  std::string preemption;  ///< canonical JSON; empty where absent
  std::string stop_policy;
  std::vector<std::string> admission_checks;  ///< names from both spellings, sorted
  std::string base_quota;  ///< annotation fairlead.io/base-quota as written; empty where absent
  bool extend_resource_groups = false;  ///< annotation fairlead.io/extend-resource-groups: "true"
  WorkerQuotaTerms worker_quota;
  std::vector<FlavorUsage> usage;  ///< sorted
  ConditionFacts active;
  bool deleting = false;
  std::optional<EffectiveQuotas> effective{};  ///< absent: the spec's groups are in force
  std::optional<SharingTerms> sharing{};       ///< absent in records without it: not known
  std::vector<FlavorUsage> reserved{};         ///< status.flavorsReservation, sorted
  std::vector<FlavorUsage> borrowed{};  ///< `borrowed` of flavorsUsage where it is not 0, sorted

  friend bool operator==(const ClusterQueueFacts&, const ClusterQueueFacts&) = default;
};
template <class V, Of<ClusterQueueFacts> T>
void fields(V& visit, T& queue) {
  visit.field("groups", queue.groups, printed_as("resourceGroups"));
  visit.field("cohort", queue.cohort);
  visit.field("namespaceSelector", queue.namespace_selector);
  visit.field("queueingStrategy", queue.queueing_strategy);
  visit.field("preemption", queue.preemption);
  visit.field("stopPolicy", queue.stop_policy);
  visit.field("admissionChecks", queue.admission_checks);
  visit.field("baseQuota", queue.base_quota);
  visit.field("extendResourceGroups", queue.extend_resource_groups);
  visit.field("usage", queue.usage);
  visit.field("active", queue.active);
  visit.field("deleting", queue.deleting);
  visit.field("workerQuota", queue.worker_quota, kUsual.but_late());
  visit.field("effective", queue.effective, printed_as("effectiveQuotas"));
  visit.field("sharing", queue.sharing);
  visit.field("reserved", queue.reserved, kSparse);
  visit.field("borrowed", queue.borrowed, kSparse);
}

/// kueue.x-k8s.io LocalQueue.
struct LocalQueueFacts {
  std::string cluster_queue;
  std::string stop_policy;
  ConditionFacts active;  ///< without its generation

  friend bool operator==(const LocalQueueFacts&, const LocalQueueFacts&) = default;
};
template <class V, Of<LocalQueueFacts> T>
void fields(V& visit, T& queue) {
  visit.field("clusterQueue", queue.cluster_queue);
  visit.field("stopPolicy", queue.stop_policy, kSparse);
  visit.field("active", queue.active, kSparse.but_late());
}

/// What a Cohort has of its own. No rule reads it: it is kept for questions about the past.
struct CohortTerms {
  std::vector<ResourceGroup> groups;
  std::optional<Quantity> weight;  ///< fairSharing.weight; Kueue takes 1 where it is absent

  friend bool operator==(const CohortTerms&, const CohortTerms&) = default;
};
template <class V, Of<CohortTerms> T>
void fields(V& visit, T& terms) {
  visit.presence("given");
  visit.field("groups", terms.groups, printed_as("resourceGroups"));
  visit.field("weight", terms.weight, kOrNull);
}

/// kueue.x-k8s.io Cohort: its parent, its quotas, and the effective quota that a controller sets on
/// it.
struct CohortFacts {
  std::string parent;                          ///< spec.parentName; empty for a root
  std::optional<EffectiveQuotas> effective{};  ///< absent: the spec's groups are in force
  std::optional<CohortTerms> terms{};          ///< absent in records without it: not known

  friend bool operator==(const CohortFacts&, const CohortFacts&) = default;
};
template <class V, Of<CohortFacts> T>
void fields(V& visit, T& cohort) {
  visit.field("parent", cohort.parent);
  visit.field("effective", cohort.effective, printed_as("effectiveQuotas"));
  visit.field("terms", cohort.terms, kSpread);
}

}  // namespace fairlead
