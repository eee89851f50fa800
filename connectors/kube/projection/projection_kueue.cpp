// Kueue's queues in both served versions, and the ManifestWorks and BindingPolicies that carry them
// to a member.
#include <array>
#include <optional>
#include <set>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/work_feedback.h"

namespace fairlead::projection {
namespace {

std::string word(JsonView value) { return std::string(value.string()); }

std::string canonical_or_empty(JsonView value) {
  return value.given() ? canonical_text(value) : std::string();
}

// v1beta1 has a plain list beside the strategy; v1beta2 the strategy alone.
std::vector<std::string> admission_check_names(JsonView list, JsonView rules) {
  std::vector<std::string> out = string_items(list);
  for (JsonView rule : rules)
    if (!rule["name"].string().empty()) out.emplace_back(rule["name"].string());
  make_set(out);
  return out;
}

// As in Kueue, the presence of the field counts, with or without groups.
std::optional<EffectiveQuotas> effective_quotas(JsonView field) {
  if (!field.is(JsonKind::object)) return std::nullopt;
  const auto [ref, groups] = field.members("orchestratorRef", "resourceGroups");
  const auto [api_group, kind, name] = ref.members("apiGroup", "kind", "name");
  return EffectiveQuotas{{word(api_group), word(kind), word(name)}, resource_groups(groups)};
}

// v1beta1 calls two of the values otherwise; a hub that reads another version sees no change.
// Copied piece by piece: a member may send a million of them, and replacing in place moves the
// rest.
std::string fungibility(JsonView value) {
  std::string text = canonical_or_empty(value);
  for (const std::string_view old : {R"("Borrow")", R"("Preempt")"}) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find(old, from)) != std::string::npos;
         from = at + old.size())
      out.append(text, from, at - from).append(R"("MayStopSearch")");
    text = out.append(text, from);
  }
  return text;
}

std::string check_flavors(JsonView rules) {
  for (JsonView rule : rules)
    for (JsonView flavor : rule["onFlavors"])
      if (flavor.given()) return canonical_text(rules);
  return {};
}

SharingTerms sharing_terms(JsonView spec) {
  const auto [fair, flavors, scope, concurrent, checks] =
      spec.members("fairSharing", "flavorFungibility", "admissionScope",
                   "concurrentAdmissionPolicy", "admissionChecksStrategy");
  return {.weight = quantity(fair["weight"]),
          .flavor_fungibility = fungibility(flavors),
          .admission_scope = canonical_or_empty(scope),
          .concurrent_admission = canonical_or_empty(concurrent),
          .check_flavors = check_flavors(checks["admissionChecks"])};
}

}  // namespace

template <>
ClusterQueueFacts facts_of(JsonView object, ApiReading&) {
  const auto [metadata, spec, status] = object.members("metadata", "spec", "status");
  const auto [groups, cohort_name, cohort, selector, strategy, preemption, stop, checks, rules] =
      spec.members("resourceGroups", "cohortName", "cohort", "namespaceSelector",
                   "queueingStrategy", "preemption", "stopPolicy", "admissionChecks",
                   "admissionChecksStrategy");
  const auto [deletion, annotations] = metadata.members("deletionTimestamp", "annotations");
  const auto [base, extend, from, percent, reserve] = annotations.members(
      "fairlead.io/base-quota", "fairlead.io/extend-resource-groups", "fairlead.io/quota-from",
      "fairlead.io/quota-percent", "fairlead.io/quota-reserve");
  return {.groups = resource_groups(groups),
          .cohort = word(cohort_name.given() ? cohort_name : cohort),
          .namespace_selector = canonical_or_empty(selector),
          .queueing_strategy = word(strategy),
          .preemption = canonical_or_empty(preemption),
          .stop_policy = word(stop),
          .admission_checks = admission_check_names(checks, rules["admissionChecks"]),
          .base_quota = word(base),
          .extend_resource_groups = extend.string() == "true",
          .worker_quota = {word(from), word(percent), word(reserve)},
          .usage = flavors_usage(status["flavorsUsage"]),
          .active = condition(status, "Active"),
          .deleting = deletion.given(),
          .effective = effective_quotas(status["effectiveQuotas"]),
          .sharing = sharing_terms(spec),
          .reserved = flavors_usage(status["flavorsReservation"]),
          .borrowed = flavors_borrowed(status["flavorsUsage"])};
}

template <>
TopologyFacts facts_of(JsonView object, ApiReading&) {
  TopologyFacts out;
  for (JsonView level : object["spec"]["levels"])
    out.levels.emplace_back(level["nodeLabel"].string());
  return out;
}

template <>
CohortFacts facts_of(JsonView object, ApiReading&) {
  const auto [parent, groups, fair] =
      object["spec"].members("parentName", "resourceGroups", "fairSharing");
  return {.parent = word(parent),
          .effective = effective_quotas(object["status"]["effectiveQuotas"]),
          .terms = CohortTerms{resource_groups(groups), quantity(fair["weight"])}};
}

namespace {

// In Kueue's CRDs the list of groups is atomic: an entry owns it whole, `f:resourceGroups: {}`.
// What an entry owns of status.effectiveQuotas.resourceGroups is another field.
std::uint32_t owned_fields(JsonView fields) {
  constexpr std::array kInSpec{SpecField::resource_groups,
                               SpecField::cohort,
                               SpecField::cohort,
                               SpecField::parent,
                               SpecField::weight,
                               SpecField::stop_policy,
                               SpecField::admission_checks,
                               SpecField::admission_checks,
                               SpecField::queueing_strategy,
                               SpecField::preemption,
                               SpecField::namespace_selector,
                               SpecField::flavor_fungibility,
                               SpecField::admission_scope,
                               SpecField::concurrent_admission};
  const std::array in_spec = fields["f:spec"].members(
      "f:resourceGroups", "f:cohortName", "f:cohort", "f:parentName", "f:fairSharing",
      "f:stopPolicy", "f:admissionChecksStrategy", "f:admissionChecks", "f:queueingStrategy",
      "f:preemption", "f:namespaceSelector", "f:flavorFungibility", "f:admissionScope",
      "f:concurrentAdmissionPolicy");
  static_assert(kInSpec.size() == std::tuple_size_v<decltype(in_spec)>);
  std::uint32_t owned = 0;
  for (std::size_t i = 0; i < in_spec.size(); ++i)
    if (in_spec[i].given()) owned |= bit_of(kInSpec[i]);
  constexpr std::array kAnnotations{SpecField::base_quota, SpecField::extend_resource_groups,
                                    SpecField::quota_from, SpecField::quota_percent,
                                    SpecField::quota_reserve};
  const std::array annotations = fields["f:metadata"]["f:annotations"].members(
      "f:fairlead.io/base-quota", "f:fairlead.io/extend-resource-groups",
      "f:fairlead.io/quota-from", "f:fairlead.io/quota-percent", "f:fairlead.io/quota-reserve");
  for (std::size_t i = 0; i < annotations.size(); ++i)
    if (annotations[i].given()) owned |= bit_of(kAnnotations[i]);
  return owned;
}

}  // namespace

std::vector<FieldWriter> quota_writers(JsonView object) {
  std::vector<FieldWriter> writers;
  for (JsonView entry : object["metadata"]["managedFields"]) {
    const auto [manager, operation, subresource, time, fields] =
        entry.members("manager", "operation", "subresource", "time", "fieldsV1");
    if (operation.string() != "Apply" && operation.string() != "Update") continue;
    const std::uint32_t owned = owned_fields(fields);
    if (owned == 0) continue;
    writers.push_back({word(manager), word(operation), word(subresource), word(time), owned});
  }
  return writers;
}

template <>
LocalQueueFacts facts_of(JsonView object, ApiReading&) {
  ConditionFacts active = condition(object["status"], "Active");
  active.observed_generation = 0;  // it moves with edits that change nothing else
  return {word(object["spec"]["clusterQueue"]), word(object["spec"]["stopPolicy"]),
          std::move(active)};
}

namespace {

// Names of the ResourceFlavors that the agent leaves at the member when the work is deleted: as its
// OwnedByTheWork decides (pkg/work/helper/helpers.go of OCM). Empty optional: all of them.
std::optional<std::set<std::string>> orphaned(JsonView option, std::string_view resource) {
  const std::string_view policy = option["propagationPolicy"].string();
  if (policy == "Orphan") return std::nullopt;
  std::set<std::string> names;
  if (policy != "SelectivelyOrphan") return names;
  for (JsonView rule : option["selectivelyOrphans"]["orphaningRules"])
    if (rule["group"].string() == "kueue.x-k8s.io" && rule["namespace"].string().empty() &&
        rule["resource"].string() == resource)
      names.emplace(rule["name"].string());
  return names;
}

std::vector<WorkFlavor> flavors_of(JsonView spec, Kind kind) {
  std::vector<WorkFlavor> flavors;
  const auto left = orphaned(spec["deleteOption"], info(kind).resource);
  for (JsonView manifest : spec["workload"]["manifests"]) {
    if (manifest["kind"].string() != info(kind).name) continue;
    std::string name(manifest["metadata"]["name"].string());
    const bool stays = !left || left->contains(name);
    flavors.push_back({std::move(name), stays});
  }
  make_set(flavors);
  return flavors;
}

void add_manifest(ManifestWorkFacts& work, JsonView manifest) {
  constexpr std::string_view kueue = "kueue.x-k8s.io/";
  if (!manifest["apiVersion"].string().starts_with(kueue)) return;
  JsonView metadata = manifest["metadata"];
  const std::string name(metadata["name"].string());
  if (manifest["kind"].string() == "LocalQueue")
    work.local_queues.push_back({std::string(metadata["namespace"].string()), name,
                                 std::string(manifest["spec"]["clusterQueue"].string())});
  if (manifest["kind"].string() != "ClusterQueue") return;
  for (const ResourceGroup& group : resource_groups(manifest["spec"]["resourceGroups"]))
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& resource : flavor.resources)
        work.quotas.push_back(
            {name, flavor.name, resource.name, to_amount(resource.name, resource.nominal)});
}

// One pair's usage, by the name of its feedback value.
void add_usage(WorkFeedback& feedback, std::string_view pair, JsonView total) {
  const auto slash = pair.find('/');
  const auto amount = quantity(total);
  if (slash == std::string_view::npos || !amount) return;
  const std::string resource(pair.substr(slash + 1));
  feedback.has_usage = true;
  feedback.usage.push_back(
      {std::string(pair.substr(0, slash)), resource, to_amount(resource, *amount)});
}

WorkFeedback feedback(JsonView manifest) {
  WorkFeedback out;
  out.cluster_queue = manifest["resourceMeta"]["name"].string();
  for (JsonView value : manifest["statusFeedback"]["values"]) {
    const std::string_view name = value["name"].string();
    JsonView field = value["fieldValue"];
    if (name == kActiveFeedback) out.active = condition_status(field["string"].string());
    if (name == kActiveReasonFeedback) out.reason = field["string"].string();
    if (name.starts_with(kUsageFeedback))
      add_usage(out, name.substr(kUsageFeedback.size()), field["string"]);
    if (name != "usage" || !field["jsonRaw"].is(JsonKind::string)) continue;
    // Of works that an earlier version wrote. The agent delivers JSON as text inside JSON.
    if (auto usage = parse_json(field["jsonRaw"].text()); usage.has_value()) {
      out.has_usage = true;
      out.usage = flavors_usage(usage->root());
    }
  }
  make_set(out.usage);
  out.synced = condition(manifest, "StatusFeedbackSynced").status;
  return out;
}

// Of all manifests, in the order of spec.manifestConfigs.
Digest feedback_digest(JsonView spec) {
  std::string rules;
  for (JsonView config : spec["manifestConfigs"])
    if (config["feedbackRules"].is(JsonKind::array))
      rules += canonical_text(config["feedbackRules"]);
  return sha256(rules);
}

// The names in the clauses of a BindingPolicy that select objects of this resource alone.
std::vector<std::string> selected_names(JsonView spec, std::string_view resource) {
  std::vector<std::string> names;
  for (JsonView clause : spec["downsync"])
    if (string_items(clause["resources"]) == std::vector{std::string(resource)})
      for (std::string& name : string_items(clause["objectNames"]))
        names.push_back(std::move(name));
  make_set(names);
  return names;
}

}  // namespace

template <>
ManifestWorkFacts facts_of(JsonView object, ApiReading&) {
  ManifestWorkFacts out;
  out.spec_digest = sha256(canonical_text(object["spec"]["workload"]["manifests"]));
  out.feedback_digest = feedback_digest(object["spec"]);
  for (JsonView manifest : object["spec"]["workload"]["manifests"]) add_manifest(out, manifest);
  out.flavors = flavors_of(object["spec"], Kind::resource_flavor);
  out.topologies = flavors_of(object["spec"], Kind::topology);
  make_set(out.quotas);
  make_set(out.local_queues);
  out.applied = condition(object["status"], "Applied");
  out.available = condition(object["status"], "Available");
  std::multimap<std::string, WorkFeedback> by_queue;
  for (JsonView manifest : object["status"]["resourceStatus"]["manifests"])
    if (manifest["resourceMeta"]["resource"].string() == "clusterqueues") {
      WorkFeedback one = feedback(manifest);
      by_queue.emplace(one.cluster_queue, std::move(one));
    }
  for (auto& [queue, one] : by_queue) out.feedback.push_back(std::move(one));
  out.deleting = deleting(object);
  if (out.deleting) out.finalizers = string_items(object["metadata"]["finalizers"]);
  make_set(out.finalizers);
  return out;
}

template <>
BindingPolicyFacts facts_of(JsonView object, ApiReading&) {
  JsonView status = object["status"];
  BindingPolicyFacts out;
  out.spec_digest = sha256(canonical_text(object["spec"]));
  out.namespaces = selected_names(object["spec"], "namespaces");
  out.flavors = selected_names(object["spec"], "resourceflavors");
  out.topologies = selected_names(object["spec"], "topologies");
  out.ours = object["metadata"]["labels"]["app.kubernetes.io/managed-by"].string() == "fairlead";
  out.observed_generation = status["observedGeneration"].integer().value_or(0);
  out.synced = condition(status, "Synced");
  for (const std::string& error : string_items(status["errors"]))
    if (out.error.empty()) out.error = error;
  out.deleting = deleting(object);
  return out;
}

std::span<const KindProjection> kueue_projections() {
  static constexpr std::array kAll{
      projection_of<ClusterQueueFacts>(
          "status.{pendingWorkloads,reservingWorkloads,admittedWorkloads} "
          "status.{pendingWorkloadsStatus,fairSharing}"),
      projection_of<LocalQueueFacts>(
          "status.{pendingWorkloads,reservingWorkloads,admittedWorkloads} "
          "status.{flavorsReservation,pendingWorkloadsStatus,fairSharing,flavorsUsage,flavors}"),
      // The weighted share changes with each workload.
      projection_of<CohortFacts>("status.fairSharing"), projection_of<TopologyFacts>(),
      projection_of<ManifestWorkFacts>("status.resourceStatus.manifests.*.conditions"),
      projection_of<BindingPolicyFacts>()};
  return kAll;
}

}  // namespace fairlead::projection
