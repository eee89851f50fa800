#include "engine/fold/objects.h"

#include <string>
#include <tuple>
#include <type_traits>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/close.h"
#include "engine/fold/devices/observe_devices.h"
#include "engine/fold/fleet_claims/observe_fleet_claims.h"
#include "engine/fold/held.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/fold/multikueue/finished_workloads.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/worker_quota.h"
#include "engine/fold/rooms.h"
#include "engine/fold/usage/queue_use.h"

namespace fairlead {

namespace {

void mark_users_of_checks_dirty(QueueTables& queues) {
  for (const auto& [name, queue] : queues.by_name)
    if (!queue.facts.admission_checks.empty()) mark_queue_dirty(queues, name);
}

void observe_resource_flavor(CapacityRoom state, const std::string& name,
                             const ResourceFlavorFacts* facts, Seq seq) {
  observe_flavor(state, name, facts, seq);
  state.all_dirty = state.searches.all_dirty = true;
}

void observe_local_queue(StateView<QueueTables> state, const NamespacedName& id,
                         const LocalQueueFacts* facts) {
  // Both queues are marked: the object may have been made anew for another ClusterQueue between two
  // observations.
  if (const auto at = state.queues.local.find(id); at != state.queues.local.end())
    mark_queue_dirty(state.queues, at->second.cluster_queue);
  if (facts) {
    // Whether it admits is Kueue's matter on the hub: only where it points is kept.
    state.queues.local[id] = {facts->cluster_queue, {}, {}};
    mark_queue_dirty(state.queues, facts->cluster_queue);
  } else {
    state.queues.local.erase(id);
  }
}

void observe_member_local_queue(StateView<Clusters, DirtyClusters, MultiKueue> state,
                                const std::string& source, const NamespacedName& id,
                                const LocalQueueFacts* facts) {
  Cluster& cluster = mark_cluster_dirty(state, source);
  if (facts)
    cluster.member.local_queues[id] = *facts;
  else
    cluster.member.local_queues.erase(id);
  mark_followers_dirty(state.multikueue);
}

// Folds a ClusterQueue of a watched member: its usage, and the quota that hub queues may follow.
Changes observe_member_queue(State& state, const std::string& source, const ObjectKey& key,
                             Seen<ClusterQueueFacts> seen, Seq seq) {
  Cluster& cluster = mark_cluster_dirty(state, source);
  if (seen) {
    const ClusterQueueFacts* const facts = &seen->facts;
    MemberQueue& queue = cluster.member.queues[key.name];
    if (queue.groups != facts->groups || queue.stop_policy != facts->stop_policy ||
        queue.active != facts->active.status || queue.reason != facts->active.reason)
      mark_followers_dirty(state.multikueue);
    queue = {
        facts->groups,        facts->usage,       seq,       facts->effective, facts->active.status,
        facts->active.reason, facts->stop_policy, seen->uid, facts->cohort,    facts->reserved,
        facts->borrowed};
  } else {
    cluster.member.queues.erase(key.name);
    mark_followers_dirty(state.multikueue);
  }
  recompute_member_queue(state, source, key.name, DeviationSource::member);
  return observe_queue_at_member(state, source, key.name);
}

// Cohorts and Workloads of members decide nothing on the hub: they are held for questions about the
// past, and so that ingest knows what changed.
void observe_member_cohort(StateView<Clusters> state, const std::string& source,
                           const std::string& name, const CohortFacts* facts) {
  auto& cohorts = state.clusters[source].member.cohorts;
  if (facts)
    cohorts[name] = *facts;
  else
    cohorts.erase(name);
}

void observe_member_workload(StateView<Clusters> state, const std::string& source,
                             const NamespacedName& id, Seen<WorkloadFacts> seen) {
  auto& workloads = state.clusters[source].member.workloads;
  if (seen)
    workloads[id] = SeenWorkload(std::move(*seen));
  else
    workloads.erase(id);
}

void note_finished_of_hub(StateView<MultiKueue, const LogPosition> state, const NamespacedName& id,
                          const WorkloadFacts* facts) {
  note_finished(state, std::string(kHub), id, facts);
}

/// An observation of an object, or its end, in the forms that rules take it in.
template <class F>
struct ObjectReport {
  const SourceName& source;
  const ObjectKey& key;
  const ObjectObserved* seen;  ///< null: the object is gone
  Seq seq;

  const F* facts() const { return seen ? &std::get<F>(seen->facts) : nullptr; }
  Seen<F> record() const {
    if (!seen) return std::nullopt;
    return Observed<F>{seen->uid,        seen->version, seen->resource_version,
                       seen->generation, *facts(),      seq};
  }
  /// Returns what a parameter of the type Asked is given.
  template <class Asked>
  decltype(auto) given() const {
    if constexpr (std::is_same_v<Asked, Seen<F>>)
      return record();
    else if constexpr (std::is_same_v<Asked, const F*>)
      return facts();
    else if constexpr (std::is_same_v<Asked, NamespacedName>)
      return NamespacedName(key.namespace_, key.name);
    else if constexpr (std::is_same_v<Asked, std::string>)
      return (key.name);
    else if constexpr (std::is_same_v<Asked, ObjectKey>)
      return (key);
    else if constexpr (std::is_same_v<Asked, ObjectReport>)
      return (*this);
    else
      return Asked(seq);
  }
};

void fold_queue(ObservedQueueRoom state, const ObjectReport<ClusterQueueFacts>& of) {
  of.seen ? observe_queue(state, *of.seen, of.seq) : forget_queue(state, of.key.name);
}
void fold_queue_use(UsageRoom state, const ObjectReport<ClusterQueueFacts>& of) {
  of.seen ? observe_queue_use(state, *of.seen) : forget_queue_use(state, of.key.name);
}
void fold_claim(ClaimRoom state, const ObjectReport<ClaimFacts>& of) {
  of.seen ? observe_claim(state, *of.seen, of.seq) : forget_claim(state, of.key.name);
}
Changes fold_work(MemberRoom state, const ObjectReport<ManifestWorkFacts>& of) {
  return of.seen ? observe_work(state, *of.seen, of.seq) : forget_work(state, of.key);
}
Changes fold_policy(ClusterMarks state, const ObjectReport<BindingPolicyFacts>& of) {
  return of.seen ? observe_policy(state, *of.seen, of.seq) : forget_policy(state, of.key);
}
void follow_config(StateView<QueueTables> state, const ObjectReport<MultiKueueConfigFacts>&) {
  mark_users_of_checks_dirty(state.queues);
}
void follow_check(StateView<QueueTables> state, const ObjectReport<AdmissionCheckFacts>&) {
  mark_users_of_checks_dirty(state.queues);
}

// The rules that fold observations, by the API server that the object is of. The type of a rule
// says the kind. Where a kind has several rules, they are called in this order; a kind of the hub
// that has none is held as it is observed.
constexpr auto kRulesOfHub = std::make_tuple(
    observe_metrics, observe_managed_cluster, observe_resource_flavor, fold_queue, fold_queue_use,
    observe_local_queue, observe_cohort, fold_claim, fold_work, fold_policy, observe_profile,
    observe_profile_of_kueue, observe_placement, observe_decision, observe_score, observe_secret,
    observe_config, follow_config, observe_worker, observe_check, follow_check, observe_workload,
    note_finished_of_hub, observe_crd, observe_admission_policy, observe_virtual_cluster,
    observe_booked_template, observe_fleet_class, observe_fleet_claim, observe_fleet_template,
    observe_fleet_scheduling);
constexpr auto kRulesOfMembers = std::make_tuple(
    observe_node, observe_member_queue, observe_member_local_queue, observe_member_cohort,
    observe_member_workload, note_finished, observe_super_namespace, observe_super_cluster_info,
    observe_member_pod, observe_slice, observe_device_class, observe_taint_rule,
    observe_resource_claim, observe_claim_template);
constexpr auto kRulesOfTenants =
    std::make_tuple(observe_tenant_namespace, observe_tenant_quota, observe_tenant_pod,
                    observe_tenant_claim, observe_tenant_template);

/// Whether a rule with these parameters is for the kind.
template <class F, class... Parameter>
constexpr bool kIsFor = ((std::is_same_v<std::remove_cvref_t<Parameter>, const F*> ||
                          std::is_same_v<std::remove_cvref_t<Parameter>, Seen<F>> ||
                          std::is_same_v<std::remove_cvref_t<Parameter>, ObjectReport<F>>) ||
                         ...);
template <class F, class... Rule>
constexpr bool have_rule_for(const std::tuple<Rule...>&) {
  return ([]<class Answer, class Room, class... Parameter>(Answer (*)(Room, Parameter...)) {
    return kIsFor<F, Parameter...>;
  }(Rule()) ||
          ...);
}

/// Hands on what the rule returns, if it returns anything.
void hand_on_from(State& state, const auto& rule) {
  if constexpr (std::is_void_v<decltype(rule())>)
    rule();
  else
    hand_on(state, rule());
}

/// Calls the rule if it is for the kind, and hands on what it returns.
template <class F, class Answer, class Room, class... Parameter>
void call_of_hub(Answer (*rule)(Room, Parameter...), State& state, const ObjectReport<F>& of) {
  if constexpr (kIsFor<F, Parameter...>) {
    const auto call = [&] {
      return rule(state, of.template given<std::remove_cvref_t<Parameter>>()...);
    };
    hand_on_from(state, call);
  }
}
template <class F, class Answer, class Room, class... Parameter>
void call_at_source(Answer (*rule)(Room, const SourceName&, Parameter...), State& state,
                    const ObjectReport<F>& of) {
  if constexpr (kIsFor<F, Parameter...>) {
    const auto call = [&] {
      return rule(state, of.source, of.template given<std::remove_cvref_t<Parameter>>()...);
    };
    hand_on_from(state, call);
  }
}
template <class F, class... Rule>
void call_all_at_source(const std::tuple<Rule...>& rules, State& state, const ObjectReport<F>& of) {
  static_assert(have_rule_for<F>(std::tuple<Rule...>()), "members and tenants have no default");
  std::apply([&](Rule... rule) { (call_at_source(rule, state, of), ...); }, rules);
}

template <class F>
void hold(State& state, const ObjectReport<F>& of) {
  auto& table = table_of(KindOf<F>(), state);
  using Table = std::remove_reference_t<decltype(table)>;
  const auto id = of.template given<typename Table::key_type>();
  if (!of.seen)
    table.erase(id);
  else if constexpr (std::is_same_v<typename Table::mapped_type, F>)
    table[id] = *of.facts();
  else
    table[id] = *of.record();
  state.all_dirty = true;
}

template <class F>
void fold_of_hub(State& state, const ObjectReport<F>& of) {
  if constexpr (have_rule_for<F>(kRulesOfHub))
    std::apply([&](auto... rule) { (call_of_hub(rule, state, of), ...); }, kRulesOfHub);
  else
    hold(state, of);
}

}  // namespace

void fold_object(State& state, const SourceName& source, const ObjectKey& key,
                 const ObjectObserved* seen, Seq seq) {
  with_kind<void>(key.kind, [&]<class F>(KindOf<F>) {
    const ObjectReport<F> of{source, key, seen, seq};
    constexpr KindInfo row = info(kKindOf<F>);
    if (is_tenant(source)) {
      if constexpr (row.has(kIsOfTenant)) call_all_at_source(kRulesOfTenants, state, of);
    } else if (source == kHub) {
      if constexpr (row.has(kIsOfHub)) fold_of_hub(state, of);
    } else {
      if constexpr (row.has(kIsOfMember)) call_all_at_source(kRulesOfMembers, state, of);
    }
  });
}

}  // namespace fairlead
