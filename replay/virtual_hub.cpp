#include "replay/virtual_hub.h"

#include <algorithm>
#include <utility>

#include "engine/fold/cluster.h"
#include "engine/fold/evolve.h"
#include "engine/fold/member_deviation.h"
#include "engine/fold/multikueue/observe.h"
#include "engine/fold/works.h"
#include "engine/plan/emit.h"

namespace fairlead {

namespace {

std::string made_uid(Seq seq) {
  std::string digits = std::to_string(seq.value);
  if (digits.size() < 12) digits.insert(0, 12 - digits.size(), '0');
  return "00000000-0000-4000-8000-" + digits;
}

std::string cluster_of(const WatchFact& fact, const ObjectKey& key) {
  return fact.source == kHub ? key.name : fact.source;
}

std::optional<ObjectKey> object_of(const WatchFact& fact) {
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) return seen->key;
  if (const auto* missing = std::get_if<ObjectMissing>(&fact.said)) return missing->key;
  return std::nullopt;
}

EventDraft own(Seq cause, Fact fact) { return {std::string(kSelf), cause, std::move(fact)}; }

// Moves the draft; a braced list would copy it.
std::vector<EventDraft> one(EventDraft draft) {
  std::vector<EventDraft> drafts;
  drafts.push_back(std::move(draft));
  return drafts;
}

// The observation that follows a write: the facts that the intent expects, in the next generation.
ObjectObserved shown(const State& state, const PatchIntended& intent, Seq seq,
                     const std::string& uid) {
  ObjectObserved seen{
      intent.target, intent.version, uid, std::to_string(seq.value), 1, *intent.expected, {}};
  if (auto* work = std::get_if<ManifestWorkFacts>(&seen.facts)) {
    const auto at = state.clusters.find(intent.target.namespace_);
    const bool quota = intent.target.name == "fairlead-quota";
    const std::int64_t before =
        at == state.clusters.end()
            ? 0
            : (quota ? at->second.quota_work : at->second.queue_work).generation;
    seen.generation = before + 1;
    work->applied = work->available = {ConditionStatus::yes, "", seen.generation};
  } else if (intent.target.kind == Kind::binding_policy) {
    const auto at = state.clusters.find(cluster_of_policy(intent.target.name));
    seen.generation = (at == state.clusters.end() ? 0 : at->second.policy.generation) + 1;
  } else if (const auto queue = state.queues.find(intent.target.name);
             intent.target.kind == Kind::cluster_queue && queue != state.queues.end()) {
    seen.generation = queue->second.generation + 1;
  } else if (const auto claim = state.claims.find(intent.target.name);
             intent.target.kind == Kind::claim && claim != state.claims.end()) {
    seen.generation = claim->second.generation;
  } else if (const auto held = held_multikueue(state, intent.target)) {
    seen.generation = held->generation + (intent.verb == Verb::apply ? 1 : 0);
  }
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
    : ports_(std::move(ports)), feedback_(feedback), state_(std::move(start)), now_(state_.now) {}

Result<std::vector<Event>> VirtualHub::commit(std::vector<EventDraft> drafts) {
  auto events = ports_.append(std::move(drafts), now_);
  if (!events) return events;
  for (const Event& event : *events) evolve(state_, event, touched_);
  decided_ = false;
  return events;
}

Result<void> VirtualHub::tell(LogTime at, std::vector<EventDraft> drafts) {
  now_ = at;
  if (auto done = commit(std::move(drafts)); !done) return done.error();
  return {};
}

Result<bool> VirtualHub::offer(WatchFact fact) {
  const std::uint64_t older = ingest_.counts().older;
  const auto passes = coalescer_.offer(std::move(fact), now_);
  if (passes)
    if (auto done = take_fact(*passes); !done) return done.error();
  return ingest_.counts().older == older;
}

Result<void> VirtualHub::take_fact(const WatchFact& fact) {
  auto draft = ingest_.take(state_, fact);
  if (!draft) return {};
  if (auto done = commit(one(*std::move(draft))); !done) return done.error();
  if (const auto key = object_of(fact))
    coalescer_.passed(fact, now_, settings_of(state_, cluster_of(fact, *key)).ingest_coalesce);
  return {};
}

Result<void> VirtualHub::run_to(LogTime time) {
  if (auto done = decide(); !done) return done;
  if (auto done = advance_to(time); !done) return done;
  if (time != kForever) now_ = std::max(now_, time);
  return {};
}

// Runs every deadline before `time`.
Result<void> VirtualHub::advance_to(LogTime time) {
  for (;;) {
    const LogTime due = std::min(coalescer_.next_due(), state_.deadlines.next());
    if (due >= time || due == kForever) return {};
    now_ = std::max(now_, due);
    for (const WatchFact& fact : coalescer_.take_due(now_))
      if (auto done = take_fact(fact); !done) return done;
    if (decided_ && state_.deadlines.next() <= now_)
      if (auto fired = commit(one(own({}, TimerFired{due}))); !fired) return fired.error();
    if (auto done = decide(); !done) return done;
  }
}

// Closes the present moment and writes until nothing is left to write. An answered write is an
// event of the same moment, so the moment is closed and planned again after each round.
Result<void> VirtualHub::decide() {
  for (const WatchFact& fact : coalescer_.take_due(now_))
    if (auto done = take_fact(fact); !done) return done;
  while (!decided_) {
    settle(state_, touched_);
    decided_ = true;
    if (ports_.decided) ports_.decided(state_, touched_);
    if (planning_ == Planning::paused) return {};
    std::vector<EventDraft> drafts;
    for (PatchIntended& intent : planner_.plan(touched_)) {
      if (ports_.newest_version)
        carry_version(intent, ports_.newest_version(intent.cluster, intent.target));
      drafts.push_back(own({}, std::move(intent)));
    }
    if (drafts.empty()) return {};
    auto events = commit(std::move(drafts));
    if (!events) return events.error();
    for (const Event& event : *events) {
      writes_.push_back({event.seq, event.log_time, std::get<PatchIntended>(event.fact)});
      if (feedback_ == Feedback::assumed)
        if (auto done = answer(event); !done) return done;
    }
  }
  return {};
}

Result<void> VirtualHub::answer(const Event& event) {
  const PatchIntended& intent = std::get<PatchIntended>(event.fact);
  const std::string uid = intent.uid.empty() ? made_uid(event.seq) : intent.uid;
  const std::string version = std::to_string(event.seq.value);
  const int code = intent.verb == Verb::create ? 201 : 200;
  if (auto done = commit(one(own(event.seq, PatchAccepted{event.seq, code, uid, version}))); !done)
    return done.error();
  if (ports_.accepted) ports_.accepted(intent, uid, version);
  return come_back(intent, event.seq, uid);
}

// Delivers the observation of what the write left.
Result<void> VirtualHub::come_back(const PatchIntended& intent, Seq seq, const std::string& uid) {
  if (intent.verb == Verb::remove) return goes(intent, seq, uid);
  ObjectObserved seen = shown(state_, intent, seq, uid);
  if (const auto* claim = std::get_if<ClaimFacts>(&seen.facts);
      claim && claim->deleting && claim->finalizers.empty())
    return goes(intent, seq, uid);
  if (const auto* check = std::get_if<AdmissionCheckFacts>(&seen.facts);
      check && check->deleting && check->finalizers.empty())
    return goes(intent, seq, uid);
  if (auto done = commit(one({intent.cluster, seq, std::move(seen)})); !done) return done.error();
  if (intent.target.kind == Kind::manifest_work && intent.target.name == kQuotaWork)
    return member_applies(intent.target.namespace_, seq);
  return {};
}

// Acts as the member's agent: its watched ClusterQueues become what the work holds.
Result<void> VirtualHub::member_applies(const std::string& name, Seq seq) {
  const Cluster& cluster = state_.clusters.at(name);
  std::vector<EventDraft> drafts;
  for (const std::string& queue : queues_not_as_applied(cluster)) {
    ClusterQueueFacts facts;
    facts.groups = groups_in_work(cluster.quota_work, queue);
    if (const auto at = cluster.member_queues.find(queue); at != cluster.member_queues.end()) {
      facts.usage = at->second.usage;
      facts.effective = at->second.effective;
    }
    const ObjectKey key{Kind::cluster_queue, "", queue};
    drafts.push_back({name, seq, ObjectObserved{key, kueue_version(state_), "", "", 0, facts, {}}});
  }
  if (drafts.empty()) return {};
  if (auto done = commit(std::move(drafts)); !done) return done.error();
  return {};
}

Result<void> VirtualHub::goes(const PatchIntended& intent, Seq seq, const std::string& uid) {
  if (ports_.gone) ports_.gone(intent);
  const std::string version = std::to_string(seq.value);
  if (auto done = commit(one({intent.cluster, seq, ObjectGone{intent.target, uid, version}}));
      !done)
    return done.error();
  return {};
}

}  // namespace fairlead
