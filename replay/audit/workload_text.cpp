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
  const std::string kept = cell(cluster["keptBy"]);
  if (cluster["reason"] == "" && !kept.empty())
    return text + ": the claim of entry " + kept + " cannot be used there";
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

std::string names_text(const Json& names, const std::string& none) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : ", ") + cell(name);
  return text.empty() ? none : text;
}

std::string fleet_allocation_text(const Json& allocation) {
  if (allocation.is_null()) return "not allocated";
  std::string text = "allocated for ";
  text += allocation["clusters"].is_null() ? "all clusters"
                                           : names_text(allocation["clusters"], "no cluster");
  text += allocation["shareable"] == true ? ", shared" : ", exclusive";
  if (!allocation["devices"].is_null())
    text += ", devices " + names_text(allocation["devices"], "none");
  return text + " (" + seq_at_time(allocation["event"]) + ")";
}

std::string fleet_claim_text(const Json& claim) {
  std::string text =
      "entry " + cell(claim["entry"]) + ": FleetResourceClaim " + cell(claim["claim"]);
  if (!claim["template"].is_null()) text += " from template " + cell(claim["template"]);
  if (claim["event"].is_null()) return indented(0, text + " is not there");
  const Json& of = claim["class"];
  text += " (" + seq_at_time(claim["event"]) + "), class " + cell(of["name"]);
  text += of["event"].is_null() ? " is not there" : ", driver " + cell(of["driver"]);
  text = indented(0, text);
  if (!of["suitableClusters"].is_null())
    text += indented(2, "its class suits " + names_text(of["suitableClusters"], "no cluster"));
  text += indented(2, fleet_allocation_text(claim["allocation"]));
  text += indented(2, "reserved for " + names_text(claim["reservedFor"], "no consumer"));
  if (claim["deallocationRequested"] == true)
    text += indented(2, "its driver is asked to deallocate it");
  return text;
}

std::string fleet_text(const Json& document) {
  std::string text;
  for (const Json& claim : document["fleetClaims"]) text += fleet_claim_text(claim);
  const Json& asked = document["fleetScheduling"];
  if (asked.is_null()) return text;
  text +=
      indented(0, "drivers were asked for " + names_text(asked["potentialClusters"], "none") +
                      ", selected: " +
                      (asked["selectedCluster"] == "" ? "none" : cell(asked["selectedCluster"])) +
                      " (" + seq_at_time(asked["event"]) + ")");
  for (const auto& [entry, clusters] : asked["unsuitableClusters"].items())
    text += indented(2, "entry " + entry + ": unsuitable are " + names_text(clusters, "none"));
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
  std::string text =
      head_text(document) + reservation_text(document["reservation"]) + fleet_text(document);
  for (const Json& cluster : document["clusters"]) text += indented(0, answer_text(cluster));
  return text;
}

std::string why_not_workload_text(const Json& document) {
  std::string text = head_text(document) + fleet_text(document);
  for (const Json& cluster : document["clusters"]) text += cluster_text(cluster);
  return text;
}

}  // namespace fairlead
