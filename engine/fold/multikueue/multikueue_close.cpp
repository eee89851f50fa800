#include "engine/fold/multikueue/multikueue_close.h"

#include <algorithm>
#include <utility>

#include "engine/fold/deadlines.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/dispatch/dispatch_close.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/multikueue/conditions.h"
#include "engine/fold/multikueue/credentials.h"
#include "engine/fold/multikueue/list_names.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/nominations.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/multikueue/rank.h"
#include "engine/fold/multikueue/windows.h"
#include "engine/fold/queues/worker_quota.h"

namespace fairlead {

namespace {

// Kueue's bound on spec.clusters since 0.16, for a served CRD without maxItems.
constexpr std::size_t kWorkersMax = 20;

void add(std::vector<Seq>& seqs, const std::vector<Seq>& more) {
  seqs.insert(seqs.end(), more.begin(), more.end());
}

// ---- the use of a list, and its windows ----

ListUse use_of(const MultiKueue& multikueue, const std::vector<const CheckRecord*>& checks) {
  // Without these kinds the rule would move the list on missing observations: nothing is moved.
  for (const Kind kind :
       {Kind::multikueue_cluster, Kind::placement, Kind::placement_decision, Kind::workload})
    if (multikueue.unreadable.contains(kind)) return ListUse::kept;
  if (checks.empty()) return ListUse::none;
  const bool live = std::any_of(checks.begin(), checks.end(),
                                [](const CheckRecord* check) { return check->good; });
  return live ? ListUse::live : ListUse::kept;
}

void refresh_use(MultiKueueReader state, const std::string& placement, WorkerList& list) {
  const auto checks = checks_of(state.multikueue, placement);
  list.use = use_of(state.multikueue, checks);
  if (!checks.empty()) {
    list.windows = {};
    for (const CheckRecord* check : checks)
      if (check->good || list.use == ListUse::kept)
        list.windows = longest(list.windows, windows_of(state.configuration, check->seen.facts));
    return;
  }
  list.windows = configured_windows(state.configuration);
}

// Whether the worker has a credential, or lost it within credential_grace. Lowers `next` to the end
// of the grace.
bool has_credential(MultiKueueReader state, const WorkerList& list, const std::string& name,
                    const Worker& worker, LogTime& next) {
  const CredentialRecord* record = find_credential(state.multikueue, worker.cluster);
  if (record && record->now.any()) return true;
  if (!contains(list.names, name)) return false;
  if (state.multikueue.unreadable.contains(Kind::secret)) return true;  // not known to be gone
  if (!record || !record->lost_since) return false;
  const LogTime until = *record->lost_since + list.windows.credential_grace;
  if (until > state.now) next = std::min(next, until);
  return until > state.now;
}

void refresh_worker(MultiKueueReader state, const std::string& placement, WorkerList& list,
                    const std::string& name, Worker& worker, LogTime& next) {
  const LeftOut fault = worker.decided ? left_out_by_name(state, placement, name) : LeftOut::no;
  worker.usable_name = fault == LeftOut::no;
  worker.credential = worker.decided && has_credential(state, list, name, worker, next);
  worker.left_out = worker.decided && !worker.credential ? LeftOut::credentials_missing : fault;
  const bool selected = worker.decided && worker.left_out == LeftOut::no;
  const bool listed = contains(list.names, name);
  // Absence counts only in the list: a name that an administrator adds is a leaver from then on.
  if (worker.causes.empty() || selected != worker.selected ||
      (!selected && listed != worker.listed)) {
    worker.since = state.now;
    worker.causes = list.causes;
    const CredentialRecord* credential = find_credential(state.multikueue, worker.cluster);
    if (worker.causes.empty()) worker.causes = {credential ? credential->seq : state.seq};
  }
  worker.selected = selected;
  worker.listed = listed;
  if (!selected || listed) worker.taken_out = false;
  worker.rank =
      worker.cluster.empty() ? std::nullopt : rank_of(state, placement, worker.cluster, next);
}

// Updates the workers that left while Workloads ran on them, and drops those where that is over.
void refresh_running(MultiKueueReader state, WorkerList& list, LogTime& next) {
  for (auto at = list.running.begin(); at != list.running.end();) {
    RunningCopies& copies = at->second;
    // A Workload of that name with another uid was created since: it is not the one whose copy ran
    // there.
    std::erase_if(copies.workloads, [&](const auto& one) {
      const auto seen = state.multikueue.workloads.find(one.first);
      return seen == state.multikueue.workloads.end() ||
             seen->second.seen.head().uid != one.second || seen->second.seen->facts.finished;
    });
    if (copies.workloads.empty() && !copies.over_since) copies.over_since = state.now;
    const LogTime free = copies.over_since ? *copies.over_since + kCopiesGone : kForever;
    if (free <= state.now) {
      at = list.running.erase(at);
      continue;
    }
    next = std::min(next, free);
    ++at;
  }
}

// ---- the rule ----

bool is_gone(MultiKueueReader state, const std::string& placement) {
  return !state.multikueue.placements.contains({state.configuration.kueue_namespace, placement});
}

// Updates since when the list is frozen, whether or not checks use it: a change of the use does not
// restart the window.
void refresh_frozen(MultiKueueReader state, const std::string& placement, WorkerList& list) {
  const bool some = std::any_of(list.workers.begin(), list.workers.end(),
                                [](const auto& entry) { return entry.second.selected; });
  const bool frozen = !list.names.empty() && (!some || is_gone(state, placement));
  if (!frozen) list.frozen_since.reset();
  if (!frozen || list.frozen_since) return;
  list.frozen_since = state.now;
  list.ending = list.causes;
  if (!list.ending.empty()) return;
  for (const auto& [name, worker] : list.workers)  // a window of theirs ended
    if (worker.listed) add(list.ending, worker.causes);
}

Membership membership_of(MultiKueueReader state, const std::string& placement, WorkerList& list) {
  Membership in;
  in.now = state.now;
  in.windows = list.windows;
  in.workers_max = workers_max(state.multikueue);
  in.list = list.names;
  in.placement_gone = is_gone(state, placement);
  for (const auto& [name, worker] : list.workers) {
    in.candidates[name] = {worker.selected,
                           worker.since,
                           worker.listed && is_held(state, placement, name),
                           list.running.contains(name),
                           worker.taken_out,
                           worker.rank};
  }
  in.frozen_since = list.frozen_since;
  in.order = list.order;
  in.order_since = list.order_since;
  return in;
}

// Sets the rule that the change of the list is reported under, and the events that decided it.
void name_the_change(WorkerList& list, const Verdict& verdict, const Membership& in) {
  std::size_t coming = 0, going = 0, back = 0, leavers = 0;
  for (const auto& [name, standing] : verdict.standings) {
    if (standing == Standing::leaving || standing == Standing::held) ++leavers;
    if (standing != Standing::entering && standing != Standing::left) continue;
    add(list.causes, list.workers.at(name).causes);
    if (standing == Standing::left)
      ++going;
    else
      ++(in.candidates.at(name).taken_out ? back : coming);
  }
  if (verdict.dissolve) {
    add(list.causes, list.ending);
    list.rule = "dissolve";
  } else if (back > 0)
    list.rule = "restore";
  else if (coming > 0)
    list.rule = going > 0 || leavers > 0 ? "move" : "growth";
  else
    list.rule = going > 0 ? "leave" : "order";
}

void decide_live(MultiKueueRoom state, const std::string& placement, WorkerList& list,
                 LogTime& next) {
  const Membership in = membership_of(state, placement, list);
  const Verdict verdict = judge(in);
  next = std::min(next, verdict.next);
  list.order = verdict.order;
  list.order_since = verdict.order_since;
  for (auto& [name, worker] : list.workers) {
    const auto standing = verdict.standings.find(name);
    worker.standing = standing == verdict.standings.end() ? Standing::left : standing->second;
    if (in.frozen_since || worker.standing == Standing::waits_copies) worker.taken_out = false;
  }
  // The standings are reported even where the MultiKueueConfig is another writer's, but it is not
  // written.
  if (!list.foreign.empty()) return;
  list.dissolve = verdict.dissolve;
  const auto config = state.multikueue.configs.find(placement);
  const bool exists = config != state.multikueue.configs.end();
  if (verdict.list.empty() && !verdict.dissolve) return;
  const bool marked = exists && config->second.facts.mark == config_mark(placement);
  if (exists && marked && verdict.list == list.names) return;
  name_the_change(list, verdict, in);
  if (exists && verdict.list == list.names) list.rule = "adopt";
  if (!verdict.dissolve) list.wish = verdict.list;
}

// Whether a check that used the list now names another Placement whose config has no names yet.
bool is_awaited(MultiKueueReader state, const std::string& placement) {
  const auto& checks = state.multikueue.checks;
  return std::any_of(checks.begin(), checks.end(), [&](const auto& entry) {
    const CheckRecord& check = entry.second;
    return check.ours && check.good && check.came_from.contains(placement) &&
           names_in_config(state, check.placement).empty();
  });
}

// Dissolves a list that no check uses once no Workload runs on its workers and the lists that
// replace it exist, or after drain_timeout.
void decide_unused(MultiKueueReader state, const std::string& placement, WorkerList& list,
                   LogTime& next) {
  if (list.names.empty()) return;
  // refresh_list() has set it: the list is unused and has names.
  const LogTime patience = *list.unused_since + list.windows.drain_timeout;
  const bool waits =
      is_awaited(state, placement) ||
      std::any_of(list.names.begin(), list.names.end(),
                  [&](const std::string& name) { return is_held(state, placement, name); });
  list.dissolve = !waits || patience <= state.now;
  if (list.dissolve) {
    add(list.causes, list.ending);
    list.rule = "unused";
  } else {
    next = std::min(next, patience);
  }
}

// Lowers `next` to when a MultiKueueCluster may change its source, and to when a leaver loses its
// nominations.
void watch_members(MultiKueueReader state, const WorkerList& list, LogTime& next) {
  for (const std::string& name : list.names) {
    // refresh_names() makes a worker of each name in the list.
    const Worker& worker = list.workers.at(name);
    if (!worker.cluster.empty()) source_for(state, name, worker.cluster, next);
    const LogTime away = worker.since + list.windows.move_window;
    if (!worker.selected && away > state.now) next = std::min(next, away);
  }
}

// Marks the checks and Workloads of the list: conditions report it, nominations are derived from
// it.
void mark_users_dirty(MultiKueueRoom state, const std::string& placement) {
  MultiKueue& all = state.multikueue;
  for (const auto& [name, check] : all.checks) {
    if (check.placement != placement && left_placement(check) != placement) continue;
    all.dirty_checks.insert(name);
    if (!state.configuration.multikueue.dispatcher) continue;
    const auto workloads = all.workloads_of_check.find(name);
    if (workloads != all.workloads_of_check.end())
      all.dirty_workloads.insert(workloads->second.begin(), workloads->second.end());
  }
}

// Marks the lists that wait for this one (see is_awaited).
void mark_replaced_lists_dirty(MultiKueue& multikueue, const std::string& placement) {
  for (const auto& [name, check] : multikueue.checks)
    if (check.placement == placement)
      for (const std::string& before : check.came_from) mark_list_dirty(multikueue, before);
}

void refresh_list(MultiKueueRoom state, const std::string& placement) {
  WorkerList& list = state.multikueue.lists[placement];
  refresh_use(state, placement, list);
  const bool had_members = !list.names.empty();
  assign_names(state, placement, list);
  if (had_members != !list.names.empty()) mark_replaced_lists_dirty(state.multikueue, placement);
  const bool unused = list.use == ListUse::none && !list.names.empty();
  if (!unused) list.unused_since.reset();
  if (unused && !list.unused_since) {
    list.unused_since = state.now;
    list.ending = list.causes;
  }
  list.decided = decided_by(state, placement);
  refresh_names(state, placement, list);
  for (const auto& [name, worker] : list.workers)
    if (!worker.cluster.empty() && !find_credential(state.multikueue, worker.cluster))
      refresh_credential(state, worker.cluster, state.seq);
}

void recompute_list(MultiKueueRoom state, const std::string& placement, DirtySet& dirty) {
  WorkerList& list = state.multikueue.lists[placement];
  LogTime next = kForever;
  for (auto& [name, worker] : list.workers)
    refresh_worker(state, placement, list, name, worker, next);
  refresh_running(state, list, next);
  refresh_frozen(state, placement, list);
  if (const auto wish = std::exchange(list.wish, std::nullopt))
    state.multikueue.dirty_workers.insert(wish->begin(), wish->end());
  list.dissolve = false;
  const bool exists = state.multikueue.configs.contains(placement);
  list.foreign = exists && !is_own_config(state, placement)
                     ? "MultiKueueConfig " + placement + " is not ours"
                     : "";
  if (list.use == ListUse::live) decide_live(state, placement, list, next);
  if (list.use == ListUse::none) decide_unused(state, placement, list, next);
  watch_members(state, list, next);
  mark_followers_dirty(state.multikueue);
  mark_users_dirty(state, placement);
  state.deadlines.set(ListDeadline{placement}, next);
  dirty.placements.insert(placement);
  const bool over =
      list.use == ListUse::none && list.workers.empty() && list.running.empty() && !exists;
  if (over) state.multikueue.lists.erase(placement);
}

void mark_everything_dirty(MultiKueueRoom state) {
  MultiKueue& all = state.multikueue;
  for (const auto& [cluster, record] : all.credentials) all.dirty_credentials.insert(cluster);
  for (const auto& [placement, list] : all.lists)
    mark_list_dirty(state.multikueue, placement, state.seq);
  for (const auto& [id, placement] : all.placements)
    mark_list_dirty(state.multikueue, id.second, state.seq);
  for (const auto& [placement, shards] : all.decisions_of)
    mark_list_dirty(state.multikueue, placement, state.seq);
  for (const auto& [name, config] : all.configs) mark_list_dirty(state.multikueue, name, state.seq);
  for (const auto& [name, cluster] : all.clusters) all.dirty_workers.insert(name);
  for (const auto& [name, check] : all.checks) all.dirty_checks.insert(name);
  for (const auto& [id, workload] : all.workloads) all.dirty_workloads.insert(id);
}

void recompute_credentials(MultiKueueRoom state) {
  for (const std::string& cluster : std::exchange(state.multikueue.dirty_credentials, {})) {
    if (!refresh_credential(state, cluster, state.seq)) continue;
    const Seq seq = find_credential(state.multikueue, cluster)->seq;
    for (const auto& [placement, list] : state.multikueue.lists)
      if (list.decided.contains(cluster) ||
          list.workers.contains(worker_name(state.configuration, placement, cluster)))
        mark_list_dirty(state.multikueue, placement, seq);
  }
}

}  // namespace

bool holds(MultiKueueReader state, const std::string& placement, const WorkloadFacts& workload) {
  if (workload.finished || workload.deleting) return false;
  const auto list = state.multikueue.lists.find(placement);
  // Where no check uses the list any more, every Workload counts: the check that sent it may be
  // gone.
  if (list == state.multikueue.lists.end() || list->second.use == ListUse::none) return true;
  return std::any_of(workload.checks.begin(), workload.checks.end(), [&](const WorkloadCheck& one) {
    const auto at = state.multikueue.checks.find(one.name);
    if (at == state.multikueue.checks.end()) return false;
    const CheckRecord& check = at->second;
    const AdmissionCheckFacts& facts = check.seen.facts;
    return (check.ours && check.placement == placement) ||
           (facts.controller_name == kMultiKueueController && facts.parameters_name == placement);
  });
}

bool is_held(MultiKueueReader state, const std::string& placement, const std::string& worker) {
  const auto on = state.multikueue.workloads_on.find(worker);
  return on != state.multikueue.workloads_on.end() &&
         std::any_of(on->second.begin(), on->second.end(), [&](const NamespacedName& id) {
           return holds(state, placement, state.multikueue.workloads.at(id).seen->facts);
         });
}

std::size_t workers_max(const MultiKueue& multikueue) {
  const auto crd = multikueue.crds.find("multikueueconfigs.kueue.x-k8s.io");
  if (crd == multikueue.crds.end() || !crd->second.facts.clusters_max) return kWorkersMax;
  return static_cast<std::size_t>(*crd->second.facts.clusters_max);
}

std::vector<const CheckRecord*> checks_of(const MultiKueue& multikueue,
                                          const std::string& placement) {
  std::vector<const CheckRecord*> checks;
  for (const auto& [name, check] : multikueue.checks)
    if (check.ours && check.placement == placement) checks.push_back(&check);
  return checks;
}

bool adopts(MultiKueueReader state, const std::string& placement) {
  if (!state.configuration.multikueue.adopt_ocm_addon) return false;
  return std::any_of(
      state.multikueue.checks.begin(), state.multikueue.checks.end(), [&](const auto& entry) {
        const AdmissionCheckFacts& facts = entry.second.seen.facts;
        return entry.second.placement == placement &&
               facts.controller_name == kPlacementController &&
               std::find(facts.finalizers.begin(), facts.finalizers.end(), kAddonFinalizer) !=
                   facts.finalizers.end();
      });
}

bool is_own_config(MultiKueueReader state, const std::string& placement) {
  const auto config = state.multikueue.configs.find(placement);
  return config != state.multikueue.configs.end() &&
         (config->second.facts.mark.ours() || adopts(state, placement));
}

void recompute_multikueue(MultiKueueRoom state, DirtySet& dirty) {
  MultiKueue& all = state.multikueue;
  if (std::exchange(all.all_dirty, false)) mark_everything_dirty(state);
  recompute_credentials(state);
  // All names are refreshed before any list is evaluated: refreshing one may mark others that share
  // a name or wait for it.
  std::set<std::string> marked;
  // The loop ends: a list marks others only where its names or its claims on names change, and a
  // second refresh changes neither.
  while (!all.dirty_lists.empty()) {
    const auto one = all.dirty_lists.extract(all.dirty_lists.begin());
    std::vector<Seq>& causes = all.lists[one.key()].causes;
    if (marked.insert(one.key()).second) causes.clear();
    add(causes, one.mapped());
    refresh_list(state, one.key());
  }
  for (const std::string& placement : marked) recompute_list(state, placement, dirty);
  for (const std::string& name : std::exchange(all.dirty_checks, {})) {
    if (all.checks.contains(name)) recompute_check(state, name);
    dirty.checks.insert(name);
  }
  dirty.workers.merge(all.dirty_workers);
  all.dirty_workers.clear();
  mark_users_of_classes_dirty(state);
  for (const NamespacedName& id : all.dirty_workloads) recompute_nomination(state, id);
  recompute_dispatch(state);
  dirty.workloads.merge(all.dirty_workloads);
  all.dirty_workloads.clear();
  dirty.fleet_claims.merge(std::exchange(state.fleet.dirty_claims, {}));
  dirty.fleet_schedulings.merge(std::exchange(state.fleet.dirty_schedulings, {}));
}

}  // namespace fairlead
