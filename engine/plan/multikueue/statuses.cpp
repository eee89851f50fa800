// The statuses of AdmissionChecks and Workloads.
#include <algorithm>

#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/dispatch/refusals.h"
#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/multikueue/check_observation.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/fleet_claims/fleet_claims.h"
#include "engine/plan/multikueue/multikueue.h"

namespace fairlead {

namespace {

PatchIntended intent_for(Verb verb, const ObjectKey& target, const std::string& version,
                         const std::string& uid, const std::string& resource_version) {
  PatchIntended intent = hub_intent(verb, target, version, uid, resource_version);
  intent.force = verb == Verb::apply_status;
  return intent;
}

// ---- conditions of a check ----

struct ConditionToWrite {
  const char* type;
  const ConditionWish& wish;
  const ConditionFacts& current;
};

Json conditions_said(const WriteTables& writes, const ObjectKey& check) {
  const WriteState* write = status_write_of(writes, check);
  // Facts keep neither messages nor times of conditions, so they come from our last accepted body.
  if (!write || write->status().body.empty()) return Json::array();
  return list_in(member(read_json(write->status().body), "status"), "conditions");
}

const Json* find_said(const Json& said, const std::string& type) {
  for (const Json& condition : said)
    if (text_in(condition, "type") == type) return &condition;
  return nullptr;
}

// Whether the observed condition has the desired status and reason. Facts have no message.
bool is_observed(const ConditionWish& wish, const ConditionFacts& seen) {
  return seen.status == wish.status && seen.reason == wish.reason;
}

bool differs(const ConditionToWrite& one, std::int64_t generation, const Json* said) {
  if (!one.wish.given()) return said || one.current.status != ConditionStatus::absent;
  if (!is_observed(one.wish, one.current) || one.current.observed_generation != generation)
    return true;
  return said && text_in(*said, "message") != one.wish.message;
}

// Whether our last write had the same condition, so that only another writer can have changed it.
bool is_said(const ConditionWish& wish, std::int64_t generation, const Json* said) {
  if (!wish.given() || !said) return !wish.given() && !said;
  return member(*said, "status") == text_of(wish.status) &&
         member(*said, "reason") == wish.reason && member(*said, "message") == wish.message &&
         member(*said, "observedGeneration") == generation;
}

// Whether another writer changed conditions that we wrote less than kStatusRestoreInterval ago.
bool restore_must_wait(const State& state, const ObjectKey& check) {
  const WriteState* write = status_write_of(state.writes, check);
  // A status is foreign only after a write of ours, so `write` is not null behind it.
  return check_status_is_foreign(state, check.name) && write->last_write &&
         *write->last_write + kStatusRestoreInterval > state.now;
}

Json to_json(const State& state, const ConditionToWrite& one, std::int64_t generation,
             const Json* said) {
  std::string since = to_rfc3339(whole_seconds(state.now));
  if (said && text_in(*said, "status") == text_of(one.wish.status))
    since = text_in(*said, "lastTransitionTime");
  return {{"type", one.type},
          {"status", text_of(one.wish.status)},
          {"reason", one.wish.reason},
          {"message", one.wish.message},
          {"observedGeneration", generation},
          {"lastTransitionTime", since}};
}

ConditionFacts facts_of(const ConditionWish& wish, std::int64_t generation) {
  return wish.given() ? ConditionFacts{wish.status, wish.reason, generation} : ConditionFacts{};
}

void emit_conditions(const State& state, const std::string& name, const CheckRecord& check,
                     std::vector<PatchIntended>& proposals) {
  if (!check.active.given() && !check.used.given()) return;
  const auto& seen = check.seen;
  const ObjectKey key{Kind::admission_check, "", name};
  const Json said = conditions_said(state.writes, key);
  bool changed = false, restored = true;
  Json conditions = Json::array();
  for (const ConditionToWrite& one :
       {ConditionToWrite{"Active", check.active, seen.facts.active},
        ConditionToWrite{"AllClustersUsed", check.used, seen.facts.all_clusters_used},
        ConditionToWrite{"DispatcherReady", check.dispatcher, seen.facts.dispatcher_ready}}) {
    const Json* before = find_said(said, one.type);
    changed = changed || differs(one, seen.generation, before);
    restored = restored && is_said(one.wish, seen.generation, before);
    if (one.wish.given()) conditions.push_back(to_json(state, one, seen.generation, before));
  }
  if (!changed || (restored && restore_must_wait(state, key))) return;
  PatchIntended intent =
      intent_for(Verb::apply_status, key, seen.version, seen.uid, seen.resource_version);
  Json body = object_head(key.kind, seen.version, "", name, seen.uid, seen.resource_version);
  body["status"]["conditions"] = std::move(conditions);
  intent.body = to_text(body);
  std::vector<Seq> causes{seen.seq};
  if (const auto list = state.multikueue.lists.find(check.placement);
      list != state.multikueue.lists.end())
    causes.insert(causes.end(), list->second.causes.begin(), list->second.causes.end());
  if (!is_observed(check.dispatcher, seen.facts.dispatcher_ready))
    causes.push_back(state.multikueue.clearer_seq);
  intent.reason = {
      "multikueue/condition", deciding(std::move(causes)),
      "Active " + std::string(text_of(check.active.status)) + " " + check.active.reason};
  AdmissionCheckFacts expected = seen.facts;
  expected.active = facts_of(check.active, seen.generation);
  expected.all_clusters_used = facts_of(check.used, seen.generation);
  expected.dispatcher_ready = facts_of(check.dispatcher, seen.generation);
  intent.expected = std::move(expected);
  add(proposed(state, Rank::status, std::move(intent), Pacing::at_once), proposals);
}

// Removes the add-on's finalizer from a check that is being deleted, once the config is gone, is
// not ours or is used by other checks: then nothing of the add-on's is left to clean up.
void release_addon(const State& state, const std::string& name, const CheckRecord& check,
                   std::vector<PatchIntended>& proposals) {
  AdmissionCheckFacts facts = check.seen.facts;
  const auto finalizer =
      std::find(facts.finalizers.begin(), facts.finalizers.end(), kAddonFinalizer);
  if (!facts.deleting || !state.configuration.multikueue.adopt_ocm_addon ||
      facts.controller_name != kPlacementController || finalizer == facts.finalizers.end())
    return;
  if (state.multikueue.configs.contains(check.placement) && is_own_config(state, check.placement) &&
      checks_of(state.multikueue, check.placement).empty())
    return;
  facts.finalizers.erase(finalizer);
  const auto& seen = check.seen;
  PatchIntended intent = intent_for(Verb::patch, {Kind::admission_check, "", name}, seen.version,
                                    seen.uid, seen.resource_version);
  // A merge patch (RFC 7386) replaces the list; the version refuses it if another one was added.
  Json finalizers = nullptr;
  if (!facts.finalizers.empty()) finalizers = facts.finalizers;
  intent.body = to_text(
      Json{{"metadata", {{"finalizers", finalizers}, {"resourceVersion", seen.resource_version}}}});
  intent.reason = {"multikueue/release", deciding({seen.seq}),
                   "nothing of the OCM add-on's is left to clean up"};
  intent.expected = std::move(facts);
  add(proposed(state, Rank::release, std::move(intent), Pacing::at_once), proposals);
}

// ---- Workloads ----

bool is_ours(const MultiKueue& multikueue, const std::string& check) {
  const auto at = multikueue.checks.find(check);
  return at != multikueue.checks.end() &&
         at->second.seen.facts.controller_name == kPlacementController;
}

// Our checks on a Workload, all of them Ready.
struct ReadyChecks {
  Json checks = Json::array();
  std::string unready;  // those that are not yet, with their states
  std::vector<Seq> causes;
};

ReadyChecks make_ready(const State& state, WorkloadFacts& workload) {
  ReadyChecks ready;
  for (WorkloadCheck& one : workload.checks) {
    if (!is_ours(state.multikueue, one.name)) continue;
    // Also one that is Ready already: the server removes the entries of ours that an apply leaves
    // out.
    ready.checks.push_back({{"name", one.name}, {"state", "Ready"}});
    ready.causes.push_back(state.multikueue.checks.at(one.name).seen.seq);
    if (one.state != "Ready") ready.unready += " " + one.name + " " + one.state;
    one.state = "Ready";
  }
  return ready;
}

// The condition as it is written. A message about the clusters is of the moment in which the
// condition got its reason: it stays when only other fields are written.
Json workload_condition(const State& state, const ObjectKey& key, const NamespacedName& id,
                        const WorkloadRecord& record) {
  ConditionWish wish = devices_condition(record.devices());
  const auto seen = record.seen.read();
  const Json said = conditions_said(state.writes, key);
  const Json* before = find_said(said, kDevicesReserved);
  // A write without an answer may have given it another reason since.
  const bool current = before && text_in(*before, "reason") == wish.reason &&
                       is_observed(wish, seen->facts.devices_reserved) &&
                       wish.reason != "Bypassed" && wish.status == ConditionStatus::no;
  wish.message = current ? std::string((*before)["message"]) : devices_message(state, id, record);
  return to_json(state, {kDevicesReserved, wish, seen->facts.devices_reserved}, seen->generation,
                 before);
}

std::string nomination_text(const ReadyChecks& ready, const WorkloadRecord& record,
                            const ConditionWish& condition) {
  if (!ready.unready.empty())
    return "Kueue dispatches only when every check is Ready:" + ready.unready;
  if (!condition.given()) return "nominated from the present list";
  const auto& reservation = record.devices().reservation;
  return "DevicesReserved " + std::string(text_of(condition.status)) + " " + condition.reason +
         (reservation ? " " + reservation->worker : "");
}

}  // namespace

void emit_check(const State& state, const std::string& name,
                std::vector<PatchIntended>& proposals) {
  const auto at = state.multikueue.checks.find(name);
  if (at == state.multikueue.checks.end()) return;
  emit_conditions(state, name, at->second, proposals);
  release_addon(state, name, at->second, proposals);
}

void emit_workload(const State& state, const NamespacedName& id,
                   std::vector<PatchIntended>& proposals) {
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return;
  const WorkloadRecord& record = at->second;
  const auto observed = record.seen.read();
  const Observed<WorkloadFacts>& seen = *observed;
  if (seen.facts.finished || seen.facts.deleting || awaits_claims(state, id, record)) return;
  WorkloadFacts expected = seen.facts;
  const ReadyChecks ready = make_ready(state, expected);
  if (ready.checks.empty()) return;
  std::vector<Seq> causes{seen.seq};
  causes.insert(causes.end(), ready.causes.begin(), ready.causes.end());
  const ConditionWish condition = devices_condition(record.devices());
  const bool judges = !is_observed(condition, seen.facts.devices_reserved);
  const bool nominates =
      record.decision->nominates && record.decision->nomination != seen.facts.nominated_clusters;
  if (ready.unready.empty() && !nominates && !judges) return;
  if (nominates) {
    expected.nominated_clusters = record.decision->nomination;
    causes.push_back(state.multikueue.clearer_seq);
  }
  expected.devices_reserved = facts_of(condition, seen.generation);
  if (const auto& reservation = record.devices().reservation)
    causes.insert(causes.end(), reservation->causes.begin(), reservation->causes.end());
  const ObjectKey key{Kind::workload, id.first, id.second};
  PatchIntended intent =
      intent_for(Verb::apply_status, key, seen.version, seen.uid, seen.resource_version);
  Json body =
      object_head(key.kind, seen.version, id.first, id.second, seen.uid, seen.resource_version);
  body["status"]["admissionChecks"] = ready.checks;
  // Also where it does not change: an apply that leaves out a field of ours removes it.
  if (!expected.nominated_clusters.empty())
    body["status"]["nominatedClusterNames"] = expected.nominated_clusters;
  if (condition.given())
    body["status"]["conditions"] = Json::array({workload_condition(state, key, id, record)});
  intent.body = to_text(body);
  intent.reason = {ready.unready.empty() ? "multikueue/nominate" : "multikueue/ready",
                   deciding(std::move(causes)), nomination_text(ready, record, condition)};
  intent.expected = std::move(expected);
  add(proposed(state, Rank::status, std::move(intent), Pacing::at_once), proposals);
}

std::vector<PatchIntended> emit_multikueue(const State& state, const DirtySet& dirty) {
  std::vector<PatchIntended> proposals;
  for (const std::string& placement : dirty.placements) {
    emit_workers(state, placement, proposals);
    emit_worker_list(state, placement, proposals);
  }
  emit_worker_removals(state, dirty.workers, proposals);
  for (const std::string& name : dirty.checks) emit_check(state, name, proposals);
  for (const NamespacedName& id : dirty.workloads) emit_workload(state, id, proposals);
  for (const NamespacedName& id : dirty.fleet_claims) emit_fleet_claim(state, id, proposals);
  for (const NamespacedName& id : dirty.fleet_schedulings)
    emit_fleet_scheduling(state, id, proposals);
  // Lists may share a MultiKueueCluster: its first proposal is kept.
  std::set<WriteKey> once;
  std::erase_if(proposals,
                [&](const PatchIntended& one) { return !once.insert(write_key(one)).second; });
  return proposals;
}

}  // namespace fairlead
