#include "replay/waiting/wait_walk.h"

#include <algorithm>
#include <utility>

#include "engine/log/read_ahead.h"
#include "replay/audit/audit_moment.h"
#include "replay/beginning.h"

namespace fairlead {

namespace {

// What a hub takes longer than usage.interval to append an observation that it held back.
constexpr Duration kLate = seconds(5);

// Whether the record reads the event. Of others it learns that their source was heard of, which the
// first of each tells.
bool is_read(const Event& event, const WaitScope& scope) {
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
    if (seen->key.kind == Kind::workload)
      return !scope.only || NamespacedName{seen->key.namespace_, seen->key.name} == *scope.only;
    return seen->key.kind == Kind::cluster_queue || seen->key.kind == Kind::cohort ||
           seen->key.kind == Kind::local_queue || seen->key.kind == Kind::multikueue_cluster ||
           seen->key.kind == Kind::multikueue_config;
  }
  return !std::holds_alternative<TimerFired>(event.fact) &&
         !std::holds_alternative<Checkpoint>(event.fact);
}

Result<std::optional<State>> beginning_of(const AuditSource& source, const WaitEnd& end) {
  if (source.log.first_seq() <= Seq{1}) return std::optional<State>();
  auto oldest = oldest_beginning(source.log, source.snapshots);
  if (!oldest) return oldest.error();
  if (!*oldest || (*oldest)->state.seq > end.last)
    return Error{ErrorCode::bad_input, "the log was pruned and begins at seq " +
                                           std::to_string(source.log.first_seq().value) +
                                           ", and no good snapshot holds what was before"};
  return std::optional(std::move((*oldest)->state));
}

}  // namespace

void EventsByEffect::add(const Event& event) {
  if (const auto* changed = std::get_if<ConfigChanged>(&event.fact))
    held_back_ = std::max(held_back_, changed->configuration.usage.interval);
  LogTime time = event.log_time;
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact); seen && seen->read.ns > 0)
    time = std::clamp(seen->read, used_, time);
  // Nothing is held back: nothing need wait.
  if (held_back_ == Duration{} && waiting_.empty()) {
    used_ = time;
    return use_(event, time);
  }
  waiting_.emplace(time, event);
  use_until({event.log_time.ns - held_back_.ns - kLate.ns});
}

void EventsByEffect::use_until(LogTime time) {
  while (!waiting_.empty() && waiting_.begin()->first <= time) {
    used_ = waiting_.begin()->first;
    use_(waiting_.begin()->second, used_);
    waiting_.erase(waiting_.begin());
  }
}

void EventsByEffect::finish() { use_until(kForever); }

Result<WaitEnd> wait_end(const AuditSource& source, const AuditPosition& as_of) {
  const ReadableLog& log = source.log;
  if (auto known = expect_before_damage(log, as_of); !known) return known.error();
  const Seq last = last_seq_of(source);
  if (last == Seq{}) return Error{ErrorCode::bad_input, "the log is empty"};
  EventLookup lookup(log);
  WaitEnd end{last, {}};
  if (const auto* seq = std::get_if<Seq>(&as_of)) {
    if (*seq < log.first_seq() || *seq > log.last_seq())
      return Error{ErrorCode::bad_input, "seq " + std::to_string(seq->value) +
                                             " is not in the log: it has seq " +
                                             std::to_string(log.first_seq().value) + " to " +
                                             std::to_string(log.last_seq().value)};
    end.last = std::min(*seq, last);
  } else {
    const auto at = log.last_at(std::get<LogTime>(as_of));
    if (!at && at.error().code != ErrorCode::gone) return at.error();
    if (!at || *at < log.first_seq())
      return Error{ErrorCode::bad_input, to_rfc3339(std::get<LogTime>(as_of)) +
                                             " is before the log begins: seq " +
                                             std::to_string(log.first_seq().value)};
    end.last = std::min(*at, last);
  }
  const Event* event = lookup.at(end.last);
  if (event == nullptr)
    return Error{ErrorCode::corrupt, "seq " + std::to_string(end.last.value) + " cannot be read"};
  end.time = event->log_time;
  if (const auto* time = std::get_if<LogTime>(&as_of); time && end.last < last) end.time = *time;
  return end;
}

Result<WaitRecorder> record_waits(const AuditSource& source, const WaitScope& scope,
                                  const WaitEnd& end,
                                  const std::function<void(const Event&)>& each) {
  auto beginning = beginning_of(source, end);
  if (!beginning) return beginning.error();
  WaitRecorder record(scope);
  Seq from = source.log.first_seq();
  if (*beginning) {
    from = next((*beginning)->seq);
    record.begin_with(**beginning);
  }
  EventsByEffect order(
      [&record](const Event& event, LogTime time) { record.observe(event, time); });
  std::set<SourceName> heard;
  if (from <= end.last) {
    auto opened = source.log.read(from);
    if (!opened) return opened.error();
    const auto reader = read_ahead(*std::move(opened));
    EventBatch batch;
    for (bool goes_on = true; goes_on;) {
      if (auto read = reader->next_batch(batch); !read) return read.error();
      goes_on = batch.size() > 0;
      for (const Event& event : batch.events()) {
        goes_on = event.seq < end.last;
        if (event.seq > end.last) break;
        if (each) each(event);
        const bool is_first = event.source != kSelf && heard.insert(event.source).second;
        if (is_first || is_read(event, scope)) order.add(event);
      }
      if (source.progress && batch.size() > 0)
        source.progress(batch.events().back().seq.value - from.value,
                        end.last.value - from.value + 1);
    }
  }
  order.finish();
  record.end(end.time);
  return record;
}

}  // namespace fairlead
