#include "engine/fold/multikueue/observe_multikueue.h"

#include "engine/fold/dispatch/dispatch_close.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/fleet_claims/observe_fleet_claims.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/retry.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

NamespacedName id_of(const ObjectKey& key) { return {key.namespace_, key.name}; }

// Marks the lists in which the cluster is or may become a worker.
void mark_cluster_lists_dirty(MultiKueueRoom state, const std::string& cluster, Seq seq) {
  for (const auto& [placement, list] : state.multikueue.lists)
    if (list.workers.contains(worker_name(state.configuration, placement, cluster)))
      mark_list_dirty(state.multikueue, placement, seq);
}

void mark_worker_lists_dirty(MultiKueue& multikueue, const std::string& worker, Seq seq) {
  if (worker.empty()) return;
  for (const auto& [placement, list] : multikueue.lists)
    if (list.workers.contains(worker)) mark_list_dirty(multikueue, placement, seq);
}

// ---- credentials ----

void mark_profile_credentials_dirty(MultiKueueRoom state, const NamespacedName& profile,
                                    const ClusterProfileFacts& facts) {
  if (profile.first != state.configuration.kueue_namespace) return;
  state.multikueue.dirty_credentials.insert(facts.cluster);
}

void mark_secret_credentials_dirty(MultiKueueRoom state, const NamespacedName& id) {
  if (id.first != state.configuration.kueue_namespace) return;
  if (auto cluster = cluster_of_secret(state.configuration, id.second))
    state.multikueue.dirty_credentials.insert(std::move(*cluster));
}

// ---- AdmissionChecks ----

void mark_check_workloads_dirty(MultiKueue& multikueue, const std::string& check) {
  const auto at = multikueue.workloads_of_check.find(check);
  if (at == multikueue.workloads_of_check.end()) return;
  multikueue.dirty_workloads.insert(at->second.begin(), at->second.end());
}

bool names_a_placement(const AdmissionCheckFacts& check) {
  return check.parameters_api_group == info(Kind::placement).group &&
         check.parameters_kind == info(Kind::placement).name && !check.parameters_name.empty();
}

// Marks the list of Kueue's own check: Workloads with that check hold its workers too.
void mark_kueue_check_list_dirty(MultiKueue& multikueue, const AdmissionCheckFacts& check,
                                 Seq seq) {
  if (check.controller_name == kMultiKueueController)
    mark_list_dirty(multikueue, check.parameters_name, seq);
}

// Notes that the check left a list, which must stay until the check's new list exists.
void leave_list(MultiKueue& multikueue, CheckRecord& check, const std::string& from, Seq seq) {
  if (!from.empty()) mark_list_dirty(multikueue, from, seq);
  if (!check.ours) {
    check.came_from.clear();
    return;
  }
  if (!from.empty()) check.came_from.insert(from);
  check.came_from.erase(check.placement);
}

// ---- Workloads ----

void index_workload(MultiKueue& all, const NamespacedName& id, const WorkloadFacts& facts) {
  if (!facts.cluster_name.empty()) all.workloads_on[facts.cluster_name].insert(id);
  for (const WorkloadCheck& check : facts.checks) all.workloads_of_check[check.name].insert(id);
}

void unindex_workload(MultiKueue& all, const NamespacedName& id, const WorkloadFacts& facts) {
  const auto remove = [&](auto& index, const std::string& name) {
    const auto at = index.find(name);
    if (at == index.end()) return;
    at->second.erase(id);
    if (at->second.empty()) index.erase(at);
  };
  if (!facts.cluster_name.empty()) remove(all.workloads_on, facts.cluster_name);
  for (const WorkloadCheck& check : facts.checks) remove(all.workloads_of_check, check.name);
}

// Marks the lists of workers that left while this Workload ran there: it may be over.
void mark_running_lists_dirty(MultiKueue& multikueue, const NamespacedName& id, Seq seq) {
  for (const auto& [placement, list] : multikueue.lists)
    for (const auto& [worker, copies] : list.running)
      if (copies.workloads.contains(id)) mark_list_dirty(multikueue, placement, seq);
}

// ---- clearers of nominations ----

// Marks what depends on the clearer: conditions report it, and nothing is nominated without one.
void mark_nominations_dirty(MultiKueueRoom state) {
  MultiKueue& all = state.multikueue;
  if (!state.configuration.multikueue.dispatcher) return;
  for (const auto& [name, check] : all.checks) {
    if (!check.ours) continue;
    all.dirty_checks.insert(name);
    mark_check_workloads_dirty(state.multikueue, name);
  }
}

template <class Map, class F>
void keep(Map& map, const typename Map::key_type& key, Seen<F> seen) {
  if (seen)
    map[key] = std::move(*seen);
  else
    map.erase(key);
}

// Ends the refusals of MultiKueue objects, because their kind may be served now.
void try_refused_again(StateView<MultiKueue, WriteTables> state) {
  for (auto& [key, write] : state.writes.by_key)
    if (key.object.kind == Kind::multikueue_config || key.object.kind == Kind::multikueue_cluster) {
      write.refusal.reset();
      note_held_up(state, key, write);
    }
}

// Marks every worker list and every check.
void mark_lists_and_checks_dirty(MultiKueue& multikueue, Seq seq) {
  for (const auto& [placement, list] : multikueue.lists)
    mark_list_dirty(multikueue, placement, seq);
  for (const auto& [name, check] : multikueue.checks) multikueue.dirty_checks.insert(name);
}

// Kueue reports of a MultiKueueCluster with a ClusterProfile whether it uses profiles at all.
void note_profiles(MultiKueue& multikueue, const MultiKueueClusterFacts& facts, Seq seq) {
  if (facts.cluster_profile.empty()) return;
  std::optional<Seq>& off = multikueue.profiles_off;
  const bool refused = facts.active.status == ConditionStatus::no &&
                       facts.active.reason == "MultiKueueClusterProfileFeatureDisabled";
  const bool connected = facts.active.status == ConditionStatus::yes;
  // Only an answer that changes what is known counts: other reasons of Active say nothing about the
  // gate.
  if (off ? !connected : !refused) return;
  off = refused ? std::optional(seq) : std::nullopt;
  multikueue.all_dirty = true;
}

}  // namespace

void observe_placement(StateView<MultiKueue> state, const NamespacedName& id,
                       Seen<PlacementFacts> seen, Seq seq) {
  keep(state.multikueue.placements, id, std::move(seen));
  mark_list_dirty(state.multikueue, id.second, seq);
}

void observe_decision(StateView<MultiKueue> state, const NamespacedName& id,
                      Seen<PlacementDecisionFacts> seen, Seq seq) {
  MultiKueue& all = state.multikueue;
  if (const auto old = all.decisions.find(id); old != all.decisions.end()) {
    // A copy, because the record is erased below.
    const std::string placement = old->second.facts.placement;
    mark_list_dirty(state.multikueue, placement, seq);
    auto& shards = all.decisions_of[placement];
    shards.erase(id);
    if (shards.empty()) all.decisions_of.erase(placement);
    all.decisions.erase(old);
  }
  if (!seen || seen->facts.placement.empty()) return;
  all.decisions_of[seen->facts.placement].insert(id);
  mark_list_dirty(state.multikueue, seen->facts.placement, seq);
  all.decisions[id] = std::move(*seen);
}

void observe_score(MultiKueueRoom state, const NamespacedName& id,
                   Seen<AddOnPlacementScoreFacts> seen, Seq seq) {
  keep(state.multikueue.scores, id, std::move(seen));
  mark_cluster_lists_dirty(state, id.first, seq);
}

void observe_profile_of_kueue(MultiKueueRoom state, const NamespacedName& id,
                              Seen<ClusterProfileFacts> seen) {
  auto& profiles = state.multikueue.profiles;
  if (const auto old = profiles.find(id); old != profiles.end())
    mark_profile_credentials_dirty(state, id, old->second.facts);
  if (!seen) {
    profiles.erase(id);
    return;
  }
  mark_profile_credentials_dirty(state, id, seen->facts);
  profiles[id] = std::move(*seen);
}

void observe_secret(MultiKueueRoom state, const NamespacedName& id, Seen<SecretFacts> seen) {
  keep(state.multikueue.secrets, id, std::move(seen));
  mark_secret_credentials_dirty(state, id);
}

void observe_config(StateView<MultiKueue> state, const std::string& name,
                    Seen<MultiKueueConfigFacts> seen, Seq seq) {
  auto& configs = state.multikueue.configs;
  // A worker that only the former list names may be unused from now on.
  if (const auto old = configs.find(name); old != configs.end())
    for (const std::string& worker : old->second.facts.clusters)
      state.multikueue.dirty_workers.insert(worker);
  if (seen)
    configs[name] = std::move(*seen);
  else
    configs.erase(name);
  mark_list_dirty(state.multikueue, name, seq);
}

void observe_worker(StateView<MultiKueue> state, const std::string& name,
                    Seen<MultiKueueClusterFacts> seen, Seq seq) {
  if (seen) note_profiles(state.multikueue, seen->facts, seq);
  keep(state.multikueue.clusters, name, std::move(seen));
  state.multikueue.dirty_workers.insert(name);
  mark_worker_lists_dirty(state.multikueue, name, seq);
}

void observe_check(StateView<MultiKueue> state, const std::string& name,
                   Seen<AdmissionCheckFacts> seen, Seq seq) {
  auto& checks = state.multikueue.checks;
  mark_check_workloads_dirty(state.multikueue, name);
  state.multikueue.dirty_checks.insert(name);
  CheckRecord& check = checks[name];
  const std::string before = check.ours ? check.placement : "";
  check.ours = seen && seen->facts.controller_name == kPlacementController && !seen->facts.deleting;
  // Both the list that the check named and the one that it names now: which Workloads hold their
  // workers may change.
  mark_kueue_check_list_dirty(state.multikueue, check.seen.facts, seq);
  if (seen) mark_kueue_check_list_dirty(state.multikueue, seen->facts, seq);
  check.good = seen && names_a_placement(seen->facts);
  if (check.ours && check.good) check.placement = seen->facts.parameters_name;
  const std::string after = check.ours ? check.placement : "";
  if (!check.placement.empty()) mark_list_dirty(state.multikueue, check.placement, seq);
  if (before != after) leave_list(state.multikueue, check, before, seq);
  const std::string left_before = left_placement(check);
  if (seen) check.seen = std::move(*seen);
  const std::string left = seen ? left_placement(check) : "";
  for (const std::string& one : {left_before, left})
    if (!one.empty()) mark_list_dirty(state.multikueue, one, seq);
  if (!seen) checks.erase(name);
}

// The indexes are taken back by the facts that made them, before the new facts replace them. What
// was decided stays with the uid: another one is another Workload, for which nothing is reserved.
void observe_workload(MultiKueueRoom state, const NamespacedName& id, Seen<WorkloadFacts> seen,
                      Seq seq) {
  MultiKueue& all = state.multikueue;
  const auto old = all.workloads.find(id);
  WorkloadRecord fresh;
  if (old != all.workloads.end()) {
    const auto before = old->second.seen.read();
    const WorkloadFacts& facts = before->facts;
    if (!seen || seen->facts.cluster_name != facts.cluster_name || seen->facts.finished ||
        seen->facts.deleting || seen->uid != before->uid)
      mark_worker_lists_dirty(state.multikueue, facts.cluster_name, seq);
    unindex_workload(all, id, facts);
    unindex_fleet_needs(state.fleet, id, facts);
    if (seen && seen->uid == before->uid)
      fresh = std::move(old->second);
    else
      forget_dispatch(state, id, old->second);
    all.workloads.erase(old);
  }
  mark_running_lists_dirty(state.multikueue, id, seq);
  if (!seen) return;
  mark_worker_lists_dirty(state.multikueue, seen->facts.cluster_name, seq);
  all.dirty_workloads.insert(id);
  index_workload(all, id, seen->facts);
  index_fleet_needs(state.fleet, id, seen->facts);
  fresh.seen = SeenWorkload(std::move(*seen));
  if (!fresh.devices().asks->empty()) fresh.edit_devices().asks->clear();
  all.workloads[id] = std::move(fresh);
}

void observe_crd(StateView<MultiKueue, WriteTables> state, const std::string& name,
                 Seen<CustomResourceDefinitionFacts> seen) {
  keep(state.multikueue.crds, name, std::move(seen));
  try_refused_again(state);
  state.multikueue.all_dirty = true;
}

void observe_admission_policy(MultiKueueRoom state, const std::string& name,
                              Seen<MutatingAdmissionPolicyFacts> seen, Seq seq) {
  MultiKueue& all = state.multikueue;
  const auto first = [&all] {
    return all.clearing_policies.empty() ? "" : *all.clearing_policies.begin();
  };
  const std::string before = first();
  const bool clears = seen && seen->facts.clears_nominations && !seen->facts.deleting;
  if (seen)
    all.admission_policies[name] = std::move(*seen);
  else
    all.admission_policies.erase(name);
  if (clears)
    all.clearing_policies.insert(name);
  else
    all.clearing_policies.erase(name);
  if (first() == before) return;
  all.clearer_seq = seq;
  mark_nominations_dirty(state);
}

void observe_readable(MultiKueue& multikueue, Kind kind, Seq seq) {
  if (multikueue.unreadable.erase(kind) > 0) mark_lists_and_checks_dirty(multikueue, seq);
}

void observe_unreadable(MultiKueue& multikueue, Kind kind, Seq seq) {
  if (multikueue.unreadable.insert(kind).second) mark_lists_and_checks_dirty(multikueue, seq);
}

void mark_list_dirty(MultiKueue& multikueue, const std::string& placement, Seq seq) {
  remember(multikueue.dirty_lists[placement], seq);
}

void mark_multikueue_dirty(MultiKueue& multikueue, const ObjectKey& object) {
  MultiKueue& all = multikueue;
  if (object.kind == Kind::multikueue_config) mark_list_dirty(multikueue, object.name);
  if (object.kind == Kind::multikueue_cluster) {
    all.dirty_workers.insert(object.name);
    mark_worker_lists_dirty(multikueue, object.name, {});
  }
  if (object.kind == Kind::admission_check && all.checks.contains(object.name))
    all.dirty_checks.insert(object.name);
  if (object.kind == Kind::workload && all.workloads.contains(id_of(object)))
    all.dirty_workloads.insert(id_of(object));
}

void expect_multikueue(MultiKueue& multikueue, const PatchIntended& intent) {
  if (intent.target.kind == Kind::multikueue_cluster) {
    multikueue.sources.erase(intent.target.name);
    if (!intent.expected) return;
    const auto& facts = std::get<MultiKueueClusterFacts>(*intent.expected);
    multikueue.sources[intent.target.name] = {facts.cluster_profile, facts.secret};
  }
  if (intent.target.kind != Kind::multikueue_config) return;
  WorkerList& list = multikueue.lists[intent.target.name];
  list.written.clear();
  if (intent.expected) list.written = std::get<MultiKueueConfigFacts>(*intent.expected).clusters;
}

}  // namespace fairlead
