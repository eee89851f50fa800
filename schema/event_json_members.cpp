// Prints conditions, and the facts of the kinds that carry quota to a member.
#include "schema/event_json_members.h"

namespace fairlead {

namespace {

std::string_view word(ConditionStatus status) {
  switch (status) {
    case ConditionStatus::absent: return "";
    case ConditionStatus::yes: return "True";
    case ConditionStatus::no: return "False";
    case ConditionStatus::unknown: return "Unknown";
  }
  return "";
}

template <class Item, class Print>
Json list_by(const std::vector<Item>& items, const Print& print) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(print(item));
  return list;
}

Json quota_json(const WorkQuota& quota) {
  return {{"clusterQueue", quota.cluster_queue},
          {"flavor", quota.flavor},
          {"resource", quota.resource},
          {"nominal", quota.nominal}};
}
Json local_queue_json(const WorkLocalQueue& queue) {
  return {
      {"namespace", queue.namespace_}, {"name", queue.name}, {"clusterQueue", queue.cluster_queue}};
}
Json flavor_json(const WorkFlavor& flavor) {
  return {{"name", flavor.name}, {"orphaned", flavor.orphaned}};
}
Json feedback_json(const WorkFeedback& feedback) {
  Json json{{"clusterQueue", feedback.cluster_queue}, {"active", word(feedback.active)}};
  if (feedback.has_usage)
    json["usage"] = list_by(feedback.usage, [](const FlavorUsage& of) { return json_of(of); });
  if (!feedback.reason.empty()) json["reason"] = feedback.reason;
  if (feedback.synced != ConditionStatus::absent) json["synced"] = word(feedback.synced);
  return json;
}

}  // namespace

Json json_of(const ConditionFacts& condition) {
  if (condition.status == ConditionStatus::absent) return nullptr;
  return {{"status", word(condition.status)},
          {"reason", condition.reason},
          {"observedGeneration", condition.observed_generation}};
}

Json json_of(const FlavorUsage& usage) {
  return {{"flavor", usage.flavor}, {"resource", usage.resource}, {"total", usage.total}};
}
Json json_of(const ManifestWorkFacts& work) {
  Json json{{"specDigest", work.spec_digest.hex()},
            {"quotas", list_by(work.quotas, quota_json)},
            {"localQueues", list_by(work.local_queues, local_queue_json)},
            {"applied", json_of(work.applied)},
            {"available", json_of(work.available)},
            {"feedback", list_by(work.feedback, feedback_json)},
            {"deleting", work.deleting}};
  if (!work.flavors.empty()) json["flavors"] = list_by(work.flavors, flavor_json);
  if (!work.finalizers.empty()) json["finalizers"] = work.finalizers;
  if (work.feedback_digest != Digest{}) json["feedbackDigest"] = work.feedback_digest.hex();
  if (!work.topologies.empty()) json["topologies"] = list_by(work.topologies, flavor_json);
  return json;
}

Json json_of(const BindingPolicyFacts& policy) {
  Json json{{"specDigest", policy.spec_digest.hex()},
            {"namespaces", policy.namespaces},
            {"ours", policy.ours},
            {"observedGeneration", policy.observed_generation},
            {"synced", json_of(policy.synced)},
            {"error", policy.error},
            {"deleting", policy.deleting}};
  if (!policy.flavors.empty()) json["flavors"] = policy.flavors;
  if (!policy.topologies.empty()) json["topologies"] = policy.topologies;
  return json;
}
Json json_of(const TopologyFacts& topology) { return {{"levels", topology.levels}}; }

}  // namespace fairlead
