#include "replay/audit/workers_text.h"

#include "replay/audit/explain_text.h"
#include "replay/table.h"

namespace fairlead {

namespace {

std::string seqs_text(const Json& places) {
  std::string text;
  for (const Json& place : places)
    text += (text.empty() ? "" : ",") + cell(place.is_object() ? place["seq"] : place);
  return text;
}

std::string credential_text(const Json& credential) {
  if (credential.is_null()) return "never asked for";
  if (credential["clusterProfile"] != "")
    return "ClusterProfile " + cell(credential["clusterProfile"]);
  if (credential["secret"] != "") return "Secret " + cell(credential["secret"]);
  return credential["lostSince"].is_null() ? "none" : "lost since " + cell(credential["lostSince"]);
}

// Everything about one worker, a line each.
std::string worker_text(const Json& worker) {
  const bool known = worker["cluster"] != "";
  std::string text = (known ? cell(worker["cluster"]) + " as " : "") +
                     cell(worker["multiKueueCluster"]) + ": " +
                     (worker["listed"] ? "in the list" : "not in the list") + "\n";
  const auto line = [&](const std::string& what) { text += "  " + what + "\n"; };
  line(cell(worker["standing"]));
  line((worker["selected"] ? "selected since " : "absent since ") + cell(worker["since"]) +
       " (seq " + seqs_text(worker["because"]) + ")" +
       (worker["decided"] ? "" : ", in no PlacementDecision"));
  if (worker["leftOut"] != "") line("left out: " + cell(worker["leftOut"]));
  line("credential: " + credential_text(worker["credential"]));
  line("rank: " + (worker["rank"].is_null() ? std::string("unknown") : cell(worker["rank"])));
  for (const auto& [window, end] : worker["windowsEnd"].items())
    line(window + " ends " + cell(end));
  for (const Json& held : worker["heldBy"])
    line("held by Workload " + cell(held["workload"]) + " (seq " + cell(held["seq"]) + ")");
  if (const Json& copies = worker["runningCopies"]; !copies.is_null()) {
    std::string names;
    for (const Json& name : copies["workloads"]) names += " " + cell(name);
    line(names.empty() ? "what ran there is over, it may come back at " + cell(copies["until"])
                       : "it left while these ran, which are not over:" + names);
  }
  return text;
}

// The text about the end of a list that stays frozen.
std::string dissolve_text(const Json& ends) {
  if (!ends.contains("emptyGrace")) return "";
  std::string text =
      ": emptyGrace ends " + cell(ends["emptyGrace"]) + ", then the MultiKueueConfig is deleted";
  if (ends.contains("drainTimeout"))
    text +=
        " when no Workload holds a worker, or when drainTimeout ends " + cell(ends["drainTimeout"]);
  return text;
}

std::string check_text(const Json& check) {
  std::string text = "AdmissionCheck " + cell(check["admissionCheck"]) + ": Active " +
                     cell(check["active"]) + ", AllClustersUsed " + cell(check["allClustersUsed"]);
  if (check.contains("dispatcherReady"))
    text += ", DispatcherReady " + cell(check["dispatcherReady"]);
  return text + " (seq " + cell(check["seq"]) + ")\n";
}

}  // namespace

std::string list_text(const Json& names) {
  if (names.is_null()) return "-";
  std::string text = "[";
  for (const Json& name : names) text += (text.size() > 1 ? ", " : "") + cell(name);
  return text + "]";
}

std::string workers_text(const Json& document) {
  std::string text = "as of " + cell(document["asOf"]["time"]) + " (seq " +
                     cell(document["asOf"]["seq"]) + ")\nMultiKueueConfig " +
                     cell(document["multiKueueConfig"]) + " " + list_text(document["list"]);
  if (!document["wish"].is_null()) text += " -> " + list_text(document["wish"]);
  text += ": " + cell(document["use"]) + "\n";
  if (document["foreign"] != "") text += cell(document["foreign"]) + "\n";
  if (!document["frozenSince"].is_null())
    text += "frozen since " + cell(document["frozenSince"]) +
            dissolve_text(document["windowsEnd"]) + "\n";
  std::string windows;
  for (const auto& [name, span] : document["windows"].items())
    windows += (windows.empty() ? "" : ", ") + name + " " + cell(span);
  text += "windows: " + windows + " (configuration: seq " + cell(document["configuration"]["seq"]) +
          ")\n";
  for (const Json& check : document["checks"]) text += check_text(check);
  for (const Json& worker : document["workers"]) text += worker_text(worker);
  return text;
}

std::string workers_history_text(const Json& document, std::size_t columns) {
  std::vector<TableRow> rows{{"TIME", "SEQ", "OLD", "NEW", "WRITER", "WHY"}};
  for (const Json& row : document["rows"]) {
    std::string why;
    if (row["writer"] == "fairlead")
      why =
          cell(row["rule"]) + ": " + cell(row["text"]) + " (seq " + seqs_text(row["because"]) + ")";
    rows.push_back({cell(row["time"]), cell(row["seq"]), list_text(row["old"]),
                    list_text(row["new"]), cell(row["writer"]), why});
  }
  return narrow_table_text(rows, columns);
}

}  // namespace fairlead
