#include "engine/fleet/model/table.h"

#include <algorithm>

#include "engine/fleet/model/json_path.h"

namespace fairlead::model {
namespace {

/// Prints an age as duration.HumanDuration does.
std::string age_text(Duration age) {
  const std::int64_t total = std::max<std::int64_t>(0, age.ns / 1'000'000'000);
  auto unit = [](std::int64_t n, const char* suffix) { return std::to_string(n) + suffix; };
  auto pair = [&](std::int64_t n, const char* big, std::int64_t rest, const char* small) {
    return unit(n, big) + (rest > 0 ? unit(rest, small) : "");
  };
  const std::int64_t minutes = total / 60, hours = total / 3600, days = total / 86400;
  if (total < 120) return unit(total, "s");
  if (minutes < 10) return pair(minutes, "m", total % 60, "s");
  if (minutes < 180) return unit(minutes, "m");
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return unit(hours, "h");
  if (days < 8) return pair(days, "d", hours % 24, "h");
  if (days < 365 * 2) return unit(days, "d");
  if (days < 365 * 8) return pair(days / 365, "y", days % 365, "d");
  return unit(days / 365, "y");
}

Json cell(const Json& object, const PrinterColumn& column, LogTime now) {
  std::vector<Json> values = find_by_path(object, column.json_path);
  if (values.empty()) return nullptr;
  if (column.type == "date") {
    if (!values.front().is_string()) return nullptr;
    std::optional<LogTime> then = parse_rfc3339(values.front().get<std::string>());
    return then ? Json(age_text(now - *then)) : Json("<invalid>");
  }
  if (column.type == "string") {
    if (values.size() == 1 && values.front().is_string()) return values.front();
    return to_text(values.size() == 1 ? values.front() : Json(values));
  }
  // An extension for built-in kinds: an integer column of a map is its size.
  if (column.type == "integer" && values.front().is_object()) return values.front().size();
  return values.front();
}

std::vector<PrinterColumn> columns_of(const ResourceVersion& version) {
  std::vector<PrinterColumn> columns = version.columns;
  if (columns.empty()) columns.push_back({"Age", "date", "", ".metadata.creationTimestamp", "", 0});
  return columns;
}

Json column_definitions(const std::vector<PrinterColumn>& columns) {
  Json definitions = Json::array();
  definitions.push_back(
      {{"name", "Name"},
       {"type", "string"},
       {"format", "name"},
       {"description", "Name of the object, unique among its kind and namespace."},
       {"priority", 0}});
  for (const PrinterColumn& column : columns)
    definitions.push_back(
        {{"name", column.name},
         {"type", column.type},
         {"format", column.format},
         {"description",
          column.description.empty()
              ? "Custom resource definition column (in JSONPath format): " + column.json_path
              : column.description},
         {"priority", column.priority}});
  return definitions;
}

}  // namespace

Json partial_metadata(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", object.value("metadata", Json::object())}};
}

Json as_table(const TableStyle& style, const std::vector<Json>& objects, Json list_metadata) {
  const std::vector<PrinterColumn> columns = columns_of(style.version);
  Json rows = Json::array();
  for (const Json& object : objects) {
    Json cells = Json::array({object["metadata"].value("name", "")});
    for (const PrinterColumn& column : columns) cells.push_back(cell(object, column, style.now));
    Json row{{"cells", std::move(cells)}};
    if (style.row_object == RowObject::metadata) row["object"] = partial_metadata(object);
    if (style.row_object == RowObject::whole) row["object"] = object;
    if (style.row_object == RowObject::none) row["object"] = nullptr;
    rows.push_back(std::move(row));
  }
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", std::move(list_metadata)},
          {"columnDefinitions", column_definitions(columns)},
          {"rows", std::move(rows)}};
}

}  // namespace fairlead::model
