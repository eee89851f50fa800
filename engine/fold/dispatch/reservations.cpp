#include "engine/fold/dispatch/reservations.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/fold/dispatch/search_index.h"
#include "engine/fold/multikueue/nominations.h"

namespace fairlead {

namespace {

const WorkloadPodSet* pod_set_of(const WorkloadFacts& workload, const FitPod& pod) {
  return pod.pod_set < workload.pod_sets.size() ? &workload.pod_sets[pod.pod_set] : nullptr;
}

bool is_entry(const PodDeviceFacts& pod, const std::string& name) {
  return std::any_of(pod.claims.begin(), pod.claims.end(),
                     [&](const PodClaim& entry) { return entry.name == name; });
}

// Whether what is reserved as `reserved` is what `claim` of a pod of that set allocates: the entry
// of that name, or all extended resources, for which a scheduler makes one claim.
bool is_of(const PodDeviceFacts& pod, const FitClaim& reserved, const ResourceClaimFacts& claim) {
  if (claim.extended) return !is_entry(pod, reserved.entry);
  return reserved.entry == claim.pod_claim && is_entry(pod, reserved.entry);
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

WorkloadRecord* reserved_in(State& state, const NamespacedName& id, const std::string& cluster) {
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return nullptr;
  const auto& reservation = at->second.devices.reservation;
  return reservation && reservation->cluster == cluster ? &at->second : nullptr;
}

// A claim belongs to the Workload that made the Pod of its namespace that owns or uses it.
void replace_by(State& state, const std::string& cluster, const NamespacedName& claim) {
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
    const NamespacedName id{claim.first, pod.workload};
    WorkloadRecord* const workload = reserved_in(state, id, cluster);
    if (!workload) continue;
    DeviceReservation& reservation = *workload->devices.reservation;
    if (reservation.replaced_by.contains(claim)) return;
    if (!give_up(workload->seen.facts, reservation, pod.pod_set, record->second.facts)) continue;
    reservation.replaced_by.insert(claim);
    index.reserve(id, reservation);
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
  std::deque<PodDeviceFacts> pods_;
  std::vector<PodSetToFit> pod_sets_;
  std::vector<std::uint32_t> numbers_;     // of pod_sets_, in the Workload
  std::vector<std::uint32_t> set_of_pod_;  // of the reservation's pods, in pod_sets_
};

// Takes what the Workload's own claims use out of the index, while its reservation is looked at: a
// device that its own pod has got is not lost to it.
class OwnClaims {
 public:
  OwnClaims(State& state, const std::string& cluster, const NamespacedName& workload)
      : cluster_(state.clusters.at(cluster)), index_(search_index(state, cluster)) {
    const auto& pods = cluster_.devices.pods;
    for (auto at = pods.lower_bound({workload.first, ""});
         at != pods.end() && at->first.first == workload.first; ++at) {
      if (at->second.workload != workload.second) continue;
      const auto claims = index_.claims_of_pod.find(at->second.uid);
      if (claims != index_.claims_of_pod.end())
        claims_.insert(claims->second.begin(), claims->second.end());
    }
    for (const NamespacedName& claim : claims_) index_.set_uses(claim, {});
  }
  ~OwnClaims() {
    for (const NamespacedName& claim : claims_)
      index_.set_uses(claim, known_uses(cluster_, index_, claim));
  }
  OwnClaims(const OwnClaims&) = delete;
  OwnClaims& operator=(const OwnClaims&) = delete;

 private:
  const Cluster& cluster_;
  SearchIndex& index_;
  std::set<NamespacedName> claims_;
};

bool is_touched(const DeviceChanges& changes, const DeviceReservation& reservation,
                const WorkloadFacts& workload) {
  if (changes.all || !changes.classes.empty() || reservation.broken_since) return true;
  const auto pool_changed = [&](const FitDevice& device) {
    return changes.pools.contains({device.device.driver, device.device.pool});
  };
  return std::any_of(reservation.pods.begin(), reservation.pods.end(), [&](const FitPod& pod) {
    const WorkloadPodSet* set = pod_set_of(workload, pod);
    const bool named = set && !changes.claims.empty() && names_a_claim(set->pod);
    return named || changes.nodes.contains(pod.node) ||
           std::any_of(pod.claims.begin(), pod.claims.end(), [&](const FitClaim& claim) {
             return std::any_of(claim.devices.begin(), claim.devices.end(), pool_changed);
           });
  });
}

// Whether a pod wants every device there is: then one more, or one less, is another solution.
bool asks_for_all(const FitQuestion& question) {
  const auto has_all = [](const DeviceClaimSpec& spec) {
    return std::any_of(spec.requests.begin(), spec.requests.end(), [](const DeviceRequest& each) {
      return std::any_of(each.asks.begin(), each.asks.end(),
                         [](const DeviceAsk& ask) { return ask.mode == AllocationMode::all; });
    });
  };
  return std::any_of(
      question.pod_sets.begin(), question.pod_sets.end(), [&](const PodSetToFit& pods) {
        return std::any_of(
            pods.pod->claims.begin(), pods.pod->claims.end(), [&](const PodClaim& entry) {
              const auto named = question.claim_of(entry.claim);
              const auto* made = question.template_of(entry.template_);
              return (named && has_all(named->facts->spec)) || (made && has_all(made->spec));
            });
      });
}

// Whether every pod has devices: as reserved, or newly solved.
bool solve_again(State& state, const std::string& cluster, const NamespacedName& id,
                 WorkloadRecord& record) {
  DeviceReservation& reservation = *record.devices.reservation;
  if (reservation.pods.empty()) return true;
  const Rest rest(record.seen.facts, reservation);
  SearchIndex& index = search_index(state, cluster);
  index.release(id);
  const WorkerList* list = list_of_workload(state, record.seen.facts);
  const FitQuestion question = question_of(state, cluster, id, rest.pod_sets(),
                                           list ? extended_names(state, *list) : ExtendedNames());
  {
    const OwnClaims own(state, cluster, id);
    if (asks_for_all(question)
            ? rest.named(fit(index.devices, question).pods) == reservation.pods
            : still_fits(index.devices, question, rest.numbered(reservation.pods)))
      return true;
  }
  const FitAnswer answer = fit(index.devices, question);
  index.steps += answer.steps;
  if (answer.refusal) return false;
  reservation.pods = rest.named(answer.pods);
  return true;
}

}  // namespace

void reserve(State& state, const NamespacedName& id, WorkloadRecord& record,
             DeviceReservation reservation) {
  release(state, id, record);
  const std::string cluster = reservation.cluster;
  record.devices.reservation = std::move(reservation);
  state.dispatch.reserved_on[cluster].insert(id);
  search_index(state, cluster).reserve(id, *record.devices.reservation);
}

void release(State& state, const NamespacedName& id, WorkloadRecord& record) {
  if (!record.devices.reservation) return;
  const std::string cluster = record.devices.reservation->cluster;
  record.devices.reservation.reset();
  const auto on = state.dispatch.reserved_on.find(cluster);
  on->second.erase(id);
  if (on->second.empty()) state.dispatch.reserved_on.erase(on);
  if (const auto& index = *state.clusters.at(cluster).search.index) index->release(id);
  state.dispatch.open_clusters.insert(cluster);
}

void drop_rest(State& state, const NamespacedName& id, WorkloadRecord& record) {
  DeviceReservation& reservation = *record.devices.reservation;
  if (reservation.pods.empty()) return;
  reservation.pods.clear();
  search_index(state, reservation.cluster).reserve(id, reservation);
  state.dispatch.open_clusters.insert(reservation.cluster);
}

void replace_by_facts(State& state, const std::string& cluster) {
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

std::vector<NamespacedName> repair(State& state, const std::string& cluster) {
  std::vector<NamespacedName> turned;
  const auto on = state.dispatch.reserved_on.find(cluster);
  const DeviceChanges& changes = state.clusters.at(cluster).search.changes;
  if (on == state.dispatch.reserved_on.end()) return turned;
  // In the order of dispatch: of two that want the last device the first one gets it.
  std::map<DispatchOrder, WorkloadRecord*> touched;
  for (const NamespacedName& id : on->second) {
    WorkloadRecord& record = state.multikueue.workloads.at(id);
    const WorkloadFacts& facts = record.seen.facts;
    if (is_touched(changes, *record.devices.reservation, facts))
      touched.emplace(DispatchOrder{facts.priority, facts.created, id}, &record);
  }
  for (const auto& [order, record] : touched) {
    DeviceReservation& reservation = *record->devices.reservation;
    const bool whole = solve_again(state, cluster, order.id, *record);
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
