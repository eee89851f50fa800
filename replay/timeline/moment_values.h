// What the audit page draws, at one moment: the values of a pair of a hub ClusterQueue, of a
// cluster's capacity and of a name in a worker list, and in one word each how they are.
//
// The functions here call those by which `audit quota` and `audit why` answer, so a chart shows the
// numbers of those answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/state.h"
#include "replay/audit/audit_moment.h"
#include "replay/timeline/step_series.h"

namespace fairlead {

/// The lines of a pair. From `assigned` to `granted` sums over its grants; `offered` to `accepted`
/// sums over the clusters of its grants or, where the queue follows its workers, over those.
enum class PairLine : std::uint8_t {
  assigned,
  granted,
  offered,
  usable,
  accepted,
  desired,  ///< null where `audit quota` has null
  nominal,  ///< the same
  used,     ///< status.flavorsUsage
};
inline constexpr std::array<std::string_view, 8> kPairLines{
    "assigned", "granted", "offered", "usable", "accepted", "desired", "nominal", "used"};

/// The lines of a cluster's capacity.
enum class CapacityLine : std::uint8_t { offered, usable, accepted };
inline constexpr std::array<std::string_view, 3> kCapacityLines{"offered", "usable", "accepted"};

/// The lines of a name in a worker list, each 0 or 1.
enum class WorkerLine : std::uint8_t {
  selected,
  listed,    ///< spec.clusters of the MultiKueueConfig has it
  draining,  ///< listed and no longer selected: it leaves when its windows are over
  frozen,    ///< listed, while nothing is selected or the Placement is gone
};
inline constexpr std::array<std::string_view, 4> kWorkerLines{"selected", "listed", "draining",
                                                              "frozen"};

/// The lines of a pair that are sums over clusters, in the order of kCapacityLines.
inline constexpr std::array<PairLine, 3> kCapacityOfPair{PairLine::offered, PairLine::usable,
                                                         PairLine::accepted};

using PairValues = std::array<Int128, kPairLines.size()>;          ///< kNoValue: null
using CapacityValues = std::array<Int128, kCapacityLines.size()>;  ///< kNoValue: null
using WorkerValues = std::array<Int128, kWorkerLines.size()>;

/// The clusters whose capacity is summed in a pair's lines, each with what it adds.
using CapacityParts = std::map<std::string, CapacityValues>;

/// Returns the values of a pair in a state whose moment is closed, and in `parts` what its lines of
/// capacity are the sums of, but for the shares of workers that its queue follows.
PairValues pair_values(const State& state, const KnownPair& pair, CapacityParts& parts);
/// Returns what a cluster adds to the capacity of a claim's row; kNoValue: nothing is known of it.
CapacityValues capacity_of_row(const Cluster& cluster, const AssignmentRow& row);
/// Adds `amount` to a sum of amounts; kNoValue adds nothing, and is the sum of none.
void add_to(Int128& sum, Int128 amount);
/// Returns who set the nominalQuota of the pair: `fairlead` if our last write has it.
StepWriter writer_of(const State& state, const KnownPair& pair, Int128 nominal);
CapacityValues capacity_values(const CapacityValue& value);
WorkerValues worker_values(const WorkerList& list, const Worker& worker);

/// How a queue or a cluster is; the first is the worst.
enum class Condition : std::uint8_t {
  conflict,       ///< another writer keeps changing a pair of the queue, which is left to it
  lost,           ///< a source of capacity is lost: the hub counts the cluster as 0
  missing,        ///< a claim names the queue, and there is no such ClusterQueue
  invalid_claim,  ///< the last edit of a claim that names the queue is not in force
  refused,        ///< the API server refused our last write
  over_quota,     ///< more is used than the nominalQuota
  held,           ///< a loss is held, waits for its window or its source is stale
  unanswered,     ///< our last write has no answer yet
  not_written,    ///< the nominalQuota is not what it should be, and no write is under way
  member_waited,  ///< a member has not confirmed all of its grant, which counts less until then
  unknown,        ///< no value is accepted yet of a capacity that a quota depends on
  growing,        ///< more capacity than accepted: a window has to pass
  detached,       ///< the cluster has left
  steady,         ///< none of these
};
/// "conflict", "lost", "over quota", ...
std::string_view text_of(Condition condition);

/// The worst condition of a cluster that State has, and all of a queue's, the worst first; never
/// empty.
Condition condition_of_cluster(const State& state, const std::string& name);
std::vector<Condition> conditions_of_queue(const State& state, const std::string& queue);
/// Of a worker list: "frozen", "refused" or "unanswered" (the write of the list), "moving" or
/// "steady".
std::string_view condition_of_list(const State& state, const std::string& placement);

}  // namespace fairlead
