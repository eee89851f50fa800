#include "replay/audit/device_text.h"

#include <map>
#include <vector>

#include "replay/audit/explain_text.h"

namespace fairlead {

namespace {

std::string object_text(const Json& object) {
  return cell(object["kind"]) + " " + cell(object["name"]) + " (" +
         (object["seq"].is_null() ? "not there" : "seq " + cell(object["seq"])) + ")";
}

// "used by ResourceClaim a/b (seq 7)", "reserved for Workload a/b (seq 8)", "taint x:NoSchedule".
std::string standing_text(const Json& device) {
  const std::string why = cell(device["why"]);
  std::string users;
  for (const Json& user : device["usedBy"])
    users += (users.empty() ? "" : ", ") +
             std::string(user["kind"] == "ResourceClaim" ? "used by " : "reserved for ") +
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
  const bool of_set = request["podSet"] != "";
  const std::string whose = of_set ? "a pod of " + cell(request["podSet"]) + ", " : "";
  std::string text =
      indented(4, whose + cell(request["request"]) + ", " + count_text(request["count"]) +
                      " of one node" + (request["devices"].empty() ? ": none matches" : ":"));
  std::map<std::string, std::vector<std::string>> by_standing;
  for (const Json& device : request["devices"])
    by_standing[standing_text(device)].push_back(cell(device["device"]) + " (seq " +
                                                 cell(device["seq"]) + ")");
  for (const auto& [standing, devices] : by_standing)
    text += indented(6, standing + ": " + first_of(devices, kDevicesNamed));
  if (request["otherDevices"] != 0)
    text += indented(6, "not as its selectors want: " + count_text(request["otherDevices"]));
  return text;
}

}  // namespace

std::string indented(std::size_t indent, const std::string& text) {
  return std::string(indent, ' ') + text + "\n";
}

std::string device_objects_text(const Json& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "" : ", ") + object_text(object);
  return text;
}

std::string incomplete_pools_text(const Json& pools) {
  std::string text;
  for (const Json& pool : pools)
    text += indented(2, "pool " + cell(pool["driver"]) + "/" + cell(pool["pool"]) +
                            " is not complete: its devices do not count");
  return text;
}

std::string device_requests_text(const Json& requests) {
  if (requests.empty()) return "";
  std::string text = indented(2, "if each request were alone:");
  for (const Json& request : requests) text += request_text(request);
  return text;
}

std::string reserved_devices_text(const Json& pod) {
  std::string text;
  for (const Json& claim : pod["claims"]) {
    if (claim.contains("ofPlugin"))
      text += (text.empty() ? "" : ", ") + cell(claim["entry"]) + " " + cell(claim["ofPlugin"]) +
              " of the node's device plugin";
    for (const Json& device : claim["devices"])
      text += (text.empty() ? "" : ", ") + cell(claim["entry"]) + "/" + cell(device["request"]) +
              " " + cell(device["device"]) + (device["adminAccess"] ? " (admin access)" : "");
  }
  return text.empty() ? "no device" : text;
}

}  // namespace fairlead
