// A report about use: the rows of a span, where they do not agree with what Kueue says, and which
// part of the log they were computed from.
//
// The same question about the same log gives the same bytes, at any time and on any machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "replay/audit/audit.h"
#include "replay/usage/usage_index.h"

namespace fairlead {

/// What is asked. Periods begin and end at `cuts`, which are at least two: the first and the last
/// are the ends of the span.
struct UsageRequest {
  UsageView view;
  std::vector<LogTime> cuts;
  std::string every;              ///< as asked: 1h, 1d, month; empty: one period
  std::string time_zone = "UTC";  ///< whose hours, days and months the cuts are
};

struct UsageReportRow {
  LogTime from;
  LogTime to;
  UsageRowKey key;
  UsageTotals totals;
};

/// A row of a queue over the whole span: what the queue reports, and what its Workloads add up to.
struct UsageReconciliation {
  UsageRowKey key;
  Int128 used = 0;            ///< milli-units x milliseconds
  Int128 from_workloads = 0;  ///< likewise
};

struct UsageReport {
  UsageRequest request;
  std::vector<UsageReportRow> rows;                 ///< in the order of from, to, key
  std::vector<UsageReconciliation> reconciliation;  ///< of views of Workloads
  UsageRows borrowed_differs;                       ///< by queue, over the whole span: where not 0
  Seq first;                                        ///< first event of the span; 0: it has none
  Seq last;                                         ///< last event of the span; 0: it has none
  Digest chain;                                     ///< of the log after `last`
  Seq known;                                        ///< last event before the span's end
  UsageSettings settings;                           ///< in force after that one
};

/// Computes a report, with sums that are kept by hour where `hours` is not null. An end at the time
/// of the log's last event includes the events of that time. Fails as measure_usage() does.
Result<UsageReport> usage_report(const AuditSource& source, const UsageRequest& request,
                                 const UsageHours* hours = nullptr);

/// Whether the amounts are in resource-seconds, exactly, or in resource-hours with two decimals.
enum class UsageUnit : std::uint8_t { seconds, hours };

/// The columns of a report from `granted` on, in their order, as text; nullopt: not applicable.
/// Hours are rounded by largest remainder, per column among the rows of one side, cluster, flavor
/// and resource.
using UsageColumns = std::vector<std::optional<std::string>>;
std::vector<UsageColumns> usage_columns(const UsageReport& report, UsageUnit unit);
/// The names of these columns.
const std::vector<std::string>& usage_column_names();

/// Prints the report as the document UsageReport of ui/answers.d.ts.
Json usage_json(const UsageReport& report, UsageUnit unit);
/// Prints it as CSV (RFC 4180).
std::string usage_csv(const UsageReport& report, UsageUnit unit);
/// Prints it as a table for people, in hours.
std::string usage_text(const UsageReport& report);
/// Prints the costs of a report by queue as CSV with the columns of FOCUS 1.3. Fails with
/// `bad_input` where a price is too large.
Result<std::string> usage_focus(const UsageReport& report);

}  // namespace fairlead
