// Renders every audit answer as tables.
#include <algorithm>
#include <array>
#include <iterator>

#include "engine/base/printable.h"
#include "replay/audit/audit.h"
#include "replay/audit/effective.h"
#include "replay/audit/explain_text.h"
#include "replay/audit/placement_text.h"
#include "replay/audit/unseen.h"
#include "replay/audit/workers_text.h"
#include "replay/audit/workload_text.h"
#include "replay/table.h"

namespace fairlead {

namespace {

std::string place(const Json& as_of) {
  return cell(as_of["time"]) + " (seq " + cell(as_of["seq"]) + ")";
}

std::string grant_text(const Json& grant) {
  std::string text = cell(grant["cluster"]) + " " + cell(grant["contributes"]);
  if (grant["contributes"] != grant["granted"])
    text += " of " + cell(grant["granted"]) + " granted";
  if (grant["granted"] != grant["assigned"]) text += " of " + cell(grant["assigned"]) + " assigned";
  if (grant["reason"] != "") text += " " + cell(grant["reason"]);
  return text;
}

// The overrides in force: the queue's own, then those of Cohorts above it.
std::string in_force_text(const Json& row) {
  std::string text;
  for (const Json& entry : row["effective"])
    text += (text.empty() ? "" : "; ") +
            (entry["kind"] == "Cohort" ? "Cohort " + cell(entry["name"]) + " " : "") +
            effective_text(entry);
  return text.empty() ? "-" : text;
}

// A column that is shown where a row has more than a dash in it.
struct OptionalColumn {
  const char* heading;
  std::string (*text)(const Json& row);
};
constexpr std::array kOptionalColumns = std::to_array<OptionalColumn>({
    {"EFFECTIVE", in_force_text},
    // A hub that is older has none of these.
    {"BORROWING", [](const Json& row) { return cell(row.value("borrowingLimit", Json())); }},
    {"LENDING", [](const Json& row) { return cell(row.value("lendingLimit", Json())); }},
    {"COHORT", [](const Json& row) { return cell(row.value("cohort", Json())); }},
    {"STOPPED",
     [](const Json& row) {
       const std::string policy = cell(row.value("stopPolicy", Json()));
       return policy == "None" ? "-" : policy;
     }},
});
constexpr std::ptrdiff_t kOptionalPlace = 4;  // behind NOMINAL

std::string quota_text(const Json& document) {
  const Json& found = document["rows"];
  std::vector<OptionalColumn> optional;
  std::copy_if(kOptionalColumns.begin(), kOptionalColumns.end(), std::back_inserter(optional),
               [&](const OptionalColumn& column) {
                 return std::any_of(found.begin(), found.end(),
                                    [&](const Json& row) { return column.text(row) != "-"; });
               });
  std::vector<TableRow> rows{
      {"QUEUE", "FLAVOR", "RESOURCE", "NOMINAL", "DESIRED", "BASE", "GRANTS"}};
  for (auto column = optional.rbegin(); column != optional.rend(); ++column)
    rows[0].insert(rows[0].begin() + kOptionalPlace, column->heading);
  for (const Json& row : found) {
    std::string grants;
    for (const Json& grant : row["grants"])
      grants += (grants.empty() ? "" : "; ") + grant_text(grant);
    if (row.contains("workers"))
      for (const Json& worker : row["workers"])
        if (worker.contains("contributes"))
          grants += (grants.empty() ? "" : "; ") + cell(worker["cluster"]) + " " +
                    cell(worker["contributes"]) + " of its ClusterQueues";
    if (!row["ours"]) grants = "no claim names it";
    const bool same = row["desired"] == row["nominal"];
    rows.push_back({cell(row["queue"]), cell(row["flavor"]), cell(row["resource"]),
                    cell(row["nominal"]), same ? "=" : cell(row["desired"]), cell(row["base"]),
                    grants});
    for (auto column = optional.rbegin(); column != optional.rend(); ++column)
      rows.back().insert(rows.back().begin() + kOptionalPlace, column->text(row));
  }
  return "as of " + place(document["asOf"]) + "\n" + table_text(rows);
}

// A terminal, also one beside another window.
constexpr std::size_t kHistoryColumns = 120;

// A time to the millisecond: JSON has all of it.
std::string to_millisecond(const Json& time) {
  std::string text = cell(time);
  const std::size_t point = text.find('.');
  constexpr std::size_t kMillisecond = 4;  // of `.123`
  if (point == std::string::npos || text.size() < point + kMillisecond + 1) return text;
  return text.substr(0, point + kMillisecond) + "Z";
}

// Of "od cpu 0 -> 5; od memory 0 -> 6Gi" the part about the row; all of another text.
std::string part_about(const Json& row) {
  const std::string text = cell(row["text"]);
  const std::string about = cell(row["flavor"]) + " " + cell(row["resource"]) + " ";
  std::size_t begin = text.starts_with(about) ? 0 : text.find("; " + about);
  if (begin == std::string::npos) return text;
  if (begin > 0) begin += 2;
  return text.substr(begin, text.find("; ", begin) - begin);
}

// Which way a quota moved; a write that was not accepted moved none.
Tint tint_of(const Json& row) {
  if (row["writer"] == "fairlead" && row["answer"]["outcome"] == "rejected") return Tint::refused;
  const auto before = Quantity::parse(cell(row["old"]));
  const auto after = Quantity::parse(cell(row["new"]));
  if (!before || !after || before->nano() == after->nano()) return Tint::none;
  return after->nano() < before->nano() ? Tint::falls : Tint::rises;
}

// ANSWER and WHY of a row of a history.
std::pair<std::string, std::string> answer_and_why(const Json& row) {
  std::string why = field_managers_text(row);
  if (!why.empty()) why = "by " + why;
  if (row["writer"] != "fairlead") return {"", why};
  std::string answer = cell(row["answer"]["outcome"]);
  if (row["answer"].contains("seq")) answer += " " + cell(row["answer"]["seq"]);
  if (answer == "none" && !row["seen"].is_null()) answer = "seen " + cell(row["seen"]["seq"]);
  std::string because;
  for (const Json& seq : row["because"]) because += (because.empty() ? "" : ", ") + cell(seq);
  return {answer, cell(row["rule"]) + ": " + part_about(row) + " (seq " + because + ")"};
}

// The changes of what is no nominalQuota of a ClusterQueue.
std::string settings_history_text(const Json& changes, TextFor reader) {
  std::vector<TableRow> rows{{"TIME", "SEQ", "FIELD", "OLD", "NEW", "WRITER", "ANSWER", "WHY"}};
  std::vector<Tint> tints{Tint::heading};
  for (const Json& row : changes) {
    const auto [answer, why] = answer_and_why(row);
    const std::string of_pair =
        row["flavor"].is_null() ? "" : cell(row["flavor"]) + " " + cell(row["resource"]) + " ";
    rows.push_back({to_millisecond(row["time"]), cell(row["seq"]), of_pair + cell(row["field"]),
                    old_text(row), cell(row["new"]), cell(row["writer"]), answer, why});
    tints.push_back(of_pair.empty() ? Tint::none : tint_of(row));
  }
  if (reader == TextFor::file) tints.clear();
  return narrow_table_text(rows, kHistoryColumns, tints);
}

// The changes of an orchestrator's quotas, beside those of the spec.
std::string effective_history_text(const Json& changes) {
  if (changes.empty()) return "";
  std::vector<TableRow> rows{{"TIME", "SEQ", "FLAVOR", "RESOURCE", "OLD", "EFFECTIVE"}};
  for (const Json& row : changes)
    rows.push_back(
        {to_millisecond(row["time"]), cell(row["seq"]), cell(row["flavor"]), cell(row["resource"]),
         cell(row["old"]),
         row["orchestrator"].is_null()
             ? "the spec's"
             : effective_text({{"nominal", row["new"]}, {"orchestrator", row["orchestrator"]}})});
  return table_text(rows);
}

std::string history_text(const Json& document, TextFor reader) {
  std::vector<TableRow> rows{
      {"TIME", "SEQ", "FLAVOR", "RESOURCE", "OLD", "NEW", "WRITER", "ANSWER", "WHY"}};
  std::vector<Tint> tints{Tint::heading};
  for (const Json& row : document["rows"]) {
    const auto [answer, why] = answer_and_why(row);
    rows.push_back({to_millisecond(row["time"]), cell(row["seq"]), cell(row["flavor"]),
                    cell(row["resource"]), old_text(row), cell(row["new"]), cell(row["writer"]),
                    answer, why});
    tints.push_back(tint_of(row));
  }
  if (reader == TextFor::file) tints.clear();
  const Json settings = document.value("settings", Json::array());  // none of a hub that is older
  return narrow_table_text(rows, kHistoryColumns, tints) +
         (settings.empty() ? "" : settings_history_text(settings, reader)) +
         effective_history_text(document["effective"]);
}

std::string side_text(const Json& side) {
  if (!side.is_object() || side.empty()) return cell(side);
  std::string text;
  for (const auto& [key, value] : side.items())
    if (value != "") text += (text.empty() ? "" : ", ") + key + " " + cell(value);
  return text;
}

// Only the fields that differ, where both sides have the row.
std::string change_text(const Json& row) {
  const Json& from = row["from"];
  const Json& to = row["to"];
  if (!from.is_object() || !to.is_object()) return side_text(from) + "  ->  " + side_text(to);
  std::string text;
  Json both = from;
  both.update(to);
  for (const auto& [key, of_one] : both.items()) {
    const Json was = from.value(key, Json());
    const Json is = to.value(key, Json());
    if (was != is)
      text += (text.empty() ? "" : ", ") + key + " " + (was == "" ? "-" : cell(was)) + " -> " +
              (is == "" ? "-" : cell(is));
  }
  return text;
}

std::string list_change_text(const Json& row) {
  std::string text = list_text(row["from"]) + " -> " + list_text(row["to"]);
  if (!row["came"].empty()) text += ", came " + list_text(row["came"]);
  if (!row["went"].empty()) text += ", went " + list_text(row["went"]);
  return text;
}

std::string diff_text(const Json& document) {
  std::string text = "from " + place(document["from"]) + "\nto   " + place(document["to"]) + "\n";
  struct Section {
    const char* name;
    std::vector<const char*> keys;
  };
  const std::vector<Section> sections{{"configuration", {"key"}},
                                      {"claims", {"claim"}},
                                      {"workers", {"multiKueueConfig"}},
                                      {"capacity", {"cluster", "flavor", "resource"}},
                                      {"grants", {"claim", "queue", "flavor", "resource"}},
                                      {"quotas", {"queue", "flavor", "resource"}},
                                      {"queues", {"queue"}},
                                      {"cohorts", {"cohort"}},
                                      {"flavors", {"flavor"}},
                                      {"checks", {"check"}},
                                      {"localQueues", {"namespace", "localQueue"}},
                                      {"superClusters", {"id"}},
                                      {"namespaces", {"tenant", "namespace"}},
                                      {"pods", {"tenant", "namespace", "pod"}}};
  bool any = false;
  for (const Section& section : sections) {
    if (!document.contains(section.name)) continue;  // of a hub that is older
    std::vector<TableRow> rows;
    for (const Json& row : document[section.name]) {
      TableRow line;
      for (const char* key : section.keys) line.push_back(cell(row[key]));
      line.push_back(row.contains("came") ? list_change_text(row) : change_text(row));
      rows.push_back(std::move(line));
    }
    if (rows.empty()) continue;
    any = true;
    text += std::string(section.name) + "\n" + table_text(rows, "  ");
  }
  return any ? text : text + "nothing differs\n";
}

std::string admissions_text(const Json& document) {
  std::vector<TableRow> rows{
      {"TIME", "SEQ", "OUTCOME", "USER", "OPERATION", "OBJECT", "RULES", "REASON"}};
  for (const Json& row : document["rows"])
    rows.push_back({cell(row["time"]), cell(row["seq"]), cell(row["outcome"]), cell(row["user"]),
                    cell(row["operation"]), cell(row["kind"]) + " " + cell(row["name"]),
                    list_text(row["rules"]), row["reason"] == "" ? "-" : cell(row["reason"])});
  return table_text(rows);
}

std::string answer_text(const Json& document, TextFor reader) {
  const std::string kind = document.value("kind", "");
  if (kind == "QuotaAudit") return quota_text(document);
  if (kind == "QuotaHistory") return history_text(document, reader);
  if (kind == "QuotaDiff") return diff_text(document);
  if (kind == "ObjectHistory")
    return settings_history_text(document["rows"], reader) +
           effective_history_text(document["effective"]);
  if (kind == "QuotaWhy") return why_text(document);
  if (kind == "QuotaWhyNot") return why_not_text(document);
  if (kind == "WorkersWhy") return workers_text(document);
  if (kind == "AdmissionHistory") return admissions_text(document);
  if (kind == "WorkersHistory") return workers_history_text(document);
  if (kind == "PlacementWhy") return why_placed_text(document);
  if (kind == "PlacementWhyNot") return why_not_placed_text(document);
  if (kind == "WorkloadWhy") return why_workload_text(document);
  if (kind == "WorkloadWhyNot") return why_not_workload_text(document);
  if (kind == "PlacementHistory") return placement_history_text(document);
  return to_text(document) + "\n";
}

}  // namespace

std::string audit_text(const AuditAnswer& answer, TextFor reader) {
  const Json document = printable_document(answer.document);
  return answer_text(document, reader) + unseen_text(document);
}

}  // namespace fairlead
