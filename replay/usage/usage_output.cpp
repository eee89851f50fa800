#include <algorithm>

#include "engine/base/plain_decimal.h"
#include "replay/table.h"
#include "replay/usage/csv_line.h"
#include "replay/usage/usage_amounts.h"
#include "replay/usage/usage_report.h"
#include "replay/usage/usage_view.h"

namespace fairlead {

namespace {

Json rows_json(const UsageReport& report, UsageUnit unit) {
  const std::vector<UsageColumns> columns = usage_columns(report, unit);
  Json rows = Json::array();
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    Json row = usage_key_json(report.rows[i].key);
    row["from"] = to_rfc3339(report.rows[i].from);
    row["to"] = to_rfc3339(report.rows[i].to);
    for (std::size_t of = 0; of < columns[i].size(); ++of)
      row[usage_column_names()[of]] = columns[i][of] ? Json(*columns[i][of]) : Json();
    rows.push_back(std::move(row));
  }
  return rows;
}

LogTime in_millis(LogTime time) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  return {millis_of(time) * kNanosPerMilli};
}

}  // namespace

std::string usage_amount(UsageUnit unit, Int128 value) {
  constexpr int kPlacesOfSeconds = 6;  // of milli-units x milliseconds in resource-seconds
  if (unit == UsageUnit::seconds) return plain_decimal(value, kPlacesOfSeconds);
  constexpr Int128 kPerHundredth = 36'000'000;
  const Int128 size = value < 0 ? -value : value;
  const Int128 rounded = (size + kPerHundredth / 2) / kPerHundredth;
  return fixed_decimal(value < 0 ? -rounded : rounded, 2);
}

Json usage_key_json(const UsageRowKey& key) {
  return {{"side", key.side}, {"cluster", key.cluster}, {"key", key.key},
          {"uid", key.uid},   {"flavor", key.flavor},   {"resource", key.resource}};
}

Json usage_head_json(const UsageReport& report, UsageUnit unit) {
  const UsageRequest& request = report.request;
  return {{"from", to_rfc3339(in_millis(request.cuts.front()))},
          {"to", to_rfc3339(in_millis(request.cuts.back()))},
          {"by", text_of(request.view)},
          {"every", request.every.empty() ? Json() : Json(request.every)},
          {"timeZone", request.time_zone},
          {"unit", unit == UsageUnit::seconds ? "resource-seconds" : "resource-hours"},
          {"firstSeq", report.first.value},
          {"lastSeq", report.last.value},
          {"digest", report.chain.hex()}};
}

std::string usage_head_text(const UsageReport& report) {
  return "resource-hours from " + to_rfc3339(in_millis(report.request.cuts.front())) + " to " +
         to_rfc3339(in_millis(report.request.cuts.back())) + "\n";
}

std::string usage_foot_text(const UsageReport& report) {
  return "seq " + std::to_string(report.first.value) + " to " + std::to_string(report.last.value) +
         ", chain " + report.chain.hex() + "\n";
}

Json usage_json(const UsageReport& report, UsageUnit unit) {
  Json reconciliation = Json::array();
  for (const UsageReconciliation& of : report.reconciliation) {
    Json row = usage_key_json(of.key);
    row["used"] = usage_amount(unit, of.used);
    row["fromWorkloads"] = usage_amount(unit, of.from_workloads);
    row["difference"] = usage_amount(unit, of.used - of.from_workloads);
    reconciliation.push_back(std::move(row));
  }
  Json differs = Json::array();
  for (const auto& [key, totals] : report.borrowed_differs) {
    Json row = usage_key_json(key);
    row["difference"] = usage_amount(unit, totals.sums.differs);
    differs.push_back(std::move(row));
  }
  Json document = usage_head_json(report, unit);
  document["rows"] = rows_json(report, unit);
  document["reconciliation"] = std::move(reconciliation);
  document["borrowedDiffers"] = std::move(differs);
  return document;
}

std::string usage_csv(const UsageReport& report, UsageUnit unit) {
  std::vector<std::string> line{"from", "to",  "side",   "cluster",
                                "key",  "uid", "flavor", "resource"};
  line.insert(line.end(), usage_column_names().begin(), usage_column_names().end());
  line.insert(line.end(), {"firstSeq", "lastSeq", "digest"});
  std::string out = csv_line(line);
  const std::vector<UsageColumns> columns = usage_columns(report, unit);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const UsageReportRow& row = report.rows[i];
    line = {to_rfc3339(row.from), to_rfc3339(row.to), row.key.side,   row.key.cluster,
            row.key.key,          row.key.uid,        row.key.flavor, row.key.resource};
    for (const auto& column : columns[i]) line.push_back(column.value_or(""));
    line.insert(line.end(), {std::to_string(report.first.value), std::to_string(report.last.value),
                             report.chain.hex()});
    out += csv_line(line);
  }
  return out;
}

std::string usage_text(const UsageReport& report) {
  const bool periods = report.request.cuts.size() > 2;
  const bool by_flavor = report.request.view.by != UsageBy::resource;
  const std::vector<UsageColumns> columns = usage_columns(report, UsageUnit::hours);
  const auto upper = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  };
  TableRow heading;
  if (periods) heading.emplace_back("FROM");
  heading.insert(heading.end(), {"SIDE", "CLUSTER", upper(text_of(report.request.view))});
  if (by_flavor) heading.emplace_back("FLAVOR");
  heading.emplace_back("RESOURCE");
  std::vector<TableRow> table{heading};
  const UsageColumns none(usage_column_names().size(), std::nullopt);
  const UsageColumns& shown = columns.empty() ? none : columns.front();
  for (std::size_t of = 0; of < shown.size(); ++of)
    if (shown[of]) table.front().push_back(upper(usage_column_names()[of]));
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const UsageReportRow& row = report.rows[i];
    TableRow cells;
    if (periods) cells.push_back(to_rfc3339(row.from));
    cells.insert(cells.end(), {row.key.side, row.key.cluster, row.key.key});
    if (by_flavor) cells.push_back(row.key.flavor);
    cells.push_back(row.key.resource);
    for (const auto& column : columns[i])
      if (column) cells.push_back(*column);
    table.push_back(std::move(cells));
  }
  return usage_head_text(report) + table_text(table) + usage_foot_text(report);
}

}  // namespace fairlead
