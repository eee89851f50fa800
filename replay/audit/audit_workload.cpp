// `audit why workload/NAMESPACE/NAME` and `why-not`: where the pods of a Workload that uses devices
// have their places, and what each other cluster lacks.
#include <set>
#include <utility>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/dispatch/refusals.h"
#include "engine/fold/multikueue/nominations.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/device_evidence.h"
#include "replay/audit/fleet_evidence.h"
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
  const auto seen = record.seen.read();
  const WorkloadFacts& workload = seen->facts;
  const WorkerList* list = list_of_workload(state.multikueue, workload);
  if (!dispatches_by_devices(state.configuration)) return "dra.dispatch is off";
  if (!list) return "no AdmissionCheck of it has a worker list of Fairlead";
  if (!uses_devices(state, list, workload))
    return "it asks for no devices, and is nominated to all of the list";
  if (workload.finished) return "it is Finished";
  if (workload.deleting) return "it is being deleted";
  if (workload.evicted) return "it is Evicted";
  if (!workload.cluster_name.empty()) return "it was dispatched to " + workload.cluster_name;
  if (!workload.quota_reserved) return "it has no quota reserved yet";
  if (!check_of(state.multikueue, workload)->good)
    return "the parameters of its AdmissionCheck are not good";
  return record.decision->nominates ? ""
                                    : "multikueue.dispatcher is off, or nothing clears nominations";
}

// What the cluster has to do with the Workload.
DeviceEvidence::Names names_in(const Cluster& cluster, const std::string& space) {
  const DeviceObjects& devices = cluster.devices;
  return {space + "/",
          [&devices, space](const std::string& name) {
            const auto at = devices.claims.find({space, name});
            return at == devices.claims.end() ? nullptr : &at->second;
          },
          [&devices, space](const std::string& name) {
            const auto at = devices.templates.find({space, name});
            return at == devices.templates.end() ? nullptr : &at->second;
          }};
}

// The events behind what a worker answers without being asked for devices.
Json deciding_events(const State& state, const WorkerAnswer& answer, const WorkerList& list,
                     EventLookup& events) {
  std::set<Seq> seqs;
  if (answer.obstacle == Obstacle::leaving)
    if (const auto worker = list.workers.find(answer.worker); worker != list.workers.end())
      seqs.insert(worker->second.causes.begin(), worker->second.causes.end());
  if (answer.obstacle == Obstacle::not_reachable) {
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
           {"keptBy", entry_that_keeps_from(state, id, record, answer.cluster)},
           {"events", deciding_events(state, answer, list, events)},
           {"objects", Json::array()},
           {"requests", Json::array()},
           {"incompletePools", Json::array()}};
  const auto cluster = state.clusters.find(answer.cluster);
  if (cluster == state.clusters.end() || !is_watched(cluster->second)) return row;
  const DeviceEvidence evidence(state, answer.cluster, name_of(id));
  const auto seen = record.seen.read();
  std::vector<const PodDeviceFacts*> pods;
  for (const WorkloadPodSet& set : seen->facts.pod_sets) pods.push_back(&set.pod);
  row["objects"] = evidence.objects(pods, names_in(cluster->second, id.first));
  if (!answer.fit.refusal) return row;
  row["requests"] = evidence.requests(obstacles_of(state, id, answer.cluster), *answer.fit.refusal);
  row["incompletePools"] = evidence.incomplete_pools();
  return row;
}

Json reservation_json(const WorkloadRecord& record, EventLookup& events) {
  const auto& reservation = record.devices().reservation;
  if (!reservation) return nullptr;
  const auto seen = record.seen.read();
  std::vector<std::string> names;
  for (const WorkloadPodSet& set : seen->facts.pod_sets) names.push_back(set.name);
  Json because = Json::array(), replaced = Json::array();
  for (const Seq seq : reservation->causes) because.push_back(events.place(seq));
  for (const NamespacedName& claim : reservation->replaced_by) replaced.push_back(name_of(claim));
  return {{"multiKueueCluster", reservation->worker},
          {"cluster", reservation->cluster},
          {"since", to_rfc3339(reservation->since)},
          {"because", std::move(because)},
          {"brokenSince", time_json(reservation->broken_since)},
          {"placedSince", time_json(reservation->placed_since)},
          {"replacedBy", std::move(replaced)},
          {"pods", reserved_pods_json(reservation->pods, names)}};
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
  const auto seen = record.seen.read();
  const WorkloadFacts& workload = seen->facts;
  const WorkerList* list = list_of_workload(state.multikueue, workload);
  auto unseen = unseen_of_workload(source, *moment, list);
  if (!unseen) return unseen.error();
  EventLookup events(source.log);
  Json clusters = Json::array();
  const std::string why = undecided(state, record);
  if (why.empty())
    for (const WorkerAnswer& answer : worker_answers(state, id))
      clusters.push_back(worker_row(state, id, record, *list, answer, events));
  const ConditionWish condition = devices_condition(record.devices());
  return AuditAnswer{{{"kind", "WorkloadWhy"},
                      {"asOf", as_of_json(*moment)},
                      {"configuration", configuration_json(state)},
                      {"unseen", *std::move(unseen)},
                      {"workload", name_of(id)},
                      {"event", events.place(seen->seq)},
                      {"priority", workload.priority},
                      {"created", to_rfc3339(workload.created)},
                      {"list", list ? Json(list->names) : Json()},
                      {"nominated", record.decision->nomination},
                      {"clusterName", workload.cluster_name},
                      {"reason", condition.reason},
                      {"message", devices_message(state, id, record)},
                      {"undecided", why.empty() ? Json() : Json(why)},
                      {"reservation", reservation_json(record, events)},
                      {"fleetClaims", fleet_claims_json(state, id, record, events)},
                      {"fleetScheduling", fleet_scheduling_json(state, id, record, events)},
                      {"clusters", std::move(clusters)}}};
}

Result<AuditAnswer> audit_why_not_workload(const AuditSource& source, const NamespacedName& id,
                                           const AuditPosition& as_of) {
  auto answer = audit_why_workload(source, id, as_of);
  if (answer) answer->document["kind"] = "WorkloadWhyNot";
  return answer;
}

}  // namespace fairlead
