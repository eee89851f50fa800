// What would have been written under another configuration.
//
// Three worlds are folded side by side over the same events:
//   history             what happened, as the log has it;
//   same configuration  the control: history's own configuration in an imagined world;
//   what if             the other configuration in the same imagined world.
// What is compared is the control and the what-if, so that only the configuration can make a
// difference: an API server that was slow, refused, or answered after the worlds had parted does
// so in neither. Between history and the control lies what the API server and the hub did, not the
// configuration.
//
// In an imagined world the facts of history are what others did: nodes, claims as their authors
// wrote them, queues as administrators wrote them, silences. They are folded again by a VirtualHub,
// whose writes are answered at once. What history shows of our own writes is no fact: an echo is
// left out, and where somebody edited an object that carried our values, those values are replaced
// by what stands in the imagined world, unless it was them that he changed
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
#include "replay/overrides.h"
#include "replay/totals.h"
#include "replay/write_comparison.h"

namespace fairlead {

/// A hub that started in history may have waited for its first lists; no longer than this.
inline constexpr Duration kStartPatience = seconds(10);

struct WhatIfOptions {
  /// What would have been in force where history had `actual`.
  std::function<Result<Configuration>(const Configuration& actual)> configuration;
  /// The first event that is folded under it; before it the worlds are one. None: the log's first.
  /// Where that was pruned, or no state stands for what was before it, the first that can be
  /// folded.
  std::optional<Seq> from;
  /// When it comes in force; none: with that event. Not later than that event, nor earlier than
  /// what is before it.
  std::optional<LogTime> from_time;
  std::optional<Seq> to;  ///< the last event; none: the log's last
  /// Time runs to here, and every deadline until then; none, or earlier: to the last event's time.
  /// Behind the log's end nothing happens but deadlines.
  std::optional<LogTime> to_time;
  /// Told now and then how many of how many events are folded; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct WhatIf {
  Seq from, to;              ///< of a span between two events `to` is the one before `from`
  bool from_pruned = false;  ///< it begins later than was asked: what was before was pruned
  LogTime first_time, last_time;
  std::vector<WriteDifference> differences;  ///< in order of time; statuses are left out
  std::uint64_t same = 0;                    ///< writes that are in the control and the what-if
  Totals history, control, imagined;
  std::vector<Override> overridden;  ///< objects that a changed setting does not reach
  Json unseen = Json::array();       ///< stretches that no world could see (replay/unseen.h)
};

/// Folds the three worlds side by side. Errors: as moment_at, and those of `options.configuration`.
Result<WhatIf> what_if(const AuditSource& source, const WhatIfOptions& options);

/// WhatIf: "from" {"seq", "time", "pruned" if from_pruned}, "to" {"seq", "time"}, "same",
/// "differences" [{"difference" "onlyHistory"|"onlyWhatIf"|"value"|"time", "object", "history"
/// {"time", "rule", "text", "seq", "writtenTime"}, "whatIf" {"time", "rule", "text"}}], "totals"
/// {"history", "sameConfiguration", "whatIf"} (totals.h). A difference's "history" is the write of
/// the control; "seq" and "writtenTime" say where history really intended it, null: nowhere.
/// "overridden" [{"setting", "kind", "name", "annotation", "value", "from" {"seq", "time"} (null:
/// from the beginning), "to" {"seq", "time"} (null: to the end)}]: changed settings that an
/// annotation kept from an object. "unseen" as in an answer of the audit, of the whole span.
Json to_json(const WhatIf& result);
/// The same as a table for people.
std::string what_if_text(const WhatIf& result);

}  // namespace fairlead
