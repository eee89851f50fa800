#include "replay/whatif/what_if.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/log/read_ahead.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/unseen.h"
#include "replay/beginning.h"
#include "replay/whatif/counterfactual_world.h"

namespace fairlead {

namespace {

constexpr std::uint64_t kProgressEvents = 1000;

// History itself, folded and measured moment by moment.
class ActualWorld {
 public:
  explicit ActualWorld(State start) : state_(std::move(start)) {
    DirtySet all;
    all.everything = true;
    meter_.decided(state_, all);
  }

  /// Adds a write from before the worlds parted, which the counterfactuals plan anew.
  void made_before(PlannedWrite write) { writes_.push_back(std::move(write)); }
  void consume(const Event& event) {
    if (event.log_time > state_.now) pass_until(event.log_time);
    if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      meter_.wrote(*intent);
      if (is_compared(*intent)) {
        PlannedWrite& made = writes_.emplace_back(event.seq, event.log_time, *intent);
        made.intent.expected.reset();  // only its content is compared
      }
    }
    evolve(state_, event, dirty_);
  }
  /// Every deadline until `end` runs.
  void finish(LogTime end) {
    pass_until(end + Duration{1});
    if (end > state_.now) run_until(state_, end, dirty_);
    decide();
  }

  const State& state() const { return state_; }
  const std::vector<PlannedWrite>& writes() const { return writes_; }
  Totals totals(LogTime end) const { return meter_.totals(end); }

 private:
  // The meter measures every moment in between.
  void pass_until(LogTime time) {
    decide();
    while (state_.deadlines.next() < time) {
      run_until(state_, state_.deadlines.next(), dirty_);
      decide();
    }
  }
  void decide() {
    close_moment(state_, dirty_);
    meter_.decided(state_, dirty_);
    dirty_ = {};
  }

  State state_;
  DirtySet dirty_;
  TotalsMeter meter_;
  std::vector<PlannedWrite> writes_;
};

using Reconfigure = std::function<Result<Configuration>(const Configuration& actual)>;

Result<Configuration> unchanged(const Configuration& actual) { return actual; }

// A counterfactual: under another configuration or, as the baseline, under the same.
class CounterfactualWorld {
 public:
  // `values` may be null.
  CounterfactualWorld(Reconfigure reconfigure, std::shared_ptr<ValueSeries> values, State start)
      : reconfigure_(std::move(reconfigure)),
        values_(std::move(values)),
        seq_(start.seq),
        hub_(ports(), Feedback::assumed, std::move(start)) {
    DirtySet all;
    all.everything = true;
    measure(hub_.state(), all);
  }

  // Sets the configuration that history had in force when the worlds part.
  Result<void> begin(LogTime at) {
    const State& state = hub_.state();
    if (state.configuration_seq == Seq{}) return {};
    return configure(at, state.configuration);
  }

  Result<void> consume(const Event& event, const State& history) {
    if (event.log_time > hub_.now())
      if (auto done = pass_until(event.log_time); !done) return done;
    if (const auto* changed = std::get_if<ConfigChanged>(&event.fact))
      return configure(event.log_time, changed->configuration);
    if (std::holds_alternative<EpochStarted>(event.fact)) {
      waits_until_ = event.log_time + kStartPatience;
      hub_.set_planning(Planning::paused);
      return {};
    }
    if (event.source == kSelf) {
      plan_again();  // history's hub planned, so it had its lists
      return {};
    }
    if (is_word_of_a_cluster(event.fact))
      return hub_.append(event.log_time, one({event.source, {}, event.fact}));
    auto fact = translate(event, history, hub_.state());
    if (!fact) return {};
    note_queue(*fact);
    if (auto done = hub_.offer(*std::move(fact)); !done) return done.error();
    return {};
  }

  /// Runs every deadline until `end`, then plans what is known.
  Result<void> finish(LogTime end) {
    if (waits_until_)
      if (auto done = pass_until(end); !done) return done;
    plan_again();
    return hub_.run_to(end + Duration{1});
  }
  const std::vector<PlannedWrite>& writes() const { return hub_.writes(); }
  Totals totals(LogTime end) const {
    TotalsMeter meter = meter_;
    // On a copy, because the totals may be asked for again.
    for (const PlannedWrite& write : hub_.writes()) meter.wrote(write.intent);
    return meter.totals(end);
  }

 private:
  static std::vector<EventDraft> one(EventDraft draft) {
    std::vector<EventDraft> drafts;
    drafts.push_back(std::move(draft));
    return drafts;
  }
  // Whether the event is about all capacity sources of a cluster at once: no stream reports that.
  static bool is_word_of_a_cluster(const Fact& fact) {
    if (const auto* synced = std::get_if<SourceSynced>(&fact)) return !synced->kind;
    if (const auto* stale = std::get_if<SourceStale>(&fact)) return !stale->kind;
    if (const auto* lost = std::get_if<SourceLost>(&fact)) return !lost->kind;
    return false;
  }
  Result<void> pass_until(LogTime time) {
    if (waits_until_ && time >= *waits_until_) {
      if (auto done = hub_.run_to(*waits_until_); !done) return done;
      plan_again();
    }
    return hub_.run_to(time);
  }
  void plan_again() {
    waits_until_.reset();
    hub_.set_planning(Planning::on);
  }
  // The use of a queue may change without anything that follows from it.
  void note_queue(const WatchFact& fact) {
    const auto* seen = std::get_if<ObjectSeen>(&fact.said);
    if (values_ && seen && fact.source == kHub && seen->key.kind == Kind::cluster_queue)
      observed_.queues.insert(seen->key.name);
  }
  void measure(const State& state, const DirtySet& dirty) {
    meter_.decided(state, dirty);
    if (values_) values_->sample(state, dirty, observed_);
    observed_ = {};
  }
  Result<void> configure(LogTime at, const Configuration& actual) {
    auto configuration = reconfigure_(actual);
    if (!configuration) return configuration.error();
    return hub_.append(at, one({std::string(kSelf), {}, ConfigChanged{*configuration}}));
  }
  // Events are not stored: a what-if over ten million events needs no second log.
  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return Result<std::vector<Event>>(numbered(std::move(drafts), at, seq_));
    };
    ports.decided = [this](const State& state, const DirtySet& dirty) { measure(state, dirty); };
    return ports;
  }

  const Reconfigure reconfigure_;
  const std::shared_ptr<ValueSeries> values_;
  ObservedNames observed_;  // what events of the open moment are about
  TotalsMeter meter_;
  Seq seq_;
  VirtualHub hub_;
  std::optional<LogTime> waits_until_;
};

// Answers of history do not reach a counterfactual: a write that is unanswered when the worlds part
// counts as not done there, and is planned anew.
State without_open_writes(State state) {
  for (auto& [key, write] : state.writes.by_key) {
    write.outstanding.reset();
    write.await_nothing();
    write.refusal.reset();
  }
  state.writes.outstanding.clear();
  state.writes.held_up.clear();
  return state;
}

// When the worlds part: as asked for, between the event before and the first that is folded.
LogTime parting_of(LogTime before, const WhatIfOptions& options,
                   const std::optional<Event>& first) {
  const LogTime latest = first ? first->log_time : options.to_time.value_or(before);
  // clamp() needs ordered bounds, and `to_time` may lie before the last event.
  return std::clamp(options.from_time.value_or(latest), before, std::max(before, latest));
}

// Runs what was due before the parting, which is the same in every world.
void pass_until(State& state, LogTime parting) {
  if (state.seq == Seq{} || parting.ns - 1 <= state.now.ns) return;
  DirtySet dirty;
  run_until(state, {parting.ns - 1}, dirty);
}

// Adds writes from before the parting without an answer to history's writes, at their own time: the
// baseline plans them anew, and so they find their partner.
void add_open_writes(const ReadableLog& log, const State& start, ActualWorld& actual) {
  std::vector<Seq> seqs;
  for (const auto& [key, write] : start.writes.by_key)
    if ((!key.status || key.object.kind == Kind::workload) && (write.outstanding || write.awaits()))
      seqs.push_back(write.last_write_seq);
  std::sort(seqs.begin(), seqs.end());
  EventLookup lookup(log);
  lookup.expect(seqs);
  for (const Seq seq : seqs)
    if (const Event* event = lookup.at(seq))
      if (const auto* intent = std::get_if<PatchIntended>(&event->fact))
        actual.made_before({seq, event->log_time, *intent});
}

// The events that are folded, and the state in which the worlds part.
struct Span {
  Seq from, to;
  bool from_pruned = false;
  State start;  ///< before `from`
};

Error no_events(Seq from, Seq to) {
  return {ErrorCode::bad_input, "no events from seq " + std::to_string(from.value) + " to seq " +
                                    std::to_string(to.value)};
}

// In a pruned log the first states may be unknown: then the span begins after the first known one.
Result<Span> span_of(const AuditSource& source, const WhatIfOptions& options) {
  const ReadableLog& log = source.log;
  Span span;
  const Seq asked = options.to.value_or(end_of(log));
  if (auto known = expect_before_damage(log, asked); !known) return known.error();
  if (options.to_time)
    if (auto known = expect_before_damage(log, *options.to_time); !known) return known.error();
  span.to = std::min(asked, log.last_seq());
  const Seq from = std::max(Seq{1}, options.from.value_or(Seq{1}));
  span.from = std::max(from, log.first_seq());
  // Between two events, or behind the last, only deadlines are folded.
  const bool between = options.from_time && options.to_time &&
                       *options.from_time <= *options.to_time && span.from == next(span.to);
  if (span.from > span.to && !between) return no_events(span.from, span.to);
  auto start = state_at(log, source.snapshots, Seq{span.from.value - 1});
  if (start) {
    span.start = *std::move(start);
  } else {
    if (start.error().code != ErrorCode::not_found || log.first_seq() <= Seq{1})
      return start.error();
    auto oldest = oldest_beginning(log, source.snapshots);
    if (!oldest) return oldest.error();
    if (!*oldest || (*oldest)->state.seq < span.from) return start.error();
    span.start = std::move((*oldest)->state);
    span.from = next(span.start.seq);
    if (span.from > span.to) return no_events(span.from, span.to);
  }
  span.from_pruned = span.from > from || (log.first_seq() > Seq{1} && options.from_time &&
                                          *options.from_time <= span.start.now);
  return span;
}

class Worlds {
 public:
  Worlds(const WhatIfOptions& options, const State& start)
      : actual_(start),
        baseline_(unchanged, nullptr, without_open_writes(start)),
        counterfactual_(options.configuration, options.values, without_open_writes(start)),
        overrides_(options.configuration) {}

  ActualWorld& actual() { return actual_; }
  Result<void> begin(LogTime parting) {
    if (auto begun = baseline_.begin(parting); !begun) return begun;
    if (auto begun = overrides_.begin(actual_.state()); !begun) return begun;
    return counterfactual_.begin(parting);
  }
  // History comes last: the others translate the event with history as it was before.
  Result<void> consume(const Event& event) {
    if (auto consumed = baseline_.consume(event, actual_.state()); !consumed) return consumed;
    if (auto consumed = counterfactual_.consume(event, actual_.state()); !consumed) return consumed;
    actual_.consume(event);
    return overrides_.consumed(event, actual_.state());
  }
  Result<void> finish(LogTime end, WhatIf& result) {
    actual_.finish(end);
    if (auto finished = baseline_.finish(end); !finished) return finished;
    if (auto finished = counterfactual_.finish(end); !finished) return finished;
    WriteComparison compared =
        compare_writes(baseline_.writes(), counterfactual_.writes(), actual_.writes());
    result.differences = std::move(compared.differences);
    result.same = compared.same;
    result.history = actual_.totals(end);
    result.baseline = baseline_.totals(end);
    result.counterfactual = counterfactual_.totals(end);
    result.overridden = overrides_.found();
    return {};
  }

 private:
  ActualWorld actual_;
  CounterfactualWorld baseline_, counterfactual_;
  Overrides overrides_;
};

}  // namespace

struct WhatIfRun::Parts {
  Parts(WhatIfOptions how, const Span& span, LogTime parting)
      : options(std::move(how)), worlds(options, span.start) {
    result.from = span.from;
    result.to = span.to;
    result.from_pruned = span.from_pruned;
    result.first_time = parting;
    seq = Seq{span.from.value - 1};
  }

  Result<void> consume(const Event& event) {
    if (auto consumed = worlds.consume(event); !consumed) return consumed;
    seq = event.seq;
    if (options.progress && seq.value % kProgressEvents == 0)
      options.progress(seq.value - result.from.value, result.to.value - result.from.value);
    return {};
  }
  Result<WhatIf> finish(const AuditSource& source) {
    const LogTime last = std::max(result.first_time, worlds.actual().state().now);
    result.last_time = std::max(last, options.to_time.value_or(last));
    if (auto finished = worlds.finish(result.last_time, result); !finished) return finished.error();
    auto unseen =
        unseen_of_all(source, {result.from, result.to, result.last_time}, worlds.actual().state());
    if (!unseen) return unseen.error();
    result.unseen = *std::move(unseen);
    return std::move(result);
  }

  const WhatIfOptions options;
  Worlds worlds;
  WhatIf result;
  Seq seq;  // the last event that is folded
};

WhatIfRun::WhatIfRun(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WhatIfRun::WhatIfRun(WhatIfRun&&) noexcept = default;
WhatIfRun& WhatIfRun::operator=(WhatIfRun&&) noexcept = default;
WhatIfRun::~WhatIfRun() = default;

Seq WhatIfRun::seq() const { return parts_->seq; }
Seq WhatIfRun::last() const { return parts_->result.to; }

Result<WhatIfRun> WhatIfRun::begin(const AuditSource& source, WhatIfOptions options) {
  const ReadableLog& log = source.log;
  auto span = span_of(source, options);
  if (!span) return span.error();
  EventLookup lookup(log);
  const Event* event = span->from <= log.last_seq() ? lookup.at(span->from) : nullptr;
  const LogTime parting =
      parting_of(span->start.now, options, event ? std::optional(*event) : std::nullopt);
  pass_until(span->start, parting);
  auto parts = std::make_unique<Parts>(std::move(options), *span, parting);
  add_open_writes(log, span->start, parts->worlds.actual());
  if (auto begun = parts->worlds.begin(parting); !begun) return begun.error();
  return WhatIfRun(std::move(parts));
}

Result<std::optional<WhatIf>> WhatIfRun::advance(const AuditSource& source,
                                                 std::uint64_t events_max) {
  auto opened = source.log.read(next(parts_->seq));
  if (!opened) return opened.error();
  const auto reader = read_ahead(*std::move(opened));
  EventBatch batch;
  for (std::uint64_t folded = 0; parts_->seq < last() && folded < events_max;) {
    if (auto read = reader->next_batch(batch); !read) return read.error();
    if (batch.size() == 0) break;
    for (const Event& event : batch.events()) {
      if (event.seq > last() || folded == events_max) break;
      if (auto consumed = parts_->consume(event); !consumed) return consumed.error();
      ++folded;
    }
  }
  if (parts_->seq < last() && batch.size() > 0) return std::optional<WhatIf>();
  auto result = parts_->finish(source);
  if (!result) return result.error();
  return std::optional(*std::move(result));
}

Result<WhatIf> what_if(const AuditSource& source, const WhatIfOptions& options) {
  auto run = WhatIfRun::begin(source, options);
  if (!run) return run.error();
  for (;;) {
    auto result = run->advance(source, UINT64_MAX);
    if (!result) return result.error();
    if (*result) return **std::move(result);
  }
}

}  // namespace fairlead
