#include "tests/simulation/incident_objects.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "connectors/kube/projection/projection.h"

namespace fairlead::simulation {
namespace {

// A member that is there only where it says something.
void put(Json& object, const char* name, Json value) {
  const bool nothing = value.is_null() || (value.is_string() && value.empty()) ||
                       (value.is_structured() && value.empty()) || value == Json("");
  if (!nothing) object[name] = std::move(value);
}

Json amounts(const ResourceAmounts& amounts) {
  Json out = Json::object();
  for (const auto& [resource, amount] : amounts)
    out[std::string(resource)] = amount_text(resource, amount);
  return out;
}

template <class Map>
Json texts(const Map& map) {
  Json out = Json::object();
  for (const auto& [name, value] : map) out[std::string(name)] = std::string(value);
  return out;
}

Json taints(const std::vector<Taint>& taints) {
  Json out = Json::array();
  for (const Taint& taint : taints) {
    Json one = {{"key", taint.key}, {"effect", taint.effect}};
    put(one, "value", taint.value);
    out.push_back(std::move(one));
  }
  return out;
}

Json condition_of(const char* type, const ConditionFacts& condition) {
  if (condition.status == ConditionStatus::absent) return Json::array();
  const char* const words[] = {"", "True", "False", "Unknown"};
  Json one = {{"type", type},
              {"status", words[static_cast<std::size_t>(condition.status)]},
              {"reason", condition.reason},
              {"message", ""},
              {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
  if (condition.observed_generation != 0) one["observedGeneration"] = condition.observed_generation;
  return Json::array({std::move(one)});
}

Json groups_of(const std::vector<ResourceGroup>& groups) {
  Json out = Json::array();
  for (const ResourceGroup& group : groups) {
    Json flavors = Json::array();
    for (const FlavorQuotas& flavor : group.flavors) {
      Json resources = Json::array();
      for (const ResourceQuota& quota : flavor.resources) {
        Json one = {{"name", quota.name}, {"nominalQuota", quota.nominal.as_written()}};
        if (quota.borrowing_limit) one["borrowingLimit"] = quota.borrowing_limit->as_written();
        if (quota.lending_limit) one["lendingLimit"] = quota.lending_limit->as_written();
        resources.push_back(std::move(one));
      }
      flavors.push_back({{"name", flavor.name}, {"resources", std::move(resources)}});
    }
    out.push_back({{"coveredResources", group.covered_resources}, {"flavors", std::move(flavors)}});
  }
  return out;
}

Json json_of(const std::string& text) { return text.empty() ? Json() : read_json(text); }

// What is made of each kind: all but apiVersion, kind and the name.
void fill(Json& object, const NodeFacts& node) {
  put(object["metadata"], "labels", texts(node.labels));
  put(object["spec"], "taints", taints(node.taints));
  if (node.unschedulable) object["spec"]["unschedulable"] = true;
  object["status"] = {
      {"allocatable", amounts(node.allocatable)},
      {"conditions",
       condition_of("Ready",
                    {node.ready ? ConditionStatus::yes : ConditionStatus::unknown, "", 0})}};
}

void fill(Json& object, const ManagedClusterFacts& cluster) {
  if (cluster.labelled) object["metadata"]["labels"]["name"] = object["metadata"]["name"];
  object["spec"] = {{"hubAcceptsClient", true}};
  object["status"] = {
      {"allocatable", amounts(cluster.allocatable)},
      {"conditions", condition_of("ManagedClusterConditionAvailable", cluster.available)}};
}

void fill(Json& object, const ClusterMetricsFacts& metrics) {
  Json nodes = Json::array();
  for (const auto& [name, node] : metrics.nodes) {
    Json one = {{"name", name}, {"allocatableResources", amounts(node.allocatable)}};
    put(one, "labels", texts(node.labels));
    put(one, "taints", taints(node.taints));
    if (node.unschedulable) one["unschedulable"] = true;
    nodes.push_back(std::move(one));
  }
  object["status"]["nodes"] = std::move(nodes);
}

void fill(Json& object, const ResourceFlavorFacts& flavor) {
  Json& spec = object["spec"] = Json::object();
  put(spec, "nodeLabels", texts(flavor.node_labels));
  put(spec, "nodeTaints", taints(flavor.node_taints));
  Json tolerations = Json::array();
  for (const Toleration& one : flavor.tolerations) {
    Json toleration = {{"operator", one.op}};
    put(toleration, "key", one.key);
    put(toleration, "value", one.value);
    put(toleration, "effect", one.effect);
    tolerations.push_back(std::move(toleration));
  }
  put(spec, "tolerations", std::move(tolerations));
  put(spec, "topologyName", flavor.topology_name);
}

void fill(Json& object, const ClusterQueueFacts& queue) {
  Json& spec = object["spec"] = {{"resourceGroups", groups_of(queue.groups)}};
  put(spec, "cohortName", queue.cohort);
  if (!queue.namespace_selector.empty())
    spec["namespaceSelector"] = read_json(queue.namespace_selector);
  put(spec, "queueingStrategy", queue.queueing_strategy);
  put(spec, "preemption", json_of(queue.preemption));
  put(spec, "stopPolicy", queue.stop_policy);
  const SharingTerms terms = queue.sharing.value_or(SharingTerms{});
  if (terms.weight) spec["fairSharing"]["weight"] = terms.weight->text();
  put(spec, "flavorFungibility", json_of(terms.flavor_fungibility));
  put(spec, "admissionScope", json_of(terms.admission_scope));
  put(spec, "concurrentAdmissionPolicy", json_of(terms.concurrent_admission));
  Json checks = json_of(terms.check_flavors);
  if (checks.is_null())
    for (const std::string& name : queue.admission_checks) checks.push_back({{"name", name}});
  if (!checks.is_null()) spec["admissionChecksStrategy"]["admissionChecks"] = std::move(checks);
  Json notes = Json::object();
  put(notes, "fairlead.io/base-quota", queue.base_quota);
  if (queue.extend_resource_groups) notes["fairlead.io/extend-resource-groups"] = "true";
  put(notes, "fairlead.io/quota-from", queue.worker_quota.from);
  put(notes, "fairlead.io/quota-percent", queue.worker_quota.percent);
  put(notes, "fairlead.io/quota-reserve", queue.worker_quota.reserve);
  put(object["metadata"], "annotations", std::move(notes));
}

void fill(Json& object, const LocalQueueFacts& queue) {
  object["spec"] = {{"clusterQueue", queue.cluster_queue}};
  put(object["spec"], "stopPolicy", queue.stop_policy);
}

void fill(Json& object, const CohortFacts& cohort) {
  Json& spec = object["spec"] = Json::object();
  put(spec, "parentName", cohort.parent);
  if (!cohort.terms) return;
  put(spec, "resourceGroups", groups_of(cohort.terms->groups));
  if (cohort.terms->weight) spec["fairSharing"]["weight"] = cohort.terms->weight->text();
}

void fill(Json& object, const ClaimFacts& claim) {
  Json& spec = object["spec"] = {{"clusterName", claim.spec.cluster_name}};
  put(spec, "nominalResources", texts(claim.spec.nominal_resources));
  for (const ClaimAssignment& row : claim.spec.assignments) {
    Json one = {{"clusterQueueName", row.cluster_queue}, {"flavor", row.flavor}};
    put(one, "resources", texts(row.resources));
    put(one, "minResources", texts(row.min_resources));
    if (row.priority) one["priority"] = *row.priority;
    spec["resourceAssignments"].push_back(std::move(one));
  }
  put(spec, "nominalPolicy", claim.spec.nominal_policy);
  put(spec, "shrinkPolicy", claim.spec.shrink_policy);
  put(spec, "flavorCapacity", claim.spec.flavor_capacity);
  for (const auto& [name, given] : {std::pair("percent", &claim.spec.headroom.percent),
                                    std::pair("reserved", &claim.spec.headroom.reserved)})
    if (*given) spec["headroom"][name] = texts(**given);
  Json notes = Json::object();
  for (const auto& [parameter, value] : claim.debounce)
    notes["fairlead.io/debounce." + parameter] = value;
  put(object["metadata"], "annotations", std::move(notes));
}

// Facts that a controller writes, or the server when the object is made.
template <class F>
F without_status(F facts) {
  if constexpr (std::is_same_v<F, ClusterQueueFacts>) {
    facts.usage = {};
    facts.active = {};
    facts.effective.reset();
    facts.deleting = false;
    if (!facts.sharing) facts.sharing.emplace();
  } else if constexpr (std::is_same_v<F, ClaimFacts>) {
    facts.created = {};
    facts.deleting = false;
    facts.finalizers = {};
    facts.status_grants = {};
    facts.status_digest = {};
  } else if constexpr (std::is_same_v<F, CohortFacts>) {
    facts.effective.reset();
    if (!facts.terms) facts.terms.emplace();
  } else if constexpr (std::is_same_v<F, LocalQueueFacts>) {
    facts.active = {};
  }
  return facts;
}

template <class F>
constexpr bool kCanBeMade = requires(Json& object, const F& facts) { fill(object, facts); };

template <class F>
std::optional<Json> made_of(const ObjectKey& key, const std::string& version, const F& facts) {
  const KindInfo& kind = info(key.kind);
  Json object = {
      {"apiVersion", (kind.group.empty() ? "" : std::string(kind.group) + "/") + version},
      {"kind", kind.name},
      {"metadata", {{"name", key.name}}}};
  if (!key.namespace_.empty()) object["metadata"]["namespace"] = key.namespace_;
  fill(object, facts);
  const std::string text = to_text(object);
  const auto document = parse_json(text);
  if (!document) return std::nullopt;
  const auto seen = project(document->root());
  if (!seen || !*seen) return std::nullopt;
  const F* const read = std::get_if<F>(&(*seen)->facts);
  if (read == nullptr || without_status(*read) != without_status(facts)) return std::nullopt;
  return object;
}

}  // namespace

std::optional<Json> object_with(const ObjectKey& key, const std::string& version,
                                const Facts& facts) {
  return std::visit(
      [&]<class F>(const F& of) -> std::optional<Json> {
        if constexpr (kCanBeMade<F>)
          return made_of(key, version, of);
        else
          return std::nullopt;
      },
      static_cast<const AnyFacts&>(facts));
}

}  // namespace fairlead::simulation
