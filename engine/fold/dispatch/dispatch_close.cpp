#include "engine/fold/dispatch/dispatch_close.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fold/deadlines.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/dispatch/candidates.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/dispatch/reservation_times.h"
#include "engine/fold/dispatch/reservations.h"
#include "engine/fold/fleet_claims/answer.h"
#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/lookup.h"

namespace fairlead {

namespace {

WorkloadRecord* find_record(MultiKueue& multikueue, const NamespacedName& id) {
  const auto at = multikueue.workloads.find(id);
  return at == multikueue.workloads.end() ? nullptr : &at->second;
}

void set_due(Dispatch& dispatch, const NamespacedName& id, DeviceDispatch& devices,
             std::optional<LogTime> due) {
  if (devices.due == due) return;
  if (devices.due) dispatch.due.erase({*devices.due, id});
  if (due) dispatch.due.emplace(*due, id);
  devices.due = due;
}

void set_ticket(Dispatch& dispatch, DeviceDispatch& devices, std::optional<DispatchTicket> ticket) {
  if (devices.ticket == ticket) return;
  auto& waiting = dispatch.waiting;
  if (devices.ticket) {
    // The ticket is in `waiting` as long as the Workload has it.
    const auto at = waiting.find(devices.ticket->placement);
    at->second.erase(devices.ticket->order);
    if (at->second.empty()) waiting.erase(at);
  }
  if (ticket) waiting[ticket->placement].insert(ticket->order);
  devices.ticket = std::move(ticket);
}

void refresh_ticket(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  DeviceDispatch& devices = record.edit_devices();
  const auto seen = record.seen.read();
  const WorkloadFacts& facts = seen->facts;
  const WorkerList* list = list_of_workload(state.multikueue, facts);
  set_due(state.dispatch, id, devices, due_of(state, devices.reservation, list));
  const auto& held = devices.reservation;
  const bool judged_now = record.decision->nominates && !facts.deleting && list &&
                          (!held || is_restless(state, *held, *list) ||
                           has_lost_claim(state, id, record, held->cluster));
  std::optional<DispatchTicket> ticket;
  if (judged_now)
    ticket = {check_of(state.multikueue, facts)->placement, {facts.priority, facts.created, id}};
  set_ticket(state.dispatch, devices, std::move(ticket));
}

// ---- facts first ----

// Forgets that clusters were spent for Workloads: they were heard of again.
void forget_spent(DispatchRoom state, const std::string& cluster) {
  const auto on = state.dispatch.spent_on.find(cluster);
  if (on == state.dispatch.spent_on.end()) return;
  for (const NamespacedName& id : on->second)
    if (WorkloadRecord* record = find_record(state.multikueue, id))
      std::erase_if(record->edit_devices().spent,
                    [&](const auto& spent) { return spent.second == cluster; });
  state.dispatch.spent_on.erase(on);
}

// Releases the devices and the fleet claims of the Workload.
void give_up(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  release(state, id, record);
  follow_holder(state, id, record);
}

bool ends_reservation(const MultiKueue& multikueue, const WorkloadFacts& facts,
                      const DeviceReservation& reservation) {
  return facts.finished || facts.evicted || !facts.quota_reserved || !check_of(multikueue, facts) ||
         (!facts.cluster_name.empty() && facts.cluster_name != reservation.worker);
}

// A Workload that was dispatched before it was first observed keeps the condition that it has.
DeviceVerdict adopted(const WorkloadFacts& facts) {
  const ConditionFacts& seen = facts.devices_reserved;
  if (seen.status == ConditionStatus::yes && seen.reason == "Reserved")
    return DeviceVerdict::reserved;
  return seen.status == ConditionStatus::no && seen.reason == "Bypassed" ? DeviceVerdict::bypassed
                                                                         : DeviceVerdict::none;
}

void fold_reservation(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  DeviceDispatch& devices = record.edit_devices();
  const auto seen = record.seen.read();
  const WorkloadFacts& facts = seen->facts;
  const bool placed = !facts.cluster_name.empty();
  if (placed && !devices.waited && devices.verdict == DeviceVerdict::none)
    devices.verdict = adopted(facts);
  devices.waited = devices.waited || !placed;
  if (devices.reservation && ends_reservation(state.multikueue, facts, *devices.reservation))
    give_up(state, id, record);
  if (auto& reservation = devices.reservation) {
    if (!placed) reservation->placed_since.reset();
    if (placed && !reservation->placed_since) reservation->placed_since = state.now;
    if (placed &&
        is_over(*reservation->placed_since, state.configuration.dra.place_timeout, state.now))
      drop_rest(state, id, record);
    return;
  }
  if (facts.finished || facts.evicted || !facts.quota_reserved ||
      !check_of(state.multikueue, facts))
    devices.verdict = DeviceVerdict::none;
  else if (placed && devices.waited)
    devices.verdict = DeviceVerdict::bypassed;
}

void fold_facts(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  fold_reservation(state, id, record);
  follow_holder(state, id, record);
}

// ---- the pass ----

// Whether every worker in the list leaves it, and the write of another list is due.
bool is_being_written(const WorkerList& list) {
  return list.wish && std::none_of(list.names.begin(), list.names.end(), [&](const auto& name) {
           const auto worker = list.workers.find(name);
           return worker != list.workers.end() && worker->second.selected;
         });
}

// What one moment decides for the Workloads that wait.
class Pass {
 public:
  explicit Pass(DispatchRoom state) : state_(state), chooser_(state) {}

  // Places the Workloads of `marked`, and those whose list has a cluster of `touched`. Returns
  // those whose nomination or condition changed.
  std::set<NamespacedName> run(const std::set<NamespacedName>& marked,
                               const std::set<std::string>& touched) {
    std::set<NamespacedName> changed;
    for (const DispatchOrder& order : concerned(marked, touched)) {
      const Choices among{marked.contains(order.id) ? nullptr : &touched, ""};
      if (place_one(order.id, among)) changed.insert(order.id);
    }
    return changed;
  }

  // Places the Workloads with fleet claims that were passed before a later one took devices of a
  // cluster of theirs: drivers are asked only about clusters where the pods fit.
  std::set<NamespacedName> look_again() {
    std::set<NamespacedName> changed;
    const std::set<std::string> taken = std::exchange(taken_, {});
    if (!state_.configuration.dra.fleet_claims) return changed;
    for (const DispatchOrder& order : concerned({}, taken)) {
      const auto seen = state_.multikueue.workloads.at(order.id).seen.read();
      if (has_fleet_needs(state_.configuration, seen->facts) && place_one(order.id, {}))
        changed.insert(order.id);
    }
    return changed;
  }
  // Whether a Workload has been placed since then.
  bool took() const { return state_.configuration.dra.fleet_claims && !taken_.empty(); }

 private:
  std::vector<DispatchOrder> concerned(const std::set<NamespacedName>& marked,
                                       const std::set<std::string>& touched) const {
    std::vector<DispatchOrder> orders;
    for (const auto& [placement, waiting] : state_.dispatch.waiting)
      if (is_touched(placement, touched))
        orders.insert(orders.end(), waiting.begin(), waiting.end());
      else
        for (const DispatchOrder& order : waiting)
          if (marked.contains(order.id)) orders.push_back(order);
    // Each placement's set is in order already.
    if (state_.dispatch.waiting.size() > 1) std::sort(orders.begin(), orders.end());
    return orders;
  }

  bool is_touched(const std::string& placement, const std::set<std::string>& touched) const {
    if (touched.empty()) return false;
    const auto known = state_.multikueue.lists.find(placement);
    if (known == state_.multikueue.lists.end()) return false;
    const WorkerList& list = known->second;
    return std::any_of(list.names.begin(), list.names.end(), [&](const std::string& name) {
      const auto worker = list.workers.find(name);
      return worker != list.workers.end() && touched.contains(worker->second.cluster);
    });
  }

  // Returns whether its nomination or condition changed.
  bool place_one(const NamespacedName& id, Choices among) {
    WorkloadRecord& record = state_.multikueue.workloads.at(id);
    DeviceDispatch& devices = record.edit_devices();
    if (!devices.ticket) return false;  // it was placed in this pass
    const auto seen = record.seen.read();
    const WorkerList* known = list_of_workload(state_.multikueue, seen->facts);
    if (!known) return false;
    const WorkerList& list = *known;
    if (is_being_written(list)) return false;
    // A Workload that lost a claim begins anew: also the cluster that it is nominated to may be the
    // best one for it.
    if (devices.reservation && has_lost_claim(state_, id, record, devices.reservation->cluster))
      lose_claim(id, record);
    if (devices.reservation) among.but = devices.reservation->worker;
    if (has_fleet_needs(state_.configuration, seen->facts))
      return place_by_claims(id, record, list, among.but);
    std::optional<Destination> best = kept(id, record, list);
    if (!best) best = chooser_.best(id, record, list, among);
    devices.judged = devices.judged || !list.names.empty();
    if (best) {
      place(id, record, std::move(*best));
      return true;
    }
    return wait(id, record, list, {"", DeviceVerdict::no_cluster, ""});
  }

  // The Workload stays where it is, or waits. Returns whether its nomination or condition changed.
  bool wait(const NamespacedName& id, WorkloadRecord& record, const WorkerList& list,
            FleetAnswer answer) {
    DeviceDispatch& devices = record.edit_devices();
    if (const auto& held = devices.reservation) {
      // The answer may have taken a claim from it, which is to be allocated for another cluster.
      if (has_lost_claim(state_, id, record, held->cluster)) {
        lose_claim(id, record);
      } else {
        if (is_listed(*held, list)) return false;
        give_up(state_, id, record);
        refresh_ticket(state_, id, record);
      }
    }
    devices.about = std::move(answer.about);
    return std::exchange(devices.verdict, answer.verdict) != answer.verdict;
  }

  // Places a Workload with fleet claims: of the clusters where its pods fit they allow one, or
  // none.
  bool place_by_claims(const NamespacedName& id, WorkloadRecord& record, const WorkerList& list,
                       const std::string& but) {
    std::vector<Destination> candidates = chooser_.ranked(id, record, list, but);
    const std::optional<Destination> before = kept(id, record, list);
    if (!list.names.empty()) record.edit_devices().judged = true;
    std::vector<std::string> clusters;
    for (const Destination& one : candidates) clusters.push_back(one.cluster);
    FleetAnswer answer =
        answer_fleet_claims(state_, id, record, clusters, before ? before->cluster : std::string());
    if (answer.cluster.empty()) return wait(id, record, list, std::move(answer));
    // Found: the answer is one of the clusters that were offered.
    const auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
      return one.cluster == answer.cluster;
    });
    reserve_claims(state_, id, record);
    place(id, record, std::move(*chosen));
    return true;
  }

  // A Workload that was nominated before it was first observed stays where it is, if it fits.
  std::optional<Destination> kept(const NamespacedName& id, WorkloadRecord& record,
                                  const WorkerList& list) {
    const auto seen = record.seen.read();
    const auto& nominated = seen->facts.nominated_clusters;
    if (record.devices().judged || nominated.size() != 1) return std::nullopt;
    return chooser_.only(id, record, list, nominated.front());
  }

  // A cluster that loses the Workload because it did not admit it in time is not a candidate for it
  // until the cluster changes.
  void mark_spent(const NamespacedName& id, DeviceDispatch& devices) {
    const auto& held = devices.reservation;
    if (!held || !is_over(held->since, state_.configuration.dra.admit_timeout, state_.now)) return;
    devices.spent[held->worker] = held->cluster;
    state_.dispatch.spent_on[held->cluster].insert(id);
  }

  void lose_claim(const NamespacedName& id, WorkloadRecord& record) {
    mark_spent(id, record.edit_devices());
    give_up(state_, id, record);
    refresh_ticket(state_, id, record);
  }

  void place(const NamespacedName& id, WorkloadRecord& record, Destination best) {
    DeviceDispatch& devices = record.edit_devices();
    mark_spent(id, devices);
    DeviceReservation made;
    made.worker = std::move(best.worker);
    made.cluster = std::move(best.cluster);
    made.pods = std::move(best.pods);
    made.since = state_.now;
    taken_.insert(made.cluster);
    made.causes = state_.clusters.at(made.cluster).search.changes.causes;
    remember(made.causes, record.seen->seq);
    reserve(state_, id, record, std::move(made));
    devices.verdict = DeviceVerdict::reserved;
    devices.about.clear();
    refresh_ticket(state_, id, record);
  }

  DispatchRoom state_;
  Chooser chooser_;
  std::set<std::string> taken_;  // clusters of which devices were reserved
};

// ---- the moment ----

// takes_over has ended what was decided for Workloads.
void end_dispatch(DispatchRoom state) {
  state.dispatch = {};
  state.deadlines.clear(DispatchDeadline{});
}

void mark_due_workloads_dirty(DispatchRoom state) {
  std::set<std::pair<LogTime, NamespacedName>>& due = state.dispatch.due;
  while (!due.empty() && due.begin()->first <= state.now) {
    const NamespacedName id = due.begin()->second;
    // A Workload that goes takes its entry along (forget_dispatch), so each id is known.
    state.multikueue.workloads.at(id).edit_devices().due.reset();
    state.dispatch.dirty_workloads.insert(id);
    due.erase(due.begin());
  }
}

// Folds what the moment changed in the clusters; marks the Workloads that are to be placed again.
void follow_clusters(DispatchRoom state, const std::set<std::string>& clusters) {
  Dispatch& all = state.dispatch;
  std::set<std::string> turned;
  for (const std::string& name : clusters) {
    DeviceChanges& changes = state.clusters.at(name).search.changes;
    if (std::exchange(changes.turned, false)) turned.insert(name);
    if (std::exchange(changes.heard, false)) forget_spent(state, name);
  }
  for (const NamespacedName& id : all.dirty_workloads)
    if (WorkloadRecord* record = find_record(state.multikueue, id)) fold_facts(state, id, *record);
  follow_bookings(state);
  for (const std::string& name : clusters) replace_by_facts(state, name);
  for (const std::string& name : std::set<std::string>(all.dirty_clusters))  // freed ones, too
    for (NamespacedName& id : repair(state, name)) all.dirty_workloads.insert(std::move(id));
  for (const std::string& name : turned)
    if (const auto on = all.reserved_on.find(name); on != all.reserved_on.end())
      all.dirty_workloads.insert(on->second.begin(), on->second.end());
}

// Sets the nomination that the plan writes.
void set_nomination(DispatchRoom state, const NamespacedName& id) {
  WorkloadRecord* record = find_record(state.multikueue, id);
  if (!record) return;
  const auto& reservation = record->devices().reservation;
  const auto seen = record->seen.read();
  std::vector<std::string>& names = record->decision.edit().nomination;
  names.clear();
  if (awaits_claims(state, id, *record))
    names = seen->facts.nominated_clusters;
  else if (reservation && seen->facts.cluster_name.empty())
    names.push_back(reservation->worker);
  else if (!record->devices().judged)
    names = seen->facts.nominated_clusters;
  state.multikueue.dirty_workloads.insert(id);
}

}  // namespace

bool takes_over(DispatchRoom state, const NamespacedName& id, const WorkloadFacts& facts,
                WorkloadRecord& record) {
  if (dispatches_by_devices(state.configuration) && !facts.pod_sets.empty()) {
    const WorkerList* list = list_of_workload(state.multikueue, facts);
    // One with a reservation counts as such until it is released.
    if (record.devices().reservation || uses_devices(state, list, facts)) {
      state.dispatch.dirty_workloads.insert(id);
      return true;
    }
  }
  if (record.devices() != DeviceDispatch{}) {
    forget_dispatch(state, id, record);
    record.decision.edit().judged_list.reset();
  }
  return false;
}

void forget_dispatch(DispatchRoom state, const NamespacedName& id, WorkloadRecord& record) {
  release(state, id, record);
  forget_holder(state, id, record);
  DeviceDispatch& devices = record.edit_devices();
  set_due(state.dispatch, id, devices, std::nullopt);
  set_ticket(state.dispatch, devices, std::nullopt);
  for (const auto& [worker, cluster] : devices.spent) {
    const auto on = state.dispatch.spent_on.find(cluster);
    if (on == state.dispatch.spent_on.end()) continue;
    on->second.erase(id);
    if (on->second.empty()) state.dispatch.spent_on.erase(on);
  }
  state.dispatch.dirty_workloads.erase(id);
  record.decision.edit().devices.reset();
}

void mark_users_of_classes_dirty(DispatchRoom state) {
  MultiKueue& all = state.multikueue;
  for (const std::string& cluster : state.dispatch.dirty_clusters) {
    if (state.clusters.at(cluster).search.changes.classes.empty()) continue;
    for (const auto& [name, check] : all.checks) {
      const auto list = all.lists.find(check.placement);
      const auto workloads = all.workloads_of_check.find(name);
      if (list == all.lists.end() || workloads == all.workloads_of_check.end()) continue;
      const auto& workers = list->second.workers;
      if (std::any_of(workers.begin(), workers.end(),
                      [&](const auto& worker) { return worker.second.cluster == cluster; }))
        all.dirty_workloads.insert(workloads->second.begin(), workloads->second.end());
    }
  }
}

// The order within a moment: what the facts end or replace; reservations that they broke are solved
// again; Immediate claims book; Workloads are placed, in their order. A Workload that moves, or
// gives a claim up, frees devices: that marks their clusters, and the same steps follow for these
// in the same moment. So what was promised earlier is mended before anything else is placed, and
// what waits for a device is placed in the moment in which it gets free
// (docs/decisions/0043-pods-and-workloads-reserve-in-one-index.md).
void recompute_dispatch(DispatchRoom state) {
  Dispatch& all = state.dispatch;
  if (!dispatches_by_devices(state.configuration)) {
    end_dispatch(state);
    end_bookings(state);
    return;
  }
  mark_due_workloads_dirty(state);
  follow_clusters(state, std::set(all.dirty_clusters));  // a copy: what is freed adds to the set
  std::set<NamespacedName> marked = std::exchange(all.dirty_workloads, {});
  for (const NamespacedName& id : marked)
    if (WorkloadRecord* record = find_record(state.multikueue, id)) {
      refresh_ticket(state, id, *record);
      mark_made_claims_dirty(state, id, record->seen->facts);
    }
  std::set<NamespacedName> changed = marked;
  Pass pass(state);
  bool again = false;
  do {
    const std::set<std::string> touched = std::exchange(all.dirty_clusters, {});
    if (again)  // what a move freed mends broken reservations first
      for (const std::string& name : touched)
        for (const NamespacedName& id : repair(state, name))
          refresh_ticket(state, id, state.multikueue.workloads.at(id));
    book_immediate_claims(state, touched);
    changed.merge(pass.run(marked, touched));
    changed.merge(pass.look_again());
    marked = std::exchange(all.dirty_workloads, {});  // by claims that were given up
    again = true;
  } while (!all.dirty_clusters.empty() || !marked.empty() || pass.took());
  for (const NamespacedName& id : changed) set_nomination(state, id);
  state.deadlines.set(DispatchDeadline{}, all.due.empty() ? kForever : all.due.begin()->first);
}

}  // namespace fairlead
