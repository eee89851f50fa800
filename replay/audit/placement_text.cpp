#include "replay/audit/placement_text.h"

#include <vector>

#include "engine/fold/pool/pods.h"
#include "replay/audit/device_text.h"
#include "replay/audit/explain_text.h"
#include "replay/table.h"

namespace fairlead {

namespace {

bool is_about_pod(const Json& document) { return document.contains("pod"); }

std::string name_in(const Json& document) {
  const std::string name = cell(document["tenant"]) + "/" + cell(document["namespace"]);
  return is_about_pod(document) ? name + "/" + cell(document["pod"]) : name;
}

std::string heading_of(const Json& document) {
  const Json& as_of = document["asOf"];
  return name_in(document) + " at " + cell(as_of["time"]) + " (seq " + cell(as_of["seq"]) + ")\n";
}

// "cpu 2, memory 4Gi"
std::string amounts_text(const Json& amounts) {
  if (amounts.is_null()) return "-";
  std::string text;
  for (const auto& [resource, amount] : amounts.items())
    text += (text.empty() ? "" : ", ") + resource + " " + cell(amount);
  return text;
}

std::string slices_text(const Json& count) {
  return cell(count) + (count == 1 ? " slice" : " slices");
}

// The first lines of an answer.
std::vector<TableRow> values_of(const Json& document) {
  std::vector<TableRow> rows;
  if (is_about_pod(document)) rows.push_back({"superCluster", cell(document["superCluster"])});
  rows.push_back({"placements", cell(document["placements"])});
  std::string expected = slices_text(document["expected"]);
  if (!document["slice"].is_null()) expected += " of " + amounts_text(document["slice"]);
  rows.push_back({"expected", expected});
  if (!document["undecided"].is_null()) rows.push_back({"undecided", cell(document["undecided"])});
  return rows;
}

std::string cluster_words(const Json& row) {
  const bool other = !row["cluster"].is_null() && row["cluster"] != row["id"];
  return cell(row["id"]) + (other ? " (" + cell(row["cluster"]) + ")" : "");
}

std::string refusal_words(const Json& devices) {
  return cell(devices["reason"]) + (devices["detail"] == "" ? "" : " " + cell(devices["detail"]));
}

// PodFit::lacking in words.
std::string lacking_words(const std::string& lacking) {
  return lacking == kNoNodeHolds ? "a node that holds the pod alone" : lacking;
}

// What a super cluster has too little of: an amount, or devices.
std::string short_words(const Json& row) {
  const Json devices = row.value("devices", Json());
  if (row.contains("short") || devices.is_null() || devices["reason"] == "")
    return lacking_words(cell(row.value("short", Json())));
  return "devices: " + refusal_words(devices);
}

std::string cluster_rows_text(const Json& document) {
  const bool of_pod = is_about_pod(document);
  std::vector<TableRow> rows{{"CLUSTER", "STATE", "SLICES", "USABLE", "OTHERS", "ROOM"}};
  if (of_pod) rows[0].insert(rows[0].end(), {"LEFT OF ITS SLICES", "FREE THERE"});
  rows[0].push_back("SHORT OF");
  for (const Json& row : document["clusters"]) {
    TableRow line{cluster_words(row),          cell(row["state"]),          cell(row["slices"]),
                  amounts_text(row["usable"]), amounts_text(row["others"]), cell(row["room"])};
    if (of_pod) {
      line.push_back(amounts_text(row["left"]));
      line.push_back(amounts_text(row["free"]));
    }
    line.push_back(short_words(row));
    rows.push_back(std::move(line));
  }
  return rows.size() > 1 ? table_text(rows, "  ") : "  there is no super cluster\n";
}

// Where the pool's part of a super cluster is not what is usable there, and what keeps it.
std::string held_values_text(const Json& document) {
  std::string text;
  for (const Json& row : document["clusters"])
    for (const Json& layer : row.value("heldBy", Json::array())) {
      text += "  " + cluster_words(row) + ": " + cell(layer["resource"]) + " is held by " +
              cell(layer["name"]) + ": " + cell(layer["text"]);
      if (!layer["until"].is_null()) text += ", until " + cell(layer["until"]);
      text += "\n";
    }
  return text;
}

std::string place_words(const Json& place) {
  return "seq " + cell(place["seq"]) +
         (place.contains("pruned") ? ", pruned" : " at " + cell(place["time"]));
}

std::string decision_text(const Json& change) {
  std::string text = "  " + (change["seq"].is_null() ? "in force" : place_words(change)) + "  " +
                     cell(change["rule"]) + ": " + cell(change["text"]);
  if (change.contains("answer")) {
    const Json& answer = change["answer"];
    text += answer["outcome"] == "none" ? ", not answered yet" : ", " + cell(answer["outcome"]);
    if (answer.contains("why")) text += ": " + cell(answer["why"]);
  }
  text += "\n";
  for (const Json& fact : change["facts"])
    text += "      " + place_words(fact) +
            (fact["text"].is_null() ? "" : "  " + cell(fact["text"])) + "\n";
  return text;
}

// What a super cluster that is not open does with what is there.
std::string standing_words(const Json& row) {
  if (row["state"] == "gone") return "what is there should move";
  if (row["cluster"].is_null()) return "no member has this id";
  if (row["state"] == "away") return "lost, keeps what it has";
  return row["usable"].is_null() ? "no value of it is accepted yet" : "takes nothing new";
}

// What is reserved for the pod.
std::string reservation_words(const Json& document) {
  const Json reservation = document.value("reservation", Json());
  if (reservation.is_null()) return "";
  std::string because;
  for (const Json& place : reservation["because"])
    because += (because.empty() ? "" : ", ") + seq_at_time(place);
  std::string text = indented(0, "devices reserved in " + cell(reservation["id"]) + " since " +
                                     cell(reservation["since"]) + " (because of " + because + ")");
  if (!reservation["brokenSince"].is_null())
    text += indented(2, "broken since " + cell(reservation["brokenSince"]) +
                            ": a device cannot be taken any more, and no other");
  for (const Json& pod : reservation["pods"])
    text += indented(2, "on node " + cell(pod["node"]) + ": " + reserved_devices_text(pod));
  return text;
}

// The evidence for the refusals of devices, by cluster.
std::string device_refusals_text(const Json& document) {
  std::string text;
  for (const Json& row : document["clusters"]) {
    const Json devices = row.value("devices", Json());
    if (devices.is_null() || devices["reason"] == "") continue;
    text += indented(0, "devices of " + cluster_words(row) + ": " + refusal_words(devices));
    text += indented(2, device_objects_text(devices["objects"]));
    text += incomplete_pools_text(devices["incompletePools"]);
    text += device_requests_text(devices["requests"]);
  }
  return text;
}

// What a super cluster has for the namespace or the pod, and what it lacks.
std::string verdict_text(const Json& document, const Json& row) {
  const bool of_pod = is_about_pod(document);
  const bool is_open = row["state"] == "open";
  std::string text = is_open ? "" : standing_words(row);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (row["slices"] != 0) add("has " + slices_text(row["slices"]));
  if (of_pod) {
    if (row["slices"] == 0) add("the namespace has no slice there");
    add("left of its slices: " + amounts_text(row["left"]));
    add("free there: " + amounts_text(row["free"]));
    const Json beyond = row.value("overUsed", Json::object());
    if (beyond.contains("share"))
      add("its pods use more than its slices: " + amounts_text(beyond["share"]));
    if (beyond.contains("cluster"))
      add("more is used there than it offers: " + amounts_text(beyond["cluster"]));
  } else if (is_open) {
    add("room for " + slices_text(row["room"]) + " beside others");
  }
  const Json devices = row.value("devices", Json());
  const bool refused = !devices.is_null() && devices["reason"] != "";
  if (!devices.is_null() && !refused && !devices["left"].is_null())
    add("devices: free, " + cell(devices["left"]) + " left then");
  if (refused) add("devices: " + refusal_words(devices));
  if (row.contains("short"))
    add("short of " + lacking_words(cell(row["short"])));
  else if (is_open && !refused)
    add(of_pod ? "the pod fits" : "one more fits");
  return text;
}

}  // namespace

std::string why_placed_text(const Json& document) {
  std::vector<TableRow> values = values_of(document);
  values.push_back({"reason", cell(document["reason"])});
  std::string text = heading_of(document) + table_text(values) + cluster_rows_text(document) +
                     held_values_text(document) + reservation_words(document);
  text += document["changes"].empty() ? "no decision is known\n" : "decisions\n";
  for (const Json& change : document["changes"]) text += decision_text(change);
  return text;
}

std::string why_not_placed_text(const Json& document) {
  std::vector<TableRow> values = values_of(document);
  const Json& reason = document["reason"];
  values.push_back({"missing", reason.is_null() ? "nothing" : cell(reason)});
  std::string text = heading_of(document) + table_text(values);
  std::vector<TableRow> rows;
  for (const Json& row : document["clusters"])
    rows.push_back({cluster_words(row), cell(row["state"]), verdict_text(document, row)});
  text += rows.empty() ? "  there is no super cluster\n" : table_text(rows, "  ");
  text += held_values_text(document);
  text += device_refusals_text(document);
  if (document["changes"].empty()) return text + "no decision is known\n";
  return text + "last decision\n" + decision_text(document["changes"].back());
}

std::string placement_history_text(const Json& document, std::size_t columns) {
  std::vector<TableRow> rows{{"TIME", "SEQ", "OLD", "NEW", "WRITER", "ANSWER", "WHY"}};
  for (const Json& row : document["rows"]) {
    std::string answer, why;
    if (row["writer"] == "fairlead") {
      answer = cell(row["answer"]["outcome"]);
      if (row["answer"].contains("seq")) answer += " " + cell(row["answer"]["seq"]);
      if (answer == "none" && !row["seen"].is_null()) answer = "seen " + cell(row["seen"]["seq"]);
      std::string because;
      for (const Json& seq : row["because"]) because += (because.empty() ? "" : ",") + cell(seq);
      why = cell(row["rule"]) + " (seq " + because + ")";
    }
    rows.push_back({cell(row["time"]), cell(row["seq"]), cell(row["old"]), cell(row["new"]),
                    cell(row["writer"]), answer, why});
  }
  return narrow_table_text(rows, columns);
}

}  // namespace fairlead
