#include "tests/simulation/kueue.h"

#include <algorithm>
#include <tuple>

#include "engine/fleet/kueue_workload.h"
#include "engine/fleet/worker_world.h"

namespace fairlead::simulation {
namespace {

constexpr Duration kKueueLook = seconds(5);

std::string name_of(const Json& object) { return object["metadata"]["name"]; }

std::string workload_path(const Json& workload) {
  return kKueueApi + "/namespaces/" + workload["metadata"]["namespace"].get<std::string>() +
         "/workloads/" + name_of(workload);
}

Amount amount_of(const std::string& resource, const Json& quantity) {
  const auto parsed = quantity.is_string() ? Quantity::parse(quantity.get<std::string>())
                                           : std::optional<Quantity>();
  return parsed ? to_amount(resource, *parsed) : 0;
}

// What the Workload's pods ask for.
std::map<std::string, Amount> requests_of(const Json& workload) {
  std::map<std::string, Amount> sum;
  for (const Json& pods : workload.value("/spec/podSets"_json_pointer, Json::array()))
    for (const Json& container :
         pods.value("/template/spec/containers"_json_pointer, Json::array())) {
      const Json requests = container.value("/resources/requests"_json_pointer, Json::object());
      for (const auto& [resource, quantity] : requests.items())
        sum[resource] += amount_of(resource, quantity) * pods.value("count", Amount{1});
    }
  return sum;
}

bool concerns(const std::string& resource) {
  return resource == "clusterqueues.kueue.x-k8s.io" || resource == "workloads.kueue.x-k8s.io" ||
         resource == "localqueues.kueue.x-k8s.io";
}

bool only_status_of_queue(const SeenWrite& write) {
  return write.path.starts_with(kQueues) && write.path.ends_with("/status");
}

}  // namespace

void Kueue::saw(const SeenWrite& write) {
  if (only_status_of_queue(write)) return;
  if (std::ranges::any_of(write.changes,
                          [](const SeenChange& one) { return concerns(one.resource); }))
    next_look_.after(kKueueLook);
}

void Kueue::read_queues() {
  queues_.clear();
  locals_.clear();
  for (const Json& object : server_.items(kQueues)) {
    const Json& spec = object["spec"];
    if (spec.contains("admissionChecksStrategy")) continue;
    Queue& queue = queues_[name_of(object)];
    queue.strict = spec.value("queueingStrategy", "") == "StrictFIFO";
    queue.status = object.value("status", Json::object());
    for (const Json& group : spec.value("resourceGroups", Json::array())) {
      std::vector<Flavor>& flavors = queue.groups.emplace_back();
      for (const Json& one : group["flavors"]) {
        Flavor& flavor = flavors.emplace_back(Flavor{one["name"], {}});
        for (const Json& pair : one["resources"])
          flavor.nominal[pair["name"]] = amount_of(pair["name"], pair["nominalQuota"]);
      }
    }
  }
  for (const Json& local : server_.items(kLocalQueues))
    locals_[local["metadata"]["namespace"].get<std::string>() + "/" + name_of(local)] =
        local.value("/spec/clusterQueue"_json_pointer, "");
}

void Kueue::look() {
  read_queues();
  // First those that are admitted, then the oldest.
  std::map<std::tuple<bool, std::string, std::string>, Json> in_order;
  for (Json& one : server_.items(kWorkloads)) {
    std::string created = one["metadata"].value("creationTimestamp", "");
    std::string path = workload_path(one);
    const bool waits = !is_true(one, "Admitted");
    in_order.try_emplace({waits, std::move(created), std::move(path)}, std::move(one));
  }
  LogTime due = kForever;
  for (const auto& [order, workload] : in_order) due = std::min(due, attend(workload));
  for (const auto& [name, queue] : queues_) write_status(name, queue);
  if (due != kForever) next_look_.after({std::max(kKueueLook.ns, (due - time_.now()).ns)});
}

LogTime Kueue::attend(const Json& workload) {
  const Json& metadata = workload["metadata"];
  if (is_true(workload, "Finished") || metadata.contains("deletionTimestamp")) return kForever;
  const std::string path = workload_path(workload);
  if (is_true(workload, "Admitted")) return attend_admitted(workload, path);
  const auto local = locals_.find(metadata["namespace"].get<std::string>() + "/" +
                                  workload.value("/spec/queueName"_json_pointer, ""));
  const auto queue = local == locals_.end() ? queues_.end() : queues_.find(local->second);
  if (queue == queues_.end()) return kForever;
  if (!queue->second.blocked && admit(workload, path, queue->second, queue->first))
    return time_.now() + length_of(workload);
  queue->second.blocked = queue->second.strict;
  ++queue->second.pending;
  return kForever;
}

// What is admitted stays so, also where the quota has shrunk meanwhile.
LogTime Kueue::attend_admitted(const Json& workload, const std::string& path) {
  const Json admission = workload.value("/status/admission"_json_pointer, Json::object());
  const auto queue = queues_.find(admission.value("clusterQueue", ""));
  if (queue == queues_.end()) return kForever;
  LogTime ends = time_.now();
  for (const Json& one : workload["status"]["conditions"])
    if (one["type"] == "Admitted")
      ends = parse_rfc3339(one["lastTransitionTime"].get<std::string>()).value_or(ends) +
             length_of(workload);
  if (ends <= time_.now()) {
    Json conditions = workload["status"]["conditions"];
    conditions.push_back(condition("Finished", "True", "Succeeded", time_.now()));
    (void)server_.try_write("kueue", "PATCH", path + "/status",
                            {{"status", {{"conditions", std::move(conditions)}}}});
    return kForever;
  }
  ++queue->second.admitted;
  for (const Json& pods : admission.value("podSetAssignments", Json::array())) {
    const Json usage = pods.value("resourceUsage", Json::object());
    for (const auto& [resource, amount] : usage.items())
      queue->second.used[{pods["flavors"].value(resource, ""), resource}] +=
          amount_of(resource, amount);
  }
  return ends;
}

bool Kueue::admit(const Json& workload, const std::string& path, Queue& queue,
                  const std::string& name) {
  std::map<std::string, Amount> wanted = requests_of(workload);
  Json flavors = Json::object(), usage = Json::object();
  std::map<Pair, Amount> taken;
  for (const std::vector<Flavor>& group : queue.groups) {
    const auto asks = [&](const auto& nominal) { return wanted.contains(nominal.first); };
    const auto fits = std::ranges::find_if(group, [&](const Flavor& flavor) {
      return std::ranges::all_of(flavor.nominal, [&](const auto& nominal) {
        return !asks(nominal) ||
               queue.used[{flavor.name, nominal.first}] + wanted[nominal.first] <= nominal.second;
      });
    });
    if (fits == group.end()) return false;
    for (const auto& [resource, nominal] : fits->nominal) {
      const auto amount = wanted.extract(resource);
      if (amount.empty()) continue;
      flavors[resource] = fits->name;
      usage[resource] = amount_text(resource, amount.mapped());
      taken[{fits->name, resource}] = amount.mapped();
    }
  }
  if (!wanted.empty()) return false;  // the queue does not cover it
  const Json pods = {
      {"name", "main"}, {"flavors", flavors}, {"resourceUsage", usage}, {"count", 1}};
  const LogTime now = time_.now();
  const Json conditions = Json::array({condition("QuotaReserved", "True", "QuotaReserved", now),
                                       condition("Admitted", "True", "Admitted", now)});
  const Json status = {
      {"admission", {{"clusterQueue", name}, {"podSetAssignments", Json::array({pods})}}},
      {"conditions", conditions}};
  if (server_.try_write("kueue", "PATCH", path + "/status", {{"status", status}}).is_null())
    return false;
  for (const auto& [pair, amount] : taken) queue.used[pair] += amount;
  ++queue.admitted;
  return true;
}

void Kueue::write_status(const std::string& name, const Queue& queue) {
  Json usage = Json::array();
  for (const std::vector<Flavor>& group : queue.groups)
    for (const Flavor& flavor : group) {
      Json resources = Json::array();
      for (const auto& [resource, nominal] : flavor.nominal) {
        const auto used = queue.used.find({flavor.name, resource});
        const Amount total = used == queue.used.end() ? 0 : used->second;
        resources.push_back({{"name", resource}, {"total", amount_text(resource, total)}});
      }
      usage.push_back({{"name", flavor.name}, {"resources", std::move(resources)}});
    }
  Json status = {{"admittedWorkloads", queue.admitted},
                 {"reservingWorkloads", queue.admitted},
                 {"pendingWorkloads", queue.pending},
                 {"flavorsUsage", usage},
                 {"flavorsReservation", usage}};
  const bool active = is_true({{"status", queue.status}}, "Active");
  Json stored = queue.status;
  stored.merge_patch(status);
  if (active && stored == queue.status) return;
  status["conditions"] = Json::array({condition("Active", "True", "Ready", time_.now())});
  (void)server_.try_write("kueue", "PATCH", kQueues + "/" + name + "/status",
                          {{"status", std::move(status)}});
}

}  // namespace fairlead::simulation
