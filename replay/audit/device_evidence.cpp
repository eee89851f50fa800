#include "replay/audit/device_evidence.h"

#include <set>
#include <utility>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/pool/shares.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/explain_devices.h"

namespace fairlead {

namespace {

const char* text_of(DeviceObstacle obstacle) {
  switch (obstacle) {
    case DeviceObstacle::none: return "";
    case DeviceObstacle::selector_error: return "a selector has no answer for it";
    case DeviceObstacle::used: return "used";
    case DeviceObstacle::capacity: return "too little capacity is left";
    case DeviceObstacle::taint: return "taint";
    case DeviceObstacle::counters: return "its pool has too few counters left";
    case DeviceObstacle::no_node: return "it reaches no node on which the pod may be";
  }
  return "";
}

// Objects, each once.
class NamedObjects {
 public:
  explicit NamedObjects(const Cluster& cluster) : cluster_(cluster) {}

  void add(const char* kind, const std::string& name, const Seq* seq) {
    if (!seen_.emplace(kind, name).second) return;
    rows_.push_back({{"kind", kind}, {"name", name}, {"seq", seq ? Json(seq->value) : Json()}});
  }
  // A claim or template (null: it is missing), and the classes that it asks for.
  template <class Record>
  void add_claim(const char* kind, const std::string& name, const Record* record) {
    add(kind, name, record ? &record->seq : nullptr);
    if (!record) return;
    for (const DeviceRequest& request : record->facts.spec.requests)
      for (const DeviceAsk& ask : request.asks) {
        const auto of = cluster_.devices.classes.find(ask.device_class);
        add("DeviceClass", ask.device_class,
            of == cluster_.devices.classes.end() ? nullptr : &of->second.seq);
      }
  }
  Json take() { return std::move(rows_); }

 private:
  const Cluster& cluster_;
  Json rows_ = Json::array();
  std::set<std::pair<std::string, std::string>> seen_;
};

}  // namespace

DeviceEvidence::DeviceEvidence(const State& state, const std::string& cluster,
                               const std::string& consumer)
    : state_(state), cluster_name_(cluster), cluster_(state.clusters.at(cluster)) {
  for (const auto& [claim, uses] : cluster_.search.pins) {
    const auto record = cluster_.devices.claims.find(claim);
    if (record == cluster_.devices.claims.end()) continue;
    for (const DeviceUse& use : uses)
      users_[use.device].push_back(
          {{"kind", "ResourceClaim"}, {"name", name_of(claim)}, {"seq", record->second.seq.value}});
  }
  if (const auto on = state.dispatch.reserved_on.find(cluster);
      on != state.dispatch.reserved_on.end())
    for (const NamespacedName& id : on->second) {
      // `reserved_on` is the index of reservations, so record and reservation are there; likewise
      // below.
      const WorkloadRecord& record = state.multikueue.workloads.at(id);
      if (name_of(id) != consumer)
        add_reserved("Workload", name_of(id), record.seen->seq, record.devices().reservation->pods);
    }
  if (const auto on = state.pool.reserved_on.find(cluster); on != state.pool.reserved_on.end())
    for (const PoolPodKey& key : on->second) {
      const PoolPod& pod = *find_pod(state.pool, key);
      if (const std::string name = key.tenant + "/" + key.namespace_ + "/" + key.pod;
          name != consumer)
        add_reserved("Pod", name, pod.seen.seq, pod.reserved->pods);
    }
}

void DeviceEvidence::add_reserved(const char* kind, const std::string& name, Seq seq,
                                  const std::vector<FitPod>& pods) {
  for (const FitPod& pod : pods)
    for (const FitClaim& claim : pod.claims)
      for (const FitDevice& device : claim.devices)
        if (!device.admin)
          users_[device.device].push_back({{"kind", kind}, {"name", name}, {"seq", seq.value}});
}

Json DeviceEvidence::objects(const std::vector<const PodDeviceFacts*>& pods,
                             const Names& names) const {
  NamedObjects objects(cluster_);
  for (const PodDeviceFacts* pod : pods) {
    for (const PodClaim& entry : pod->claims)
      if (entry.claim.empty())
        objects.add_claim("ResourceClaimTemplate", names.prefix + entry.template_,
                          names.made_from(entry.template_));
      else
        objects.add_claim("ResourceClaim", names.prefix + entry.claim, names.claim(entry.claim));
    for (const auto& [resource, amount] : pod->extended)
      for (const auto& [name, of] : cluster_.devices.classes)
        if (of.facts.extended_resource == resource) objects.add("DeviceClass", name, &of.seq);
  }
  return objects.take();
}

Json DeviceEvidence::requests(const std::vector<RequestObstacles>& judged,
                              const FitRefusal& refusal) const {
  Json rows = Json::array();
  for (const RequestObstacles& request : judged) {
    const bool named =
        request.request == refusal.detail || request.request.starts_with(refusal.detail + "/");
    if (refusal.reason == FitReason::no_devices && !named) continue;
    Json devices = Json::array();
    for (const DeviceRefusal& device : request.devices) devices.push_back(device_row(device));
    rows.push_back({{"podSet", request.pod_set},
                    {"request", request.request},
                    {"count", request.mode == AllocationMode::all ? Json() : Json(request.count)},
                    {"devices", std::move(devices)},
                    {"otherDevices", request.others}});
  }
  return rows;
}

Json DeviceEvidence::incomplete_pools() const {
  Json rows = Json::array();
  // Kept for the loop: of a state that a snapshot brought it is made here.
  const std::shared_ptr<SearchIndex> index = borrow_index(state_, cluster_name_);
  for (const auto& [key, pool] : index->devices.pools())
    if (!pool.complete() && !pool.slices.empty())
      rows.push_back({{"driver", key.first}, {"pool", key.second}});
  return rows;
}

Json DeviceEvidence::device_row(const DeviceRefusal& device) const {
  const SliceRecord* slice = cluster_.devices.slices.find(device.slice);
  std::string why = text_of(device.obstacle);
  if (!device.detail.empty()) why += " " + device.detail;
  if (device.obstacle == DeviceObstacle::taint && slice)
    for (const DeviceFacts& facts : slice->facts->devices)
      if (facts.name == device.device.device)
        why += rules_text(cluster_, device.detail, *slice->facts, facts);
  const auto users = users_.find(device.device);
  return {{"device", text(device.device)},
          {"resourceSlice", device.slice},
          {"seq", slice ? Json(slice->seq.value) : Json()},
          {"why", why},
          {"usedBy", users == users_.end() ? Json::array() : users->second}};
}

Json reserved_pods_json(const std::vector<FitPod>& pods, const std::vector<std::string>& names) {
  Json rows = Json::array();
  for (const FitPod& pod : pods) {
    Json claims = Json::array();
    for (const FitClaim& claim : pod.claims) {
      Json devices = Json::array();
      for (const FitDevice& device : claim.devices)
        devices.push_back({{"request", device.request},
                           {"device", text(device.device)},
                           {"adminAccess", device.admin}});
      claims.push_back({{"entry", claim.entry}, {"devices", std::move(devices)}});
      if (claim.of_plugin > 0) claims.back()["ofPlugin"] = claim.of_plugin;
    }
    rows.push_back({{"podSet", pod.pod_set < names.size() ? names[pod.pod_set] : ""},
                    {"node", pod.node},
                    {"claims", std::move(claims)}});
  }
  return rows;
}

}  // namespace fairlead
