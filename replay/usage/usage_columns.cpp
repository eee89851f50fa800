#include <array>
#include <map>
#include <tuple>

#include "engine/base/plain_decimal.h"
#include "replay/usage/largest_remainder.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

namespace {

// What a column counts: resources over time, or time alone.
enum class ColumnOf : std::uint8_t { resources, time };
// Which views have a column.
enum class ColumnIn : std::uint8_t { queues, all, capacity };

struct Column {
  const char* name;
  ColumnOf of;
  ColumnIn in;
  Int128 (*value)(const UsageTotals& totals);
};

constexpr std::array kColumns{
    Column{"granted", ColumnOf::resources, ColumnIn::queues,
           [](const UsageTotals& totals) { return totals.sums.granted; }},
    Column{"used", ColumnOf::resources, ColumnIn::all,
           [](const UsageTotals& totals) { return totals.sums.used; }},
    Column{"own", ColumnOf::resources, ColumnIn::queues,
           [](const UsageTotals& totals) { return totals.own(); }},
    Column{"borrowed", ColumnOf::resources, ColumnIn::queues,
           [](const UsageTotals& totals) { return totals.sums.borrowed; }},
    Column{"idle", ColumnOf::resources, ColumnIn::queues,
           [](const UsageTotals& totals) { return totals.sums.idle; }},
    Column{"reserved", ColumnOf::resources, ColumnIn::all,
           [](const UsageTotals& totals) { return totals.sums.reserved; }},
    Column{"unknown", ColumnOf::time, ColumnIn::all,
           [](const UsageTotals& totals) { return Int128{totals.unknown}; }},
    Column{"capacity", ColumnOf::resources, ColumnIn::capacity,
           [](const UsageTotals& totals) { return totals.capacity; }},
    Column{"above", ColumnOf::time, ColumnIn::capacity,
           [](const UsageTotals& totals) { return Int128{totals.above}; }},
    Column{"down", ColumnOf::resources, ColumnIn::capacity,
           [](const UsageTotals& totals) { return totals.down; }},
    // Nothing takes capacity away for a planned time yet.
    Column{"planned", ColumnOf::resources, ColumnIn::capacity,
           [](const UsageTotals&) { return Int128{0}; }},
};

bool applies(const Column& column, UsageBy by) {
  switch (column.in) {
    case ColumnIn::queues: return !is_of_workloads(by);
    case ColumnIn::all: return true;
    case ColumnIn::capacity: return has_capacity(by);
  }
  return false;
}

// Rows whose hours are rounded together.
using Together = std::tuple<std::string, std::string, std::string, std::string>;

Together together(const UsageRowKey& key) {
  return {key.side, key.cluster, key.flavor, key.resource};
}

// Adds a column in hundredths of hours to the columns of each row.
void add_hours(const UsageReport& report, const Column& column, std::vector<UsageColumns>& out) {
  constexpr Int128 kMillisPerHundredth = 36'000;
  const Int128 unit =
      column.of == ColumnOf::time ? kMillisPerHundredth : kMillisPerHundredth * 1000;
  std::map<Together, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < report.rows.size(); ++i)
    groups[together(report.rows[i].key)].push_back(i);
  for (const auto& [name, rows] : groups) {
    std::vector<ExactPart> parts;
    for (const std::size_t row : rows) {
      const Int128 value = column.value(report.rows[row].totals);
      parts.push_back({value / unit, value % unit});
    }
    const std::vector<Int128> rounded = by_largest_remainder(parts, unit);
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[rows[i]].push_back(fixed_decimal(rounded[i], 2));
  }
}

void add_seconds(const UsageReport& report, const Column& column, std::vector<UsageColumns>& out) {
  const int places = column.of == ColumnOf::time ? 3 : 6;
  for (std::size_t i = 0; i < report.rows.size(); ++i)
    out[i].push_back(plain_decimal(column.value(report.rows[i].totals), places));
}

}  // namespace

const std::vector<std::string>& usage_column_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const Column& column : kColumns) made.emplace_back(column.name);
    return made;
  }();
  return names;
}

std::vector<UsageColumns> usage_columns(const UsageReport& report, UsageUnit unit) {
  std::vector<UsageColumns> out(report.rows.size());
  for (const Column& column : kColumns) {
    if (!applies(column, report.request.view.by))
      for (UsageColumns& columns : out) columns.push_back(std::nullopt);
    else if (unit == UsageUnit::hours)
      add_hours(report, column, out);
    else
      add_seconds(report, column, out);
  }
  return out;
}

}  // namespace fairlead
