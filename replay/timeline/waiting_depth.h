// How many Workloads of each ClusterQueue waited, by what for, over a log: the queues' depth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/timeline/timeline_answers.h"
#include "schema/wait_reason.h"

namespace fairlead {

/// From `time` on so many waited; `seq` began it, 0: not one event alone.
struct DepthStep {
  LogTime time;
  Seq seq;
  std::int64_t count = 0;
};
/// By ClusterQueue of the hub and class, ascending. Before the first step none waited.
using WaitingDepth = std::map<std::string, std::map<WaitClass, std::vector<DepthStep>>>;

/// Reads the whole log. Fails as record_waits() does.
Result<WaitingDepth> waiting_depth(const AuditSource& source);

/// Returns the WaitingDepth (ui/page_answers.d.ts) of a queue over a span, each line with at most
/// `points` steps, the greatest of each stretch among them. A queue without waits has no line.
Json waiting_depth_json(const WaitingDepth& depth, const std::string& queue,
                        const TimelineSpan& span, std::size_t points);

}  // namespace fairlead
