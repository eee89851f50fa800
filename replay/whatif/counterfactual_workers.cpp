// The MultiKueue path in the counterfactual: lists, MultiKueueClusters, conditions, nominations,
// reservations of fleet claims and what drivers are asked are Fairlead's; where Workloads run and
// what drivers answer is history's.
#include <algorithm>

#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/names.h"
#include "replay/whatif/counterfactual_world.h"
#include "schema/fleet_driver.h"

namespace fairlead {

namespace {

template <class Map>
const typename Map::mapped_type* find(const Map& map, const typename Map::key_type& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Gives the object the identity that it has in the counterfactual.
template <class F>
void take_identity(ObjectSeen& seen, const Observed<F>& is) {
  if (is_made_uid(is.uid)) {
    seen.uid = is.uid;
    seen.generation = is.generation;
  }
}

// Applies the names that another writer added or removed to ours.
std::vector<std::string> merge_names(const std::vector<std::string>& base,
                                     const std::vector<std::string>& theirs,
                                     const std::vector<std::string>& ours) {
  std::vector<std::string> merged;
  for (const std::string& name : ours)
    if (!contains(base, name) || contains(theirs, name)) merged.push_back(name);
  for (const std::string& name : theirs)
    if (!contains(base, name) && !contains(merged, name)) merged.push_back(name);
  return merged;
}

bool translate_config(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<MultiKueueConfigFacts>(seen.facts);
  const auto* was = find(history.multikueue.configs, seen.key.name);
  const auto* is = find(counterfactual.multikueue.configs, seen.key.name);
  // Ours, unknown to history and not being written there: it is from before this log, and a fact.
  // Otherwise it is the echo of a write that the counterfactual has not made.
  if (!is) return facts.mark.ours() ? !was && !write_under_way(history, seen.key) : true;
  take_identity(seen, *is);
  const WorkerList* list = find(history.multikueue.lists, seen.key.name);
  const bool echo = list && facts.clusters == list->written;
  if (!was || echo || facts.clusters == was->facts.clusters)
    facts.clusters = is->facts.clusters;
  else
    facts.clusters = merge_names(was->facts.clusters, facts.clusters, is->facts.clusters);
  if (!was || echo || facts.mark == was->facts.mark) facts.mark = is->facts.mark;
  return true;
}

bool translate_cluster(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<MultiKueueClusterFacts>(seen.facts);
  const auto* was = find(history.multikueue.clusters, seen.key.name);
  const auto* is = find(counterfactual.multikueue.clusters, seen.key.name);
  if (!is) return facts.mark.ours() ? !was && !write_under_way(history, seen.key) : true;
  take_identity(seen, *is);
  const bool edited = was && !write_under_way(history, seen.key);
  if (!edited || facts.mark == was->facts.mark) facts.mark = is->facts.mark;
  if (!edited ||
      (facts.secret == was->facts.secret && facts.cluster_profile == was->facts.cluster_profile)) {
    facts.secret = is->facts.secret;
    facts.cluster_profile = is->facts.cluster_profile;
  }
  return true;
}

bool has_addon_finalizer(const AdmissionCheckFacts& facts) {
  return contains(facts.finalizers, std::string(kAddonFinalizer));
}

void translate_check(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<AdmissionCheckFacts>(seen.facts);
  const CheckRecord* is = find(counterfactual.multikueue.checks, seen.key.name);
  if (!is) return;
  const AdmissionCheckFacts& current = is->seen.facts;
  if (facts.controller_name == kPlacementController) {
    facts.active = current.active;
    facts.all_clusters_used = current.all_clusters_used;
    facts.dispatcher_ready = current.dispatcher_ready;
  }
  // History has released the finalizer; the counterfactual has not yet.
  if (write_under_way(history, seen.key) && has_addon_finalizer(current) &&
      !has_addon_finalizer(facts))
    facts.finalizers = current.finalizers;
}

// A check in another state than Ready, or removed nominations, are Kueue's doing and kept. The rest
// is ours.
void translate_workload(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<WorkloadFacts>(seen.facts);
  const NamespacedName id{seen.key.namespace_, seen.key.name};
  const WorkloadRecord* known_before = find(history.multikueue.workloads, id);
  const WorkloadRecord* known_here = find(counterfactual.multikueue.workloads, id);
  if (!known_before || !known_here) return;
  const auto was = known_before->seen.read(), is = known_here->seen.read();
  const auto state_in = [](const WorkloadFacts& of, const std::string& name) -> const std::string* {
    for (const WorkloadCheck& check : of.checks)
      if (check.name == name) return &check.state;
    return nullptr;
  };
  for (WorkloadCheck& check : facts.checks) {
    const CheckRecord* record = find(counterfactual.multikueue.checks, check.name);
    const std::string* before = state_in(was->facts, check.name);
    const std::string* here = state_in(is->facts, check.name);
    if (record && record->ours && before && here &&
        (check.state == *before || check.state == "Ready"))
      check.state = *here;
  }
  const bool kept = facts.nominated_clusters == was->facts.nominated_clusters;
  if (kept || !facts.nominated_clusters.empty())
    facts.nominated_clusters = is->facts.nominated_clusters;
  facts.devices_reserved = is->facts.devices_reserved;
}

// ---- fleet claims ----

// The Workloads are those that the counterfactual reserved the claim for, the rest is history's.
std::vector<ClaimConsumer> merge_consumers(const std::vector<ClaimConsumer>& theirs,
                                           const std::vector<ClaimConsumer>& ours) {
  std::vector<ClaimConsumer> merged;
  for (const ClaimConsumer& one : ours)
    if (is_workload(one) || contains(theirs, one)) merged.push_back(one);
  for (const ClaimConsumer& one : theirs)
    if (!is_workload(one) && !contains(merged, one)) merged.push_back(one);
  return merged;
}

// A claim that was made for a Workload is left out until the counterfactual makes it.
bool translate_fleet_claim(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<FleetResourceClaimFacts>(seen.facts);
  const NamespacedName id{seen.key.namespace_, seen.key.name};
  const FleetClaimRecord* was = find(history.fleet.claims, id);
  const FleetClaimRecord* is = find(counterfactual.fleet.claims, id);
  const bool written = write_under_way(history, seen.key);
  if (!is) return facts.workload_owners.empty() || (!was && !written);
  const FleetResourceClaimFacts& here = is->seen.facts;
  take_identity(seen, is->seen);
  facts.reserved_for = merge_consumers(facts.reserved_for, here.reserved_for);
  if (!was || written || facts.deallocation_requested == was->seen.facts.deallocation_requested)
    facts.deallocation_requested = here.deallocation_requested;
  if (facts.driver == kBookingDriver || (!facts.allocation && here.driver == kBookingDriver)) {
    facts.driver = here.driver;
    facts.allocation = here.allocation;
  }
  if (written && !facts.workload_owners.empty()) facts.deleting = here.deleting;
  return true;
}

bool translate_scheduling(ObjectSeen& seen, const State& history, const State& counterfactual) {
  auto& facts = std::get<FleetSchedulingFacts>(seen.facts);
  const NamespacedName id{seen.key.namespace_, seen.key.name};
  const auto* was = find(history.fleet.schedulings, id);
  const auto* is = find(counterfactual.fleet.schedulings, id);
  const bool written = write_under_way(history, seen.key);
  if (!is) return facts.workload_owners.empty() || (!was && !written);
  take_identity(seen, *is);
  const bool edited =
      was && !written &&
      (facts.potential != was->facts.potential || facts.selected != was->facts.selected);
  if (edited) return true;
  facts.potential = is->facts.potential;
  facts.selected = is->facts.selected;
  facts.workload_owners = is->facts.workload_owners;
  return true;
}

// Whether history's hub has not deleted the claim itself.
bool is_gone_for_others(const ObjectKey& key, const State& history) {
  const FleetClaimRecord* was = find(history.fleet.claims, {key.namespace_, key.name});
  return !was || was->seen.facts.workload_owners.empty() || !write_under_way(history, key);
}

}  // namespace

bool write_under_way(const State& history, const ObjectKey& key) {
  const WriteState* write = find(history.writes.by_key, WriteKey{std::string(kHub), key, false});
  return write && (write->outstanding || write->awaits());
}

bool translate_of_multikueue(ObjectSeen& seen, const State& history, const State& counterfactual) {
  if (seen.key.kind == Kind::multikueue_config)
    return translate_config(seen, history, counterfactual);
  if (seen.key.kind == Kind::multikueue_cluster)
    return translate_cluster(seen, history, counterfactual);
  if (seen.key.kind == Kind::admission_check) translate_check(seen, history, counterfactual);
  if (seen.key.kind == Kind::workload) translate_workload(seen, history, counterfactual);
  if (seen.key.kind == Kind::fleet_resource_claim)
    return translate_fleet_claim(seen, history, counterfactual);
  if (seen.key.kind == Kind::fleet_scheduling)
    return translate_scheduling(seen, history, counterfactual);
  return true;
}

bool translate_gone_of_multikueue(const ObjectKey& key, const State& history,
                                  const State& counterfactual) {
  if (key.kind == Kind::multikueue_config || key.kind == Kind::multikueue_cluster)
    return !write_under_way(history, key);
  if (key.kind == Kind::fleet_resource_claim) return is_gone_for_others(key, history);
  const CheckRecord* check = key.kind == Kind::admission_check
                                 ? find(counterfactual.multikueue.checks, key.name)
                                 : nullptr;
  // The counterfactual removes it when it releases the add-on's finalizer.
  return !check || !check->seen.facts.deleting || !has_addon_finalizer(check->seen.facts);
}

}  // namespace fairlead
