#include "replay/audit/workload_text.h"

#include <map>
#include <vector>

#include "replay/audit/explain_text.h"
#include "replay/audit/workers_text.h"

namespace fairlead {

namespace {

std::string line(std::size_t indent, const std::string& text) {
  return std::string(indent, ' ') + text + "\n";
}

std::string places_text(const Json& places) {
  std::string text;
  for (const Json& place : places) text += (text.empty() ? "" : ", ") + seq_at_time(place);
  return text;
}

std::string object_text(const Json& object) {
  return cell(object["kind"]) + " " + cell(object["name"]) + " (" +
         (object["seq"].is_null() ? "not there" : "seq " + cell(object["seq"])) + ")";
}

std::string objects_text(const Json& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "" : ", ") + object_text(object);
  return text;
}

// "used by ResourceClaim a/b (seq 7)", "reserved for Workload a/b (seq 8)", "taint x:NoSchedule".
std::string standing_text(const Json& device) {
  const std::string why = cell(device["why"]);
  std::string users;
  for (const Json& user : device["usedBy"])
    users += (users.empty() ? "" : ", ") +
             std::string(user["kind"] == "Workload" ? "reserved for " : "used by ") +
             object_text(user);
  if (users.empty()) return why.empty() ? "free" : why;
  if (why.empty()) return "has room, " + users;
  return why == "used" ? users : why + ", " + users;
}

std::string count_text(const Json& count) {
  if (count.is_null()) return "all devices";
  return cell(count) + (count == 1 ? " device" : " devices");
}

// The devices of a request, a line for each standing.
std::string request_text(const Json& request) {
  std::string text =
      line(4, "a pod of " + cell(request["podSet"]) + ", " + cell(request["request"]) + ", " +
                  count_text(request["count"]) + " of one node" +
                  (request["devices"].empty() ? ": none matches" : ":"));
  std::map<std::string, std::vector<std::string>> by_standing;
  for (const Json& device : request["devices"])
    by_standing[standing_text(device)].push_back(cell(device["device"]) + " (seq " +
                                                 cell(device["seq"]) + ")");
  for (const auto& [standing, devices] : by_standing)
    text += line(6, standing + ": " + first_of(devices, kDevicesNamed));
  if (request["otherDevices"] != 0)
    text += line(6, "not as its selectors want: " + count_text(request["otherDevices"]));
  return text;
}

std::string answer_text(const Json& cluster) {
  std::string text = cell(cluster["multiKueueCluster"]);
  if (cluster["cluster"] != cluster["multiKueueCluster"] && cluster["cluster"] != "")
    text += " (" + cell(cluster["cluster"]) + ")";
  if (cluster["reason"] == "") return text + ": it fits";
  text += ": " + cell(cluster["reason"]);
  if (cluster["detail"] != "") text += " " + cell(cluster["detail"]);
  if (!cluster["events"].empty()) text += ", " + places_text(cluster["events"]);
  return text;
}

std::string cluster_text(const Json& cluster) {
  std::string text = line(0, answer_text(cluster));
  if (!cluster["objects"].empty()) text += line(2, objects_text(cluster["objects"]));
  for (const Json& pool : cluster["incompletePools"])
    text += line(2, "pool " + cell(pool["driver"]) + "/" + cell(pool["pool"]) +
                        " is not complete: its devices do not count");
  if (!cluster["requests"].empty()) {
    text += line(2, "if each request were alone:");
    for (const Json& request : cluster["requests"]) text += request_text(request);
  }
  return text;
}

std::string pod_text(const Json& pod) {
  std::string text;
  for (const Json& claim : pod["claims"])
    for (const Json& device : claim["devices"])
      text += (text.empty() ? "" : ", ") + cell(claim["entry"]) + "/" + cell(device["request"]) +
              " " + cell(device["device"]) + (device["adminAccess"] ? " (admin access)" : "");
  return "a pod of " + cell(pod["podSet"]) + " on node " + cell(pod["node"]) + ": " +
         (text.empty() ? "no device" : text);
}

std::string reservation_text(const Json& reservation) {
  if (reservation.is_null()) return "";
  std::string text = line(0, "reserved in " + cell(reservation["multiKueueCluster"]) + " since " +
                                 cell(reservation["since"]) + " (because of " +
                                 places_text(reservation["because"]) + ")");
  if (!reservation["brokenSince"].is_null())
    text += line(2, "broken since " + cell(reservation["brokenSince"]) +
                        ": a device cannot be taken any more, and no other");
  if (!reservation["placedSince"].is_null())
    text += line(2, "placed there since " + cell(reservation["placedSince"]));
  for (const Json& claim : reservation["replacedBy"])
    text += line(2, "ResourceClaim " + cell(claim) + " there took the place of a part");
  for (const Json& pod : reservation["pods"]) text += line(2, pod_text(pod));
  return text;
}

std::string head_text(const Json& document) {
  std::string text = "as of " + cell(document["asOf"]["time"]) + " (seq " +
                     cell(document["asOf"]["seq"]) + ")\nWorkload " + cell(document["workload"]) +
                     " (" + seq_at_time(document["event"]) + "), priority " +
                     cell(document["priority"]) + ", list " + list_text(document["list"]) + "\n";
  if (document["reason"] != "")
    text += line(0, cell(document["reason"]) + ": " + cell(document["message"]));
  if (!document["undecided"].is_null())
    text += line(0, "no cluster is chosen by devices: " + cell(document["undecided"]));
  text += line(0, "nominated: " + list_text(document["nominated"]) + ", clusterName: " +
                      (document["clusterName"] == "" ? "-" : cell(document["clusterName"])));
  return text;
}

}  // namespace

std::string why_workload_text(const Json& document) {
  std::string text = head_text(document) + reservation_text(document["reservation"]);
  for (const Json& cluster : document["clusters"]) text += line(0, answer_text(cluster));
  return text;
}

std::string why_not_workload_text(const Json& document) {
  std::string text = head_text(document);
  for (const Json& cluster : document["clusters"]) text += cluster_text(cluster);
  return text;
}

}  // namespace fairlead
