// Computes what would have been written under another configuration.
//
// Three worlds are folded side by side over the same events:
//   history             what happened, as the log has it;
//   same configuration  the baseline: a counterfactual under history's own configuration;
//   what if             a counterfactual under the other configuration.
// The baseline is compared with the what-if, so that only the configuration can make a difference:
// an API server that was slow, refused, or answered after the worlds had parted does so in neither.
// Between history and the baseline lies what the API server and the hub did, not the configuration.
//
// In a counterfactual the facts of history are the actions of others: nodes, claims as their
// authors wrote them, queues as administrators wrote them, silences. A VirtualHub folds them again;
// its writes are answered at once. The observations of our own writes in history do not count as
// facts: an echo is left out, and where another writer edited an object that carried our values,
// those values are replaced by the counterfactual's own, unless they are what that writer changed
// (replay/whatif/counterfactual_world.h). Workloads, members and Kueue are assumed to behave as
// they did.
//
// Limits: a fact that ingest or coalescing dropped in history is not there for a smaller window, so
// a smaller ingestCoalesce shows nothing; another writer who sets a queue to the very value that we
// had written is taken for our write; members confirm at once; between a start of the hub and
// its first plan nothing is written, for at most kStartPatience.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "replay/audit/audit.h"
#include "replay/timeline/value_series.h"
#include "replay/whatif/overrides.h"
#include "replay/whatif/totals.h"
#include "replay/whatif/write_comparison.h"

namespace fairlead {

/// A hub that started in history may have waited this long for its first lists.
inline constexpr Duration kStartPatience = seconds(10);

struct WhatIfOptions {
  /// Returns the configuration that replaces history's `actual`.
  std::function<Result<Configuration>(const Configuration& actual)> configuration;
  /// The first event that is folded under the other configuration; before it the worlds are one.
  /// None: the log's first. If that was pruned, or there is no state before it: the first event
  /// that can be folded.
  std::optional<Seq> from;
  /// When the other configuration comes in force; none: with that event. Not later than that event,
  /// nor earlier than the one before it.
  std::optional<LogTime> from_time;
  std::optional<Seq> to;  ///< the last event; none: the log's last
  /// Time and deadlines run to here; none, or earlier: to the last event's time. After the log's
  /// end only deadlines happen.
  std::optional<LogTime> to_time;
  /// Called now and then with the number of folded events and the total; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  /// Receives the values of the counterfactual, from where the worlds part; may be null.
  std::shared_ptr<ValueSeries> values;
};

struct WhatIf {
  Seq from, to;              ///< of a span between two events `to` is the one before `from`
  bool from_pruned = false;  ///< it begins later than asked, because of pruning
  LogTime first_time, last_time;
  std::vector<WriteDifference> differences;  ///< in order of time
  std::uint64_t same = 0;                    ///< writes that are in the baseline and the what-if
  Totals history, baseline, counterfactual;
  std::vector<Override> overridden;  ///< objects that a changed setting does not reach
  Json unseen = Json::array();       ///< stretches without observations (replay/audit/unseen.h)
};

/// Folds the three worlds side by side. Fails as moment_at and `options.configuration` do.
Result<WhatIf> what_if(const AuditSource& source, const WhatIfOptions& options);

/// The same in parts, for a server that answers other questions in between. Owned by one thread.
class WhatIfRun {
 public:
  /// Finds the span and folds to where the worlds part. Fails as what_if().
  static Result<WhatIfRun> begin(const AuditSource& source, WhatIfOptions options);
  WhatIfRun(WhatIfRun&&) noexcept;
  WhatIfRun& operator=(WhatIfRun&&) noexcept;
  ~WhatIfRun();

  /// Folds the next events of the same log, at most `events_max` of them. Returns the result once
  /// the span is folded, and is not called again then. Fails as what_if().
  Result<std::optional<WhatIf>> advance(const AuditSource& source, std::uint64_t events_max);
  /// The last event that is folded, and the last of the span.
  Seq seq() const;
  Seq last() const;

 private:
  struct Parts;
  explicit WhatIfRun(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// Fields: WhatIf in ui/answers.d.ts.
Json to_json(const WhatIf& result);
/// The same as a table for people.
std::string what_if_text(const WhatIf& result);

}  // namespace fairlead
