#include "engine/fold/writes/outcomes.h"

#include <algorithm>
#include <tuple>

#include "engine/base/json.h"
#include "engine/base/resource_version.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/members/works.h"
#include "engine/fold/multikueue/check_observation.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/pool/tenants.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/retry.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

// The status of a claim has deadlines of its own: numbers_due, and the restore after another writer
// changed it.
bool is_claim_status(const WriteKey& key) { return key.status && key.object.kind == Kind::claim; }

// Another writer has changed the status since our last accepted write of it.
bool is_foreign_status(StateView<const ClaimTables, const MultiKueue, const WriteTables> state,
                       const WriteKey& key, const WriteState& write) {
  if (is_claim_status(key)) return status_is_foreign(state, key.object.name, write);
  return key.status && key.object.kind == Kind::admission_check &&
         check_status_is_foreign(state, key.object.name);
}

std::pair<const WriteKey, WriteState>* find_outstanding(WriteTables& writes, Seq intent) {
  const auto key = writes.outstanding.find(intent);
  // The second lookup finds the write: both tables change together (note_intent, drop_outstanding).
  return key == writes.outstanding.end() ? nullptr : &*writes.by_key.find(key->second);
}

void drop_outstanding(WriteTables& writes, WriteState& write) {
  writes.outstanding.erase(write.outstanding->seq);
  write.outstanding.reset();
}

// Gives up a write without an answer: it may have happened or not. If it happened, an
// AdmissionCheck has the messages of its body. Facts have no messages to compare, so those of our
// last accepted body are emptied, and the conditions are written again with their times.
void give_up_doubted(WriteTables& writes, const WriteKey& key, WriteState& write) {
  drop_outstanding(writes, write);
  if (!key.status || key.object.kind != Kind::admission_check || !write.status_left) return;
  Json body = read_json(write.status_left->body);
  if (!member(member(body, "status"), "conditions").is_array()) return;
  for (Json& condition : body["status"]["conditions"])
    if (condition.is_object()) condition["message"] = "";
  write.status_left->body = to_text(body);
}

// Returns when the accepted values behind a claim's status will have held still for
// claims.statusInterval; kForever if none changed since the last write.
LogTime numbers_due(TermsReader state, const std::string& name, LogTime last_write) {
  const auto claim = state.claims.by_name.find(name);
  if (claim == state.claims.by_name.end()) return kForever;
  const auto& [terms, spec] = std::tie(claim->second.terms, claim->second.facts.spec);
  const auto cluster = state.clusters.find(terms ? terms->cluster : spec.cluster_name);
  if (cluster == state.clusters.end()) return kForever;
  const LogTime still = still_since(cluster->second);
  return still > last_write ? still + state.configuration.status_interval : kForever;
}

// The object's next deadline: the first moment at which one of the things that keep a write back
// ends by itself. Each may outlast another: an interval the wait after a conflict, a refusal's wait
// the interval.
void set_deadline(WriteRoom state, const WriteKey& key, const WriteState& write) {
  LogTime next = kForever;
  const auto consider = [&](LogTime at) {
    if (at > state.now) next = std::min(next, at);
  };
  if (write.outstanding && write.outstanding->doubted_until)
    consider(*write.outstanding->doubted_until);
  if (write.refusal) consider(write.refusal->retry_at);
  // Of a tenant's object only one that has something to write waits: the pool looks at it again.
  if (write.last_write && !is_tenant(key.cluster))
    consider(*write.last_write + write_interval(state, view_of(key)));
  if (write.last_write && is_claim_status(key))
    consider(numbers_due(state, key.object.name, *write.last_write));
  if (write.last_write && is_foreign_status(state, key, write))
    consider(*write.last_write + kStatusRestoreInterval);
  state.deadlines.set(key, next);
}

// Ends the wait for a version. Where versions have no order any observation of the object ends it.
void clear_awaited(WriteState& write, const ObjectObserved& seen) {
  if (!write.awaits_end && !is_lower_version(seen.resource_version, write.awaited_version))
    write.await_nothing();
}

// Compares only what writes of the kind set: the rest of the object belongs to other writers.
bool looks_as_intended(const PatchIntended& intent, const ObjectObserved& seen) {
  if (!intent.expected || intent.verb == Verb::apply_status) return false;
  if (const auto* queue = std::get_if<ClusterQueueFacts>(&*intent.expected))
    return queue->groups == std::get<ClusterQueueFacts>(seen.facts).groups;
  if (const auto* work = std::get_if<ManifestWorkFacts>(&*intent.expected))
    return carries(std::get<ManifestWorkFacts>(seen.facts), *work) &&
           work->flavors == std::get<ManifestWorkFacts>(seen.facts).flavors;
  if (const auto* policy = std::get_if<BindingPolicyFacts>(&*intent.expected))
    return policy->spec_digest == std::get<BindingPolicyFacts>(seen.facts).spec_digest;
  if (const auto* claim = std::get_if<ClaimFacts>(&*intent.expected)) {
    const auto& observed = std::get<ClaimFacts>(seen.facts);
    return claim->finalizers == observed.finalizers &&
           claim->spec.nominal_resources == observed.spec.nominal_resources;
  }
  if (const auto* config = std::get_if<MultiKueueConfigFacts>(&*intent.expected)) {
    const auto& observed = std::get<MultiKueueConfigFacts>(seen.facts);
    return config->clusters == observed.clusters && config->mark == observed.mark;
  }
  if (const auto* worker = std::get_if<MultiKueueClusterFacts>(&*intent.expected)) {
    const auto& observed = std::get<MultiKueueClusterFacts>(seen.facts);
    return worker->secret == observed.secret && worker->mark == observed.mark &&
           worker->cluster_profile == observed.cluster_profile;
  }
  if (const auto* check = std::get_if<AdmissionCheckFacts>(&*intent.expected))
    return check->finalizers == std::get<AdmissionCheckFacts>(seen.facts).finalizers;
  if (const auto* made = std::get_if<FleetResourceClaimFacts>(&*intent.expected))
    return made->spec == std::get<FleetResourceClaimFacts>(seen.facts).spec;
  if (const auto* asked = std::get_if<FleetSchedulingFacts>(&*intent.expected)) {
    const auto& observed = std::get<FleetSchedulingFacts>(seen.facts);
    return asked->potential == observed.potential && asked->selected == observed.selected;
  }
  if (const auto* of = std::get_if<NamespaceFacts>(&*intent.expected)) {
    const auto& observed = std::get<NamespaceFacts>(seen.facts);
    return of->placements == observed.placements && of->reason == observed.reason;
  }
  if (const auto* pod = std::get_if<PodFacts>(&*intent.expected)) {
    const auto& observed = std::get<PodFacts>(seen.facts);
    return pod->super_cluster == observed.super_cluster && pod->reason == observed.reason;
  }
  return false;
}

// The list is ours from the creation on, until another writer changes it.
void keep_nominal(WriteState& write, const PatchIntended& intent) {
  if (const auto* nominal = nominal_in(intent); nominal && intent.verb == Verb::create)
    write.nominal = *nominal;
  else if (nominal && write.nominal && intent.verb != Verb::apply_status)
    write.nominal = *nominal;
}

// Gives the list up if it is neither what our last write left nor what an unanswered one leaves:
// another writer changed it. While a version is awaited the observation may be older than our
// write.
void drop_foreign_nominal(WriteState& write, const ObjectObserved& seen) {
  const auto* claim = std::get_if<ClaimFacts>(&seen.facts);
  if (!claim || !write.nominal || write.awaits()) return;
  const auto& observed = claim->spec.nominal_resources;
  const auto* coming = write.outstanding ? nominal_in(write.outstanding->intent) : nullptr;
  if (observed != *write.nominal && !(coming && observed == *coming)) write.nominal.reset();
}

// The write has happened. Returns what it intended.
PatchIntended conclude(WriteRoom state, const WriteKey& key, WriteState& write, Changes& changes) {
  PatchIntended intent = std::move(write.outstanding->intent);
  const WrittenAt written{write.outstanding->seq, write.last_write.value_or(state.now)};
  if (write.refusal)  // a status that reports the refusal is planned again
    changes.writes.emplace_back(key, WriteChange::concluded);
  drop_outstanding(state.writes, write);
  write.refusal.reset();
  note_held_up(state, key, write);
  if (key.status) write.change_status().body = intent.body;
  keep_nominal(write, intent);
  if (key.object.kind == Kind::cluster_queue) accept_queue_write(state, intent, written);
  return intent;
}

}  // namespace

void note_intent(WriteRoom state, const PatchIntended& intent, Seq seq) {
  const WriteKey key = write_key(intent);
  WriteState& write = state.writes.by_key[key];
  if (write.outstanding) drop_outstanding(state.writes, write);
  write.outstanding = Outstanding{seq, intent, std::nullopt};
  state.writes.outstanding[seq] = key;
  // The interval counts from the intent, not from the answer: whether one comes is not known.
  write.last_write = state.now;
  write.last_write_seq = seq;
  set_deadline(state, key, write);
  if (intent.target.kind == Kind::manifest_work) expect_work(state, intent);
  expect_multikueue(state.multikueue, intent);
  if (is_tenant(intent.cluster)) expect_placements(state, intent);
}

// Whether the write ends its object: it deletes it, or removes the last finalizer that kept it.
static bool ends_object(const PatchIntended& intent) {
  const auto released = [&](const auto* expected) {
    return expected != nullptr && expected->deleting && expected->finalizers.empty();
  };
  if (intent.verb == Verb::remove) return true;
  if (intent.verb != Verb::patch || !intent.expected) return false;
  return released(std::get_if<ClaimFacts>(&*intent.expected)) ||
         released(std::get_if<AdmissionCheckFacts>(&*intent.expected));
}

namespace {

// A write was accepted: what an outage of the server or its webhooks kept from writes of this kind
// is over. Missing rights are not: one namespace may have them and another not.
void end_outage(WriteRoom state, const WriteKey& accepted, Changes& changes) {
  const WriteKeyView first{accepted.cluster, accepted.object.kind, "", "", false};
  for (auto at = state.writes.held_up.lower_bound(first);
       at != state.writes.held_up.end() && at->cluster == accepted.cluster &&
       at->object.kind == accepted.object.kind;
       ++at) {
    WriteState& write = state.writes.by_key.find(*at)->second;
    if (write.refusal->cause != RejectionCause::outage) continue;
    write.refusal->retry_at = state.now;
    set_deadline(state, *at, write);
    changes.writes.emplace_back(*at, WriteChange::concluded);
  }
}

}  // namespace

Changes note_accepted(WriteRoom state, const PatchAccepted& accepted) {
  Changes changes;
  auto* entry = find_outstanding(state.writes, accepted.intent);
  if (!entry) return changes;
  const PatchIntended intent = conclude(state, entry->first, entry->second, changes);
  end_outage(state, entry->first, changes);
  if (is_claim_status(entry->first))
    note_status_accepted(state.claims, entry->second, intent, accepted.resource_version);
  else if (ends_object(intent))
    entry->second.await_end();
  else
    entry->second.await_version(accepted.resource_version);
  const ObjectKey& object = entry->first.object;
  if (object.kind != Kind::cluster_queue)
    changes.writes.emplace_back(entry->first, WriteChange::concluded);
  else if (accepted.resource_version.empty())
    note_queue_seen_since(state, object.name);
  return changes;
}

Changes note_rejected(WriteRoom state, const PatchRejected& rejected, Seq seq) {
  Changes changes;
  auto* entry = find_outstanding(state.writes, rejected.intent);
  if (!entry) return changes;
  WriteState& write = entry->second;
  // A 404 for an object that did not exist is about its kind: the CRD is missing, so it is no
  // conflict.
  const PatchIntended& intent = write.outstanding->intent;
  const bool no_kind = has_own_windows(intent.target.kind) && intent.uid.empty();
  const bool conflict = rejected.http_code == 409 || (rejected.http_code == 404 && !no_kind);
  const bool again = write.refusal && is_conflict(*write.refusal) == conflict &&
                     write.refusal->cause == rejected.cause;
  const std::int64_t attempts = again ? write.refusal->attempts + 1 : 1;
  const Duration wait = conflict
                            ? wait_after_conflicts(attempts)
                            : wait_after_refusals(state, entry->first, rejected.cause, attempts);
  write.refusal = Refusal{seq,
                          rejected.http_code,
                          rejected.reason,
                          conflict ? Digest{} : wish_of(write.outstanding->intent),
                          state.now + wait,
                          attempts,
                          rejected.cause};
  note_held_up(state, entry->first, write);
  drop_outstanding(state.writes, write);
  set_deadline(state, entry->first, write);
  changes.writes.emplace_back(entry->first, WriteChange::concluded);
  return changes;
}

Changes note_unknown(WriteRoom state, const PatchUnknown& unknown) {
  Changes changes;
  if (auto* entry = find_outstanding(state.writes, unknown.intent)) {
    entry->second.outstanding->doubted_until = state.now + kDoubt;
    set_deadline(state, entry->first, entry->second);
    changes.writes.emplace_back(entry->first, WriteChange::concluded);
  }
  return changes;
}

namespace {

// The write of the claim's status has no answer, and the observation has what it was to leave.
void conclude_status(WriteRoom state, const WriteKey& key, WriteState& write,
                     const ObjectObserved& seen, Changes& changes) {
  const PatchIntended intent = conclude(state, key, write, changes);
  note_status_accepted(state.claims, write, intent, seen.resource_version);
}

// Folds an observation into the writes of a status. Of a claim's status the facts have a digest. Of
// others they do not contain the whole status, so it cannot be compared with the intent: a version
// other than the one that the write was derived from means that a write happened, perhaps this one,
// and the status is derived again.
void note_status_observed(WriteRoom state, const WriteKey& key, WriteState& write,
                          const ObjectObserved& seen, Changes& changes) {
  clear_awaited(write, seen);
  if (is_claim_status(key)) note_status_seen(write, seen);
  const bool conflicted = write.refusal && is_conflict(*write.refusal);
  const bool doubted = write.outstanding && write.outstanding->doubted_until &&
                       write.outstanding->intent.resource_version != seen.resource_version;
  if (conflicted) write.refusal.reset();
  if (doubted) {
    if (is_claim_status(key) && has_outstanding_status(write, std::get<ClaimFacts>(seen.facts)))
      conclude_status(state, key, write, seen, changes);
    else
      give_up_doubted(state.writes, key, write);
  }
  if (conflicted || doubted) changes.writes.emplace_back(key, WriteChange::concluded);
  if (is_claim_status(key) || key.object.kind == Kind::admission_check)
    set_deadline(state, key, write);
}

}  // namespace

Changes note_observed(WriteRoom state, const std::string& source, const ObjectObserved& seen) {
  Changes changes;
  if (const auto status = state.writes.by_key.find(of_status(source, seen.key));
      status != state.writes.by_key.end())
    note_status_observed(state, status->first, status->second, seen, changes);
  const auto at = state.writes.by_key.find(of_object(source, seen.key));
  if (at == state.writes.by_key.end()) return changes;
  WriteState& write = at->second;
  clear_awaited(write, seen);
  drop_foreign_nominal(write, seen);
  if (write.refusal && is_conflict(*write.refusal)) write.refusal.reset();
  if (!write.outstanding) return changes;
  if (looks_as_intended(write.outstanding->intent, seen))
    // Nothing is awaited after it: the observation is what the write made.
    conclude(state, at->first, write, changes);
  // Any other state ends the doubt too: fold_object() has marked the object, which is planned again
  // from that state.
  else if (write.outstanding->doubted_until)
    drop_outstanding(state.writes, write);
  return changes;
}

void note_gone(WriteRoom state, const std::string& source, const ObjectKey& key) {
  for (const WriteKeyView& view : {of_object(source, key), of_status(source, key)}) {
    const auto at = state.writes.by_key.find(view);
    if (at == state.writes.by_key.end()) continue;
    if (at->second.outstanding) drop_outstanding(state.writes, at->second);
    state.deadlines.clear(at->first);
    at->second.refusal.reset();
    note_held_up(state, at->first, at->second);
    state.writes.by_key.erase(at);
  }
}

Changes note_listed(WriteRoom state, const std::string& source, Kind kind) {
  Changes changes;
  for (auto at = state.writes.by_key.lower_bound(WriteKeyView{source, kind, "", "", false});
       at != state.writes.by_key.end() && at->first.cluster == source &&
       at->first.object.kind == kind;
       ++at) {
    WriteState& write = at->second;
    // A complete list shows every object as it is: nothing older follows, and a conflict is
    // settled.
    write.await_nothing();
    write.status_left.reset();  // a restored store may have an older status
    const bool outage = write.refusal && write.refusal->cause == RejectionCause::outage;
    if (outage || (write.refusal && is_conflict(*write.refusal))) write.refusal.reset();
    note_held_up(state, at->first, write);
    changes.writes.emplace_back(at->first, WriteChange::concluded);
  }
  return changes;
}

void await_still_numbers(WriteRoom state, const std::string& cluster) {
  const auto claims = state.claims.of_cluster.find(cluster);
  if (claims == state.claims.of_cluster.end()) return;
  for (const std::string& name : claims->second)
    if (const auto at = state.writes.by_key.find(WriteKeyView{kHub, Kind::claim, "", name, true});
        at != state.writes.by_key.end())
      set_deadline(state, at->first, at->second);
}

Changes reach_write_deadline(WriteRoom state, const WriteKey& key) {
  if (const auto at = state.writes.by_key.find(key); at != state.writes.by_key.end()) {
    WriteState& write = at->second;
    if (write.outstanding && write.outstanding->doubted_until &&
        *write.outstanding->doubted_until <= state.now)
      give_up_doubted(state.writes, key, write);
    set_deadline(state, key, write);
  }
  Changes changes;
  changes.writes.emplace_back(key, WriteChange::due);
  return changes;
}

Changes doubt_outstanding(WriteRoom state) {
  Changes changes;
  for (const auto& [seq, key] : std::map(state.writes.outstanding))
    changes.merge(note_unknown(state, {seq, "the process that sent it ended"}));
  return changes;
}

}  // namespace fairlead
