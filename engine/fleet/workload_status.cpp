#include "engine/fleet/workload_status.h"

#include <algorithm>

#include "engine/fleet/quota_ledger.h"
#include "engine/fleet/world.h"

namespace fairlead {
namespace {

Json conditions_of(const Json& object) {
  return object.value("/status/conditions"_json_pointer, Json::array());
}

}  // namespace

std::string name_of(const Json& object) { return object["metadata"]["name"]; }
std::string space_of(const Json& object) { return object["metadata"]["namespace"]; }

bool is_true(const Json& object, const std::string& type) {
  for (const Json& one : conditions_of(object))
    if (one["type"] == type) return one["status"] == "True";
  return false;
}

std::string message_of(const Json& object, const std::string& type) {
  for (const Json& one : conditions_of(object))
    if (one["type"] == type) return one["message"];
  return "";
}

bool has_all(const Json& object, const Json& wanted) {
  for (const auto& [name, value] : wanted.items())
    if (!object.contains(name) || object[name] != value) return false;
  return true;
}

Json conditions_with(const Json& object, const std::vector<Json>& said) {
  Json all = conditions_of(object);
  for (const Json& one : said) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Json& current) {
      return current["type"] == one["type"];
    });
    if (at == all.end()) {
      all.push_back(one);
      continue;
    }
    const bool stays = (*at)["status"] == one["status"];
    const Json since = (*at)["lastTransitionTime"];
    *at = one;
    if (stays) (*at)["lastTransitionTime"] = since;
  }
  return all;
}

std::optional<Json> waiting_status(const Json& workload, const std::string& reason,
                                   const std::string& message, LogTime now) {
  Json conditions =
      conditions_with(workload, {condition("QuotaReserved", "False", reason, now, message)});
  if (conditions == conditions_of(workload)) return std::nullopt;
  Json requests = Json::array();
  for (const Json& pod_set : workload.value("/spec/podSets"_json_pointer, Json::array())) {
    Json resources = Json::object();
    for (const auto& [resource, amount] : requests_of(pod_set))
      resources[resource] = amount_text(resource, amount);
    requests.push_back(
        {{"name", pod_set.value("name", "main")}, {"resources", std::move(resources)}});
  }
  return Json{{"conditions", std::move(conditions)}, {"resourceRequests", std::move(requests)}};
}

std::vector<Json> released(const std::string& reason, const std::string& message, LogTime now) {
  return {condition("QuotaReserved", "False", "Pending", now, message),
          condition("Admitted", "False", "NoReservation", now, "The workload has no reservation"),
          condition("Requeued", "True", reason, now, message)};
}

}  // namespace fairlead
