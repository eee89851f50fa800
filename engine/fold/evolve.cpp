#include "engine/fold/evolve.h"

#include "engine/base/check.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/close.h"
#include "engine/fold/held.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/objects.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/worker_quota.h"
#include "engine/fold/usage/queue_use.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead {

namespace {

void advance_to(State& state, LogTime time, DirtySet& dirty) {
  check(time >= state.now, "log time went back");
  if (time == state.now) return;
  close_moment(state, dirty);
  // The loop ends: a close runs what is due at its moment, and each rule sets deadlines after that
  // moment only. So log time moves on with every round.
  while (state.deadlines.next() < time) {  // those at `time` wait for that moment's events
    state.now = state.deadlines.next();
    close_moment(state, dirty);
  }
  state.now = time;
}

struct Fold {
  State& state;
  const Event& event;
  DirtySet& dirty;

  void operator()(const EpochStarted&) {
    state.epoch = event.epoch;
    observe_start(state);
    hand_on(state, doubt_outstanding(state));
  }
  void operator()(const ConfigChanged& changed) {
    observe_members(state, state.configuration.member_kubeconfigs,
                    changed.configuration.member_kubeconfigs, event.seq);
    state.configuration = changed.configuration;
    state.configuration_seq = event.seq;
    ++*state.claims.terms_changes;
    state.multikueue.all_dirty = true;
    state.searches.all_dirty = true;
    mark_followers_dirty(state.multikueue);
    recount_everything(state);
    reparse_claims(state);
    state.pool.all_dirty = true;
    state.pool.tenancy_seq = event.seq;
    state.all_dirty = true;
  }
  void note_silent(std::optional<Kind> kind) {
    if (event.source == kHub && kind && is_silence_noted(*kind)) state.silent.insert(*kind);
  }
  bool folds_member_stream(std::optional<Kind> kind, Liveness liveness) {
    if (event.source == kHub || !kind || !has_noted_silence(*kind)) return false;
    ClusterMember& member = state.clusters[event.source].member;
    if (liveness != Liveness::live) return member.silent.insert(*kind), true;
    member.silent.erase(*kind);
    if (*kind == Kind::workload) member.workloads_listed = true;
    return true;
  }
  bool folds_tenant(std::optional<Kind> kind, const std::string& cluster, Liveness liveness) {
    if (!is_tenant(event.source) && !(event.source == kHub && is_tenant(cluster))) return false;
    const SourceName& source = is_tenant(event.source) ? event.source : cluster;
    observe_tenant_liveness(state.pool, source, kind, liveness, event.seq);
    return true;
  }
  bool folds_id(std::optional<Kind> kind, Liveness liveness) {
    if (kind != Kind::config_map) return false;
    observe_super_cluster_id(state, event.source, liveness);
    return true;
  }
  void operator()(const SourceSynced& synced) {
    if (synced.kind && !synced.resource_version.empty())
      hand_on(state, note_listed(state, event.source, *synced.kind));
    if (folds_tenant(synced.kind, synced.cluster, Liveness::live)) return;
    if (folds_id(synced.kind, Liveness::live)) return;
    if (folds_member_stream(synced.kind, Liveness::live)) return;
    if (event.source == kHub && synced.kind) state.silent.erase(*synced.kind);
    if (event.source == kHub && synced.kind && is_of_multikueue_path(*synced.kind))
      return observe_readable(state.multikueue, *synced.kind, event.seq);
    observe_liveness(state, event.source, synced.kind, synced.cluster, Liveness::live, event.seq);
    observe_sign_of_life(state, event.source, synced.kind, synced.cluster);
  }
  void operator()(const SourceStale& stale) {
    if (folds_tenant(stale.kind, stale.cluster, Liveness::stale)) return;
    if (folds_id(stale.kind, Liveness::stale)) return;
    if (folds_member_stream(stale.kind, Liveness::stale)) return;
    note_silent(stale.kind);
    observe_liveness(state, event.source, stale.kind, stale.cluster, liveness_of(stale.cause),
                     event.seq);
  }
  void operator()(const SourceLost& lost) {
    if (folds_tenant(lost.kind, lost.cluster, Liveness::lost)) return;
    if (folds_id(lost.kind, Liveness::lost)) return;
    if (folds_member_stream(lost.kind, Liveness::lost)) return;
    note_silent(lost.kind);
    if (event.source == kHub && lost.kind && is_of_multikueue_path(*lost.kind))
      return observe_unreadable(state.multikueue, *lost.kind, event.seq);
    observe_liveness(state, event.source, lost.kind, lost.cluster, Liveness::lost, event.seq);
  }
  void operator()(const ObjectObserved& seen) {
    if (seen.key.kind == Kind::node)  // the most frequent kind, which we never write
      return fold_object(state, event.source, seen.key, &seen, event.seq);
    const auto known = held(state, event.source, seen.key);
    // The stream did not report the end of the former object, as between two lists: what was
    // written to that object was not written to this one.
    if (known && !known->uid.empty() && !seen.uid.empty() && known->uid != seen.uid)
      note_gone(state, event.source, seen.key);
    if (event.source == kHub && info(seen.key.kind).group == "kueue.x-k8s.io")
      state.kueue_versions.insert(seen.version);
    fold_object(state, event.source, seen.key, &seen, event.seq);
    // Last: a write that this concludes is compared with the State that has the observation.
    hand_on(state, note_observed(state, event.source, seen));
    if (seen.key.kind == Kind::workload) bound_workloads(state, event.source);
  }
  void operator()(const ObjectGone& gone) {
    // A write to it can no longer be concluded, and the next object of that name begins without a
    // write interval or a refusal.
    note_gone(state, event.source, gone.key);
    fold_object(state, event.source, gone.key, nullptr, event.seq);
  }
  void operator()(const TimerFired&) { close_moment(state, dirty); }
  void operator()(const PatchIntended& intent) { note_intent(state, intent, event.seq); }
  void operator()(const PatchAccepted& accepted) { hand_on(state, note_accepted(state, accepted)); }
  void operator()(const PatchRejected& rejected) {
    hand_on(state, note_rejected(state, rejected, event.seq));
  }
  void operator()(const PatchUnknown& unknown) { hand_on(state, note_unknown(state, unknown)); }
  void operator()(const Checkpoint&) {}
  void operator()(const AdmissionDecided&) {}
};

}  // namespace

void evolve(State& state, const Event& event, DirtySet& dirty) {
  check(state.seq == Seq{} || event.seq == next(state.seq), "events are folded in seq order");
  advance_to(state, event.log_time, dirty);
  // An intent follows from a closed moment. With Clocking::shared it has the log time of that
  // moment, so a fold of the log closes the moment here. It does so before State::seq becomes the
  // intent's, because rules record State::seq as a cause, and the plan closed the moment then.
  if (std::holds_alternative<PatchIntended>(event.fact)) close_moment(state, dirty);
  state.seq = event.seq;
  if (event.source != kSelf) state.input_seq = event.seq;
  // Any event of a member will do: an empty super cluster reports no object, only a complete list.
  if (event.source != kHub && event.source != kSelf && !is_tenant(event.source))
    note_member(state, event.source);
  observe_sign(state, event);
  std::visit(Fold{state, event, dirty}, event.fact);
  state.usage.last_event = event.log_time;
}

void run_until(State& state, LogTime time, DirtySet& dirty) {
  advance_to(state, time, dirty);
  close_moment(state, dirty);
}

}  // namespace fairlead
