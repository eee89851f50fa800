#include "engine/fleet/quota_ledger.h"

#include <algorithm>

#include "engine/fleet/workload_status.h"

namespace fairlead {
namespace {

Amount amount_of(const std::string& resource, const Json& text) {
  const auto parsed = Quantity::parse(text.is_string() ? text.get<std::string>() : to_text(text));
  return parsed ? to_amount(resource, *parsed) : 0;
}

Json pod_sets_of(const Json& workload) {
  return workload.value("/spec/podSets"_json_pointer, Json::array());
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

}  // namespace

std::map<std::string, Amount> requests_of(const Json& pod_set) {
  std::map<std::string, Amount> sum;
  const std::int64_t count = pod_set.value("count", std::int64_t{1});
  for (const Json& container :
       pod_set.value("/template/spec/containers"_json_pointer, Json::array())) {
    const Json requests = container.value("/resources/requests"_json_pointer, Json::object());
    for (const auto& [resource, amount] : requests.items())
      sum[resource] = saturate(Int128{sum[resource]} + Int128{amount_of(resource, amount)} * count);
  }
  return sum;
}

QuotaLedger::QuotaLedger(const Json& cluster_queue) : name_(cluster_queue["metadata"]["name"]) {
  for (const Json& group :
       cluster_queue.value("/spec/resourceGroups"_json_pointer, Json::array())) {
    Group& read = groups_.emplace_back();
    read.resources = group.value("coveredResources", std::vector<std::string>());
    for (const Json& flavor : group.value("flavors", Json::array())) {
      const std::string flavor_name = flavor.value("name", "");
      read.flavors.push_back(flavor_name);
      for (const Json& pair : flavor.value("resources", Json::array())) {
        const std::string resource = pair.value("name", "");
        order_.emplace_back(flavor_name, resource);
        nominal_[order_.back()] = amount_of(resource, pair.value("nominalQuota", Json("0")));
      }
    }
  }
}

void QuotaLedger::add(const Json& workload, int sign) {
  if (is_true(workload, "Finished")) return;
  const Json admission = workload.value("/status/admission"_json_pointer, Json());
  if (!is_true(workload, "QuotaReserved") || !admission.is_object()) {
    if (workload.value("/spec/active"_json_pointer, true)) pending_ += sign;
    return;
  }
  const bool admitted = is_true(workload, "Admitted");
  reserving_ += sign;
  if (admitted) admitted_ += sign;
  for (const Json& assigned : admission.value("podSetAssignments", Json::array())) {
    const Json usage = assigned.value("resourceUsage", Json::object());
    for (const auto& [resource, amount] : usage.items()) {
      const Pair pair{assigned["flavors"].value(resource, ""), resource};
      reserved_[pair] += sign * amount_of(resource, amount);
      if (admitted) used_[pair] += sign * amount_of(resource, amount);
    }
  }
}

void QuotaLedger::count(const Json& workload) { add(workload, 1); }
void QuotaLedger::forget(const Json& workload) { add(workload, -1); }

QuotaLedger::Attempt QuotaLedger::attempt(const Group& group,
                                          const std::map<std::string, Amount>& requests,
                                          const Amounts& assumed) const {
  const auto amount_in = [](const Amounts& amounts, const Pair& pair) {
    const auto at = amounts.find(pair);
    return at == amounts.end() ? Amount{0} : at->second;
  };
  Attempt out;
  for (const std::string& flavor : group.flavors) {
    bool fits = true, exceeds = false;
    for (const auto& [resource, request] : requests) {
      const Pair pair{flavor, resource};
      const Amount nominal = amount_in(nominal_, pair), before = amount_in(assumed, pair);
      const Amount free = std::max(nominal - amount_in(reserved_, pair), Amount{0});
      const std::string about = resource + " in flavor " + flavor + ", ";
      if (before + request > nominal) {
        exceeds = true;
        out.reasons.push_back("insufficient quota for " + about +
                              "previously considered podsets requests (" +
                              amount_text(resource, before) + ") + current podset request (" +
                              amount_text(resource, request) + ") > maximum capacity (" +
                              amount_text(resource, nominal) + ")");
      } else if (before + request > free) {
        out.reasons.push_back("insufficient unused quota for " + about +
                              amount_text(resource, before + request - free) + " more needed");
      } else {
        continue;
      }
      fits = false;
    }
    if (fits) return {flavor, false, {}};
    out.exceeds_max = out.exceeds_max && exceeds;
  }
  return out;
}

QuotaLedger::Verdict QuotaLedger::judge(const Json& workload) const {
  Verdict out;
  Amounts assumed;
  Json assignments = Json::array();
  std::vector<std::string> messages;
  for (const Json& pod_set : pod_sets_of(workload)) {
    const std::string name = pod_set.value("name", "main");
    Json flavors = Json::object(), usage = Json::object();
    std::map<std::string, Amount> left = requests_of(pod_set);
    std::vector<std::string> reasons;
    for (const Group& group : groups_) {
      std::map<std::string, Amount> requests;
      for (const std::string& resource : group.resources)
        if (auto found = left.extract(resource)) requests.insert(std::move(found));
      if (requests.empty()) continue;
      Attempt tried = attempt(group, requests, assumed);
      if (!tried.flavor) {
        reasons.insert(reasons.end(), tried.reasons.begin(), tried.reasons.end());
        out.exceeds_max = out.exceeds_max || tried.exceeds_max;
        continue;
      }
      for (const auto& [resource, amount] : requests) {
        assumed[{*tried.flavor, resource}] += amount;
        flavors[resource] = *tried.flavor;
        usage[resource] = amount_text(resource, amount);
      }
    }
    for (const auto& [resource, amount] : left)
      reasons.push_back("resource " + resource + " unavailable in ClusterQueue");
    if (!reasons.empty())
      messages.push_back("couldn't assign flavors to pod set " + name + ": " +
                         joined(reasons, ", "));
    assignments.push_back({{"name", name},
                           {"flavors", std::move(flavors)},
                           {"resourceUsage", std::move(usage)},
                           {"count", pod_set.value("count", std::int64_t{1})}});
  }
  out.message = joined(messages, "; ");
  if (messages.empty())
    out.admission = {{"clusterQueue", name_}, {"podSetAssignments", std::move(assignments)}};
  return out;
}

// Flavors and resources in the order of the spec, as Kueue lists them.
Json QuotaLedger::usage_json(const Amounts& amounts) const {
  Json out = Json::array();
  for (const auto& [flavor, resource] : order_) {
    const auto at = amounts.find({flavor, resource});
    const Amount total = at == amounts.end() ? 0 : at->second;
    if (out.empty() || out.back()["name"] != flavor)
      out.push_back({{"name", flavor}, {"resources", Json::array()}});
    out.back()["resources"].push_back(
        {{"name", resource}, {"total", amount_text(resource, total)}, {"borrowed", "0"}});
  }
  return out;
}

Json QuotaLedger::status() const {
  return {{"flavorsReservation", usage_json(reserved_)},
          {"flavorsUsage", usage_json(used_)},
          {"pendingWorkloads", pending_},
          {"reservingWorkloads", reserving_},
          {"admittedWorkloads", admitted_}};
}

}  // namespace fairlead
