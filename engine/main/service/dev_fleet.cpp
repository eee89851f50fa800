#include "engine/main/service/dev_fleet.h"

#include <ostream>
#include <utility>

#include "engine/fleet/device_fleet.h"
#include "engine/fleet/layout.h"
#include "engine/fleet/licence_fleet.h"
#include "engine/fleet/machine_fleet.h"
#include "engine/fleet/pool_fleet.h"
#include "engine/fleet/worker_fleet.h"

namespace fairlead {
namespace {

bool is_multikueue(const std::string& name) { return name == "multikueue"; }
bool is_pool(const std::string& name) { return name == "pool"; }
bool is_devices(const std::string& name) { return name == "devices"; }
bool is_fleet_claims(const std::string& name) { return name == "fleet-claims"; }

void introduce_claims(std::ostream& out, const FleetPlaces& places) {
  const std::string kubectl = "  kubectl --kubeconfig " + places.hub;
  out << places.before_kubectl << kubectl << " get clusterresourceclaims\n"
      << kubectl << " describe clusterresourceclaim cluster2-resource-claim\n"
      << kubectl << " get clusterqueues -o yaml -w\n"
      << kubectl << " explain clusterresourceclaims.spec\n";
  for (const auto& [name, kubeconfig] : places.others)
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
         "the cluster that leaves; credentials blink; a label comes and goes.\n"
      << places.before_kubectl;
  const std::string kubectl = "  kubectl --kubeconfig " + places.hub;
  out << kubectl << " get multikueueconfigs -o yaml -w\n"
      << kubectl << " get admissioncheck best-placement -o yaml\n"
      << kubectl << " get workloads -n team-ml -w\n"
      << kubectl << " get placementdecisions -n kueue-system -o yaml\n"
      << kubectl << " label managedcluster west accelerator=nvidia-tesla-t4\n"
      << kubectl << " delete secret -n kueue-system kueue-admin-east-kubeconfig\n";
  for (const auto& [name, kubeconfig] : places.others)
    out << "  kubectl --kubeconfig " << kubeconfig << " get workloads -n team-ml    # copies on "
        << name << '\n';
}

void introduce_pool(std::ostream& out, const FleetPlaces& places,
                    const Configuration& configuration) {
  const DebounceSettings& windows = configuration.debounce;
  out << "Tenants acme and bolt, each with an API server of its own, share the super clusters r1,\n"
         "r2 and r3. Fairlead cuts their quotas into slices of 2 cpu and 4Gi, spreads the slices\n"
         "over the clusters and picks for each pod one of its namespace's clusters. A model of\n"
         "VirtualCluster's syncers runs the pods there.\n"
      << "  shrinkWindow " << to_go_duration(windows.shrink_window)
      << "    a node that is away for less than this moves nothing\n"
      << "  lostAfter " << to_go_duration(windows.lost_after)
      << "      a cluster that is silent for so long is lost\n"
      << "  lostGrace " << to_go_duration(configuration.pool.lost_grace)
      << "      then its slices move\n\n"
      << "In " << to_go_duration(kPoolRoundLength)
      << " there, again and again: a quota grows, a node flaps, one dies, hands edit and clear\n"
         "placements, a cluster is lost and returns, one is drained.\n"
      << places.before_kubectl;
  const auto kubectl = [&](const std::string& name) {
    const auto at = places.others.find(name);
    return "  kubectl --kubeconfig " + (at == places.others.end() ? places.hub : at->second);
  };
  out << kubectl("acme") << " get namespace web -o yaml -w\n"
      << kubectl("acme") << " get pods -n web -w\n"
      << kubectl("acme") << " annotate namespace web --overwrite " << kPlacementsKey
      << "='{\"r3\":2}'\n"
      << kubectl("bolt") << " patch quota quota -n db --type merge -p "
      << "'{\"spec\":{\"hard\":{\"cpu\":\"20\",\"memory\":\"40Gi\"}}}'\n"
      << kubectl("r1") << " get pods -A\n"
      << kubectl("r2") << " cordon r2-1\n"
      << kubectl("") << " get virtualclusters -o yaml\n";
}

void introduce_devices(std::ostream& out, const FleetPlaces& places,
                       const Configuration& configuration) {
  const std::string cluster(kDeviceCluster), queue(kDeviceQueue);
  out << "A driver publishes 8 GPUs on each of the 4 nodes of cluster " << cluster
      << ", and Fairlead makes\nthe quota of ClusterQueue " << queue << " of them:\n"
      << "  shrinkWindow " << to_go_duration(configuration.debounce.shrink_window)
      << "   a GPU that is tainted for so long leaves the quota\n"
      << "  growWindow " << to_go_duration(configuration.debounce.grow_window)
      << "    a GPU that is healthy for so long is back in it\n"
      << "  poolHold " << to_go_duration(configuration.dra.pool_hold)
      << "      an upgrade of the driver that takes less changes nothing\n\n"
      << "In " << to_go_duration(kDeviceRoundLength)
      << " there, again and again: a GPU breaks and is repaired, a driver is upgraded,\n"
         "a node is drained, an upgrade hangs.\n"
      << places.before_kubectl;
  const std::string hub = "  kubectl --kubeconfig " + places.hub;
  out << hub << " get clusterqueue " << queue << " -o yaml -w\n"
      << hub << " get clusterresourceclaim gpus-resource-claim -o yaml\n";
  for (const auto& [name, kubeconfig] : places.others)
    out << "  kubectl --kubeconfig " << kubeconfig << " get resourceslices\n"
        << "  kubectl --kubeconfig " << kubeconfig << " cordon gpu-1\n";
}

void introduce_fleet_claims(std::ostream& out, const FleetPlaces& places,
                            const Configuration& configuration) {
  out << "Jobs of the queue training need a site-licence, which exists once: a "
         "FleetResourceClaim.\n"
         "Its driver gives it to one cluster at a time. Fairlead asks the driver for the cluster\n"
         "that is best for a job, reserves the licence for one job, and sends the job there. A "
         "GPU\n"
         "that is booked ahead is such a claim, too: Fairlead itself is its driver.\n"
      << "  moveWindow " << to_go_duration(configuration.multikueue.move_window)
      << "   a job whose cluster is lost for so long goes to another one, and the licence with "
         "it\n\n"
      << "In " << to_go_duration(kLicenceRoundLength)
      << " there, again and again: two jobs want the licence, a GPU is booked, a third job waits\n"
         "in a cluster that is lost.\n"
      << places.before_kubectl;
  const std::string hub = "  kubectl --kubeconfig " + places.hub;
  out << hub << " get fleetresourceclaims -n team-ml -o yaml -w\n"
      << hub << " get fleetschedulings -n team-ml -o yaml\n"
      << hub << " get workloads -n team-ml -w\n";
  for (const auto& [name, kubeconfig] : places.others)
    out << "  kubectl --kubeconfig " << kubeconfig << " get resourceslices    # of " << name
        << '\n';
}

}  // namespace

std::vector<std::string> fleet_names() {
  return {"claims", "devices", "fleet-claims", "multikueue", "pool"};
}

std::map<std::string, ServerRole> fleet_servers(const std::string& name) {
  std::map<std::string, ServerRole> out;
  if (is_multikueue(name)) {
    for (const WorkerCluster& cluster : worker_clusters()) out[cluster.name] = ServerRole::member;
    return out;
  }
  if (is_devices(name)) return {{std::string(kDeviceCluster), ServerRole::member}};
  if (is_fleet_claims(name)) {
    for (const std::string& cluster : licence_clusters()) out[cluster] = ServerRole::member;
    return out;
  }
  if (is_pool(name)) {
    for (const std::string& tenant : pool_tenants()) out[tenant] = ServerRole::tenant;
    for (const std::string& cluster : super_clusters()) out[cluster] = ServerRole::member;
    return out;
  }
  for (const ClusterLayout& cluster : fleet_layout())
    if (cluster.report == CapacityReport::nodes) out[cluster.name] = ServerRole::member;
  return out;
}

std::vector<std::string> fleet_settings(const std::string& name) {
  // These fleets are not about claims, whose amounts would only add lines.
  if (is_multikueue(name) || is_devices(name)) return {"claims.create=false"};
  // Its Kueue writes Workloads by merge patch, so it clears nominations itself.
  if (is_fleet_claims(name))
    return {"claims.create=false", "dra.quota=false", "dra.fleetClaims=true",
            "multikueue.dispatcher=true", "multikueue.clearedBy=mergePatch"};
  // Of a cluster that is lost the slices move within a round.
  if (is_pool(name))
    return {"claims.create=false", "debounce.lostAfter=5m", "debounce.staleAfter=2m",
            "pool.lostGrace=5m", pool_clusters_setting({})};
  return {};
}

std::vector<std::string> fleet_questions(const std::string& name) {
  if (is_multikueue(name))
    return {"history multikueueconfig/best-placement", "why multikueueconfig/best-placement",
            "waiting team-ml/wide-1"};
  if (is_pool(name)) return {"why --namespace acme/web", "history --namespace acme/web"};
  if (is_fleet_claims(name))
    return {"why workload/team-ml/sim-1", "why-not workload/team-ml/sim-2"};
  const std::string queue(is_devices(name) ? kDeviceQueue : kLowQueue);
  return {"quota", "history " + queue, "why " + queue, "waiting"};
}

std::unique_ptr<Fleet> make_fleet(const std::string& name, model::SharedModel& hub,
                                  const std::map<std::string, model::SharedModel*>& servers,
                                  std::uint64_t seed, LogTime start, FleetLogger logger) {
  if (is_multikueue(name))
    return std::make_unique<WorkerFleet>(hub, servers, seed, start, std::move(logger));
  if (is_devices(name))
    return std::make_unique<DeviceFleet>(hub, servers, seed, start, std::move(logger));
  if (is_fleet_claims(name))
    return std::make_unique<LicenceFleet>(hub, servers, seed, start, std::move(logger));
  if (is_pool(name))
    return std::make_unique<PoolFleet>(hub, servers, seed, start, std::move(logger));
  return std::make_unique<MachineFleet>(hub, servers, seed, start, std::move(logger));
}

void introduce_fleet(std::ostream& out, const std::string& name, const FleetPlaces& places,
                     const Configuration& configuration) {
  if (is_multikueue(name))
    introduce_workers(out, places, configuration);
  else if (is_pool(name))
    introduce_pool(out, places, configuration);
  else if (is_devices(name))
    introduce_devices(out, places, configuration);
  else if (is_fleet_claims(name))
    introduce_fleet_claims(out, places, configuration);
  else
    introduce_claims(out, places);
}

}  // namespace fairlead
