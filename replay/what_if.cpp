#include "replay/what_if.h"

#include <algorithm>
#include <map>

#include "engine/fold/evolve.h"
#include "engine/fold/writes.h"
#include "replay/audit_moment.h"
#include "replay/imagined_world.h"
#include "replay/table.h"

namespace fairlead {

namespace {

constexpr std::uint64_t kProgressEvents = 10'000;

// History itself, folded and measured moment by moment.
class ActualWorld {
 public:
  explicit ActualWorld(State start) : state_(std::move(start)) {
    Touched all;
    all.everything = true;
    meter_.decided(state_, all);
  }

  void take(const Event& event) {
    if (event.log_time > state_.now) pass_until(event.log_time);
    if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      meter_.wrote(*intent);
      if (intent->verb != Verb::apply_status)
        writes_.push_back({event.seq, event.log_time, *intent});
    }
    evolve(state_, event, touched_);
  }
  void finish() { decide(); }

  const State& state() const { return state_; }
  const std::vector<PlannedWrite>& writes() const { return writes_; }
  Totals totals() const { return meter_.totals(state_.now); }

 private:
  // Every moment between is seen by the meter.
  void pass_until(LogTime time) {
    decide();
    while (state_.deadlines.next() < time) {
      run_until(state_, state_.deadlines.next(), touched_);
      decide();
    }
  }
  void decide() {
    settle(state_, touched_);
    meter_.decided(state_, touched_);
    touched_ = {};
  }

  State state_;
  Touched touched_;
  TotalsMeter meter_;
  std::vector<PlannedWrite> writes_;
};

// The world under the other configuration.
class ImaginedWorld {
 public:
  ImaginedWorld(const WhatIfOptions& options, State start)
      : options_(options), seq_(start.seq), hub_(ports(), Feedback::assumed, std::move(start)) {
    Touched all;
    all.everything = true;
    meter_.decided(hub_.state(), all);
  }

  // What history had in force when the worlds part.
  Result<void> begin(LogTime at) {
    const State& state = hub_.state();
    if (state.configuration_seq == Seq{}) return {};
    return configure(at, state.configuration);
  }

  Result<void> take(const Event& event, const State& history) {
    if (event.log_time > hub_.now())
      if (auto done = hub_.run_to(event.log_time); !done) return done;
    if (waits_until_ && event.log_time >= *waits_until_) plan_again();
    if (const auto* changed = std::get_if<ConfigChanged>(&event.fact))
      return configure(event.log_time, changed->configuration);
    if (std::holds_alternative<EpochStarted>(event.fact)) {
      waits_until_ = event.log_time + kStartPatience;
      hub_.set_planning(VirtualHub::Planning::paused);
      return {};
    }
    if (event.source == kSelf) {
      plan_again();  // history's hub planned: it had its lists
      return {};
    }
    if (is_word_of_a_cluster(event.fact))
      return hub_.tell(event.log_time, one({event.source, {}, event.fact}));
    const auto fact = imagine(event, history, hub_.state());
    if (!fact) return {};
    if (auto done = hub_.offer(*fact); !done) return done.error();
    return {};
  }

  Result<void> finish(LogTime end) {
    plan_again();
    return hub_.run_to(end + Duration{1});
  }
  const std::vector<PlannedWrite>& writes() const { return hub_.writes(); }
  Totals totals(LogTime end) const {
    TotalsMeter meter = meter_;
    for (const PlannedWrite& write : hub_.writes()) meter.wrote(write.intent);
    return meter.totals(end);
  }

 private:
  static std::vector<EventDraft> one(EventDraft draft) {
    std::vector<EventDraft> drafts;
    drafts.push_back(std::move(draft));
    return drafts;
  }
  // About all capacity sources of a cluster at once: no stream says that.
  static bool is_word_of_a_cluster(const Fact& fact) {
    if (const auto* synced = std::get_if<SourceSynced>(&fact)) return !synced->kind;
    if (const auto* stale = std::get_if<SourceStale>(&fact)) return !stale->kind;
    if (const auto* lost = std::get_if<SourceLost>(&fact)) return !lost->kind;
    return false;
  }
  void plan_again() {
    waits_until_.reset();
    hub_.set_planning(VirtualHub::Planning::on);
  }
  Result<void> configure(LogTime at, const Configuration& actual) {
    auto configuration = options_.configuration(actual);
    if (!configuration) return configuration.error();
    return hub_.tell(at, one({std::string(kSelf), {}, ConfigChanged{*configuration}}));
  }
  // Nothing is kept: a what-if over ten million events needs no second log.
  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return Result<std::vector<Event>>(numbered(std::move(drafts), at, seq_));
    };
    ports.decided = [this](const State& state, const Touched& touched) {
      meter_.decided(state, touched);
    };
    return ports;
  }

  const WhatIfOptions& options_;
  TotalsMeter meter_;
  Seq seq_;
  VirtualHub hub_;
  std::optional<LogTime> waits_until_;
};

// Answers of history do not reach the imagined world: what is unanswered when the worlds part
// counts as not done there, and is planned anew.
State without_open_writes(State state) {
  for (auto& [key, write] : state.writes) {
    write.outstanding.reset();
    write.awaited_version.clear();
  }
  state.outstanding.clear();
  return state;
}

// When the worlds part: as asked for, between the event before and the first that is folded.
LogTime parting_of(const State& before, std::optional<LogTime> asked, const Event& first) {
  return std::clamp(asked.value_or(first.log_time), before.now, first.log_time);
}

// What was due until then happens in both worlds.
void pass_until(State& state, LogTime parting) {
  if (state.seq == Seq{} || parting.ns - 1 <= state.now.ns) return;
  Touched touched;
  run_until(state, {parting.ns - 1}, touched);
}

// What a write says, without the versions that it carries.
Json content_of(const PatchIntended& intent) {
  Json body = intent.body.empty() ? Json() : Json::parse(intent.body, nullptr, false);
  if (body.is_object() && body.contains("metadata") && body["metadata"].is_object()) {
    body["metadata"].erase("uid");
    body["metadata"].erase("resourceVersion");
  }
  return {std::string(to_string(intent.verb)), std::move(body)};
}

using WritesByObject = std::map<WriteKey, std::vector<const PlannedWrite*>>;

WritesByObject by_object(const std::vector<PlannedWrite>& writes) {
  WritesByObject sorted;
  for (const PlannedWrite& write : writes)
    if (write.intent.verb != Verb::apply_status) sorted[write_key(write.intent)].push_back(&write);
  return sorted;
}

bool within(const PlannedWrite& a, const PlannedWrite& b, Duration span) {
  return std::max(a.time, b.time) <= std::min(a.time, b.time) + span;
}

// Walks through the writes of one object on both sides.
void compare_object(const std::vector<const PlannedWrite*>& history,
                    const std::vector<const PlannedWrite*>& imagined,
                    std::vector<WriteDifference>& differences, std::uint64_t& same) {
  std::size_t h = 0, w = 0;
  while (h < history.size() || w < imagined.size()) {
    if (h < history.size() && w < imagined.size()) {
      const PlannedWrite& actual = *history[h];
      const PlannedWrite& other = *imagined[w];
      const bool equal = content_of(actual.intent) == content_of(other.intent);
      if (equal ? within(actual, other, kSameWrite) : within(actual, other, kSameMoment)) {
        if (equal)
          ++same;
        else
          differences.push_back({actual, other});
        ++h;
        ++w;
        continue;
      }
    }
    const bool actual_first =
        w == imagined.size() || (h < history.size() && history[h]->time <= imagined[w]->time);
    if (actual_first)
      differences.push_back({*history[h++], std::nullopt});
    else
      differences.push_back({std::nullopt, *imagined[w++]});
  }
}

const PlannedWrite& either(const WriteDifference& difference) {
  return difference.history ? *difference.history : *difference.imagined;
}

std::string object_name(const PatchIntended& intent) {
  const ObjectKey& key = intent.target;
  return std::string(info(key.kind).name) + " " +
         (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name;
}

Json side_json(const std::optional<PlannedWrite>& write) {
  if (!write) return nullptr;
  return {{"seq", write->seq.value},
          {"time", to_rfc3339(write->time)},
          {"rule", write->intent.reason.rule},
          {"text", write->intent.reason.text}};
}

std::string side_text(const std::optional<PlannedWrite>& write, LogTime time) {
  if (!write) return "-";
  return (write->time == time ? "" : to_rfc3339(write->time) + " ") + write->intent.reason.text;
}

}  // namespace

std::vector<WriteDifference> compare_writes(const std::vector<PlannedWrite>& history,
                                            const std::vector<PlannedWrite>& imagined,
                                            std::uint64_t& same) {
  std::vector<WriteDifference> differences;
  WritesByObject actual = by_object(history);
  WritesByObject other = by_object(imagined);
  for (const auto& [key, writes] : other) actual.try_emplace(key);
  for (const auto& [key, writes] : actual) compare_object(writes, other[key], differences, same);
  std::multimap<LogTime, WriteDifference> by_time;  // what is of one time stays in its order
  for (WriteDifference& difference : differences) {
    const LogTime time = either(difference).time;
    by_time.emplace(time, std::move(difference));
  }
  differences.clear();
  for (auto& [time, difference] : by_time) differences.push_back(std::move(difference));
  return differences;
}

Result<WhatIf> what_if(const AuditSource& source, const WhatIfOptions& options) {
  const EventLog& log = source.log;
  WhatIf result;
  result.from = std::max(options.from, log.first_seq());
  const Seq asked = options.to.value_or(end_of(log));
  if (auto known = expect_before_damage(log, asked); !known) return known.error();
  result.to = std::min(asked, log.last_seq());
  if (result.from > result.to)
    return Error{ErrorCode::bad_input, "no events from seq " + std::to_string(result.from.value) +
                                           " to seq " + std::to_string(result.to.value)};
  auto start = state_at(log, source.snapshots, Seq{result.from.value - 1});
  if (!start) return start.error();
  auto reader = log.read(result.from);
  if (!reader) return reader.error();
  auto event = (*reader)->next();
  if (!event) return event.error();
  result.first_time = parting_of(*start, options.from_time, **event);
  pass_until(*start, result.first_time);
  ActualWorld actual(*start);
  ImaginedWorld imagined(options, without_open_writes(*std::move(start)));
  if (auto begun = imagined.begin(result.first_time); !begun) return begun.error();
  for (Seq seq = result.from; *event && seq <= result.to; seq = next(seq)) {
    if (auto taken = imagined.take(**event, actual.state()); !taken) return taken.error();
    actual.take(**event);
    if (options.progress && seq.value % kProgressEvents == 0)
      options.progress(seq.value - result.from.value, result.to.value - result.from.value);
    event = (*reader)->next();
    if (!event) return event.error();
  }
  actual.finish();
  result.last_time = actual.state().now;
  if (auto finished = imagined.finish(result.last_time); !finished) return finished.error();
  result.differences = compare_writes(actual.writes(), imagined.writes(), result.same);
  result.history = actual.totals();
  result.imagined = imagined.totals(result.last_time);
  return result;
}

Json to_json(const WhatIf& result) {
  Json differences = Json::array();
  for (const WriteDifference& difference : result.differences) {
    const char* kind = !difference.imagined  ? "onlyHistory"
                       : !difference.history ? "onlyWhatIf"
                                             : "value";
    differences.push_back({{"difference", kind},
                           {"object", object_name(either(difference).intent)},
                           {"history", side_json(difference.history)},
                           {"whatIf", side_json(difference.imagined)}});
  }
  return {{"kind", "WhatIf"},
          {"from", {{"seq", result.from.value}, {"time", to_rfc3339(result.first_time)}}},
          {"to", {{"seq", result.to.value}, {"time", to_rfc3339(result.last_time)}}},
          {"same", result.same},
          {"differences", std::move(differences)},
          {"totals", {{"history", to_json(result.history)}, {"whatIf", to_json(result.imagined)}}}};
}

std::string what_if_text(const WhatIf& result) {
  std::string text = "from " + to_rfc3339(result.first_time) + " (seq " +
                     std::to_string(result.from.value) + ") to " + to_rfc3339(result.last_time) +
                     " (seq " + std::to_string(result.to.value) +
                     "): " + std::to_string(result.same) + " writes are the same, " +
                     std::to_string(result.differences.size()) + " differ\n";
  std::vector<TableRow> rows{{"TIME", "OBJECT", "HISTORY", "WHAT IF"}};
  for (const WriteDifference& difference : result.differences) {
    const LogTime time = either(difference).time;
    rows.push_back({to_rfc3339(time), object_name(either(difference).intent),
                    side_text(difference.history, time), side_text(difference.imagined, time)});
  }
  if (rows.size() > 1) text += table_text(rows);
  rows = {{"TOTALS", "HISTORY", "WHAT IF"}};
  const Json history = to_json(result.history), imagined = to_json(result.imagined);
  for (const auto& [name, value] : history.items())
    rows.push_back({name, to_text(value), to_text(imagined[name])});
  return text + table_text(rows);
}

}  // namespace fairlead
