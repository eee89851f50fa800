// The counters of what the hub's ClusterQueues were granted and used, as metrics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "engine/fold/usage/queue_use.h"

namespace fairlead {

/// Prometheus' text, and OpenMetrics, in which `_created` belongs to the counter.
enum class MetricsForm : std::uint8_t { prometheus, open_metrics };

/// Returns the families fairlead_queue_*_total, a series per pair, without the line that ends a
/// page.
std::string queue_use_text(const std::vector<QueueCounter>& counters, MetricsForm form);

struct UseReader : StateView<const Configuration, const UsageTables, const LogPosition> {
  using StateView::StateView;
};
/// Counters that many hold: the hub's thread publishes them with each round, and does not copy
/// those of a thousand queues for that. Null: none were counted.
using SharedCounters = std::shared_ptr<const std::vector<QueueCounter>>;
/// Returns the counters up to a time that no observation that is held back (usage.interval) can
/// change any more: they never go back.
SharedCounters count_use(UseReader state);

}  // namespace fairlead
