#include "replay/audit/explain_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "replay/audit/effective.h"
#include "replay/audit/explain_devices.h"
#include "replay/table.h"

namespace fairlead {

namespace {

// Longer lists of nodes are cut, so that a cluster of a hundred nodes stays readable.
constexpr std::size_t kNodesNamed = 6;

std::string seq_text(const Json& seq) { return "seq " + cell(seq); }

// "seq 12 at TIME", or "seq 12, pruned".
std::string place_of(const Json& seq, const Json& time, bool pruned) {
  return seq_text(seq) + (pruned ? ", pruned" : " at " + cell(time));
}
// Since when it may have been so, of what was seen first after a silence.
std::string earlier_text(const Json& times) {
  if (times.is_null() || times["how"] != "unseen") return "";
  return times["from"].is_null() ? ", since when is not known"
                                 : ", so at some time since " + cell(times["from"]);
}

// An event that decided something, in a line.
std::string event_text(const Json& event) {
  const Json& said = event["text"];
  return "      " + seq_at_time(event) + (said.is_null() ? "" : "  " + cell(said)) +
         earlier_text(event["times"]) + "\n";
}

std::string heading(const Json& document) {
  const Json& as_of = document["asOf"];
  return cell(document["queue"]) + " / " + cell(document["flavor"]) + " / " +
         cell(document["resource"]) + " at " + cell(as_of["time"]) + " (" + seq_text(as_of["seq"]) +
         ")\n";
}

std::string window_text(const Json& layer) {
  std::string text;
  if (!layer["since"].is_null()) text += ", since " + cell(layer["since"]);
  if (!layer["until"].is_null()) text += ", until " + cell(layer["until"]);
  return text;
}

// "shrinkWindow 6s: annotation of claim c1, set by seq 153 at TIME", a line each.
std::string settings_text(const Json& layer) {
  std::string text;
  for (const Json& setting : layer["settings"]) {
    const bool of_claim = setting["from"] == "claim";
    text += "        " + cell(setting["name"]) + " " + cell(setting["value"]) + ": " +
            (of_claim ? "annotation of claim " + cell(setting["claim"]) + ", set by "
                      : std::string("configuration ")) +
            (setting["seq"].is_null() ? "an event that was pruned" : seq_at_time(setting)) + "\n";
  }
  return text;
}

std::string held_text(const Json& layer) {
  if (layer["name"] == "none") return "";
  return "      held by       " + cell(layer["name"]) + ": " + cell(layer["text"]) +
         window_text(layer) + "\n" + settings_text(layer);
}

// Nodes with equal fields in one line.
std::string group_text(const std::vector<const Json*>& nodes) {
  std::string names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kNodesNamed); ++i)
    names += (i == 0 ? "" : ", ") + cell((*nodes[i])["name"]) + " (" +
             seq_text((*nodes[i])["seq"]) + ")";
  if (nodes.size() > kNodesNamed)
    names += " and " + std::to_string(nodes.size() - kNodesNamed) + " more, to " +
             cell((*nodes.back())["name"]);
  return names;
}

std::string against(const Json& node) {
  std::string text;
  for (const Json& reason : node["reasons"]) text += (text.empty() ? "" : ", ") + cell(reason);
  return text;
}

std::string suppression(const Json& node) {
  return node["suppressedSince"].is_null()
             ? ""
             : ", not for growing: it flaps, suppressed until " + cell(node["suppressedUntil"]);
}

std::string nodes_text(const Json& nodes) {
  std::map<std::string, std::vector<const Json*>> counted, left_out;
  std::size_t counts = 0;
  for (const Json& node : nodes) {
    if (node["counts"]) {
      ++counts;
      counted[cell(node["amount"]) + suppression(node)].push_back(&node);
    } else {
      left_out[against(node) + suppression(node)].push_back(&node);
    }
  }
  std::string text = "    nodes         " + std::to_string(counts) + " of " +
                     std::to_string(nodes.size()) + " count\n";
  for (const auto& [amount, group] : counted)
    text +=
        "      " + std::to_string(group.size()) + " x " + amount + ": " + group_text(group) + "\n";
  for (const auto& [reason, group] : left_out)
    text += "      not counted, " + reason + ": " + group_text(group) + "\n";
  return text;
}

std::string headroom_text(const Json& headroom) {
  return "headroom " + cell(headroom["percent"]) + "%" +
         (headroom["reserved"] == "0" ? "" : " and " + cell(headroom["reserved"]));
}

std::string source_change_text(const Json& change) {
  return "from " + cell(change["from"]) + " to " + cell(change["to"]) + " by " +
         seq_text(change["seq"]) + " at " + cell(change["at"]);
}

std::string capacity_text(const Json& capacity) {
  const std::string flavor = cell(capacity["flavor"]);
  std::string text = "    capacity      " + (flavor.empty() ? "in total" : flavor) + ": offered " +
                     cell(capacity["offered"]) + ", usable " + cell(capacity["usable"]) + " (" +
                     headroom_text(capacity["headroom"]) + "), accepted " +
                     cell(capacity["accepted"]) + ", " + cell(capacity["state"]) + "\n";
  if (capacity["growing"] != capacity["usable"])
    text += "      for growing " + cell(capacity["growing"]) + ": nodes that flap are left out\n";
  text += held_text(capacity["layer"]);
  if (const Json& moved = capacity["moved"]; !moved.is_null())
    text += "      last moved    " + cell(moved["from"]) + " -> " + cell(moved["to"]) + " at " +
            cell(moved["at"]) + " by " + cell(moved["by"]) +
            (moved.contains("source") ? ": " + source_change_text(moved["source"]) : "") + "\n";
  if (!capacity["bounds"]) return text;
  for (const Json& event : capacity["because"]) text += event_text(event);
  if (capacity["earlierNotKept"])
    text += "      events before these are not kept; the nodes below have theirs\n";
  return text;
}

std::string claim_text(const Json& claim) {
  std::string text =
      "    claim         " + cell(claim["name"]) + " generation " + cell(claim["generation"]) +
      ", uid " + cell(claim["uid"]) + ", edited by " +
      place_of(claim["editedSeq"], claim["editedTime"], claim.contains("editedPruned")) + "\n";
  if (!claim["fault"].is_null())
    text += "      invalid: " + cell(claim["fault"]["reason"]) + ", " +
            cell(claim["fault"]["message"]) + "; the spec of " + seq_text(claim["termsSeq"]) +
            " stays in force\n";
  if (claim["deleting"]) text += "      it is being deleted\n";
  return text;
}

// assigned 10 -> wanted 10 -> flavor bound 8 -> total bound 8
std::string steps_text(const Json& grant) {
  std::string text = "    granted       " + cell(grant["granted"]) + " of " +
                     cell(grant["assigned"]) + " assigned";
  if (grant["reason"] != "") text += ", " + cell(grant["reason"]);
  if (grant["contributes"] != grant["granted"])
    text += "; counts " + cell(grant["contributes"]) + " on the hub";
  text += "\n";
  if (grant["wanted"].is_null()) return text;
  text += "      assigned " + cell(grant["assigned"]);
  if (grant["wanted"] != grant["assigned"])
    text += " -> " + cell(grant["wanted"]) + " (" + cell(grant["nominalPolicy"]) + ")";
  if (!grant["flavorBound"].is_null())
    text +=
        " -> " + cell(grant["afterFlavor"]) + " (flavor bound " + cell(grant["flavorBound"]) + ")";
  text += " -> " + cell(grant["granted"]) + " (total bound " + cell(grant["totalBound"]) + "), " +
          cell(grant["shrinkPolicy"]) + ", " + cell(grant["flavorCapacity"]);
  if (grant["minimum"] != "0") text += ", minimum " + cell(grant["minimum"]);
  if (grant["priority"] != 0) text += ", priority " + cell(grant["priority"]);
  return text + "\n";
}

std::string presence_text(const Json& grant) {
  std::string text;
  const Json& presence = grant["presence"];
  if (presence.is_null()) return "    cluster       nothing was ever heard of it\n";
  text +=
      "    cluster       source " + cell(presence["source"]) + ", " + cell(presence["liveness"]);
  if (presence["liveness"] != "live") text += " by " + seq_text(presence["livenessSeq"]);
  if (!presence["unavailableSince"].is_null())
    text += ", not Available since " + cell(presence["unavailableSince"]);
  if (presence["detached"]) text += ", detached";
  if (presence["namesNoNode"]) text += ", names no node now: the last values stay";
  if (const std::string opens = cell(presence["hubOpens"]); opens != "-")
    text += std::string(", counts 0 on the hub") +
            (opens.starts_with("when") ? ", again " : " until ") + opens;
  text += "\n";
  if (const Json& change = presence["sourceChange"]; !change.is_null())
    text += "      the source changed " + source_change_text(change) + "\n";
  if (const Json& hold = presence["hold"]; !hold.is_null())
    text += "      a mass loss is held since " + cell(hold["since"]) + ", until " +
            cell(hold["until"]) + "\n";
  const Json& member = grant["member"];
  if (!member.is_null())
    text += "    member        confirmed " + cell(member["confirmed"]) +
            (member["present"] ? ", ManifestWork generation " + cell(member["generation"]) + " " +
                                     (member["settled"] ? "settled" : "not settled") + " by " +
                                     seq_text(member["seq"])
                               : ", no ManifestWork yet") +
            "\n";
  return text;
}

std::string sum_text(const Json& document) {
  const Json& value = document["value"];
  const bool follows = document.contains("follows") && document["follows"]["follows"];
  if (!value["ours"]) return "desired       no claim names this pair: it is left as it is\n";
  if (value["unknown"])
    return std::string("desired       unknown: ") +
           (follows ? "a worker waits for its first values\n"
                    : "every claim that names it waits for its cluster's first value\n");
  std::string text = "desired       " + cell(value["desired"]) + " = base " + cell(value["base"]);
  std::string sum;
  for (const Json& grant : document["grants"]) {
    if (!grant["claim"]["winner"] && grant["contributes"] == "0") continue;
    sum += (sum.empty() ? "" : " + ") + cell(grant["contributes"]) + " (" + cell(grant["cluster"]) +
           ")";
  }
  if (follows)
    for (const Json& worker : document["workers"])
      if (worker.contains("contributes"))
        sum += (sum.empty() ? "" : " + ") + cell(worker["contributes"]) + " (" +
               cell(worker["cluster"]) + ")";
  if (sum.empty()) sum = "0";
  const Json& percent = follows ? document["follows"]["percent"] : value["overbookPercent"];
  text += percent == 100 ? " + " + sum : " + " + cell(percent) + "% of " + sum;
  if (follows && document["follows"]["reserve"] != "0")
    text += " - reserve " + cell(document["follows"]["reserve"]);
  text += "\n";
  if (value["baseMalformed"] != "")
    text += "  the base is an earlier one: " + cell(value["baseMalformed"]) + "\n";
  return text;
}

std::string follows_text(const Json& document) {
  if (!document.contains("follows")) return "";
  const Json& follows = document["follows"];
  std::string text;
  if (!follows["follows"])
    text += "  does not follow workers: no AdmissionCheck of the queue names a Placement\n";
  if (follows["malformed"] != "")
    text += "  the terms are earlier ones: " + cell(follows["malformed"]) + "\n";
  for (const Json& worker : document["workers"]) {
    text += "  " + cell(worker["cluster"]) + "\n    worker        " + cell(worker["from"]) + ", " +
            cell(worker["liveness"]) + ": usable " + cell(worker["usable"]) + ", accepted " +
            cell(worker["accepted"]) + "\n";
    for (const Json& queue : worker["queues"])
      text += "      ClusterQueue " + cell(queue["name"]) + " there: " + cell(queue["nominal"]) +
              ", " + seq_text(queue["seq"]) +
              (queue["stopped"].is_null() ? "" : "; does not count: " + cell(queue["stopped"])) +
              "\n";
    text += held_text(worker["layer"]);
    for (const Json& event : worker["because"]) text += event_text(event);
  }
  return text;
}

}  // namespace

std::string seq_at_time(const Json& place) {
  return place_of(place["seq"], place["time"], place.contains("pruned"));
}

std::string first_of(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more, to " + names.back();
  return text;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

std::string old_text(const Json& change) {
  const std::string old = cell(change["old"]);
  return change.contains("oldUnless") ? old + " or " + cell(change["oldUnless"]) : old;
}

std::string field_managers_text(const Json& change) {
  std::string text;
  for (const Json& writer : change.value("by", Json::array())) {
    text += (text.empty() ? "" : ", ") + cell(writer["manager"]) + " (" + cell(writer["operation"]);
    if (writer.contains("subresource")) text += " of " + cell(writer["subresource"]);
    if (!writer["time"].is_null()) text += ", " + cell(writer["time"]);
    text += ")";
  }
  return text;
}

std::string writer_text(const Json& change) {
  const std::string place = seq_text(change["seq"]) + " at " + cell(change["time"]);
  const std::string step = old_text(change) + " -> " + cell(change["new"]);
  if (change["writer"] == "foreign") {
    const std::string managers = field_managers_text(change);
    return step + " by " + (managers.empty() ? "another writer" : managers) + ", seen by " + place;
  }
  std::string because;
  for (const Json& seq : change["because"]) because += (because.empty() ? "" : ", ") + cell(seq);
  const Json& answer = change["answer"];
  std::string outcome = cell(answer["outcome"]);
  if (outcome == "none") outcome = "not answered yet";
  if (answer.contains("seq"))
    outcome += " by " + seq_text(answer["seq"]) + " at " + cell(answer["time"]);
  return step + " by " + place + " (" + cell(change["rule"]) + ", because of seq " + because +
         "), " + outcome;
}

std::string why_text(const Json& document) {
  std::string text = heading(document);
  text += "nominalQuota  " + cell(document["value"]["nominal"]) + "\n";
  for (const Json& entry : document["value"]["effective"])
    text += "effective     " + effective_sentence(entry) + "\n";
  text += "last change   " +
          (document["written"].is_null() ? "none is known" : writer_text(document["written"])) +
          "\n";
  text += sum_text(document);
  for (const Json& grant : document["grants"]) {
    text += "  " + cell(grant["cluster"]) + "\n" + claim_text(grant["claim"]) + steps_text(grant);
    text += presence_text(grant);
    for (const Json& capacity : grant["capacity"]) text += capacity_text(capacity);
    if (!grant["nodes"].empty()) text += nodes_text(grant["nodes"]);
    if (grant.contains("devices")) text += devices_text(grant["devices"]);
  }
  text += follows_text(document);
  const Json& configuration = document["configuration"];
  text += "configuration " + seq_at_time(configuration) + ", digest " +
          cell(configuration["digest"]).substr(0, 12) + "\n";
  return text;
}

std::string why_not_text(const Json& document) {
  std::string text = heading(document);
  std::string answer = cell(document["answer"]);
  if (answer == "DueNow")
    answer +=
        ": nothing in the log keeps the write back: the next plan writes it, unless the hub only "
        "recommends; the last event until then is of " +
        cell(document["asOf"]["eventTime"]);
  std::vector<TableRow> values{{"nominalQuota", cell(document["nominal"])}};
  for (const Json& entry : document["effective"])
    values.push_back({"effective", effective_sentence(entry)});
  values.push_back({"desired", cell(document["desired"])});
  values.push_back({"undamped", cell(document["undamped"])});
  values.push_back({"answer", answer});
  text += table_text(values);
  std::vector<TableRow> rows;
  for (const Json& guard : document["guards"])
    rows.push_back(
        {cell(guard["guard"]), cell(guard["text"]) + window_text(guard) +
                                   (guard["seq"].is_null() ? "" : ", " + seq_text(guard["seq"]))});
  return text + table_text(rows, "  ");
}

}  // namespace fairlead
