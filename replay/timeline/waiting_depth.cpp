#include "replay/timeline/waiting_depth.h"

#include <algorithm>
#include <utility>

#include "replay/waiting/wait_intervals.h"
#include "replay/waiting/wait_walk.h"

namespace fairlead {
namespace {

// Who begins and stops to wait at one time.
struct DepthChange {
  std::int64_t count = 0;
  Seq seq;
};
using DepthChanges = std::map<LogTime, DepthChange>;

// `open_end`: where the record of a wait that goes on ends; kForever: the wait is over.
void count_interval(DepthChanges& changes, const WaitInterval& interval, LogTime open_end) {
  DepthChange& begun = changes[interval.from];
  ++begun.count;
  if (!interval.causes.empty()) begun.seq = std::max(begun.seq, interval.causes.back());
  // What is open at the end of the log goes on.
  if (interval.to < open_end) --changes[interval.to].count;
}

std::vector<DepthStep> steps_of(const DepthChanges& changes) {
  std::vector<DepthStep> steps;
  std::int64_t count = 0;
  for (const auto& [time, change] : changes) {
    if (change.count == 0) continue;
    count += change.count;
    steps.push_back({time, change.seq, count});
  }
  return steps;
}

// The steps in `span`, that in force at its begin first.
std::vector<DepthStep> within(const std::vector<DepthStep>& steps, const TimelineSpan& span) {
  std::vector<DepthStep> out{{span.from, {}, 0}};
  for (const DepthStep& step : steps) {
    if (step.time > span.to) break;
    if (step.time <= span.from)
      out.front() = {span.from, step.seq, step.count};
    else
      out.push_back(step);
  }
  return out;
}

// Of each stretch of steps the last one, and the greatest before it.
std::vector<DepthStep> reduced(const std::vector<DepthStep>& steps, std::size_t points) {
  if (steps.size() <= points) return steps;
  const std::size_t stretch = (2 * steps.size() + points - 1) / std::max<std::size_t>(points, 2);
  std::vector<DepthStep> out;
  for (std::size_t begin = 0; begin < steps.size(); begin += stretch) {
    const std::size_t end = std::min(begin + stretch, steps.size());
    const auto first = steps.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = steps.begin() + static_cast<std::ptrdiff_t>(end - 1);
    const auto most = std::max_element(
        first, last + 1, [](const DepthStep& a, const DepthStep& b) { return a.count < b.count; });
    if (most != last) out.push_back(*most);
    out.push_back(*last);
  }
  return out;
}

}  // namespace

Result<WaitingDepth> waiting_depth(const AuditSource& source) {
  WaitingDepth depth;
  if (source.log.last_seq() == Seq{}) return depth;
  const auto end = wait_end(source, last_seq_of(source));
  if (!end) return end.error();
  const auto record = record_waits(source, WaitScope{}, *end);
  if (!record) return record.error();
  const auto hub = record->servers().find(SourceName(kHub));
  if (hub == record->servers().end()) return depth;
  std::map<std::string, std::map<WaitClass, DepthChanges>> changes;
  for (const auto& [id, histories] : hub->second.workloads)
    for (const WaitHistory& history : histories)
      for (const Wait& wait : history.waits)
        for (const WaitInterval& interval : intervals_of(wait, hub->second.silences, end->time))
          count_interval(changes[history.cluster_queue][interval.reason.of], interval,
                         wait.to == kForever ? end->time : kForever);
  for (const auto& [queue, classes] : changes)
    for (const auto& [of, moved] : classes) depth[queue][of] = steps_of(moved);
  return depth;
}

Json waiting_depth_json(const WaitingDepth& depth, const std::string& queue,
                        const TimelineSpan& span, std::size_t points) {
  Json classes = Json::array();
  if (const auto at = depth.find(queue); at != depth.end())
    for (const auto& [of, all] : at->second) {
      const std::vector<DepthStep> steps = within(all, span);
      if (std::all_of(steps.begin(), steps.end(),
                      [](const DepthStep& step) { return step.count == 0; }))
        continue;
      Json drawn = Json::array();
      for (const DepthStep& step : reduced(steps, points))
        drawn.push_back(
            Json::array({to_rfc3339(step.time), step.seq.value, std::to_string(step.count)}));
      classes.push_back({{"class", std::string(text_of(of))}, {"steps", std::move(drawn)}});
    }
  return {{"kind", "WaitingDepth"},
          {"queue", queue},
          {"from", to_rfc3339(span.from)},
          {"to", to_rfc3339(span.to)},
          {"classes", std::move(classes)}};
}

}  // namespace fairlead
