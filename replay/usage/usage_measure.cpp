#include "replay/usage/usage_measure.h"

#include <algorithm>
#include <utility>

#include "engine/fold/evolve.h"
#include "replay/beginning.h"
#include "replay/usage/capacity_watch.h"

namespace fairlead {

namespace {

// Folds a log as Timeline does: each closed moment, and each deadline between two events, gives its
// capacity to the meter. Views without capacity need no State.
class MeteredFold {
 public:
  MeteredFold(UsageMeter& meter, State state, const std::vector<UsageView>& views)
      : meter_(meter),
        state_(std::move(state)),
        folds_(std::any_of(views.begin(), views.end(),
                           [](const UsageView& view) { return has_capacity(view.by); })) {
    dirty_.everything = true;
  }

  void take(const Event& event) {
    if (folds_ && event.log_time > state_.now && state_.seq != Seq{}) pass_until(event.log_time);
    meter_.note(event);
    if (!folds_ || meter_.finished()) return;
    capacity_.note(event);
    evolve(state_, event, dirty_);
  }
  void end() {
    if (folds_) pass_until(state_.now);
    meter_.end();
  }

 private:
  void sample() {
    for (UsageCapacityChange& change : capacity_.changes(state_, dirty_))
      meter_.note(state_.now, std::move(change));
    dirty_ = {};
  }
  void pass_until(LogTime time) {
    close_moment(state_, dirty_);
    sample();
    while (state_.deadlines.next() < time) {
      run_until(state_, state_.deadlines.next(), dirty_);
      sample();
    }
  }

  UsageMeter& meter_;
  State state_;
  const bool folds_;
  DirtySet dirty_;
  CapacityWatch capacity_;
};

// The state before the first event at `time` or later.
Result<State> state_before(const AuditSource& source, LogTime time) {
  const auto last = source.log.last_at({time.ns - 1});
  if (!last && last.error().code != ErrorCode::gone) return last.error();
  const Seq seq = last ? *last : Seq{source.log.first_seq().value - 1};
  return state_at(source.log, source.snapshots, seq, source.progress);
}

Result<void> read_events(const AuditSource& source, Seq from, UsageMeter& meter,
                         MeteredFold& fold) {
  auto opened = source.log.read(from);
  if (!opened) return opened.error();
  EventBatch batch;
  while (!meter.finished()) {
    if (auto read = (*opened)->next_batch(batch); !read) return read.error();
    if (batch.size() == 0) break;
    for (const Event& event : batch.events()) fold.take(event);
  }
  return {};
}

}  // namespace

Result<std::vector<UsagePeriod>> measure_usage(const AuditSource& source,
                                               const std::vector<UsageView>& views,
                                               const std::vector<LogTime>& cuts) {
  auto state = state_before(source, cuts.front());
  if (!state) return state.error();
  std::deque<Millis> millis;
  for (const LogTime cut : cuts)
    if (millis.empty() || millis_of(cut) > millis.back()) millis.push_back(millis_of(cut));
  if (millis.size() < 2) return std::vector<UsagePeriod>();
  UsageMeter meter(views, std::move(millis));
  meter.begin(*state);
  const Seq from = next(state->seq);
  MeteredFold fold(meter, *std::move(state), views);
  if (from <= source.log.last_seq())
    if (auto read = read_events(source, from, meter, fold); !read) return read.error();
  fold.end();
  return meter.take_finished();
}

Result<LogTime> usage_begin(const AuditSource& source) {
  const ReadableLog& log = source.log;
  if (log.first_seq() > Seq{1}) {
    const auto oldest = oldest_beginning(log, source.snapshots);
    if (!oldest) return oldest.error();
    if (*oldest) return LogTime{(*oldest)->state.now.ns + 1};  // after all events of that time
  }
  const auto reader = log.read(log.first_seq());
  if (!reader) return reader.error();
  const auto event = (*reader)->next();
  if (!event) return event.error();
  return *event ? (*event)->log_time : LogTime();
}

}  // namespace fairlead
