#include "engine/core/sources.h"

#include <algorithm>

#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/held.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

using Breadth = WatchScope::Breadth;

// What no rule reads is not asked for, so that nothing has to be granted for it.
bool is_read_on_hub(Kind kind, const Configuration& configuration) {
  if (configuration.record) return info(kind).has(kIsRecorded);
  // What is written to members and nowhere else.
  if (kind == Kind::manifest_work || kind == Kind::topology)
    return configuration.member_mode != MemberMode::none;
  if (kind == Kind::binding_policy) return configuration.member_mode == MemberMode::binding_policy;
  if (kind == Kind::mutating_admission_policy) return configuration.multikueue.dispatcher;
  if (kind == Kind::virtual_cluster) return !configuration.pool.clusters.empty();
  if (is_of_fleet_claims(kind) || kind == Kind::resource_claim_template)
    return configuration.dra.fleet_claims;
  return true;
}

// One namespace, so that a Role suffices to read the kind. Placements are watched in all of them
// where that is allowed; only those of this namespace count, so it suffices where the others may
// not be read.
WatchScope scope_on_hub(Kind kind, const Configuration& configuration) {
  if (!is_read_on_hub(kind, configuration)) return {Breadth::nowhere};
  if (kind == Kind::placement)
    return {Breadth::everywhere_if_allowed, configuration.kueue_namespace};
  if (kind == Kind::secret || kind == Kind::placement_decision)
    return {Breadth::one_namespace, configuration.kueue_namespace};
  return {};
}

Streams streams_of_hub(const Configuration& configuration) {
  Streams streams;
  for (const KindInfo& row : kKinds)
    if (is_read_from(kHub, row.kind))
      streams.kinds[row.kind] = scope_on_hub(row.kind, configuration);
  return streams;
}

// Quota counts devices and who uses them; what has to fit asks by templates of claims, too. The
// templates that the Pods of a super cluster name are the tenants' own.
bool are_devices_read(Kind kind, const Configuration& configuration, bool super) {
  const DraSettings& dra = configuration.dra;
  if (dra.dispatch || dra.fleet_claims) return true;
  return (dra.quota || super) && kind != Kind::resource_claim_template;
}

// The metadata says which Workload or tenant a Pod belongs to; specs may hold secrets, and are
// long. A syncer marks the Pods of tenants by an annotation: no label selects them. At other
// members the claims of the Pods that Kueue made replace what their Workloads have reserved.
WatchScope scope_of_pods(const Configuration& configuration, bool super) {
  const DraSettings& dra = configuration.dra;
  if (super) return {Breadth::everywhere, "", "", ObjectPart::metadata};
  if ((dra.dispatch || dra.fleet_claims) && configuration.multikueue.dispatcher)
    return {Breadth::everywhere, "", std::string(kPodSetLabel), ObjectPart::metadata};
  return {Breadth::nowhere};
}

// Of a super cluster also what tenants have there, and the ConfigMap with its id: by name, so that
// a Role may allow exactly that.
Streams streams_of_member(const State& state, bool super) {
  const Configuration& configuration = state.configuration;
  Streams streams;
  for (const KindInfo& row : kKinds) {
    const Kind kind = row.kind;
    if (!row.has(kIsOfMember) || kind == Kind::config_map) continue;
    if (kind == Kind::namespace_ && !super) continue;
    WatchScope& scope = streams.kinds[kind];
    if (kind == Kind::pod) scope = scope_of_pods(configuration, super);
    if ((kind == Kind::workload || kind == Kind::cohort) && !are_member_workloads_read(state))
      scope.breadth = Breadth::nowhere;
    if (is_of_devices(kind) && !are_devices_read(kind, configuration, super))
      scope.breadth = Breadth::nowhere;
  }
  if (super)
    streams.object = {Kind::config_map, std::string(kSuperClusterInfoNamespace),
                      std::string(kSuperClusterInfo)};
  return streams;
}

std::map<SourceName, TenantAccess> tenants_of(const State& state) {
  std::map<SourceName, TenantAccess> tenants;
  for (TenantAccess& access : tenants_to_watch(state))
    tenants.emplace(tenant_source(access.tenant), std::move(access));
  return tenants;
}

// The sources of `now` that were reached in no way before, or in another: what they hold has to be
// listed again.
template <class Access>
std::vector<SourceName> begun(const std::map<SourceName, Access>& before,
                              const std::map<SourceName, Access>& now) {
  std::vector<SourceName> sources;
  for (const auto& [source, access] : now)
    if (const auto was = before.find(source); was == before.end() || was->second != access)
      sources.push_back(source);
  return sources;
}

// A hub that only records reads no claims and no capacity but that of Nodes. What State holds of
// them is from an earlier run and is observed no more, so their streams count as lost: answers of
// the audit that rest on them say so.
void lose_unread_kinds(const State& state, std::vector<WatchFact>& lost) {
  if (!state.configuration.record) return;
  const std::string hub(kHub);
  for (const Kind kind : {Kind::claim, Kind::cluster_metrics, Kind::managed_cluster})
    if (!held_objects(state, hub, kind).empty()) lost.push_back({hub, StreamLost{kind}});
}

// Workloads of members that are read no more: what State holds of them is from before.
void lose_member_workloads(const State& state, const Watch& watch, std::vector<WatchFact>& lost) {
  for (const auto& [name, cluster] : state.clusters) {
    const auto member = watch.members.find(name);
    const bool read =
        member != watch.members.end() && watch.of(member->second).reads(Kind::workload);
    if (!read && cluster.member.workloads_listed && !cluster.member.silent.contains(Kind::workload))
      lost.push_back({name, StreamLost{Kind::workload}});
  }
}

}  // namespace

// A hub that only records reads no AdmissionChecks: there the workers of MultiKueue show that
// Workloads are sent to members.
bool are_member_workloads_read(const State& state) {
  const Configuration& configuration = state.configuration;
  switch (configuration.workloads.of_members) {
    case MemberWorkloads::yes: return true;
    case MemberWorkloads::no: return false;
    case MemberWorkloads::automatic: break;
  }
  if (configuration.record) return !state.multikueue.clusters.empty();
  const auto sends = [](const auto& check) {
    const std::string& controller = check.second.seen.facts.controller_name;
    return controller == kMultiKueueController || controller == kPlacementController;
  };
  const auto& checks = state.multikueue.checks;
  return configuration.multikueue.dispatcher || std::any_of(checks.begin(), checks.end(), sends);
}

bool Streams::reads(Kind kind) const {
  const auto scope = kinds.find(kind);
  return scope != kinds.end() && scope->second.breadth != Breadth::nowhere;
}

Watch watch_of(const State& state) {
  const Configuration& configuration = state.configuration;
  Watch watch;
  watch.hub = streams_of_hub(configuration);
  watch.member = streams_of_member(state, false);
  watch.super_cluster = streams_of_member(state, true);
  for (const KindInfo& row : kKinds)
    if (row.has(kIsOfTenant)) watch.tenant.kinds[row.kind] = {};
  for (const MemberKubeconfig& member : configuration.member_kubeconfigs)
    watch.members[member.cluster] = {member,
                                     pool_entry_of(configuration.pool, member.cluster) != nullptr};
  watch.tenants = tenants_of(state);
  watch.configuration = state.configuration_seq;
  return watch;
}

std::vector<UnwatchedClaim> unwatched_claims(const State& state, const Watch& watch) {
  std::vector<UnwatchedClaim> unwatched;
  for (const auto& [name, cluster] : state.clusters) {
    if (!cluster.reports.unwatched_since || watch.members.contains(name)) continue;
    const auto claims = state.claims.of_cluster.find(name);
    if (claims == state.claims.of_cluster.end()) continue;
    for (const std::string& claim : claims->second)
      unwatched.push_back({name, claim, *cluster.reports.unwatched_since});
  }
  return unwatched;
}

std::vector<WatchFact> Sources::follow_configuration(const State& state, FirstLists& lists) {
  if (began_ && watch_.configuration == state.configuration_seq) return {};
  Watch now = watch_of(state);
  now.tenants = watch_.tenants;  // those are followed where a step ends
  for (const auto& [kind, scope] : now.hub.kinds)
    if (!now.hub.reads(kind))
      awaited_.erase(kind);
    else if (!watch_.hub.reads(kind))
      awaited_.insert(kind);
  for (const SourceName& source : begun(watch_.members, now.members)) lists.reconnected(source);
  watch_ = std::move(now);
  began_ = changed_ = true;

  std::vector<WatchFact> lost;
  lose_unread_kinds(state, lost);
  lose_member_workloads(state, watch_, lost);
  // A super cluster whose ConfigMap was not read yet has no id: else its name would count as one
  // until then.
  for (const MemberKubeconfig& member : state.configuration.member_kubeconfigs)
    if (watch_.members.at(member.cluster).super && !state.pool.learnt.contains(member.cluster))
      lost.push_back({member.cluster, StreamLost{Kind::config_map}});
  return lost;
}

// A tenant whose first list was not taken up yet takes no part: it counts as lost until all its
// streams have listed.
std::vector<WatchFact> Sources::follow_tenants(const State& state, FirstLists& lists) {
  std::vector<WatchFact> lost;
  if (!began_ || tenancy_ == state.pool.tenancy_seq) return lost;
  tenancy_ = state.pool.tenancy_seq;
  auto now = tenants_of(state);
  for (const SourceName& source : begun(watch_.tenants, now)) {
    lists.reconnected(source);
    const auto known = state.pool.tenants.find(std::string(tenant_of(source)));
    if (known != state.pool.tenants.end() && known->second.first_seen) continue;
    for (const Kind kind : {Kind::namespace_, Kind::resource_quota, Kind::pod})
      lost.push_back({source, StreamLost{kind}});
  }
  changed_ = changed_ || now != watch_.tenants;
  watch_.tenants = std::move(now);
  return lost;
}

std::vector<WatchFact> Sources::follow_workloads(const State& state) {
  std::vector<WatchFact> lost;
  if (!began_ || are_member_workloads_read(state) == watch_.member.reads(Kind::workload))
    return lost;
  watch_.member = streams_of_member(state, false);
  watch_.super_cluster = streams_of_member(state, true);
  changed_ = true;
  lose_member_workloads(state, watch_, lost);
  return lost;
}

bool Sources::note(const WatchFact& fact) {
  if (fact.source != kHub)
    return watch_.members.contains(fact.source) || watch_.tenants.contains(fact.source);
  if (const auto* list = std::get_if<ListCompleted>(&fact.said)) awaited_.erase(list->kind);
  const auto* lost = std::get_if<StreamLost>(&fact.said);
  // Objects of a kind that may not be read stay as State holds them: no list says that they are
  // gone. Policies are read where the hub writes them; one that it cannot read may be another
  // writer's.
  if (lost && may_stay_unread(lost->kind) && lost->kind != Kind::binding_policy) {
    awaited_.erase(lost->kind);
    refused_.push_back(lost->kind);
  }
  return true;
}

bool Sources::due(const State& state) const {
  return began_ && (changed_ || tenancy_ != state.pool.tenancy_seq ||
                    are_member_workloads_read(state) != watch_.member.reads(Kind::workload));
}

const Watch* Sources::changed_watch() { return std::exchange(changed_, false) ? &watch_ : nullptr; }

}  // namespace fairlead
