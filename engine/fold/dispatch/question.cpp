#include "engine/fold/dispatch/question.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/json.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// Whether a class of some cluster of the list is as wanted.
template <class Wanted>
bool any_class(const NameMap<Cluster>& clusters, const WorkerList& list, const Wanted& wanted) {
  return std::any_of(list.names.begin(), list.names.end(), [&](const std::string& worker) {
    const auto known = list.workers.find(worker);
    if (known == list.workers.end()) return false;
    const auto cluster = clusters.find(known->second.cluster);
    if (cluster == clusters.end()) return false;
    const auto& classes = cluster->second.devices.classes;
    return std::any_of(classes.begin(), classes.end(),
                       [&](const auto& entry) { return wanted(entry.second.facts); });
  });
}

// What consumers other than `id` have reserved for claims of its namespace that its pods name.
using ReservedClaims = std::map<std::string, std::vector<DeviceId>>;
ReservedClaims reserved_claims(DispatchReader state, const std::string& cluster,
                               const NamespacedName& id) {
  ReservedClaims reserved;
  const auto on = state.dispatch.reserved_on.find(cluster);
  if (on == state.dispatch.reserved_on.end()) return reserved;
  for (auto at = on->second.lower_bound({id.first, ""});
       at != on->second.end() && at->first == id.first; ++at) {
    if (*at == id) continue;
    const WorkloadRecord& other = state.multikueue.workloads.at(*at);
    const auto seen = other.seen.read();
    for (const FitPod& pod : other.devices().reservation->pods) {
      if (pod.pod_set >= seen->facts.pod_sets.size()) continue;
      const std::vector<PodClaim>& entries = seen->facts.pod_sets[pod.pod_set].pod.claims;
      for (const FitClaim& claim : pod.claims)
        for (const PodClaim& entry : entries)
          if (entry.name == claim.entry && !entry.claim.empty())
            for (const FitDevice& device : claim.devices)
              reserved[entry.claim].push_back(device.device);
    }
  }
  return reserved;
}

}  // namespace

ExtendedNames extended_names(const NameMap<Cluster>& clusters, const WorkerList& list) {
  ExtendedNames names;
  any_class(clusters, list, [&](const DeviceClassFacts& facts) {
    if (!facts.extended_resource.empty()) names.insert(facts.extended_resource);
    return false;
  });
  return names;
}

bool uses_devices(DispatchReader state, const WorkerList* list, const WorkloadFacts& workload) {
  if (has_fleet_needs(state.configuration, workload)) return true;
  if (!state.configuration.dra.dispatch) return false;
  const auto is_device = [&](const auto& asked) {
    if (asked.first.starts_with(kImplicitName)) return true;
    return list && any_class(state.clusters, *list, [&](const DeviceClassFacts& facts) {
             return facts.extended_resource == asked.first;
           });
  };
  return std::any_of(
      workload.pod_sets.begin(), workload.pod_sets.end(), [&](const WorkloadPodSet& pods) {
        return pod_count(pods) > 0 &&
               (!pods.pod.claims.empty() ||
                std::any_of(pods.pod.extended.begin(), pods.pod.extended.end(), is_device));
      });
}

std::vector<PodSetToFit> pod_sets_of(const WorkloadFacts& workload) {
  std::vector<PodSetToFit> pod_sets;
  for (const WorkloadPodSet& pods : workload.pod_sets)
    pod_sets.push_back({pods.name, pod_count(pods), &pods.pod});
  return pod_sets;
}

FitQuestion question_of(DispatchReader state, const std::string& cluster, const NamespacedName& id,
                        std::vector<PodSetToFit> pod_sets, const ExtendedNames& extended) {
  const DeviceObjects& devices = state.clusters.at(cluster).devices;
  const std::string& space = id.first;
  FitQuestion question = question_at(state, cluster, std::move(pod_sets), extended);
  question.template_of = [&devices, space](const std::string& name) {
    const auto at = devices.templates.find({space, name});
    return at == devices.templates.end() ? nullptr : &at->second.facts;
  };
  const bool names = std::any_of(question.pod_sets.begin(), question.pod_sets.end(),
                                 [](const PodSetToFit& pods) { return names_a_claim(*pods.pod); });
  const auto reserved = std::make_shared<const ReservedClaims>(
      names ? reserved_claims(state, cluster, id) : ReservedClaims());
  question.claim_of = [&devices, space,
                       reserved](const std::string& name) -> std::optional<NamedClaim> {
    const auto at = devices.claims.find({space, name});
    if (at == devices.claims.end()) return std::nullopt;
    const auto others = reserved->find(name);
    return NamedClaim{&at->second.facts, others == reserved->end() ? nullptr : &others->second};
  };
  return question;
}

// `parts` is kept with the Workload: it has all that its own pods ask. Which extended resources are
// devices depends on the list, so that is appended anew. A Workload that names a claim asks for
// itself alone: what others have reserved for that claim is a part of its question.
std::string asks_of(const NamespacedName& id, const WorkloadFacts& workload,
                    const ExtendedNames& extended, std::string& parts) {
  if (std::any_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                  [](const WorkloadPodSet& pods) { return names_a_claim(pods.pod); }))
    return {};
  if (parts.empty()) {
    Json all = Json::array({id.first});
    for (const WorkloadPodSet& pods : workload.pod_sets) {
      all.push_back(pods.name);
      all.push_back(pod_count(pods));
      all.push_back(to_json(pods.pod));
    }
    parts = to_text(all);
  }
  std::string asks = parts;
  for (const WorkloadPodSet& pods : workload.pod_sets)
    for (const auto& [name, amount] : pods.pod.extended)
      asks += extended.contains(name) ? '+' : '-';
  return asks;
}

}  // namespace fairlead
