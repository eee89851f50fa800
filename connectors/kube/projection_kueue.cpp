// Kueue's queues in both served versions, and what carries them to a member.
#include "connectors/kube/projection_fields.h"

namespace fairlead::projection {
namespace {

// The characters of a string; most of what is asked for is not there.
void set(std::string& out, JsonView value) {
  if (const std::string_view text = value.string(); !text.empty()) out = text;
}

std::string canonical_or_empty(JsonView value) {
  return value.given() ? canonical_text(value) : std::string();
}

// v1beta1 has a plain list beside the strategy; v1beta2 the strategy alone.
std::vector<std::string> admission_check_names(JsonView spec) {
  std::vector<std::string> out = string_items(spec["admissionChecks"]);
  for (JsonView rule : spec["admissionChecksStrategy"]["admissionChecks"])
    if (!rule["name"].string().empty()) out.emplace_back(rule["name"].string());
  make_set(out);
  return out;
}

}  // namespace

ClusterQueueFacts cluster_queue(JsonView object) {
  JsonView spec = object["spec"];
  JsonView annotations = object["metadata"]["annotations"];
  ClusterQueueFacts out;
  out.groups = resource_groups(spec["resourceGroups"]);
  const JsonView cohort = spec["cohortName"];
  set(out.cohort, cohort.given() ? cohort : spec["cohort"]);
  out.namespace_selector = canonical_or_empty(spec["namespaceSelector"]);
  set(out.queueing_strategy, spec["queueingStrategy"]);
  out.preemption = canonical_or_empty(spec["preemption"]);
  set(out.stop_policy, spec["stopPolicy"]);
  out.admission_checks = admission_check_names(spec);
  set(out.base_quota, annotations["fairlead.io/base-quota"]);
  out.extend_resource_groups = annotations["fairlead.io/extend-resource-groups"].string() == "true";
  set(out.worker_quota.from, annotations["fairlead.io/quota-from"]);
  set(out.worker_quota.percent, annotations["fairlead.io/quota-percent"]);
  set(out.worker_quota.reserve, annotations["fairlead.io/quota-reserve"]);
  out.usage = flavors_usage(object["status"]["flavorsUsage"]);
  out.active = condition(object["status"], "Active");
  out.deleting = deleting(object);
  return out;
}

LocalQueueFacts local_queue(JsonView object) {
  return {std::string(object["spec"]["clusterQueue"].string())};
}

namespace {

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

WorkFeedback feedback(JsonView manifest) {
  WorkFeedback out;
  out.cluster_queue = manifest["resourceMeta"]["name"].string();
  for (JsonView value : manifest["statusFeedback"]["values"]) {
    JsonView field = value["fieldValue"];
    if (value["name"].string() == "active") out.active = condition_status(field["string"].string());
    if (value["name"].string() != "usage" || !field["jsonRaw"].is(JsonKind::string)) continue;
    // The agent delivers JSON as text inside JSON.
    if (auto usage = parse_json(field["jsonRaw"].text()); usage.has_value()) {
      out.has_usage = true;
      out.usage = flavors_usage(usage->root());
    }
  }
  return out;
}

}  // namespace

ManifestWorkFacts manifest_work(JsonView object) {
  ManifestWorkFacts out;
  out.spec_digest = sha256(canonical_text(object["spec"]["workload"]["manifests"]));
  for (JsonView manifest : object["spec"]["workload"]["manifests"]) add_manifest(out, manifest);
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
  return out;
}

BindingPolicyFacts binding_policy(JsonView object) {
  JsonView status = object["status"];
  BindingPolicyFacts out;
  out.spec_digest = sha256(canonical_text(object["spec"]));
  for (JsonView clause : object["spec"]["downsync"])
    if (string_items(clause["resources"]) == std::vector<std::string>{"namespaces"})
      for (std::string& name : string_items(clause["objectNames"]))
        out.namespaces.push_back(std::move(name));
  make_set(out.namespaces);
  out.ours = object["metadata"]["labels"]["app.kubernetes.io/managed-by"].string() == "fairlead";
  out.observed_generation = status["observedGeneration"].integer().value_or(0);
  out.synced = condition(status, "Synced");
  for (const std::string& error : string_items(status["errors"]))
    if (out.error.empty()) out.error = error;
  out.deleting = deleting(object);
  return out;
}

}  // namespace fairlead::projection
