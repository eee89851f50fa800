#include "replay/audit/workload_text.h"

#include "replay/audit/device_text.h"
#include "replay/audit/explain_text.h"
#include "replay/audit/workers_text.h"

namespace fairlead {

namespace {

std::string places_text(const Json& places) {
  std::string text;
  for (const Json& place : places) text += (text.empty() ? "" : ", ") + seq_at_time(place);
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
  std::string text = indented(0, answer_text(cluster));
  if (!cluster["objects"].empty()) text += indented(2, device_objects_text(cluster["objects"]));
  text += incomplete_pools_text(cluster["incompletePools"]);
  text += device_requests_text(cluster["requests"]);
  return text;
}

std::string reservation_text(const Json& reservation) {
  if (reservation.is_null()) return "";
  std::string text = indented(0, "reserved in " + cell(reservation["multiKueueCluster"]) +
                                     " since " + cell(reservation["since"]) + " (because of " +
                                     places_text(reservation["because"]) + ")");
  if (!reservation["brokenSince"].is_null())
    text += indented(2, "broken since " + cell(reservation["brokenSince"]) +
                            ": a device cannot be taken any more, and no other");
  if (!reservation["placedSince"].is_null())
    text += indented(2, "placed there since " + cell(reservation["placedSince"]));
  for (const Json& claim : reservation["replacedBy"])
    text += indented(2, "ResourceClaim " + cell(claim) + " there took the place of a part");
  for (const Json& pod : reservation["pods"])
    text += indented(2, "a pod of " + cell(pod["podSet"]) + " on node " + cell(pod["node"]) + ": " +
                            reserved_devices_text(pod));
  return text;
}

std::string head_text(const Json& document) {
  std::string text = "as of " + cell(document["asOf"]["time"]) + " (seq " +
                     cell(document["asOf"]["seq"]) + ")\nWorkload " + cell(document["workload"]) +
                     " (" + seq_at_time(document["event"]) + "), priority " +
                     cell(document["priority"]) + ", list " + list_text(document["list"]) + "\n";
  if (document["reason"] != "")
    text += indented(0, cell(document["reason"]) + ": " + cell(document["message"]));
  if (!document["undecided"].is_null())
    text += indented(0, "no cluster is chosen by devices: " + cell(document["undecided"]));
  text += indented(0, "nominated: " + list_text(document["nominated"]) + ", clusterName: " +
                          (document["clusterName"] == "" ? "-" : cell(document["clusterName"])));
  return text;
}

}  // namespace

std::string why_workload_text(const Json& document) {
  std::string text = head_text(document) + reservation_text(document["reservation"]);
  for (const Json& cluster : document["clusters"]) text += indented(0, answer_text(cluster));
  return text;
}

std::string why_not_workload_text(const Json& document) {
  std::string text = head_text(document);
  for (const Json& cluster : document["clusters"]) text += cluster_text(cluster);
  return text;
}

}  // namespace fairlead
