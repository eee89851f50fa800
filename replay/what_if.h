// What would have been written under another configuration.
//
// The facts of history are what others did: nodes, claims as their authors wrote them, queues as
// administrators wrote them, silences. They are folded again under another configuration by a
// VirtualHub, whose writes are answered at once. What history shows of our own writes is no fact:
// an echo is left out, and where somebody edited an object that carried our values, those values
// are replaced by what stands in the imagined world, unless it was them that he changed
// (replay/imagined_world.h). Workloads, members and Kueue are taken to behave as they did.
//
// Limits: a fact that ingest or coalescing dropped in history is not there for a smaller window, so
// a smaller ingestCoalesce shows nothing; members confirm at once; between a start of the hub and
// its first plan nothing is written, at most for kStartPatience.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "replay/audit.h"
#include "replay/totals.h"
#include "replay/virtual_hub.h"

namespace fairlead {

/// Writes of one object that are closer than this and equal are the same write.
inline constexpr Duration kSameWrite = seconds(30);
/// Writes of one object that are closer than this and differ in their values are held against each
/// other.
inline constexpr Duration kSameMoment = seconds(1);
/// A hub that started in history may have waited for its first lists; no longer than this.
inline constexpr Duration kStartPatience = seconds(10);

struct WhatIfOptions {
  /// What would have been in force where history had `actual`.
  std::function<Result<Configuration>(const Configuration& actual)> configuration;
  /// The first event that is folded under it; before it both worlds are one.
  Seq from{1};
  /// When it comes in force; none: with that event. Not later than that event, nor earlier than
  /// what is before it.
  std::optional<LogTime> from_time;
  std::optional<Seq> to;  ///< the last; none: the log's last
  /// Told now and then how many of how many events are folded; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// A write that is not in both worlds.
struct WriteDifference {
  std::optional<PlannedWrite> history;
  std::optional<PlannedWrite> imagined;  ///< its seq is of the imagined world
};

struct WhatIf {
  Seq from, to;
  LogTime first_time, last_time;
  std::vector<WriteDifference> differences;  ///< in order of time; statuses are left out
  std::uint64_t same = 0;                    ///< writes that are in both
  Totals history, imagined;
};

/// Folds twice, side by side. Errors: as moment_at, and those of `options.configuration`.
Result<WhatIf> what_if(const AuditSource& source, const WhatIfOptions& options);

/// The writes that differ between two runs, matched object by object.
std::vector<WriteDifference> compare_writes(const std::vector<PlannedWrite>& history,
                                            const std::vector<PlannedWrite>& imagined,
                                            std::uint64_t& same);

/// WhatIf: "from", "to" {"seq", "time"}, "same", "differences" [{"difference"
/// "onlyHistory"|"onlyWhatIf"|"value", "object", "history" {"seq", "time", "rule", "text"},
/// "whatIf" {"time", "rule", "text"}}], "totals" {"history", "whatIf"} (totals.h).
Json to_json(const WhatIf& result);
/// The same as a table for people.
std::string what_if_text(const WhatIf& result);

}  // namespace fairlead
