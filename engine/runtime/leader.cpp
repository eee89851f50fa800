#include "engine/runtime/leader.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/stop_point.h"
#include "engine/fold/evolve.h"
#include "engine/runtime/configuration_dra.h"
#include "schema/codec.h"
#include "schema/event_json.h"

namespace fairlead {

Leader::Leader(Replica& replica)
    : replica_(replica),
      log_(replica.log_),
      clock_(replica.clock_),
      settings_(replica.settings_),
      logger_(replica.logger_),
      core_(*replica.core_),
      snapshots_(replica.snapshots_),
      stats_(replica.stats_) {}

Result<void> Leader::begin(const Configuration& configuration) {
  check(state().seq == log_.last_seq(), "a leader begins where its log ends");
  epoch_ = Epoch{state().epoch.value + 1};
  folded_ = state().seq;
  std::vector<EventDraft> drafts;
  const auto add = [&](Fact fact) {
    drafts.push_back({std::string(kSelf), Seq{}, std::move(fact)});
  };
  add(EpochStarted{settings_.identity, FAIRLEAD_VERSION, kFoldVersion, kSchemaVersion});
  if (state().configuration_seq == Seq{} || state().configuration != configuration)
    add(ConfigChanged{configuration});
  core_.propose(std::move(drafts));
  return append(ready(Input::more_pending).append);
}

Result<void> Leader::step_down() {
  if (!appending_)
    if (auto flushed = flush(); !flushed) return flushed;
  replica_.restart(std::move(core_).release_state());
  return {};
}

// What the configuration in force leaves out.
void Leader::report_configuration() const {
  for (const std::string& what : gated_mappings(state().configuration.dra.device_class_mappings))
    logger_({Severity::warn, what, {}});
  for (const UnwatchedClaim& claim : unwatched_claims(state(), core_.watch()))
    logger_(
        {Severity::warn,
         "members.kubeconfigs no longer names the cluster of a claim: growth is frozen, and "
         "the hub counts what it has until lostAfter",
         {{"cluster", claim.cluster}, {"claim", claim.claim}, {"since", to_rfc3339(claim.since)}}});
}

void Leader::report_refused(const std::vector<Kind>& kinds) const {
  for (const Kind kind : kinds) {
    const auto scope = core_.watch().hub.kinds.find(kind);
    const bool all = scope == core_.watch().hub.kinds.end() || scope->second.namespace_.empty();
    logger_({Severity::warn,
             "cannot be read on the hub: going on without it",
             {{"kind", std::string(info(kind).name)},
              {"namespace", all ? "*" : scope->second.namespace_}}});
  }
}

// Returns what the core asks for, and logs what it says.
Ready Leader::ready(Input input) {
  Ready ready = core_.ready(clock_.now(), input);
  report_refused(ready.refused);
  if (core_.synced() && !synced_)
    logger_({Severity::info,
             state().configuration.record ? "the hub is synced: recording, nothing is written"
                                          : "the hub is synced: planning",
             {{"seq", std::to_string(state().seq.value)}}});
  synced_ = core_.synced();
  return ready;
}

void Leader::absent(Kind kind) {
  if (core_.absent(kind))
    logger_({Severity::warn,
             "not served by the hub: waiting for its CRD",
             {{"kind", std::string(info(kind).name)}}});
}

void Leader::note(std::vector<AdmissionDecided> notes) {
  std::vector<EventDraft> drafts;
  drafts.reserve(notes.size());
  for (AdmissionDecided& note : notes)
    drafts.push_back({std::string(kSelf), Seq{}, std::move(note)});
  core_.propose(std::move(drafts));
}

void Leader::publish_view() {
  replica_.publish_view(core_.synced() ? ViewState::synced : ViewState::unsynced);
}

Result<void> Leader::reconfigure(const Configuration& configuration) {
  if (!core_.configure(configuration)) {
    logger_({Severity::info, "configuration read again: nothing changed", {}});
    return {};
  }
  // Proposals are appended in turn, before all that was offered: notes of the webhook may be first.
  while (!appending_ && !(state().configuration == configuration)) {
    Append next = ready(Input::more_pending).append;
    check(!next.drafts.empty(), "a proposed configuration comes into force");
    if (auto done = append(std::move(next)); !done) return done;
  }
  return {};
}

Result<HubEffects> Leader::step(Input input) {
  if (auto checkpoint = snapshots_.collect(state())) core_.propose(*std::move(checkpoint));
  HubEffects effects;
  if (auto collected = collect(); !collected) return collected.error();
  // While an append is under way nothing more is decided: a later step collects it.
  while (!appending_) {
    const Input now = log_.on_hold() ? Input::held : pause().ns > 0 ? Input::paced : input;
    Ready ready = this->ready(now);
    if (!ready.append.drafts.empty()) {
      if (auto done = append(std::move(ready.append)); !done) return done.error();
      continue;
    }
    if (ready.watch) effects.watch = ready.watch;
    const auto add = [](auto& all, auto& more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(effects.requests, ready.send);
    add(effects.recommendations, ready.recommendations);
    add(effects.notices, ready.notices);
    stats_.recommendations += ready.recommendations.size();
    if (ready.closed && settings_.admission != nullptr)
      settings_.admission->note(state(), core_.dirty());
    if (ready.closed)
      if (auto shown = replica_.show_present([this] { return flush(); }); !shown)
        return shown.error();
    if (ready.flush != Seq{})
      if (auto flushed = flush(); !flushed) return flushed.error();
    if (!ready.idle()) continue;
    if (input == Input::complete) publish_view();
    if (auto shown = replica_.show_present([this] { return flush(); }); !shown)
      return shown.error();
    break;
  }
  return effects;
}

Result<void> Leader::append(Append append) {
  if (append.origin == Origin::outcomes) stop_point("answer.before_log");
  appending_ = {append.origin, append.durability, settings_.now()};
  // Leaves the drafts as they are if the log refuses them.
  auto events = log_.begin(std::move(append.drafts), append.time, epoch_, append.durability);
  if (events) return *events ? appended(**std::move(events)) : Result<void>();
  appending_.reset();
  if (events.error().code == ErrorCode::bad_input && append.divisible) {
    drop_if_too_large(std::move(append.drafts), events.error());
    return {};
  }
  core_.failed();
  return events.error();
}

// Takes up the outcome of an append that was under way.
Result<void> Leader::collect() {
  if (!appending_) return {};
  auto events = log_.settled();
  if (events) return *events ? appended(**std::move(events)) : Result<void>();
  core_.failed();
  return events.error();
}

Result<void> Leader::appended(std::vector<Event>&& events) {
  const Appending append = *std::exchange(appending_, std::nullopt);
  stats_.append.add(settings_.now() - append.began);
  if (settings_.admission != nullptr) settings_.admission->note(events);
  core_.appended(events, append.durability);
  if (append.origin == Origin::outcomes) stop_point("answer.after_log");
  report(events, append.origin);
  // A Checkpoint notes a snapshot, and is no reason for the next.
  const bool noted = std::holds_alternative<Checkpoint>(events.front().fact);
  return !noted && snapshots_.is_due(state()) ? take_snapshot(HubSnapshots::Saving::aside)
                                              : Result<void>();
}

void Leader::drop_if_too_large(std::vector<EventDraft>&& drafts, const Error& refusal) {
  const auto dropped = core_.refused(std::move(drafts));
  if (!dropped) return;
  ++stats_.oversized;
  const ObjectKey* key = object_of(dropped->fact);
  logger_({Severity::error,
           "an object is too large for the log and is ignored",
           {{"source", dropped->source},
            {"object", key ? name_of(*key) : ""},
            {"why", refusal.message}}});
}

// Counts the events that were logged, and logs the lines about them.
void Leader::report(const std::vector<Event>& events, Origin origin) {
  switch (origin) {
    case Origin::facts: return;
    case Origin::timer: ++stats_.timers; return;
    case Origin::intents:
      stats_.intents += events.size();
      for (const Event& event : events) writes_.intended(event);
      return;
    case Origin::outcomes:
      for (const Event& event : events) logger_(writes_.outcome(event, stats_));
      return;
    case Origin::proposal: break;
  }
  // The events are folded already: State has the new configuration.
  const Event& first = events.front();
  if (const auto* started = std::get_if<EpochStarted>(&first.fact)) {
    publish_view();
    logger_({Severity::info,
             "epoch started",
             {{"epoch", std::to_string(epoch_.value)},
              {"identity", started->identity},
              {"version", FAIRLEAD_VERSION},
              {"folded", std::to_string(folded_.value)},
              {"snapshot", std::to_string(snapshots_.last().value)},
              {"configuration", events.size() > 1 ? "changed" : "as before"}}});
    return report_configuration();
  }
  if (!std::holds_alternative<ConfigChanged>(first.fact)) return;
  logger_({Severity::info, "configuration changed", {{"seq", std::to_string(first.seq.value)}}});
  report_configuration();
}

Result<void> Leader::flush() {
  const LogTime began = settings_.now();
  auto flushed = log_.wait_durable();
  stats_.append.add(settings_.now() - began);
  if (flushed)
    core_.durable(log_.last_seq());
  else
    core_.failed();
  return flushed;
}

void Leader::lose_notice() {
  if (stats_.notices_lost++ == 0)
    logger_({Severity::warn, "an Event could not be sent: too many wait", {}});
}

// Called right after a commit, so that State is exactly what the log folds to up to there. The log
// is flushed first: a snapshot of events that a crash loses would belong to no log.
Result<void> Leader::take_snapshot(HubSnapshots::Saving saving) {
  if (auto flushed = flush(); !flushed) return flushed;
  if (auto checkpoint = snapshots_.take(state(), log_.chain(), saving))
    core_.propose(*std::move(checkpoint));
  return {};
}

// Steps until nothing is left to append.
Result<void> Leader::drain(LogTime end) {
  for (;;) {
    if (auto stepped = step(Input::complete); !stepped) return stepped.error();
    if (!appending_) return {};
    const Duration left = end - settings_.now();
    if (left.ns <= 0)
      return Error{ErrorCode::unavailable, "the log did not store the last events in time"};
    log_.await_settled(left);
  }
}

Result<void> Leader::give_up() {
  const LogTime end = settings_.now() + kGiveUpMax;
  snapshots_.wind_down();
  core_.wind_down();
  if (auto answered = drain(end); !answered) return answered;
  const bool none = core_.unsent() + core_.under_way() == 0;
  core_.give_up("the hub stopped");
  if (auto given_up = drain(end); !given_up) return given_up;
  if (!snapshots_.last_pays(state())) return {};
  // State has closed the moment, which the log does not show before an event of a later time: with
  // one, State is again what the log folds to, as a snapshot has to be.
  if (none) {
    core_.propose(TimerFired{now()});
    if (auto fired = drain(end); !fired) return fired;
  }
  if (auto saved = take_snapshot(HubSnapshots::Saving::here); !saved) return saved;
  return drain(end);
}

}  // namespace fairlead
