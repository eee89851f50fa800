#include "engine/core/core.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/emit.h"

namespace fairlead {

namespace {

template <class T>
void move_behind(std::vector<T>& all, std::vector<T>&& more) {
  if (all.empty())
    all = std::move(more);
  else
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

std::vector<EventDraft> own(Fact fact) {
  std::vector<EventDraft> drafts;
  drafts.push_back({std::string(kSelf), Seq{}, std::move(fact)});
  return drafts;
}

}  // namespace

Core::Core(const CoreSettings& settings)
    : settings_(settings),
      // Where writes are assumed, the input itself names what goes: no list has to show it.
      facts_(ingest_, settings.mode == WriteMode::assume ? nullptr : &lists_, settings.facts_max),
      outbox_(ingest_),
      planning_(settings.planning) {}

void Core::restore(State state) {
  durable_ = state.seq;
  outbox_.set_inflight_max(state.configuration.writes.inflight_max);
  moments_.restore(std::move(state));
}

void Core::offer(WatchFact&& fact) {
  if (settings_.watching == Watching::by_state && !sources_.note(fact)) return;
  if (!winding_down_ && !failed_) facts_.offer(std::move(fact));
}

void Core::answer(WriteAnswer answer) { outbox_.answer(std::move(answer)); }

bool Core::configure(const Configuration& configuration) {
  if (state().configuration == configuration) return false;
  propose(ConfigChanged{configuration});
  return true;
}

void Core::propose(std::vector<EventDraft> drafts) {
  if (!drafts.empty()) proposed_.push_back(std::move(drafts));
}

void Core::propose(Fact fact) { propose(own(std::move(fact))); }

bool Core::absent(Kind kind) {
  if (!awaited().contains(kind)) return false;
  offer({std::string(kHub), ListCompleted{kind, ""}});
  return true;
}

void Core::set_planning(Planning planning) {
  if (winding_down_) return;
  if (planning == Planning::on && planning_ == Planning::off) moments_.mark_all();
  if (planning == Planning::on && planning_ != Planning::on) moments_.reopen();
  planning_ = planning;
}

void Core::wind_down() {
  winding_down_ = true;
  planning_ = Planning::off;
  to_plan_ = false;
  facts_.clear();
}

void Core::give_up(std::string_view why) { outbox_.give_up(why); }

// Where a kind came into use, planning waits for its first list, as at the start.
void Core::follow_configuration() {
  if (settings_.watching == Watching::by_driver) return;
  for (WatchFact& fact : sources_.follow_configuration(state(), lists_))
    if (!winding_down_) facts_.offer(std::move(fact));
  if (awaited().empty()) return;
  synced_ = false;
  set_planning(Planning::off);
}

// Called when all that was listed is in the log.
bool Core::may_begin() const {
  return settings_.watching == Watching::by_state && !synced_ && sources_.began() &&
         awaited().empty();
}

// The present moment may close as far as input goes. One of our own intents may in any case, unless
// their answers are to be a part of it. Where commits are paced, what follows from outcomes alone
// is planned with the next facts: a commit of its own would delay these.
bool Core::may_close(Input input) const {
  return input == Input::complete || (input == Input::paced && !only_outcomes_) ||
         moments_.events() >= settings_.unplanned_max ||
         (rounds_ > 0 && settings_.mode != WriteMode::assume);
}

Ready Core::ready(LogTime now, Input input) {
  Ready ready;
  if (failed_ || out_) return ready;
  // The clock may have been set back; evolve() aborts on a log time that goes back.
  now = std::max(now, state().now);
  ready.refused = sources_.refused();
  if (input == Input::held) {
    end_turn(now, input, ready);
    return ready;
  }
  ready.append = next_append(now, input);
  if (!ready.append.drafts.empty()) {
    out_ = ready.append.origin;
    return ready;
  }
  if (may_begin()) {
    if (durable_ < state().seq) {
      ready.flush = state().seq;
      return ready;
    }
    synced_ = true;
    rounds_ = 0;
    set_planning(Planning::on);
  }
  // Nothing is left to append, so all events of the moment are folded.
  if (planning_ != Planning::off && moments_.open() && rounds_ < settings_.rounds_max &&
      may_close(input)) {
    moments_.close();
    ++rounds_;
    to_plan_ = planning_ == Planning::on;
    ready.closed = true;
    return ready;
  }
  end_turn(now, input, ready);
  return ready;
}

// The order in which things are logged. Facts come before outcomes, because an outcome is compared
// with what the streams have reported by then (Outbox::look_for_result): a stream that was faster
// than the answer must have been read.
Append Core::next_append(LogTime now, Input input) {
  Append append;
  append.time = moments_.next_time(now, settings_.clocking);
  const auto drafted = [&](Origin origin, std::vector<EventDraft> drafts) {
    append.origin = origin;
    append.drafts = std::move(drafts);
    return !append.drafts.empty();
  };
  // Before all else: the plan is of the moment that has just closed.
  if (to_plan_ && drafted(Origin::intents, draft_intents())) return append;
  if (!proposed_.empty()) {
    drafted(Origin::proposal, std::move(proposed_.front()));
    proposed_.pop_front();
    return append;
  }
  // Where the clock may stop, what is due at a moment comes behind all its input. With a strict
  // clock what comes next is later in any case.
  const bool paced = input == Input::paced;
  const bool due_now = !paced && (settings_.clocking == Clocking::strict || may_close(input));
  const HeldFacts held = due_now ? HeldFacts::join : HeldFacts::stay;
  if (!paced && drafted(Origin::facts, facts_.draft(state(), now, held))) {
    append.durability = Durability::pending;
    append.divisible = true;
    return append;
  }
  // Where commits are paced, one commit per answer would delay the next facts. So outcomes are
  // appended after the facts of an open moment, or when no more answers are awaited.
  const bool outcomes_wait = paced && !moments_.open() && outbox_.awaits_answers();
  if (outbox_.waiting() && !outcomes_wait && drafted(Origin::outcomes, outbox_.draft(state(), now)))
    return append;
  if (due_now) drafted(Origin::timer, draft_timer(now));
  return append;
}

// Only between moments: a deadline that falls due while a moment is open is run when that moment
// closes.
std::vector<EventDraft> Core::draft_timer(LogTime now) {
  if (planning_ == Planning::off || moments_.open() || rounds_ > 0) return {};
  const LogTime due = state().deadlines.next();
  if (due > now || now < timer_opens_) return {};
  // One TimerFired at `now` is enough for every deadline that is due: the fold runs each of them at
  // its own time on the way there (advance_to).
  timer_opens_ = now + settings_.timer_gap;
  return own(TimerFired{due});
}

std::vector<EventDraft> Core::draft_intents() {
  to_plan_ = false;
  std::vector<PatchIntended> intents = moments_.planned();
  std::vector<EventDraft> drafts;
  if (settings_.mode == WriteMode::recommend) {
    recommend(std::move(intents));
    return drafts;
  }
  drafts.reserve(intents.size());
  for (PatchIntended& intent : intents) {
    if (settings_.mode == WriteMode::apply)
      carry_version(intent, ingest_.newest_version(intent.cluster, intent.target));
    drafts.push_back({std::string(kSelf), Seq{}, std::move(intent)});
  }
  return drafts;
}

void Core::recommend(std::vector<PatchIntended> intents) {
  for (PatchIntended& intent : intents) {
    const Digest wish = wish_of(intent);
    Digest& last = recommended_[write_key(intent)];
    // Nothing is written in this mode, so each plan of the object makes the same intent again.
    if (last == wish) continue;
    last = wish;
    effects_after(state().seq)
        .recommendations.push_back({state().seq, state().now, std::move(intent)});
  }
}

void Core::appended(std::span<const Event> events, Durability durability) {
  check(out_.has_value(), "events are appended because ready() asked for it");
  const Origin origin = *std::exchange(out_, std::nullopt);
  if (events.empty()) return;
  only_outcomes_ = origin == Origin::outcomes && (only_outcomes_ || !moments_.open());
  for (const Event& event : events) moments_.appended(event);
  if (durability == Durability::durable) durable(events.back().seq);
  switch (origin) {
    case Origin::facts: facts_.logged(state()); break;
    case Origin::outcomes:
      facts_.offer_again(outbox_.logged());
      if (auto notices = outbox_.notices(); !notices.empty())
        move_behind(effects_after(state().seq).notices, std::move(notices));
      break;
    case Origin::intents:
      if (settings_.mode == WriteMode::apply)
        for (const Event& event : events) outbox_.intended(state(), event);
      break;
    case Origin::proposal:
      outbox_.set_inflight_max(state().configuration.writes.inflight_max);
      if (state().configuration.record) outbox_.give_up("the hub writes nothing any more: record");
      follow_configuration();
      break;
    case Origin::timer: break;
  }
}

void Core::learned(std::span<const Event> events) {
  check(planning_ == Planning::off && !out_ && proposed_.empty() && !facts_.waiting(),
        "a core that follows plans nothing and appends nothing");
  if (events.empty()) return;
  for (const Event& event : events) moments_.appended(event);
  durable(events.back().seq);
  outbox_.set_inflight_max(state().configuration.writes.inflight_max);
}

std::optional<EventDraft> Core::refused(std::vector<EventDraft>&& drafts) {
  check(out_ == Origin::facts, "only facts are appended in parts");
  out_.reset();
  return facts_.refused(std::move(drafts));
}

void Core::durable(Seq seq) { durable_ = std::max(durable_, seq); }

void Core::failed() {
  failed_ = true;
  effects_.clear();
}

// Entries ascend by `after`. What follows from an older seq joins the last entry, so it may wait
// for more than it must, never for less.
Core::Effects& Core::effects_after(Seq seq) {
  if (effects_.empty() || effects_.back().after < seq) effects_.emplace_back().after = seq;
  return effects_.back();
}

// Nothing is left to append: the effects go out whose events are stored. With complete input all of
// State is waited for, so that an idle Ready then means that nothing of it can be lost. With more
// pending only effects are waited for: the burst goes on while its commits are written.
void Core::end_turn(LogTime now, Input input, Ready& ready) {
  // While planning is paused, logged writes wait in the outbox.
  if (planning_ == Planning::on && settings_.mode == WriteMode::apply)
    for (WriteRequest& request : outbox_.requests(now)) {
      const Seq intent = request.intent;
      effects_after(intent).send.push_back(std::move(request));
    }
  for (; !effects_.empty() && effects_.front().after <= durable_; effects_.pop_front()) {
    Effects& stored = effects_.front();
    move_behind(ready.send, std::move(stored.send));
    move_behind(ready.recommendations, std::move(stored.recommendations));
    move_behind(ready.notices, std::move(stored.notices));
  }
  const Seq wanted = input == Input::complete ? state().seq
                     : effects_.empty()       ? Seq{}
                                              : effects_.back().after;
  if (durable_ < wanted) {
    ready.flush = wanted;
    return;
  }
  rounds_ = 0;
  // Before anything that a new stream reports.
  if (settings_.watching == Watching::by_state) {
    for (WatchFact& fact : sources_.follow_tenants(state(), lists_))
      if (!winding_down_) facts_.offer(std::move(fact));
    for (WatchFact& fact : sources_.follow_workloads(state()))
      if (!winding_down_) facts_.offer(std::move(fact));
  }
  ready.watch = sources_.changed_watch();
  ready.next_deadline = next_deadline();
}

LogTime Core::next_deadline() const {
  if (failed_ || out_) return kForever;
  if (!proposed_.empty() || facts_.waiting() || outbox_.waiting() || sources_.due(state()))
    return LogTime{};
  const LogTime due = facts_.next_due();
  if (planning_ == Planning::off) return due;
  if (moments_.open() || to_plan_) return LogTime{};
  return std::min({due, std::max(state().deadlines.next(), timer_opens_), outbox_.next_due()});
}

}  // namespace fairlead
