#include "engine/fleet/licence_driver.h"

#include <utility>
#include <vector>

#include "engine/fleet/worker_world.h"

namespace fairlead {
namespace {

constexpr Duration kDriverRound = seconds(1);
const std::string kFleetApi = "/apis/dra.fairlead.io/v1alpha1";
const std::string kEntriesAnnotation = "dra.fairlead.io/claims";

std::string path_in(const Json& object, const std::string& plural) {
  const Json& metadata = object["metadata"];
  return kFleetApi + "/namespaces/" + metadata["namespace"].get<std::string>() + "/" + plural +
         "/" + metadata["name"].get<std::string>();
}

// The claims that the pods of a Workload name; those made from templates are left out.
std::vector<std::string> claims_of(const Json& workload) {
  std::vector<std::string> claims;
  for (const Json& pods : workload.value("/spec/podSets"_json_pointer, Json::array())) {
    const Json notes = pods.value("/template/metadata/annotations"_json_pointer, Json::object());
    const Json entries = Json::parse(notes.value(kEntriesAnnotation, "[]"), nullptr, false);
    if (!entries.is_array()) continue;
    for (const Json& entry : entries)
      if (entry.is_object() && entry.contains("resourceClaimName"))
        claims.push_back(entry["resourceClaimName"]);
  }
  return claims;
}

}  // namespace

void LicenceDriver::look(LogTime now) {
  if (now < next_look_) return;
  next_look_ = now + kDriverRound;
  std::set<std::string> classes;
  for (const Json& one : hub_.items(kFleetApi + "/fleetresourceclasses"))
    if (one.value("driverName", "") == kLicenceDriver) classes.insert(one["metadata"]["name"]);
  for (const Json& claim : hub_.items(kFleetApi + "/fleetresourceclaims"))
    if (classes.contains(claim.value("/spec/resourceClassName"_json_pointer, "")))
      deallocate(claim);
  for (const Json& scheduling : hub_.items(kFleetApi + "/fleetschedulings"))
    serve(scheduling, classes);
}

void LicenceDriver::write_status(const Json& claim, Json status) {
  ++writes_;
  const Json version{{"resourceVersion", claim["metadata"]["resourceVersion"]}};
  // The version keeps a write apart from one that Fairlead made meanwhile; the next look repeats
  // it.
  (void)hub_.merge(path_in(claim, "fleetresourceclaims") + "/status",
                   {{"metadata", version}, {"status", std::move(status)}});
}

// Takes the licence back when that is asked for and nobody may use it any more.
void LicenceDriver::deallocate(const Json& claim) {
  const Json status = claim.value("status", Json::object());
  if (!status.value("deallocationRequested", false) || !status.contains("allocation") ||
      !status.value("reservedFor", Json::array()).empty())
    return;
  logger_("driver", "takes licence " + claim["metadata"]["name"].get<std::string>() + " back");
  write_status(claim, {{"allocation", nullptr}});
}

// Gives the licences that the Workload of the FleetScheduling waits for to the selected cluster.
void LicenceDriver::serve(const Json& scheduling, const std::set<std::string>& classes) {
  const std::string cluster = scheduling.value("/spec/selectedCluster"_json_pointer, "");
  if (cluster.empty()) return;
  const auto workload =
      hub_.get(kKueueApi + "/namespaces/" + scheduling["metadata"]["namespace"].get<std::string>() +
               "/workloads/" + scheduling["metadata"]["name"].get<std::string>());
  if (!workload || workload->contains("/status/clusterName"_json_pointer)) return;
  for (const std::string& name : claims_of(*workload)) {
    const auto claim = hub_.get(kFleetApi + "/namespaces/" +
                                scheduling["metadata"]["namespace"].get<std::string>() +
                                "/fleetresourceclaims/" + name);
    if (!claim || !classes.contains(claim->value("/spec/resourceClassName"_json_pointer, "")) ||
        claim->contains("/status/allocation"_json_pointer))
      continue;
    logger_("driver", "gives licence " + name + " to " + cluster);
    write_status(*claim, {{"driverName", kLicenceDriver},
                          {"allocation",
                           {{"resourceHandle", "seat-1@" + cluster},
                            {"availableOnClusters", Json::array({cluster})},
                            {"shareable", false}}}});
  }
}

}  // namespace fairlead
