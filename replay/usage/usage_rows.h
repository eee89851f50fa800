// What a report about use is made of: rows, and what each adds up over log time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "engine/fold/usage/usage_state.h"

namespace fairlead {

/// What a report has a row for each of (`--by`).
enum class UsageBy : std::uint8_t {
  queue,
  cohort,
  flavor,
  resource,
  cluster,
  namespace_,  ///< of Workloads; owner and label, too
  owner,
  label,
};

/// Whether the amounts are the Workloads' own and not what their queues report.
constexpr bool is_of_workloads(UsageBy by) {
  return by == UsageBy::namespace_ || by == UsageBy::owner || by == UsageBy::label;
}
/// Whether rows have the columns from capacity to planned.
constexpr bool has_capacity(UsageBy by) { return by == UsageBy::flavor || by == UsageBy::cluster; }

/// A view of use: `label` is the key of the label, where rows are by one.
struct UsageView {
  UsageBy by = UsageBy::queue;
  std::string label{};

  friend auto operator<=>(const UsageView&, const UsageView&) = default;
};

inline constexpr const char* kHubSide = "hub";
inline constexpr const char* kWorkerSide = "worker";

/// A row, in the order of the columns by which rows are sorted, bytewise.
struct UsageRowKey {
  std::string side;      ///< "hub" or "worker": the two are never added up
  std::string cluster;   ///< of the API server: "hub" or a member
  std::string key;       ///< what the view names: a queue, a namespace
  std::string uid;       ///< of the queue, by queue only
  std::string flavor;    ///< empty by resource
  std::string resource;  ///< as the queue spells it

  friend auto operator<=>(const UsageRowKey&, const UsageRowKey&) = default;
};

/// What the pairs of a row have at one time, in milli-units.
struct UsageRates {
  Int128 granted = 0;
  Int128 used = 0;
  Int128 borrowed = 0;
  Int128 idle = 0;
  Int128 reserved = 0;
  Int128 differs = 0;  ///< |borrowed - what Kueue says is borrowed|

  UsageRates& operator+=(const UsageRates& more);
  UsageRates& operator-=(const UsageRates& less);
  friend bool operator==(const UsageRates&, const UsageRates&) = default;
};
/// Returns the rates of one pair of a queue.
UsageRates rates_of(const UseAmounts& amounts);

/// Integrals over log time, in milli-units x milliseconds; times in milliseconds.
struct UsageTotals {
  UsageRates sums;
  Int128 capacity = 0;
  Int128 down = 0;
  Millis above = 0;    ///< with more used than there is accepted capacity
  Millis unknown = 0;  ///< without an observation; in no other column
  Millis existed = 0;  ///< in which one of its pairs was there

  Int128 own() const { return sums.used - sums.borrowed; }
  UsageTotals& operator+=(const UsageTotals& more);
  friend bool operator==(const UsageTotals&, const UsageTotals&) = default;
};

/// The rows of one period.
using UsageRows = std::map<UsageRowKey, UsageTotals>;
/// Adds the rows of a later period.
void add_rows(UsageRows& sum, const UsageRows& more);

}  // namespace fairlead
