// Renders every audit answer as tables.
#include <algorithm>
#include <array>
#include <iterator>

#include "engine/base/printable.h"
#include "replay/audit/audit.h"
#include "replay/audit/effective.h"
#include "replay/audit/explain_text.h"
#include "replay/audit/placement_text.h"
#include "replay/audit/readable_amount.h"
#include "replay/audit/unseen.h"
#include "replay/audit/workers_text.h"
#include "replay/audit/workload_text.h"
#include "replay/table.h"
#include "replay/waiting/waiting.h"

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

// The overrides in force: the queue's own, then the overrides of Cohorts above it.
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

// A terminal, as narrow as they usually are.
constexpr std::size_t kTableColumns = 80;

std::size_t columns_of(const AuditTextStyle& style) {
  return style.wide ? SIZE_MAX : kTableColumns;
}

// Rows of a table: in full, or so that they fit.
std::string fitted(const std::vector<TableRow>& rows, const std::vector<Tint>& tints,
                   const AuditTextStyle& style) {
  static const std::vector<Tint> plain;
  return narrow_table_text(rows, columns_of(style), style.reader == TextFor::file ? plain : tints);
}

std::string amount_cell(const Json& row, const Json& amount, const AuditTextStyle& style) {
  const std::string text = cell(amount);
  return style.exact ? text : readable_amount(cell(row.value("resource", Json(""))), text);
}

// A time to the millisecond, rounded up, so that the answer about the printed time has what
// happened then; more exact where `next` (may be null) would be in it, too. JSON has all of it.
std::string time_cell(const Json& time, const Json& next) {
  const std::string text = cell(time);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t end = text.find_first_not_of("0123456789", point + 1);
  if (end == std::string::npos) return text;
  const auto clock = parse_rfc3339(text.substr(0, end) + "Z");  // as its zone shows it
  const auto exact = parse_rfc3339(text);
  const auto until = next.is_null() ? std::nullopt : parse_rfc3339(cell(next));
  if (!clock || !exact || exact->ns < 0) return text;
  for (const std::int64_t unit : {1'000'000, 1'000}) {
    const std::int64_t up = (unit - clock->ns % unit) % unit;
    if (until && *until > *exact && exact->ns + up >= until->ns) continue;
    std::string shown = to_rfc3339({clock->ns + up});
    shown.pop_back();
    return shown + text.substr(end);
  }
  return text;
}

// Since when the value of a row of a history is in force: where it is not, when it was decided.
const Json& effect_of(const Json& row) {
  const Json& effect = member(row, "tookEffect");  // none of a hub that is older
  return effect.is_object() ? effect : row;
}

// Who moved a pair: "fairlead", or the field manager.
std::string mover_of(const Json& change) {
  if (change["writer"] == "fairlead") return "fairlead";
  return change.contains("by") ? cell(change["by"][0]["manager"]) : "another";
}

std::string last_change_text(const Json& row) {
  const Json& last = member(row, "last");
  if (!last.is_object()) return "-";
  return time_cell(effect_of(last)["time"], nullptr) + " by " + mover_of(last);
}

std::string grants_text(const Json& row) {
  if (!row["ours"]) return "no claim names it";
  std::string grants;
  for (const Json& grant : row["grants"])
    grants += (grants.empty() ? "" : "; ") + grant_text(grant);
  if (row.contains("workers"))
    for (const Json& worker : row["workers"])
      if (worker.contains("contributes"))
        grants += (grants.empty() ? "" : "; ") + cell(worker["cluster"]) + " " +
                  cell(worker["contributes"]) + " of its ClusterQueues";
  return grants;
}

std::string desired_cell(const Json& row, const AuditTextStyle& style) {
  return row["desired"] == row["nominal"] ? "=" : amount_cell(row, row["desired"], style);
}

std::string quota_text(const Json& document, const AuditTextStyle& style) {
  const Json& found = document["rows"];
  std::vector<OptionalColumn> optional;
  std::copy_if(kOptionalColumns.begin(), kOptionalColumns.end(), std::back_inserter(optional),
               [&](const OptionalColumn& column) {
                 return std::any_of(found.begin(), found.end(),
                                    [&](const Json& row) { return column.text(row) != "-"; });
               });
  // What is as expected everywhere is left out of a narrow table.
  const auto any = [&](const auto& differs) {
    return style.wide || std::any_of(found.begin(), found.end(), differs);
  };
  const bool with_desired = any([](const Json& row) {
    return !row["desired"].is_null() && row["desired"] != row["nominal"];
  });
  const bool with_used = any([](const Json& row) { return !member(row, "used").is_null(); });
  std::vector<TableRow> rows{{"QUEUE", "FLAVOR", "RESOURCE", "NOMINAL"}};
  if (with_desired) rows[0].emplace_back("DESIRED");
  if (with_used) rows[0].emplace_back("USED");
  for (const OptionalColumn& column : optional) rows[0].emplace_back(column.heading);
  if (style.wide) rows[0].emplace_back("BASE");
  rows[0].emplace_back("CHANGED");
  if (style.wide) rows[0].emplace_back("GRANTS");
  for (const Json& row : found) {
    TableRow line{cell(row["queue"]), cell(row["flavor"]), cell(row["resource"]),
                  amount_cell(row, row["nominal"], style)};
    if (with_desired) line.push_back(desired_cell(row, style));
    if (with_used) line.push_back(amount_cell(row, member(row, "used"), style));
    for (const OptionalColumn& column : optional) line.push_back(column.text(row));
    if (style.wide) line.push_back(amount_cell(row, row["base"], style));
    line.push_back(last_change_text(row));
    if (style.wide) line.push_back(grants_text(row));
    rows.push_back(std::move(line));
  }
  return "as of " + place(document["asOf"]) + "\n" + fitted(rows, {Tint::heading}, style);
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

std::string outcome_cell(const Json& row) {
  if (row["writer"] != "fairlead") return "";
  std::string answer = cell(row["answer"]["outcome"]);
  if (row["answer"].contains("seq")) answer += " " + cell(row["answer"]["seq"]);
  if (answer == "none")
    answer = row["seen"].is_null() ? "no answer yet" : "seen " + cell(row["seen"]["seq"]);
  return answer;
}

// WHY of a row of a history. Unless ANSWER is a column of its own, an answer other than a plain yes
// comes first.
std::string why_cell(const Json& row, const AuditTextStyle& style) {
  std::string why = field_managers_text(row);
  if (!why.empty()) why = "by " + why;
  if (row["writer"] != "fairlead") return why;
  const bool accepted = row["answer"]["outcome"] == "accepted" && !row["seen"].is_null();
  const bool unseen = row["seen"].is_null();
  if (!style.wide && unseen && row["answer"]["outcome"] == "none")
    why += "sent, no answer yet; ";
  else if (!style.wide && !accepted)
    why += outcome_cell(row) + (unseen ? ", not observed; " : "; ");
  std::string because;
  for (const Json& seq : row["because"]) because += (because.empty() ? "" : ", ") + cell(seq);
  const std::string part = part_about(row);
  const std::string shown_already = cell(row["flavor"]) + " " + cell(row["resource"]) + " " +
                                    cell(row["old"]) + " -> " + cell(row["new"]);
  return why + cell(row["rule"]) + (part == shown_already ? "" : ": " + part) + " by seq " +
         cell(row["seq"]) + ", because of " + because;
}

// The next change of the same value behind `row`, or null.
Json next_of_pair(const Json& rows, std::size_t row) {
  for (std::size_t i = row + 1; i < rows.size(); ++i)
    if (rows[i]["flavor"] == rows[row]["flavor"] && rows[i]["resource"] == rows[row]["resource"] &&
        member(rows[i], "field") == member(rows[row], "field"))
      return effect_of(rows[i])["time"];
  return nullptr;
}

// TIME and SEQ of a row of a history.
TableRow place_cells(const Json& rows, std::size_t row) {
  const Json& effect = effect_of(rows[row]);
  return {time_cell(effect["time"], next_of_pair(rows, row)), cell(effect["seq"])};
}

// OLD, NEW, WRITER, and what answered and explains a row.
void add_change(const Json& row, const AuditTextStyle& style, TableRow& line) {
  const std::string old_amount = old_text(row), new_amount = cell(row["new"]);
  const std::string resource = cell(row["resource"]);
  std::string before = readable_amount(resource, old_amount);
  std::string after = readable_amount(resource, new_amount);
  if (style.exact || row["resource"].is_null() || before == after) {
    before = old_amount;
    after = new_amount;
  }
  line.insert(line.end(), {before, after, cell(row["writer"])});
  if (style.wide) line.push_back(outcome_cell(row));
  line.push_back(why_cell(row, style));
}

TableRow history_heading(TableRow heading, const AuditTextStyle& style) {
  heading.insert(heading.end(), {"OLD", "NEW", "WRITER"});
  if (style.wide) heading.emplace_back("ANSWER");
  heading.emplace_back("WHY");
  return heading;
}

// The changes of everything in a ClusterQueue but nominalQuota.
std::string settings_history_text(const Json& changes, const AuditTextStyle& style) {
  std::vector<TableRow> rows{history_heading({"TIME", "SEQ", "FIELD"}, style)};
  std::vector<Tint> tints{Tint::heading};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Json& row = changes[i];
    const std::string of_pair =
        row["flavor"].is_null() ? "" : cell(row["flavor"]) + " " + cell(row["resource"]) + " ";
    TableRow line = place_cells(changes, i);
    line.push_back(of_pair + cell(row["field"]));
    add_change(row, style, line);
    rows.push_back(std::move(line));
    tints.push_back(of_pair.empty() ? Tint::none : tint_of(row));
  }
  return fitted(rows, tints, style);
}

// The changes of an orchestrator's quotas, besides the changes of the spec.
std::string effective_history_text(const Json& changes, const AuditTextStyle& style) {
  if (changes.empty()) return "";
  std::vector<TableRow> rows{{"TIME", "SEQ", "FLAVOR", "RESOURCE", "OLD", "EFFECTIVE"}};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Json& row = changes[i];
    rows.push_back(
        {time_cell(row["time"], next_of_pair(changes, i)), cell(row["seq"]), cell(row["flavor"]),
         cell(row["resource"]), amount_cell(row, row["old"], style),
         row["orchestrator"].is_null()
             ? "the spec's"
             : effective_text({{"nominal", row["new"]}, {"orchestrator", row["orchestrator"]}})});
  }
  return fitted(rows, {Tint::heading}, style);
}

// "from TIME (seq 5) to TIME (seq 9)", where the span was asked for by times.
std::string span_text(const Json& document) {
  const Json& from = member(document, "from");
  const Json& to = member(document, "to");
  const auto end = [](const char* word, const Json& place) {
    return place.contains("time")
               ? word + (" " + cell(place["time"])) + " (seq " + cell(place["seq"]) + ")"
               : std::string();
  };
  const std::string begin = end("from", from), last = end("to", to);
  if (begin.empty() && last.empty()) return "";
  return begin + (begin.empty() || last.empty() ? "" : " ") + last + "\n";
}

std::string history_text(const Json& document, const AuditTextStyle& style) {
  std::vector<TableRow> rows{history_heading({"TIME", "SEQ", "FLAVOR", "RESOURCE"}, style)};
  std::vector<Tint> tints{Tint::heading};
  const Json& changes = document["rows"];
  for (std::size_t i = 0; i < changes.size(); ++i) {
    TableRow line = place_cells(changes, i);
    line.insert(line.end(), {cell(changes[i]["flavor"]), cell(changes[i]["resource"])});
    add_change(changes[i], style, line);
    rows.push_back(std::move(line));
    tints.push_back(tint_of(changes[i]));
  }
  const Json settings = document.value("settings", Json::array());  // none of a hub that is older
  return span_text(document) + fitted(rows, tints, style) +
         (settings.empty() ? "" : settings_history_text(settings, style)) +
         effective_history_text(document["effective"], style);
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

// Rows without a heading, two columns in.
std::string section_text(std::vector<TableRow> rows, const AuditTextStyle& style) {
  constexpr std::size_t kIndent = 2;
  rows.insert(rows.begin(), TableRow(rows.front().size()));  // the first row is a heading
  const std::string table =
      narrow_table_text(rows, style.wide ? SIZE_MAX : kTableColumns - kIndent);
  std::string text;
  for (std::size_t at = table.find('\n') + 1, end = 0; at < table.size(); at = end + 1) {
    end = table.find('\n', at);
    text += std::string(kIndent, ' ') + table.substr(at, end - at) + "\n";
  }
  return text;
}

std::string diff_text(const Json& document, const AuditTextStyle& style) {
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
    text += std::string(section.name) + "\n" + section_text(std::move(rows), style);
  }
  return any ? text : text + "nothing differs\n";
}

std::string admissions_text(const Json& document, const AuditTextStyle& style) {
  std::vector<TableRow> rows{
      {"TIME", "SEQ", "OUTCOME", "USER", "OPERATION", "OBJECT", "RULES", "REASON"}};
  for (const Json& row : document["rows"])
    rows.push_back({cell(row["time"]), cell(row["seq"]), cell(row["outcome"]), cell(row["user"]),
                    cell(row["operation"]), cell(row["kind"]) + " " + cell(row["name"]),
                    list_text(row["rules"]), row["reason"] == "" ? "-" : cell(row["reason"])});
  return narrow_table_text(rows, columns_of(style));
}

// Several answers with a line between them.
std::string each_text(const Json& answers) {
  std::string text;
  for (const Json& answer : answers)
    text += (text.empty() ? "" : "\n") +
            (text_in(answer, "kind") == "QuotaWhy" ? why_text(answer) : why_not_text(answer)) +
            unseen_text(answer);
  return text;
}

std::string document_text(Json document, const AuditTextStyle& style) {
  const std::string kind = document.value("kind", "");
  const bool of_pairs = kind.starts_with("QuotaWhy") || kind == "QuotaDiff";
  if (of_pairs && !style.exact) make_amounts_readable(document);
  if (kind == "QuotaAudit") return quota_text(document, style);
  if (kind == "QuotaHistory") return history_text(document, style);
  if (kind == "QuotaDiff") return diff_text(document, style);
  if (kind == "ObjectHistory")
    return span_text(document) + settings_history_text(document["rows"], style) +
           effective_history_text(document["effective"], style);
  if (kind == "QuotaWhy") return why_text(document);
  if (kind == "QuotaWhyList") return each_text(list_in(document, "answers"));
  if (kind == "QuotaWhyNot") return why_not_text(document);
  if (kind == "WorkersWhy") return workers_text(document);
  if (kind == "AdmissionHistory") return admissions_text(document, style);
  if (kind == "WorkersHistory") return workers_history_text(document, columns_of(style));
  if (kind == "PlacementWhy") return why_placed_text(document);
  if (kind == "PlacementWhyNot") return why_not_placed_text(document);
  if (kind == "WorkloadWhy") return why_workload_text(document);
  if (kind == "WorkloadWhyNot") return why_not_workload_text(document);
  if (kind == "Waiting" || kind == "WaitingList" || kind == "BlockedBy")
    return waiting_text(document, columns_of(style));
  if (kind == "PlacementHistory") return placement_history_text(document, columns_of(style));
  return to_text(document) + "\n";
}

}  // namespace

std::string audit_text(const AuditAnswer& answer, const AuditTextStyle& style) {
  const Json document = printable_document(answer.document);
  return document_text(document, style) + unseen_text(document);
}

}  // namespace fairlead
