#include "engine/main/dev_fleet.h"

#include <ostream>
#include <utility>

#include "engine/fleet/layout.h"
#include "engine/fleet/machine_fleet.h"
#include "engine/fleet/worker_fleet.h"

namespace fairlead {
namespace {

bool is_multikueue(const std::string& name) { return name == "multikueue"; }

void introduce_claims(std::ostream& out, const FleetPlaces& places) {
  const std::string kubectl = "  kubectl --kubeconfig " + places.hub;
  out << "Try, while it runs:\n"
      << kubectl << " get clusterresourceclaims\n"
      << kubectl << " describe clusterresourceclaim cluster2-resource-claim\n"
      << kubectl << " get clusterqueues -o yaml -w\n"
      << kubectl << " explain clusterresourceclaims.spec\n";
  for (const auto& [name, kubeconfig] : places.members)
    out << "  kubectl --kubeconfig " << kubeconfig << " cordon on-demand-1    # a node of " << name
        << '\n';
}

void introduce_workers(std::ostream& out, const FleetPlaces& places,
                       const Configuration& configuration) {
  const MultiKueueSettings& windows = configuration.multikueue;
  out << "OCM decides which clusters a Placement selects, Kueue sends jobs to the clusters of a\n"
         "MultiKueueConfig, and Fairlead keeps the second equal to the first, late on purpose:\n"
      << "  moveWindow " << to_go_duration(windows.move_window)
      << "       a score that flips for less than this changes nothing\n"
      << "  drainTimeout " << to_go_duration(windows.drain_timeout)
      << "   a cluster where a job runs stays in the list until the job ends, so long at most\n"
      << "  credentialGrace " << to_go_duration(windows.credential_grace)
      << " a Secret that is gone for less than this changes nothing\n\n"
      << "In " << to_go_duration(kWorkerRoundLength)
      << " there, again and again: a score flips for a minute, then for good while a job runs on\n"
         "the cluster that leaves; credentials blink; a label comes and goes. Try, while it "
         "runs:\n";
  const std::string kubectl = "  kubectl --kubeconfig " + places.hub;
  out << kubectl << " get multikueueconfigs -o yaml -w\n"
      << kubectl << " get admissioncheck best-placement -o yaml\n"
      << kubectl << " get workloads -n team-ml -w\n"
      << kubectl << " get placementdecisions -n kueue-system -o yaml\n"
      << kubectl << " label managedcluster west accelerator=nvidia-tesla-t4\n"
      << kubectl << " delete secret -n kueue-system kueue-admin-east-kubeconfig\n";
}

}  // namespace

std::vector<std::string> fleet_members(const std::string& name) {
  std::vector<std::string> out;
  if (is_multikueue(name)) return out;
  for (const ClusterLayout& cluster : fleet_layout())
    if (cluster.report == CapacityReport::nodes) out.push_back(cluster.name);
  return out;
}

std::vector<std::string> fleet_settings(const std::string& name) {
  // This fleet shows which clusters are workers; claims about amounts would only add lines.
  if (is_multikueue(name)) return {"claims.create=false"};
  return {};
}

std::unique_ptr<Fleet> make_fleet(const std::string& name, model::ModelServer& hub,
                                  const std::map<std::string, model::ModelServer*>& members,
                                  std::uint64_t seed, LogTime start, FleetLogger logger) {
  if (is_multikueue(name))
    return std::make_unique<WorkerFleet>(hub, seed, start, std::move(logger));
  return std::make_unique<MachineFleet>(hub, members, seed, start, std::move(logger));
}

void introduce_fleet(std::ostream& out, const std::string& name, const FleetPlaces& places,
                     const Configuration& configuration) {
  if (is_multikueue(name))
    introduce_workers(out, places, configuration);
  else
    introduce_claims(out, places);
}

}  // namespace fairlead
