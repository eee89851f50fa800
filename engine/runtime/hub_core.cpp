#include "engine/runtime/hub_core.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/fold/writes.h"
#include "engine/plan/emit.h"
#include "engine/plan/plan.h"
#include "engine/runtime/intake.h"
#include "schema/codec.h"

namespace fairlead {

namespace {

EventDraft own(Fact fact) { return {std::string(kSelf), Seq{}, std::move(fact)}; }

std::map<std::string, std::string> watched_members(const Configuration& configuration) {
  std::map<std::string, std::string> places;
  for (const MemberKubeconfig& member : configuration.member_kubeconfigs)
    places[member.cluster] = member.file + "\n" + member.secret_ref + "\n" + member.cluster_profile;
  return places;
}

}  // namespace

HubCore::HubCore(EventLog& log, Clock& clock, HubSettings settings, Say say)
    : log_(log),
      clock_(clock),
      settings_(std::move(settings)),
      say_(std::move(say)),
      awaited_(settings_.hub_kinds.begin(), settings_.hub_kinds.end()) {}

// The only place that reads the clock.
LogTime HubCore::now() const { return std::max({clock_.now(), log_.last_time(), state_.now}); }

Result<std::vector<Event>> HubCore::commit(std::vector<EventDraft>&& drafts, Reach reach) {
  auto events = append(std::move(drafts), reach);
  const std::uint64_t spacing =
      snapshot_spacing(state_.configuration.snapshot_every, last_snapshot_bytes_);
  if (events && state_.seq.value >= last_snapshot_.value + spacing)
    if (auto taken = take_snapshot(); !taken) return taken.error();
  return events;
}

Result<std::vector<Event>> HubCore::append(std::vector<EventDraft>&& drafts, Reach reach) {
  // State may be ahead of the log, which does not count pending commits (append_ahead).
  const LogTime last = std::max(log_.last_time(), state_.now);
  const LogTime time = std::max(now(), settled_ ? last + Duration{1} : last);
  const auto began = std::chrono::steady_clock::now();
  auto events = reach == Reach::disk ? log_.append_owned(std::move(drafts), time, epoch_)
                                     : log_.append_ahead(std::move(drafts), time, epoch_);
  const Duration took{std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()};
  if (!events) return events.error();
  ++figures_.commits;
  figures_.append_total.ns += took.ns;
  figures_.append_longest = std::max(figures_.append_longest, took);
  for (const Event& event : *events) evolve(state_, event, touched_);
  settled_ = false;
  undecided_ = true;
  unplanned_ += events->size();
  return events;
}

Result<void> HubCore::settle_log() {
  const auto began = std::chrono::steady_clock::now();
  auto settled = log_.settle();
  figures_.append_total.ns +=
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  return settled;
}

// Called right after a commit, so that State is exactly what the log folds to up to there. The log
// is flushed first: a snapshot of events that a crash loses would belong to no log. A snapshot that
// cannot be saved costs a longer start, nothing else.
Result<void> HubCore::take_snapshot() {
  if (settings_.snapshots == nullptr) return {};
  if (auto settled = settle_log(); !settled) return settled;
  last_snapshot_ = state_.seq;
  const auto began = std::chrono::steady_clock::now();
  const auto taken = settings_.snapshots->take(state_, log_.chain());
  if (!taken) {
    say_({Urgency::warn, "no snapshot was taken", {{"why", taken.error().message}}});
    return {};
  }
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
  ++figures_.snapshots;
  last_snapshot_bytes_ = taken->bytes;
  say_({Urgency::info,
        "snapshot taken",
        {{"seq", std::to_string(taken->seq.value)},
         {"bytes", std::to_string(taken->bytes)},
         {"took", to_go_duration(milliseconds(took.count() / 1'000'000))}}});
  tidy_up();
  auto noted = append({own(Checkpoint{taken->state_digest, taken->seq.value, taken->log_digest})});
  if (!noted) return noted.error();
  return {};
}

// Applies retention to what is kept beside the events: old snapshots and raw objects.
void HubCore::tidy_up() {
  const auto tell = [&](const char* what, const Error& error) {
    say_({Urgency::warn, what, {{"why", error.message}}});
  };
  if (auto thinned = settings_.snapshots->thin(log_, kSnapshotsMax); !thinned)
    tell("old snapshots cannot be removed", thinned.error());
  const LogTime now = log_.last_time();
  const Duration retention = state_.configuration.raw_retention;
  if (now.ns <= retention.ns) return;
  const auto last = log_.last_at(LogTime{now.ns - retention.ns});
  if (!last) return tell("the log cannot be read", last.error());
  if (auto dropped = log_.drop_raw_before(next(*last)); !dropped)
    tell("raw objects that are too old cannot be removed", dropped.error());
}

Result<void> HubCore::fold_log(const Progress& progress) {
  auto snapshot = newest_of(log_, settings_.snapshots, log_.last_seq());
  if (!snapshot) return snapshot.error();
  if (*snapshot) {
    state_ = std::move((*snapshot)->state);
    last_snapshot_ = state_.seq;
    last_snapshot_bytes_ = (*snapshot)->info.bytes;
  }
  auto state = state_from(log_, std::move(state_), log_.last_seq(), progress);
  if (!state) return state.error();
  state_ = *std::move(state);
  return {};
}

Result<void> HubCore::start(const Configuration& configuration, const Progress& progress) {
  if (auto folded = fold_log(progress); !folded) return in_context("the log", folded.error());
  epoch_ = Epoch{state_.epoch.value + 1};
  const bool changed = state_.configuration_seq == Seq{} || state_.configuration != configuration;
  std::vector<EventDraft> drafts{
      own(EpochStarted{settings_.identity, FAIRLEAD_VERSION, kFoldVersion, kSchemaVersion})};
  if (changed) drafts.push_back(own(ConfigChanged{configuration}));
  const Seq folded = state_.seq;
  const Seq snapshot = last_snapshot_;
  if (auto begun = commit(std::move(drafts)); !begun) return begun.error();
  applier_.set_inflight_max(configuration.writes.inflight_max);
  say_({Urgency::info,
        "epoch started",
        {{"epoch", std::to_string(epoch_.value)},
         {"identity", settings_.identity},
         {"version", FAIRLEAD_VERSION},
         {"folded", std::to_string(folded.value)},
         {"snapshot", std::to_string(snapshot.value)},
         {"configuration", changed ? "changed" : "as before"}}});
  follow_members();
  return {};
}

// Follows a changed list of members. A member that is connected in another way, or not any more,
// has to be listed again; one whose Nodes are known and which is not watched any more reports
// nothing from now on, so its stream counts as lost.
void HubCore::follow_members() {
  const auto before = std::exchange(watched_, watched_members(state_.configuration));
  std::erase_if(listed_, [&](const auto& listed) {
    const auto was = before.find(listed.first);
    const auto is = watched_.find(listed.first);
    return was != before.end() && (is == watched_.end() || is->second != was->second);
  });
  for (const auto& [name, cluster] : state_.clusters)
    if (cluster.nodes_known && !watched_.contains(name))
      offered_.push_back({name, StreamLost{Kind::node}});
}

void HubCore::offer(WatchFact fact) {
  if (winding_down_ || (fact.source != kHub && !watched_.contains(fact.source))) return;
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said))
    if (const std::pair list{fact.source, seen->key.kind}; !listed_.contains(list))
      shown_[list].insert(seen->key);
  offered_.push_back(std::move(fact));
}

void HubCore::answer(WriteAnswer answer) { answers_.push_back(std::move(answer)); }

void HubCore::absent(Kind kind) {
  if (!awaited_.contains(kind)) return;
  say_({Urgency::warn,
        "not served by the hub: waiting for its CRD",
        {{"kind", std::string(info(kind).name)}}});
  offer({std::string(kHub), ListCompleted{kind, ""}});
}

Result<void> HubCore::reconfigure(const Configuration& configuration) {
  if (state_.configuration == configuration) {
    say_({Urgency::info, "configuration read again: nothing changed", {}});
    return {};
  }
  auto changed = commit({own(ConfigChanged{configuration})});
  if (!changed) return changed.error();
  applier_.set_inflight_max(configuration.writes.inflight_max);
  say_({Urgency::info,
        "configuration changed",
        {{"seq", std::to_string(changed->front().seq.value)}}});
  follow_members();
  return {};
}

Result<HubEffects> HubCore::step(Inflow inflow) {
  HubEffects effects;
  if (auto taken = take_facts(now()); !taken) return taken.error();
  if (auto taken = take_answers(); !taken) return taken.error();
  if (!planning()) return show(std::move(effects), inflow);
  if (!undecided_)
    if (auto fired = fire_timer(); !fired) return fired.error();
  if (undecided_ && (inflow == Inflow::paused || unplanned_ >= kUnplannedEventsMax))
    if (auto decided = decide(effects); !decided) return decided.error();
  effects.requests = applier_.requests(now());
  return show(std::move(effects), inflow);
}

// Nothing is returned before the events that it follows from are durable. While facts continue and
// there is nothing to return, the flush is left to a later step, so that the next facts are
// prepared while the disk writes.
Result<HubEffects> HubCore::show(HubEffects effects, Inflow inflow) {
  effects.notices = std::exchange(notices_, {});
  const bool nothing =
      effects.requests.empty() && effects.recommendations.empty() && effects.notices.empty();
  if (inflow == Inflow::continuing && nothing) return effects;
  if (auto settled = settle_log(); !settled) return settled.error();
  return effects;
}

Result<void> HubCore::fire_timer() {
  // Only between moments (step() checks `undecided_`): a deadline that falls due while a moment is
  // open is handled when that moment closes.
  const LogTime due = state_.deadlines.next();
  const LogTime at = now();
  if (due > at || at < timer_opens_) return {};
  if (auto fired = commit({own(TimerFired{due})}); !fired) return fired.error();
  ++figures_.timers;
  settled_ = true;
  timer_opens_ = at + kTimerGap;
  return {};
}

Result<void> HubCore::decide(HubEffects& effects) {
  // Intents and replaced writes are events of a new moment, which is decided in its turn; the bound
  // keeps a rule that never comes to rest from blocking the thread.
  for (int round = 0; round < kRoundsMax && undecided_; ++round) {
    settle(state_, touched_);
    settled_ = true;
    undecided_ = false;
    unplanned_ = 0;
    std::vector<PatchIntended> intents = planner_.plan(touched_);
    if (settings_.mode == WriteMode::recommend)
      recommend(std::move(intents), effects);
    else if (auto intended = intend(std::move(intents)); !intended)
      return intended;
  }
  return {};
}

Result<void> HubCore::intend(std::vector<PatchIntended> intents) {
  if (intents.empty()) return {};
  std::vector<EventDraft> drafts;
  for (PatchIntended& intent : intents) {
    carry_version(intent, ingest_.newest_version(intent.cluster, intent.target));
    drafts.push_back(own(std::move(intent)));
  }
  // Durable before the applier sees them: the log must know of every request that may be sent.
  auto events = commit(std::move(drafts));
  if (!events) return events.error();
  figures_.intents += events->size();
  std::vector<EventDraft> outcomes;
  for (const Event& event : *events) {
    const PatchIntended& intent = std::get<PatchIntended>(event.fact);
    unanswered_[event.seq] = {{"cluster", intent.cluster},
                              {"verb", std::string(to_string(intent.verb))},
                              {"object", name_of(intent.target)},
                              {"rule", intent.reason.rule},
                              {"change", intent.reason.text}};
    auto replaced = applier_.take(event);
    if (!replaced) continue;
    tell(*replaced);
    outcomes.push_back(std::move(*replaced));
  }
  if (outcomes.empty()) return {};
  if (auto appended = commit(std::move(outcomes)); !appended) return appended.error();
  return {};
}

void HubCore::recommend(std::vector<PatchIntended> intents, HubEffects& effects) {
  for (PatchIntended& intent : intents) {
    const Digest wish = wish_of(intent);
    Digest& last = recommended_[write_key(intent)];
    if (last == wish) continue;
    last = wish;
    ++figures_.recommendations;
    effects.recommendations.push_back({state_.seq, state_.now, std::move(intent)});
  }
}

LogTime HubCore::next_due() const {
  if (!answers_.empty() || !offered_.empty()) return LogTime{};
  LogTime due = winding_down_ ? kForever : coalescer_.next_due();
  if (!planning()) return due;
  if (undecided_) return LogTime{};
  due = std::min(due, std::max(state_.deadlines.next(), timer_opens_));
  return std::min(due, applier_.next_due());
}

void HubCore::wind_down() {
  winding_down_ = true;
  offered_.clear();
}

Result<void> HubCore::give_up() {
  if (auto taken = take_answers(); !taken) return taken;
  std::vector<EventDraft> unanswered = applier_.give_up("the hub stopped");
  const bool none = unanswered.empty();
  for (const EventDraft& outcome : unanswered) tell(outcome);
  if (!none)
    if (auto appended = append(std::move(unanswered)); !appended) return appended.error();
  if (settings_.snapshots == nullptr) return settle_log();
  // State has closed the moment, which the log does not show before an event of a later time: with
  // one, State is again what the log folds to, as a snapshot has to be.
  if (none)
    if (auto fired = append({own(TimerFired{now()})}); !fired) return fired.error();
  return take_snapshot();
}

HubFigures HubCore::figures() const {
  HubFigures figures = figures_;
  figures.ingest = ingest_.counts();
  figures.seq = log_.last_seq();
  figures.epoch = epoch_;
  figures.log_time = log_.last_time();
  figures.awaited = awaited_;
  figures.planning = awaited_.empty();
  figures.writes_waiting = applier_.waiting();
  figures.writes_under_way = applier_.under_way();
  figures.deadlines = state_.deadlines.all().size();
  figures.clusters = state_.clusters.size();
  figures.claims = state_.claims.size();
  figures.queues = state_.queues.size();
  return figures;
}

}  // namespace fairlead
