// `audit why workload/NAMESPACE/NAME` and `why-not`: where the pods of a Workload that uses devices
// have their places, and what each other cluster lacks.
#include <map>
#include <set>
#include <utility>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/dispatch/refusals.h"
#include "engine/fold/multikueue/nominations.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/unseen.h"

namespace fairlead {

namespace {

Error unknown_workload(const State& state, const NamespacedName& id) {
  std::vector<std::string> known;
  for (const auto& [other, record] : state.multikueue.workloads) known.push_back(name_of(other));
  return {ErrorCode::bad_input, "no Workload \"" + name_of(id) +
                                    "\" at that moment; there are: " + nearby(known, name_of(id))};
}

// Why no cluster is chosen by devices; empty if one is, or would be.
std::string undecided(const State& state, const WorkloadRecord& record) {
  const WorkloadFacts& workload = record.seen.facts;
  const WorkerList* list = list_of_workload(state, workload);
  if (!searches_devices(state.configuration)) return "dra.dispatch is off";
  if (!list) return "no AdmissionCheck of it has a worker list of Fairlead";
  if (!uses_devices(state, list, workload))
    return "it asks for no devices, and is nominated to all of the list";
  if (workload.finished) return "it is Finished";
  if (workload.deleting) return "it is being deleted";
  if (workload.evicted) return "it is Evicted";
  if (!workload.cluster_name.empty()) return "it was dispatched to " + workload.cluster_name;
  if (!workload.quota_reserved) return "it has no quota reserved yet";
  if (!check_of(state, workload)->good) return "the parameters of its AdmissionCheck are not good";
  return record.nominates ? "" : "multikueue.dispatcher is off, or nobody clears nominations";
}

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

// What a cluster has to do with one Workload, in objects and events.
class ClusterEvidence {
 public:
  ClusterEvidence(const State& state, const NamespacedName& id, const WorkloadRecord& record,
                  const std::string& name, const Cluster& cluster)
      : state_(state), id_(id), record_(record), name_(name), cluster_(cluster) {}

  // The templates, claims and classes that its pods name, each once.
  Json objects() {
    for (const WorkloadPodSet& pods : record_.seen.facts.pod_sets) {
      for (const PodClaim& entry : pods.pod.claims) add_entry(entry);
      for (const auto& [resource, amount] : pods.pod.extended)
        for (const auto& [name, of] : cluster_.devices.classes)
          if (of.facts.extended_resource == resource) add("DeviceClass", name, &of.seq);
    }
    return std::move(objects_);
  }

  // The requests behind a refusal, with the devices for them: the one that it names, or all.
  Json requests(const FitRefusal& refusal) {
    gather_users();
    Json rows = Json::array();
    for (const JudgedRequest& request : judged_devices(state_, id_, name_)) {
      const bool named =
          request.request == refusal.detail || request.request.starts_with(refusal.detail + "/");
      if (refusal.reason == FitReason::no_devices && !named) continue;
      Json devices = Json::array();
      for (const JudgedDevice& device : request.devices) devices.push_back(device_row(device));
      rows.push_back({{"podSet", request.pod_set},
                      {"request", request.request},
                      {"count", request.mode == AllocationMode::all ? Json() : Json(request.count)},
                      {"devices", std::move(devices)},
                      {"otherDevices", request.others}});
    }
    return rows;
  }

  // Pools whose devices do not count now.
  Json incomplete_pools() {
    Json rows = Json::array();
    for (const auto& [key, pool] : borrow_index(state_, name_)->devices.pools())
      if (!pool.complete() && !pool.slices.empty())
        rows.push_back({{"driver", key.first}, {"pool", key.second}});
    return rows;
  }

 private:
  void add(const char* kind, const std::string& name, const Seq* seq) {
    if (!seen_.emplace(kind, name).second) return;
    objects_.push_back({{"kind", kind}, {"name", name}, {"seq", seq ? Json(seq->value) : Json()}});
  }

  template <class Records>
  void add_claim(const char* kind, const std::string& name, const Records& records) {
    const auto at = records.find({id_.first, name});
    add(kind, id_.first + "/" + name, at == records.end() ? nullptr : &at->second.seq);
    if (at == records.end()) return;
    for (const DeviceRequest& request : at->second.facts.spec.requests)
      for (const DeviceAsk& ask : request.asks) {
        const auto of = cluster_.devices.classes.find(ask.device_class);
        add("DeviceClass", ask.device_class,
            of == cluster_.devices.classes.end() ? nullptr : &of->second.seq);
      }
  }

  void add_entry(const PodClaim& entry) {
    if (entry.claim.empty())
      add_claim("ResourceClaimTemplate", entry.template_, cluster_.devices.templates);
    else
      add_claim("ResourceClaim", entry.claim, cluster_.devices.claims);
  }

  void gather_users() {
    for (const auto& [claim, uses] : cluster_.search.pins) {
      const auto record = cluster_.devices.claims.find(claim);
      if (record == cluster_.devices.claims.end()) continue;
      for (const DeviceUse& use : uses)
        users_[use.device].push_back({{"kind", "ResourceClaim"},
                                      {"name", name_of(claim)},
                                      {"seq", record->second.seq.value}});
    }
    const auto on = state_.dispatch.reserved_on.find(name_);
    if (on == state_.dispatch.reserved_on.end()) return;
    for (const NamespacedName& other : on->second) {
      if (other == id_) continue;
      const WorkloadRecord& record = state_.multikueue.workloads.at(other);
      for (const FitPod& pod : record.devices.reservation->pods)
        for (const FitClaim& claim : pod.claims)
          for (const FitDevice& device : claim.devices)
            if (!device.admin)
              users_[device.device].push_back(
                  {{"kind", "Workload"}, {"name", name_of(other)}, {"seq", record.seen.seq.value}});
    }
  }

  Json device_row(const JudgedDevice& device) const {
    const SliceRecord* slice = cluster_.devices.slices.find(device.slice);
    std::string why = text_of(device.obstacle);
    if (!device.detail.empty()) why += " " + device.detail;
    const auto users = users_.find(device.device);
    return {{"device", text(device.device)},
            {"resourceSlice", device.slice},
            {"seq", slice ? Json(slice->seq.value) : Json()},
            {"why", why},
            {"usedBy", users == users_.end() ? Json::array() : users->second}};
  }

  const State& state_;
  const NamespacedName& id_;
  const WorkloadRecord& record_;
  const std::string& name_;
  const Cluster& cluster_;
  Json objects_ = Json::array();
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<DeviceId, Json> users_;
};

// The events behind what a worker answers without being asked for devices.
Json deciding_events(const State& state, const WorkerAnswer& answer, const WorkerList& list,
                     EventLookup& events) {
  std::set<Seq> seqs;
  if (answer.reason == "Leaving")
    if (const auto worker = list.workers.find(answer.worker); worker != list.workers.end())
      seqs.insert(worker->second.because.begin(), worker->second.because.end());
  if (answer.reason == "NotReachable") {
    const Cluster& cluster = state.clusters.at(answer.cluster);
    if (cluster.liveness_at_close != Liveness::live) seqs.insert(cluster.liveness_at_close_seq);
  }
  Json places = Json::array();
  for (const Seq seq : seqs) places.push_back(events.place(seq));
  return places;
}

Json worker_row(const State& state, const NamespacedName& id, const WorkloadRecord& record,
                const WorkerList& list, const WorkerAnswer& answer, EventLookup& events) {
  Json row{{"multiKueueCluster", answer.worker},
           {"cluster", answer.cluster},
           {"reason", answer.reason},
           {"detail", answer.detail},
           {"events", deciding_events(state, answer, list, events)},
           {"objects", Json::array()},
           {"requests", Json::array()},
           {"incompletePools", Json::array()}};
  const auto cluster = state.clusters.find(answer.cluster);
  if (cluster == state.clusters.end() || !is_watched(cluster->second)) return row;
  ClusterEvidence evidence(state, id, record, answer.cluster, cluster->second);
  row["objects"] = evidence.objects();
  if (!answer.fit.refusal) return row;
  row["requests"] = evidence.requests(*answer.fit.refusal);
  row["incompletePools"] = evidence.incomplete_pools();
  return row;
}

Json reserved_pods(const DeviceReservation& reservation, const WorkloadFacts& workload) {
  Json pods = Json::array();
  for (const FitPod& pod : reservation.pods) {
    Json claims = Json::array();
    for (const FitClaim& claim : pod.claims) {
      Json devices = Json::array();
      for (const FitDevice& device : claim.devices)
        devices.push_back({{"request", device.request},
                           {"device", text(device.device)},
                           {"adminAccess", device.admin}});
      claims.push_back({{"entry", claim.entry}, {"devices", std::move(devices)}});
    }
    const auto& sets = workload.pod_sets;
    pods.push_back({{"podSet", pod.pod_set < sets.size() ? sets[pod.pod_set].name : ""},
                    {"node", pod.node},
                    {"claims", std::move(claims)}});
  }
  return pods;
}

Json reservation_json(const WorkloadRecord& record, EventLookup& events) {
  const auto& reservation = record.devices.reservation;
  if (!reservation) return nullptr;
  Json because = Json::array(), replaced = Json::array();
  for (const Seq seq : reservation->because) because.push_back(events.place(seq));
  for (const NamespacedName& claim : reservation->replaced_by) replaced.push_back(name_of(claim));
  return {{"multiKueueCluster", reservation->worker},
          {"cluster", reservation->cluster},
          {"since", to_rfc3339(reservation->since)},
          {"because", std::move(because)},
          {"brokenSince", time_json(reservation->broken_since)},
          {"placedSince", time_json(reservation->placed_since)},
          {"replacedBy", std::move(replaced)},
          {"pods", reserved_pods(*reservation, record.seen.facts)}};
}

Result<Json> unseen_of_workload(const AuditSource& source, const Moment& moment,
                                const WorkerList* list) {
  AnswerSources sources = sources_of_workers();
  if (list)
    for (const std::string& name : list->names)
      if (const auto worker = list->workers.find(name); worker != list->workers.end())
        sources.members.insert(worker->second.cluster);
  return unseen_at(source, moment, sources);
}

}  // namespace

Result<AuditAnswer> audit_why_workload(const AuditSource& source, const NamespacedName& id,
                                       const AuditPosition& as_of) {
  auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  const State& state = moment->state;
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return unknown_workload(state, id);
  const WorkloadRecord& record = at->second;
  const WorkloadFacts& workload = record.seen.facts;
  const WorkerList* list = list_of_workload(state, workload);
  auto unseen = unseen_of_workload(source, *moment, list);
  if (!unseen) return unseen.error();
  EventLookup events(source.log);
  Json clusters = Json::array();
  const std::string why = undecided(state, record);
  if (why.empty())
    for (const WorkerAnswer& answer : worker_answers(state, id))
      clusters.push_back(worker_row(state, id, record, *list, answer, events));
  const ConditionWish condition = devices_condition(record.devices);
  return AuditAnswer{{{"kind", "WorkloadWhy"},
                      {"asOf", as_of_json(*moment)},
                      {"configuration", configuration_json(state)},
                      {"unseen", *std::move(unseen)},
                      {"workload", name_of(id)},
                      {"event", events.place(record.seen.seq)},
                      {"priority", workload.priority},
                      {"created", to_rfc3339(workload.created)},
                      {"list", list ? Json(list->names) : Json()},
                      {"nominated", record.nomination},
                      {"clusterName", workload.cluster_name},
                      {"reason", condition.reason},
                      {"message", devices_message(state, id, record)},
                      {"undecided", why.empty() ? Json() : Json(why)},
                      {"reservation", reservation_json(record, events)},
                      {"clusters", std::move(clusters)}}};
}

Result<AuditAnswer> audit_why_not_workload(const AuditSource& source, const NamespacedName& id,
                                           const AuditPosition& as_of) {
  auto answer = audit_why_workload(source, id, as_of);
  if (answer) answer->document["kind"] = "WorkloadWhyNot";
  return answer;
}

}  // namespace fairlead
