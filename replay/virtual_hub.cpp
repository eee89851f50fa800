#include "replay/virtual_hub.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/held.h"
#include "engine/fold/members/member_deviation.h"
#include "engine/fold/members/works.h"
#include "engine/plan/emit.h"

namespace fairlead {

namespace {

std::string made_uid(Seq seq) {
  std::string digits = std::to_string(seq.value);
  if (digits.size() < 12) digits.insert(0, 12 - digits.size(), '0');
  return "00000000-0000-4000-8000-" + digits;
}

EventDraft own(Seq cause, Fact fact) { return {std::string(kSelf), cause, std::move(fact)}; }

// Moves the draft; a braced list would copy it.
std::vector<EventDraft> one(EventDraft draft) {
  std::vector<EventDraft> drafts;
  drafts.push_back(std::move(draft));
  return drafts;
}

// The observation that follows a write: the facts that the intent expects, in the next generation
// where an apply changes the spec. Of a claim only its metadata and status are applied.
ObjectObserved observation_of(const State& state, const PatchIntended& intent, Seq seq,
                              const std::string& uid) {
  const ObjectKey& target = intent.target;
  const auto before = held(state, std::string(kHub), target);
  const bool kept = target.kind == Kind::claim || intent.verb != Verb::apply;
  // Every write but a delete says what it leaves, and a delete does not get here.
  ObjectObserved seen{target, intent.version,   uid, std::to_string(seq.value),
                      1,      *intent.expected, {}};
  if (before) seen.generation = before->generation + (kept ? 0 : 1);
  if (auto* work = std::get_if<ManifestWorkFacts>(&seen.facts))
    work->applied = work->available = {ConditionStatus::yes, "", seen.generation};
  return seen;
}

}  // namespace

std::vector<Event> numbered(std::vector<EventDraft> drafts, LogTime at, Seq& last) {
  std::vector<Event> events;
  events.reserve(drafts.size());
  for (EventDraft& draft : drafts) {
    last = next(last);
    events.push_back(
        {last, at, Epoch{1}, std::move(draft.source), draft.cause, std::move(draft.fact)});
  }
  return events;
}

VirtualHub::VirtualHub(VirtualPorts ports, Feedback feedback, State start)
    : ports_(std::move(ports)), feedback_(feedback), now_(start.now) {
  core_.restore(std::move(start));
}

Result<void> VirtualHub::append(LogTime at, std::vector<EventDraft> drafts) {
  now_ = at;
  return propose(std::move(drafts));
}

Result<bool> VirtualHub::offer(WatchFact fact) {
  const std::uint64_t older = core_.ingest_counts().older;
  core_.offer(std::move(fact));
  if (auto done = drive(Input::more_pending); !done) return done.error();
  return core_.ingest_counts().older == older;
}

// Runs every deadline before `time`.
Result<void> VirtualHub::run_to(LogTime time) {
  for (;;) {
    if (auto done = drive(Input::complete); !done) return done;
    const LogTime due = core_.next_deadline();
    if (due >= time || due == kForever) break;
    // A deadline may lie before the present: then it runs now.
    now_ = std::max(now_, due);
  }
  if (time != kForever) now_ = std::max(now_, time);
  return {};
}

Result<void> VirtualHub::drive(Input input) {
  for (;;) {
    Ready ready = core_.ready(now_, input);
    if (!ready.append.drafts.empty()) {
      if (auto done = append(std::move(ready.append)); !done) return done;
    } else if (ready.closed) {
      if (ports_.decided) ports_.decided(core_.state(), core_.dirty());
    } else {
      return {};
    }
  }
}

// What answers a write is an event of the same moment: it is appended before the moment closes.
Result<void> VirtualHub::append(Append append) {
  const bool intents = append.origin == Origin::intents;
  if (intents) carry_versions(append.drafts);
  auto events = ports_.append(std::move(append.drafts), append.time);
  if (!events) return events.error();
  core_.appended(*events, Durability::durable);
  if (!intents) return {};
  for (Event& event : *events) {
    if (feedback_ == Feedback::assumed)
      if (auto done = answer(event); !done) return done;
    writes_.push_back({event.seq, event.log_time, std::get<PatchIntended>(std::move(event.fact))});
  }
  return {};
}

Result<void> VirtualHub::propose(std::vector<EventDraft> drafts) {
  core_.propose(std::move(drafts));
  return drive(Input::more_pending);
}

void VirtualHub::carry_versions(std::vector<EventDraft>& intents) const {
  if (!ports_.newest_version) return;
  for (EventDraft& draft : intents) {
    PatchIntended& intent = std::get<PatchIntended>(draft.fact);
    carry_version(intent, ports_.newest_version(intent.cluster, intent.target));
  }
}

Result<void> VirtualHub::answer(const Event& event) {
  const PatchIntended& intent = std::get<PatchIntended>(event.fact);
  const std::string uid = intent.uid.empty() ? made_uid(event.seq) : intent.uid;
  const std::string version = std::to_string(event.seq.value);
  const int code = intent.verb == Verb::create ? 201 : 200;
  if (auto done = propose(one(own(event.seq, PatchAccepted{event.seq, code, uid, version}))); !done)
    return done;
  if (ports_.accepted) ports_.accepted(intent, uid, version);
  return come_back(intent, event.seq, uid);
}

// Delivers the observation of what the write left.
Result<void> VirtualHub::come_back(const PatchIntended& intent, Seq seq, const std::string& uid) {
  if (intent.verb == Verb::remove) return goes(intent, seq, uid);
  ObjectObserved seen = observation_of(core_.state(), intent, seq, uid);
  // An API server removes a deleted object together with its last finalizer, so the write that
  // releases it is followed by ObjectGone and not by an observation.
  if (const auto* claim = std::get_if<ClaimFacts>(&seen.facts);
      claim && claim->deleting && claim->finalizers.empty())
    return goes(intent, seq, uid);
  if (const auto* check = std::get_if<AdmissionCheckFacts>(&seen.facts);
      check && check->deleting && check->finalizers.empty())
    return goes(intent, seq, uid);
  if (auto done = propose(one({intent.cluster, seq, std::move(seen)})); !done) return done;
  if (intent.target.kind == Kind::manifest_work && quota_work_number(intent.target.name))
    return member_applies(intent.target.namespace_, seq);
  return {};
}

// Acts as the member's agent: its watched ClusterQueues become what the work holds.
Result<void> VirtualHub::member_applies(const std::string& name, Seq seq) {
  // A work is only planned for a cluster that State has.
  const Cluster& cluster = core_.state().clusters.at(name);
  std::vector<EventDraft> drafts;
  for (const std::string& queue : queues_not_as_applied(cluster)) {
    ClusterQueueFacts facts;
    facts.groups = groups_in_work(cluster, queue);
    if (const auto at = cluster.member.queues.find(queue); at != cluster.member.queues.end()) {
      facts.usage = at->second.usage;
      facts.effective = at->second.effective;
      facts.active = {at->second.active, at->second.reason, 0};
    }
    const ObjectKey key{Kind::cluster_queue, "", queue};
    drafts.push_back(
        {name, seq, ObjectObserved{key, kueue_version(core_.state()), "", "", 0, facts, {}}});
  }
  return propose(std::move(drafts));
}

Result<void> VirtualHub::goes(const PatchIntended& intent, Seq seq, const std::string& uid) {
  if (ports_.gone) ports_.gone(intent);
  const std::string version = std::to_string(seq.value);
  return propose(one({intent.cluster, seq, ObjectGone{intent.target, uid, version}}));
}

}  // namespace fairlead
