// HubCore: how facts and answers enter the log. See hub_core.h.
#include "engine/base/resource_version.h"
#include "engine/base/stop_point.h"
#include "engine/fold/cluster.h"
#include "engine/runtime/hub_core.h"
#include "engine/runtime/hub_scope.h"
#include "engine/runtime/intake.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// The cluster whose claim may set the coalescing window of a fact.
std::string cluster_of(const WatchFact& fact) {
  if (fact.source != kHub) return fact.source;
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) return seen->key.name;
  if (const auto* missing = std::get_if<ObjectMissing>(&fact.said)) return missing->key.name;
  return "";
}

}  // namespace

Result<void> HubCore::take_facts(LogTime at) {
  std::vector<WatchFact> facts;
  if (!winding_down_) facts = coalescer_.take_due(at);
  for (WatchFact& fact : std::exchange(offered_, {}))
    if (auto passes = coalescer_.offer(std::move(fact), at)) facts.push_back(std::move(*passes));
  for (const auto& batch : into_batches(std::move(facts), kBatchFactsMax))
    if (auto taken = take_batch(batch); !taken) return taken;
  return {};
}

Result<void> HubCore::take_batch(const std::vector<WatchFact>& batch) {
  std::vector<std::pair<EventDraft, WatchFact>> logged;
  bool opened = false;
  for (const WatchFact& fact : batch) {
    if (const auto* list = std::get_if<ListCompleted>(&fact.said)) {
      complete_list(fact.source, list->kind, logged);
      opened = opened || (fact.source == kHub && answered(list->kind));
    }
    if (const auto* stale = std::get_if<StreamStale>(&fact.said);
        stale && stale->cause == StaleCause::too_many)
      complete_list(fact.source, stale->kind, logged);
    if (const auto* lost = std::get_if<StreamLost>(&fact.said))
      opened = opened || (fact.source == kHub && go_on_without(lost->kind));
    if (auto draft = ingest_.take(state_, fact)) logged.emplace_back(std::move(*draft), fact);
  }
  if (auto appended = append_facts(std::move(logged)); !appended) return appended;
  if (opened) {
    if (auto settled = settle_log(); !settled) return settled;
    // Nothing was planned before: everything that the log knew and the lists confirmed is dirty.
    touched_.everything = true;
    undecided_ = true;
    say_({Urgency::info,
          "the hub is synced: planning",
          {{"seq", std::to_string(state_.seq.value)}}});
  }
  return {};
}

// Ends the wait for `kind`. True if it was the last kind that planning waited for.
bool HubCore::answered(Kind kind) { return awaited_.erase(kind) > 0 && awaited_.empty(); }

// Ends the wait for a kind that may not be read. Objects of it that State holds stay: no list says
// that they are gone.
bool HubCore::go_on_without(Kind kind) {
  if (!may_stay_unread(kind)) return false;
  // In this mode the hub writes policies; one that it cannot read may be another writer's.
  if (kind == Kind::binding_policy &&
      state_.configuration.member_mode == MemberMode::binding_policy)
    return false;
  const std::string namespace_ = hub_namespace(kind, state_.configuration);
  say_({Urgency::warn,
        "cannot be read on the hub: going on without it",
        {{"kind", std::string(info(kind).name)},
         {"namespace", namespace_.empty() ? "*" : namespace_}}});
  return answered(kind);
}

// Drafts ObjectGone for each object that State holds from before this connection and that its first
// list does not contain. Later lists need no such pass: the reflector reports what vanished.
void HubCore::complete_list(const SourceName& source, Kind kind,
                            std::vector<std::pair<EventDraft, WatchFact>>& logged) {
  if (!listed_.emplace(source, kind).second) return;
  const auto node = shown_.extract(std::pair{source, kind});
  for (ObjectKey& key : objects_held(state_, source, kind)) {
    if (!node.empty() && node.mapped().contains(key)) continue;
    WatchFact missing{source, ObjectMissing{std::move(key), "", ""}};
    if (auto draft = ingest_.take(state_, missing))
      logged.emplace_back(std::move(*draft), std::move(missing));
  }
}

Result<void> HubCore::append_facts(std::vector<std::pair<EventDraft, WatchFact>> logged) {
  if (logged.empty()) return {};
  std::vector<EventDraft> drafts;
  for (auto& [draft, fact] : logged) drafts.push_back(std::move(draft));
  const auto events = commit(std::move(drafts), Reach::way);
  if (events) {
    for (const auto& [draft, fact] : logged)
      coalescer_.passed(fact, state_.now, settings_of(state_, cluster_of(fact)).ingest_coalesce);
    return {};
  }
  if (events.error().code != ErrorCode::bad_input) return events.error();
  if (logged.size() == 1) {
    ++figures_.oversized;
    const ObjectKey* key = object_of(drafts.front().fact);
    say_({Urgency::error,
          "an object is too large for the log and is ignored",
          {{"source", logged.front().second.source},
           {"object", key ? name_of(*key) : ""},
           {"why", events.error().message}}});
    return {};
  }
  // The commit is too large, though each record may fit: append the halves. (append left the drafts
  // as they were.)
  for (std::size_t i = 0; i < drafts.size(); ++i) logged[i].first = std::move(drafts[i]);
  const auto middle = logged.begin() + static_cast<std::ptrdiff_t>(logged.size() / 2);
  if (auto done = append_facts({logged.begin(), middle}); !done) return done;
  return append_facts({middle, logged.end()});
}

Result<void> HubCore::take_answers() {
  std::vector<EventDraft> outcomes;
  std::vector<WatchFact> shown;
  for (WriteAnswer& answer : std::exchange(answers_, {})) {
    // The watch may be faster than the answer. If it has brought the version that the write made,
    // the answer's version is cleared, so that State does not wait for an observation of it.
    if (const auto key = state_.outstanding.find(answer.intent); key != state_.outstanding.end()) {
      const WriteKey& target = key->second;
      const PatchIntended& intent = state_.writes.at(target).outstanding->intent;
      if (answer.result == WriteResult::unknown)
        if (auto fact = ingest_.shown_since(target.cluster, target.object, intent.version,
                                            intent.resource_version))
          shown.push_back(std::move(*fact));
      // (State waits for no observation after a claim's status write: there the version stays, as
      // the record of what the write made.)
      const bool claim_status = target.status && target.object.kind == Kind::claim;
      if (includes_version(ingest_.newest_version(target.cluster, target.object),
                           answer.resource_version)) {
        if (!claim_status) answer.resource_version.clear();
      } else if (answer.result == WriteResult::accepted) {
        ingest_.wrote(target.cluster, target.object, answer.uid, answer.resource_version);
      }
    }
    auto outcome = applier_.answered(answer, now());
    if (!outcome) continue;
    tell(*outcome);
    if (const auto* accepted = std::get_if<PatchAccepted>(&outcome->fact)) notice(*accepted);
    outcomes.push_back(std::move(*outcome));
  }
  if (outcomes.empty()) return {};
  stop_point("answer.before_log");
  if (auto appended = commit(std::move(outcomes)); !appended) return appended.error();
  stop_point("answer.after_log");
  // A write without an answer is resolved by an observation after it. Where the watch brought that
  // before the outcome was logged, no line is going to repeat it: it is offered once more.
  std::vector<std::pair<EventDraft, WatchFact>> told;
  for (WatchFact& fact : shown)
    if (auto draft = ingest_.take(state_, fact))
      told.emplace_back(std::move(*draft), std::move(fact));
  return append_facts(std::move(told));
}

// Called before the answer is folded, while State still holds the previous status.
void HubCore::notice(const PatchAccepted& accepted) {
  const auto key = state_.outstanding.find(accepted.intent);
  if (key == state_.outstanding.end()) return;
  const WriteState& write = state_.writes.at(key->second);
  for (Notice& each : notices_of(write.outstanding->intent, write.accepted_body, accepted.intent,
                                 write.last_write.value_or(state_.now)))
    notices_.push_back(std::move(each));
}

// Counts an outcome and logs it for the operator.
void HubCore::tell(const EventDraft& outcome) {
  Diagnostic said;
  if (auto known = unanswered_.extract(outcome.cause)) said.details = std::move(known.mapped());
  said.details.insert(said.details.begin(), {"intent", std::to_string(outcome.cause.value)});
  if (std::holds_alternative<PatchAccepted>(outcome.fact)) {
    ++figures_.accepted;
    said.what = "write accepted";
  } else if (const auto* rejected = std::get_if<PatchRejected>(&outcome.fact)) {
    ++figures_.rejected;
    said.what = "write rejected";
    // Another writer was faster, or the object is gone: the watch reports it and the hub plans
    // anew.
    const bool expected = rejected->http_code == 409 || rejected->http_code == 404;
    said.urgency = expected ? Urgency::info : Urgency::warn;
    said.details.emplace_back("code", std::to_string(rejected->http_code));
    said.details.emplace_back("why", rejected->reason);
  } else if (const auto* unknown = std::get_if<PatchUnknown>(&outcome.fact)) {
    ++figures_.unknown;
    said.what = "write without an answer";
    said.urgency = Urgency::warn;
    said.details.emplace_back("why", unknown->reason);
  }
  say_(said);
}

}  // namespace fairlead
