#include "schema/event_json.h"

#include <array>

#include "schema/event_json_devices.h"
#include "schema/event_json_fleet.h"
#include "schema/event_json_members.h"
#include "schema/event_json_queues.h"

namespace fairlead {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<AnyFact>> kFactNames{
    "EpochStarted",   "ConfigChanged", "SourceSynced", "SourceStale",     "SourceLost",
    "ObjectObserved", "ObjectGone",    "TimerFired",   "PatchIntended",   "PatchAccepted",
    "PatchRejected",  "PatchUnknown",  "Checkpoint",   "AdmissionDecided"};

// The elements of lists, declared before the list template that calls them.
Json json_of(const Taint& item);
Json json_of(const Toleration& item);
Json json_of(const ResourceQuota& item);
Json json_of(const FlavorQuotas& item);
Json json_of(const ResourceGroup& item);
Json json_of(const ClaimAssignment& item);
Json json_of(const ClaimGrant& item);
Json json_of(const ScorePrioritizer& item);
Json json_of(const WorkloadCheck& item);
Json json_of(const WorkloadPodSet& item);

template <class Items, class Print>
Json list_of(const Items& items, const Print& print) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(print(item));
  return list;
}

template <class Item>
Json list_of(const std::vector<Item>& items) {
  return list_of(items, [](const Item& item) { return json_of(item); });
}

Json json_of(const Taint& taint) {
  return {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}};
}
Json json_of(const Toleration& item) {
  return {{"key", item.key}, {"operator", item.op}, {"value", item.value}, {"effect", item.effect}};
}

Json json_of(const NodeFacts& node) {
  return {{"labels", node.labels.to_map()},
          {"taints", list_of(node.taints)},
          {"unschedulable", node.unschedulable},
          {"ready", node.ready},
          {"allocatable", node.allocatable.to_map()}};
}
Json json_of(const ClusterMetricsFacts& metrics) {
  Json nodes = Json::object();
  for (const auto& [name, node] : metrics.nodes) nodes[name] = json_of(node);
  return {{"nodes", nodes}};
}
Json json_of(const ManagedClusterFacts& cluster) {
  Json json{{"allocatable", cluster.allocatable.to_map()},
            {"available", json_of(cluster.available)},
            {"deleting", cluster.deleting}};
  if (cluster.labelled) json["labelled"] = true;
  return json;
}
Json json_of(const ClusterProfileFacts& profile) {
  return {{"cluster", profile.cluster},
          {"labelled", profile.labelled},
          {"accessProviders", profile.access_providers}};
}
Json json_of(const ResourceFlavorFacts& flavor) {
  return {{"nodeLabels", flavor.node_labels},
          {"nodeTaints", list_of(flavor.node_taints)},
          {"tolerations", list_of(flavor.tolerations)},
          {"topologyName", flavor.topology_name}};
}

Json json_of(const ResourceQuota& quota) {
  Json json{{"name", quota.name}, {"nominalQuota", quota.nominal.as_written()}};
  if (quota.borrowing_limit) json["borrowingLimit"] = quota.borrowing_limit->as_written();
  if (quota.lending_limit) json["lendingLimit"] = quota.lending_limit->as_written();
  return json;
}
Json json_of(const FlavorQuotas& flavor) {
  return {{"name", flavor.name}, {"resources", list_of(flavor.resources)}};
}
Json json_of(const ResourceGroup& group) {
  return {{"coveredResources", group.covered_resources}, {"flavors", list_of(group.flavors)}};
}
Json json_of(const EffectiveQuotas& quotas) {
  return {{"orchestrator", to_json(quotas.orchestrator)},
          {"resourceGroups", list_of(quotas.groups)}};
}
Json json_of(const ClusterQueueFacts& queue) {
  Json json{{"resourceGroups", list_of(queue.groups)},
            {"cohort", queue.cohort},
            {"namespaceSelector", queue.namespace_selector},
            {"queueingStrategy", queue.queueing_strategy},
            {"preemption", queue.preemption},
            {"stopPolicy", queue.stop_policy},
            {"admissionChecks", queue.admission_checks},
            {"baseQuota", queue.base_quota},
            {"extendResourceGroups", queue.extend_resource_groups},
            {"workerQuota",
             {{"from", queue.worker_quota.from},
              {"percent", queue.worker_quota.percent},
              {"reserve", queue.worker_quota.reserve}}},
            {"usage", list_of(queue.usage)},
            {"active", json_of(queue.active)},
            {"deleting", queue.deleting}};
  if (queue.effective) json["effectiveQuotas"] = json_of(*queue.effective);
  if (queue.sharing) json["sharing"] = json_of(*queue.sharing);
  return json;
}
Json json_of(const CohortFacts& cohort) {
  Json json{{"parent", cohort.parent}};
  if (cohort.effective) json["effectiveQuotas"] = json_of(*cohort.effective);
  if (!cohort.terms) return json;
  json["resourceGroups"] = list_of(cohort.terms->groups);
  json["weight"] = weight_json(cohort.terms->weight);
  return json;
}
Json json_of(const LocalQueueFacts& queue) {
  Json json{{"clusterQueue", queue.cluster_queue}};
  if (!queue.stop_policy.empty()) json["stopPolicy"] = queue.stop_policy;
  if (queue.active != ConditionFacts{}) json["active"] = json_of(queue.active);
  return json;
}
Json json_of(const AdmissionCheckFacts& check) {
  Json json{{"controllerName", check.controller_name},
            {"parameters",
             {{"apiGroup", check.parameters_api_group},
              {"kind", check.parameters_kind},
              {"name", check.parameters_name}}},
            {"settings", check.settings},
            {"finalizers", check.finalizers},
            {"active", json_of(check.active)},
            {"allClustersUsed", json_of(check.all_clusters_used)},
            {"deleting", check.deleting}};
  if (check.dispatcher_ready != ConditionFacts{})
    json["dispatcherReady"] = json_of(check.dispatcher_ready);
  return json;
}
Json json_of(const MultiKueueConfigFacts& config) {
  return {{"clusters", config.clusters},
          {"quotaManagement", config.quota_management},
          {"managed", config.mark.managed},
          {"owner", config.mark.owner},
          {"deleting", config.deleting}};
}
Json json_of(const MultiKueueClusterFacts& cluster) {
  return {{"secret", cluster.secret},
          {"path", cluster.path},
          {"clusterProfile", cluster.cluster_profile},
          {"managed", cluster.mark.managed},
          {"owner", cluster.mark.owner},
          {"active", json_of(cluster.active)},
          {"deleting", cluster.deleting}};
}
Json json_of(const ScorePrioritizer& prioritizer) {
  return {{"resourceName", prioritizer.resource_name},
          {"scoreName", prioritizer.score_name},
          {"weight", prioritizer.weight}};
}
Json json_of(const PlacementFacts& placement) {
  return {{"prioritizers", list_of(placement.prioritizers)}, {"deleting", placement.deleting}};
}
Json json_of(const PlacementDecisionFacts& decision) {
  return {{"placement", decision.placement}, {"clusters", decision.clusters}};
}
Json json_of(const AddOnPlacementScoreFacts& score) {
  Json json{{"scores", score.scores}};
  if (score.valid_until) json["validUntil"] = to_rfc3339(*score.valid_until);
  return json;
}
Json json_of(const WorkloadCheck& check) { return {{"name", check.name}, {"state", check.state}}; }
Json json_of(const WorkloadPodSet& pod_set) {
  Json json = json_of(pod_set.pod);
  json["name"] = pod_set.name;
  json["count"] = pod_set.count;
  if (pod_set.admitted) json["admitted"] = *pod_set.admitted;
  for (const PodClaim& entry : pod_set.fleet.entries) json["fleetClaims"].push_back(json_of(entry));
  if (!pod_set.fleet.fault.empty()) json["fleetFault"] = pod_set.fleet.fault;
  return json;
}
Json json_of(const WorkloadFacts& workload) {
  Json json{{"admissionChecks", list_of(workload.checks)},
            {"clusterName", workload.cluster_name},
            {"nominatedClusterNames", workload.nominated_clusters},
            {"quotaReserved", workload.quota_reserved},
            {"finished", workload.finished},
            {"evicted", workload.evicted},
            {"deleting", workload.deleting}};
  if (workload.priority != 0) json["priority"] = workload.priority;
  if (workload.created != LogTime{}) json["created"] = to_rfc3339(workload.created);
  if (!workload.pod_sets.empty()) json["podSets"] = list_of(workload.pod_sets);
  if (workload.devices_reserved != ConditionFacts{})
    json["devicesReserved"] = json_of(workload.devices_reserved);
  return json;
}
Json json_of(const SecretFacts& secret) {
  return {{"keys", secret.keys}, {"content", secret.content.hex()}};
}
Json json_of(const CustomResourceDefinitionFacts& crd) {
  Json json{{"clusterProfileRef", crd.cluster_profile_ref}};
  if (crd.clusters_max) json["clustersMax"] = *crd.clusters_max;
  return json;
}
Json json_of(const MutatingAdmissionPolicyFacts& policy) {
  return {{"clearsNominations", policy.clears_nominations}, {"deleting", policy.deleting}};
}

void put_optional(Json& json, const char* key, const std::optional<std::string>& text) {
  if (text) json[key] = *text;
}
Json json_of(const VirtualClusterFacts& cluster) {
  Json json{{"phase", cluster.phase}, {"clusterNamespace", cluster.cluster_namespace}};
  if (!cluster.secret.empty()) json["secret"] = cluster.secret;
  put_optional(json, "poolLimit", cluster.pool_limit);
  return json;
}
Json json_of(const NamespaceFacts& of) {
  Json json{{"deleting", of.deleting}};
  put_optional(json, "slice", of.slice);
  put_optional(json, "placements", of.placements);
  put_optional(json, "policy", of.policy);
  put_optional(json, "reason", of.reason);
  if (!of.tenant.empty()) json["tenant"] = of.tenant;
  if (!of.tenant_namespace.empty()) json["tenantNamespace"] = of.tenant_namespace;
  if (!of.tenant_uid.empty()) json["tenantUid"] = of.tenant_uid;
  return json;
}
Json json_of(const ResourceQuotaFacts& quota) {
  return {{"hard", quota.hard}, {"scoped", quota.scoped}};
}
Json json_of(const PodFacts& pod) {
  Json json{
      {"requests", pod.requests.to_map()},     {"bound", pod.bound}, {"gated", pod.gated},
      {"resourceClaims", pod.resource_claims}, {"over", pod.over},   {"deleting", pod.deleting}};
  put_optional(json, "superCluster", pod.super_cluster);
  put_optional(json, "reason", pod.reason);
  const auto& [workload, pod_set, tenant_uid] = pod.origin();
  if (!workload.empty()) json["workload"] = workload;
  if (!pod_set.empty()) json["podSet"] = pod_set;
  if (pod.devices) json["devices"] = json_of(*pod.devices);
  if (!tenant_uid.empty()) json["tenantUid"] = tenant_uid;
  return json;
}
Json json_of(const ConfigMapFacts& map) {
  Json json = Json::object();
  put_optional(json, "id", map.id);
  return json;
}

Json json_of(const ClaimAssignment& row) {
  Json json{{"clusterQueue", row.cluster_queue},
            {"flavor", row.flavor},
            {"resources", row.resources},
            {"minResources", row.min_resources}};
  if (row.priority) json["priority"] = *row.priority;
  return json;
}
Json json_of(const ClaimSpec& spec) {
  Json headroom = Json::object();
  if (spec.headroom.percent) headroom["percent"] = *spec.headroom.percent;
  if (spec.headroom.reserved) headroom["reserved"] = *spec.headroom.reserved;
  Json json{{"clusterName", spec.cluster_name},
            {"nominalResources", spec.nominal_resources},
            {"resourceAssignments", list_of(spec.assignments)},
            {"nominalPolicy", spec.nominal_policy},
            {"shrinkPolicy", spec.shrink_policy},
            {"flavorCapacity", spec.flavor_capacity},
            {"headroom", headroom}};
  if (!spec.malformed.empty()) json["malformed"] = spec.malformed;
  return json;
}
Json json_of(const ClaimGrant& grant) {
  return {{"clusterQueue", grant.cluster_queue},
          {"flavor", grant.flavor},
          {"resource", grant.resource},
          {"granted", grant.granted}};
}
Json json_of(const ClaimFacts& claim) {
  Json json{{"spec", json_of(claim.spec)}, {"created", to_rfc3339(claim.created)},
            {"deleting", claim.deleting},  {"finalizers", claim.finalizers},
            {"debounce", claim.debounce},  {"grants", list_of(claim.status_grants)}};
  if (claim.status_digest != Digest{}) json["statusDigest"] = claim.status_digest.hex();
  return json;
}

// ---- facts of the log: each adds its fields to the event's object ----

void add_key(Json& json, const ObjectKey& key) {
  const KindInfo& kind = info(key.kind);
  json["group"] = kind.group;
  json["kind"] = kind.name;
  json["namespace"] = key.namespace_;
  json["name"] = key.name;
}
template <class SourceFact>
void add_source(Json& json, const SourceFact& fact) {
  if (fact.kind)
    json["kind"] = info(*fact.kind).name;
  else
    json["cluster"] = fact.cluster;
}

void add(Json& json, const EpochStarted& fact) {
  json["identity"] = fact.identity;
  json["programVersion"] = fact.program_version;
  json["foldVersion"] = fact.fold_version;
  json["schemaVersion"] = fact.schema_version;
}
void add(Json& json, const ConfigChanged& fact) {
  json["configuration"] = to_json(fact.configuration);
}
void add(Json& json, const SourceSynced& fact) {
  add_source(json, fact);
  json["resourceVersion"] = fact.resource_version;
}
void add(Json& json, const SourceStale& fact) {
  add_source(json, fact);
  if (fact.cause == StaleCause::too_many)
    json["reason"] = fact.kind == Kind::node ? "TooManyNodes" : "TooManyObjects";
  if (fact.cause == StaleCause::too_many_changes) json["reason"] = "TooManyChanges";
}
void add(Json& json, const SourceLost& fact) { add_source(json, fact); }
void add(Json& json, const ObjectObserved& fact) {
  add_key(json, fact.key);
  json["version"] = fact.version;
  json["uid"] = fact.uid;
  json["resourceVersion"] = fact.resource_version;
  json["generation"] = fact.generation;
  json["facts"] = to_json(fact.facts);
  if (fact.raw_digest != Digest{}) json["rawDigest"] = fact.raw_digest.hex();
  if (!fact.writers.empty()) json["writers"] = list_of(fact.writers);
}
void add(Json& json, const ObjectGone& fact) {
  add_key(json, fact.key);
  json.update(Json{{"uid", fact.uid}, {"resourceVersion", fact.resource_version}});
}
void add(Json& json, const TimerFired& fact) { json["deadline"] = to_rfc3339(fact.deadline); }

Json body_json(const std::string& body) {
  Json parsed = read_json(body);
  return parsed.is_discarded() ? Json(body) : parsed;
}
void add(Json& json, const PatchIntended& fact) {
  json["cluster"] = fact.cluster;
  json["verb"] = to_string(fact.verb);
  add_key(json, fact.target);
  json["version"] = fact.version;
  json["fieldManager"] = fact.field_manager;
  json["force"] = fact.force;
  json.update(Json{{"uid", fact.uid}, {"resourceVersion", fact.resource_version}});
  if (!fact.body.empty()) json["body"] = body_json(fact.body);
  json["reason"] = {{"rule", fact.reason.rule},
                    {"because", list_of(fact.reason.because, [](Seq seq) { return seq.value; })},
                    {"text", fact.reason.text}};
  if (!fact.contributions.empty())
    json["contributions"] = list_of(fact.contributions, [](const Contribution& part) {
      const auto& [cluster, flavor, resource, amount] = part;
      return Json{
          {"cluster", cluster}, {"flavor", flavor}, {"resource", resource}, {"amount", amount}};
    });
  if (!fact.overlaid.empty()) json["overlaid"] = list_of(fact.overlaid);
  if (fact.expected) json["expected"] = to_json(*fact.expected);
}
void add(Json& json, const PatchAccepted& fact) {
  json.update(Json{{"intent", fact.intent.value},
                   {"httpCode", fact.http_code},
                   {"uid", fact.uid},
                   {"resourceVersion", fact.resource_version}});
}
void add(Json& json, const PatchRejected& fact) {
  json.update(
      Json{{"intent", fact.intent.value}, {"httpCode", fact.http_code}, {"reason", fact.reason}});
  if (fact.cause == RejectionCause::outage) json["refusedFor"] = "outage";
  if (fact.cause == RejectionCause::rights) json["refusedFor"] = "rights";
}
void add(Json& json, const PatchUnknown& fact) {
  json.update(Json{{"intent", fact.intent.value}, {"reason", fact.reason}});
}
void add(Json& json, const Checkpoint& fact) {
  json.update(Json{{"state", fact.state.hex()}, {"events", fact.events}, {"log", fact.log.hex()}});
}

void add(Json& json, const AdmissionDecided& fact) {
  json["requestUid"] = fact.request_uid;
  json["user"] = fact.user;
  json["operation"] = to_string(fact.operation);
  add_key(json, fact.object);
  json["rules"] = list_of(fact.rules, [](AdmissionRule rule) { return info(rule).name; });
  json["outcome"] = to_string(fact.outcome);
  if (!fact.reason.empty()) json["reason"] = fact.reason;
}

}  // namespace

std::string_view fact_name(const Fact& fact) { return kFactNames[fact.index()]; }

std::span<const std::string_view> fact_names() { return kFactNames; }

const ObjectKey* object_of(const Fact& fact) {
  if (const auto* observed = std::get_if<ObjectObserved>(&fact)) return &observed->key;
  if (const auto* gone = std::get_if<ObjectGone>(&fact)) return &gone->key;
  if (const auto* intended = std::get_if<PatchIntended>(&fact)) return &intended->target;
  if (const auto* decided = std::get_if<AdmissionDecided>(&fact)) return &decided->object;
  return nullptr;
}

Json to_json(const Facts& facts) {
  return std::visit([](const auto& of_kind) { return json_of(of_kind); }, facts);
}

Json to_json(const OrchestratorRef& orchestrator) {
  const auto& [api_group, kind, name] = orchestrator;
  return {{"apiGroup", api_group}, {"kind", kind}, {"name", name}};
}

Json to_json(const Event& event) {
  Json json{{"seq", event.seq.value},     {"logTime", to_rfc3339(event.log_time)},
            {"epoch", event.epoch.value}, {"source", event.source},
            {"cause", event.cause.value}, {"fact", fact_name(event.fact)}};
  std::visit([&json](const auto& fact) { add(json, fact); }, event.fact);
  return json;
}

}  // namespace fairlead
