#include "engine/fold/dispatch/reservations.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/reservation.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/multikueue/lookup.h"
#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

const WorkloadPodSet* pod_set_of(const WorkloadFacts& workload, const FitPod& pod) {
  return pod.pod_set < workload.pod_sets.size() ? &workload.pod_sets[pod.pod_set] : nullptr;
}

// The first pod of the set that still has it gives it up.
bool give_up(const WorkloadFacts& workload, DeviceReservation& reservation,
             const std::string& pod_set, const ResourceClaimFacts& claim) {
  for (auto pod = reservation.pods.begin(); pod != reservation.pods.end(); ++pod) {
    const WorkloadPodSet* set = pod_set_of(workload, *pod);
    if (!set || set->name != pod_set) continue;
    if (std::erase_if(pod->claims, [&](const FitClaim& reserved) {
          return is_of(set->pod, reserved, claim);
        }) == 0)
      continue;
    if (pod->claims.empty()) reservation.pods.erase(pod);
    return true;
  }
  return false;
}

WorkloadRecord* reserved_in(MultiKueue& multikueue, const NamespacedName& id,
                            const std::string& cluster) {
  const auto at = multikueue.workloads.find(id);
  if (at == multikueue.workloads.end()) return nullptr;
  const auto& reservation = at->second.devices().reservation;
  return reservation && reservation->cluster == cluster ? &at->second : nullptr;
}

// A claim belongs to the Workload that made the Pod of its namespace that owns or uses it. It takes
// the place of one reserved claim, once: it comes again with each change of it or of its Pods, and
// `replaced_by` keeps it from taking another pod's place then.
void replace_by(DispatchRoom state, const std::string& cluster, const NamespacedName& claim) {
  const DeviceObjects& devices = state.clusters.at(cluster).devices;
  const auto record = devices.claims.find(claim);
  if (record == devices.claims.end() || !record->second.facts.allocation) return;
  SearchIndex& index = search_index(state, cluster);
  const auto uids = index.pods_of_claim.find(claim);
  if (uids == index.pods_of_claim.end()) return;
  for (const std::string& uid : uids->second) {
    const auto known = index.pods.find(uid);
    if (known == index.pods.end() || known->second.first != claim.first) continue;
    const MemberPod& pod = devices.pods.at(known->second);
    const NamespacedName id{claim.first, pod.origin.workload};
    WorkloadRecord* const workload = reserved_in(state.multikueue, id, cluster);
    if (!workload) continue;
    DeviceReservation& reservation = *workload->edit_devices().reservation;
    if (reservation.replaced_by.contains(claim)) return;
    const std::vector<FitPod> before = reservation.pods;
    if (!give_up(workload->seen->facts, reservation, pod.origin.pod_set, record->second.facts))
      continue;
    reservation.replaced_by.insert(claim);
    index.reserve(id, reservation);
    note_freed(state, cluster, before);
    return;
  }
}

// The pods of a reservation as a question: all of the Workload, or what each of them still has once
// claims took the place of some. Equal neighbours are one pod set then.
class Rest {
 public:
  Rest(const WorkloadFacts& workload, const DeviceReservation& reservation) {
    if (reservation.replaced_by.empty()) {
      pod_sets_ = pod_sets_of(workload);
      for (std::uint32_t set = 0; set < pod_sets_.size(); ++set) numbers_.push_back(set);
      return;
    }
    for (const FitPod& pod : reservation.pods)
      if (const WorkloadPodSet* set = pod_set_of(workload, pod)) add(*set, pod);
    is_part_ = true;
  }

  const std::vector<PodSetToFit>& pod_sets() const { return pod_sets_; }
  // The solution as a reservation spells it, and the other way round.
  std::vector<FitPod> named(std::vector<FitPod> pods) const {
    for (FitPod& pod : pods) pod.pod_set = numbers_[pod.pod_set];
    return pods;
  }
  std::vector<FitPod> numbered(std::vector<FitPod> pods) const {
    if (!is_part_) return pods;
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i].pod_set = set_of_pod_[i];
    return pods;
  }

 private:
  void add(const WorkloadPodSet& set, const FitPod& pod) {
    PodDeviceFacts rest = set.pod;
    const auto is_left = [&](const std::string& entry) {
      return std::any_of(pod.claims.begin(), pod.claims.end(),
                         [&](const FitClaim& claim) { return claim.entry == entry; });
    };
    std::erase_if(rest.claims, [&](const PodClaim& entry) {
      return entry.claim.empty() && !is_left(entry.name);
    });
    std::erase_if(rest.extended, [&](const auto& asked) { return !is_left(asked.first); });
    const bool alike = !numbers_.empty() && numbers_.back() == pod.pod_set && pods_.back() == rest;
    if (!alike) {
      pods_.push_back(std::move(rest));
      numbers_.push_back(pod.pod_set);
      pod_sets_.push_back({set.name, 0, &pods_.back()});
    }
    ++pod_sets_.back().count;
    set_of_pod_.push_back(static_cast<std::uint32_t>(pod_sets_.size()) - 1);
  }

  bool is_part_ = false;
  // A deque, because pod_sets_ points to its elements while it grows.
  std::deque<PodDeviceFacts> pods_;
  std::vector<PodSetToFit> pod_sets_;
  std::vector<std::uint32_t> numbers_;     // of pod_sets_, in the Workload
  std::vector<std::uint32_t> set_of_pod_;  // of the reservation's pods, in pod_sets_
};

// The claims of the cluster that its own pods use.
std::set<NamespacedName> own_claims(DispatchRoom state, const std::string& cluster,
                                    const NamespacedName& workload) {
  std::set<NamespacedName> own;
  const SearchIndex& index = search_index(state, cluster);
  const auto& pods = state.clusters.at(cluster).devices.pods;
  for (auto at = pods.lower_bound({workload.first, ""});
       at != pods.end() && at->first.first == workload.first; ++at) {
    if (at->second.origin.workload != workload.second) continue;
    const auto claims = index.claims_of_pod.find(at->second.uid);
    if (claims != index.claims_of_pod.end())
      own.insert(claims->second.begin(), claims->second.end());
  }
  return own;
}

bool is_touched(const DeviceChanges& changes, const DeviceReservation& reservation,
                const WorkloadFacts& workload) {
  if (changes.all || !changes.classes.empty() || reservation.broken_since) return true;
  if (touches(changes, reservation.pods)) return true;
  return !changes.claims.empty() &&
         std::any_of(reservation.pods.begin(), reservation.pods.end(), [&](const FitPod& pod) {
           const WorkloadPodSet* set = pod_set_of(workload, pod);
           return set && names_a_claim(set->pod);
         });
}

// Whether every pod has devices: as reserved, or newly solved. The reservation is taken out of the
// index first, so that it is not an obstacle to itself. The caller puts back what has become of it,
// even if it stays broken, so that its devices are not given to another Workload meanwhile.
bool mend(DispatchRoom state, const std::string& cluster, const NamespacedName& id,
          WorkloadRecord& record) {
  DeviceReservation& reservation = *record.edit_devices().reservation;
  if (reservation.pods.empty()) return true;
  const auto seen = record.seen.read();
  const Rest rest(seen->facts, reservation);
  SearchIndex& index = search_index(state, cluster);
  index.release(id);
  const WorkerList* list = list_of_workload(state.multikueue, seen->facts);
  const FitQuestion question =
      question_of(state, cluster, id, rest.pod_sets(),
                  list ? extended_names(state.clusters, *list) : ExtendedNames());
  const OwnBookings booked(state, index, cluster, id, seen->facts);
  auto pods = solve_again(state.clusters.at(cluster), index, question,
                          rest.numbered(reservation.pods), own_claims(state, cluster, id));
  if (!pods) return false;
  reservation.pods = rest.named(*std::move(pods));
  return true;
}

}  // namespace

void reserve(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record,
             DeviceReservation reservation) {
  release(state, id, record);
  const std::string cluster = reservation.cluster;
  record.edit_devices().reservation = std::move(reservation);
  state.dispatch.reserved_on[cluster].insert(id);
  search_index(state, cluster).reserve(id, *record.devices().reservation);
  note_reserved(state, cluster);
}

// An index that is not kept is not made for this: it would be derived from records, and these have
// the reservation no more.
void release(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  if (!record.devices().reservation) return;
  const DeviceReservation freed = *std::exchange(record.edit_devices().reservation, std::nullopt);
  const std::string& cluster = freed.cluster;
  const auto on = state.dispatch.reserved_on.find(cluster);
  // reserve() has put it there.
  on->second.erase(id);
  if (on->second.empty()) state.dispatch.reserved_on.erase(on);
  if (const auto& index = *state.clusters.at(cluster).search.index) index->release(id);
  note_freed(state, cluster, freed.pods);
}

void drop_rest(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  DeviceReservation& reservation = *record.edit_devices().reservation;
  if (reservation.pods.empty()) return;
  const std::vector<FitPod> freed = std::exchange(reservation.pods, {});
  search_index(state, reservation.cluster).reserve(id, reservation);
  note_freed(state, reservation.cluster, freed);
}

void replace_by_facts(DispatchRoom state, const std::string& cluster) {
  const Cluster& of = state.clusters.at(cluster);
  if (!state.dispatch.reserved_on.contains(cluster)) return;
  std::set<NamespacedName> claims = of.search.changes.claims;
  const SearchIndex& index = search_index(state, cluster);
  for (const NamespacedName& pod : of.search.changes.pods) {
    const auto uid = index.uids.find(pod);
    if (uid == index.uids.end()) continue;
    const auto claims_of_pod = index.claims_of_pod.find(uid->second);
    if (claims_of_pod != index.claims_of_pod.end())
      claims.insert(claims_of_pod->second.begin(), claims_of_pod->second.end());
  }
  for (const NamespacedName& claim : claims) replace_by(state, cluster, claim);
}

std::vector<NamespacedName> repair(DispatchRoom state, const std::string& cluster) {
  std::vector<NamespacedName> turned;
  const auto on = state.dispatch.reserved_on.find(cluster);
  const DeviceChanges& changes = state.clusters.at(cluster).search.changes;
  if (on == state.dispatch.reserved_on.end()) return turned;
  // In the order of dispatch: of two that want the last device the first one gets it.
  std::map<DispatchOrder, WorkloadRecord*> touched;
  for (const NamespacedName& id : on->second) {
    WorkloadRecord& record = state.multikueue.workloads.at(id);
    const auto seen = record.seen.read();
    const WorkloadFacts& facts = seen->facts;
    if (is_touched(changes, *record.devices().reservation, facts))
      touched.emplace(DispatchOrder{facts.priority, facts.created, id}, &record);
  }
  for (const auto& [order, record] : touched) {
    DeviceReservation& reservation = *record->edit_devices().reservation;
    const bool whole = mend(state, cluster, order.id, *record);
    search_index(state, cluster).reserve(order.id, reservation);
    if (whole == !reservation.broken_since) continue;
    if (whole)
      reservation.broken_since.reset();
    else
      reservation.broken_since = state.now;
    turned.push_back(order.id);
  }
  return turned;
}

}  // namespace fairlead
