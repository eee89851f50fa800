#include "engine/fleet/licence_fleet.h"

#include <algorithm>
#include <utility>

#include "engine/fleet/worker_world.h"
#include "engine/fleet/world.h"

namespace fairlead {
namespace {

constexpr std::int64_t kClusterGpus = 8;
constexpr std::int64_t kJobGpus = 2;
constexpr const char* kLicence = "site-licence";
constexpr const char* kBooking = "for-tonight";
const std::string kFleetVersion = "dra.fairlead.io/v1alpha1";
const std::string kFleetClasses = "/apis/" + kFleetVersion + "/fleetresourceclasses";
const std::string kFleetClaims =
    "/apis/" + kFleetVersion + "/namespaces/team-ml/fleetresourceclaims";
const std::string kDeviceApi = "/apis/resource.k8s.io/v1";
const std::string kGpuDriver = "gpu.example.com";

Json object_of(const std::string& api_version, const char* kind, const std::string& name) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

Json fleet_class(const std::string& name, std::string_view driver) {
  Json made = object_of(kFleetVersion, "FleetResourceClass", name);
  made["driverName"] = driver;
  return made;
}

Json fleet_claim(const std::string& name, Json spec) {
  Json claim = object_of(kFleetVersion, "FleetResourceClaim", name);
  claim["metadata"]["namespace"] = "team-ml";
  claim["spec"] = std::move(spec);
  return claim;
}

Json licence() { return fleet_claim(kLicence, {{"resourceClassName", "licences"}}); }

// Fairlead is the driver of claims on devices: it allocates this one at once.
Json booking() {
  return fleet_claim(kBooking, {{"resourceClassName", "booked"},
                                {"allocationMode", "Immediate"},
                                {"parametersRef",
                                 {{"apiGroup", "resource.k8s.io"},
                                  {"kind", "ResourceClaimTemplate"},
                                  {"name", "one-gpu"}}}});
}

Json one_gpu() {
  Json wanted = object_of("resource.k8s.io/v1", "ResourceClaimTemplate", "one-gpu");
  wanted["metadata"]["namespace"] = "team-ml";
  const Json request{{"name", "gpu"}, {"exactly", {{"deviceClassName", kGpuDriver}}}};
  wanted["spec"]["spec"]["devices"]["requests"] = Json::array({request});
  return wanted;
}

Json gpu_class() {
  Json made = object_of("resource.k8s.io/v1", "DeviceClass", kGpuDriver);
  const std::string selector = "device.driver == \"" + kGpuDriver + "\"";
  made["spec"]["selectors"] = Json::array({{{"cel", {{"expression", selector}}}}});
  return made;
}

Json gpu_slice(const std::string& node) {
  Json slice = object_of("resource.k8s.io/v1", "ResourceSlice", node);
  Json devices = Json::array();
  for (std::int64_t i = 0; i < kClusterGpus; ++i)
    devices.push_back({{"name", "gpu-" + std::to_string(i)}});
  slice["spec"] = {{"driver", kGpuDriver},
                   {"nodeName", node},
                   {"pool", {{"name", node}, {"generation", 1}, {"resourceSliceCount", 1}}},
                   {"devices", std::move(devices)}};
  return slice;
}

Json job_with_licence(const std::string& name, Duration length) {
  Json job = training_job(name, kJobGpus, length).object;
  const Json entry{{"name", "licence"}, {"resourceClaimName", kLicence}};
  job["spec"]["podSets"][0]["template"]["metadata"]["annotations"] = {
      {"dra.fairlead.io/claims", to_text(Json::array({entry}))}};
  return job;
}

}  // namespace

std::vector<std::string> licence_clusters() {
  std::vector<std::string> names;
  for (const WorkerCluster& cluster : worker_clusters()) names.push_back(cluster.name);
  return names;
}

LicenceFleet::LicenceFleet(model::SharedModel& hub,
                           const std::map<std::string, model::SharedModel*>& servers,
                           std::uint64_t seed, LogTime start, FleetLogger logger)
    : admin_(hub, "kubectl-edit"),
      start_(start),
      logger_(std::move(logger)),
      random_(seed * 1'000'003),
      placement_(hub, logger_),
      kueue_(hub, logger_, Nominator::another),
      driver_(hub, logger_) {
  for (const std::string& name : licence_clusters()) {
    clusters_.emplace(name, Api(*servers.at(name), "gpu-driver"));
    gpus_[name] = kClusterGpus;
  }
}

Result<void> LicenceFleet::create(const Api& api, const std::string& collection,
                                  const Json& object) {
  ++writes_;
  if (auto made = api.create(collection, object); !made)
    return in_context("create " + collection, made.error());
  return {};
}

Result<void> LicenceFleet::merge(const Api& api, const std::string& path, const Json& patch) {
  ++writes_;
  if (auto done = api.merge(path, patch); !done) return in_context(path, done.error());
  return {};
}

Result<void> LicenceFleet::remove(const std::string& path) {
  ++writes_;
  if (auto gone = admin_.remove(path); !gone) return in_context(path, gone.error());
  return {};
}

Result<void> LicenceFleet::begin() {
  std::vector<WorldObject> objects{namespace_object(kKueueSystem), namespace_object("team-ml")};
  objects.push_back({kFlavors, object_of(std::string(kKueue), "ResourceFlavor", "gpu")});
  for (WorldObject& one : objects_of_queue("training", "all", Json::object()))
    objects.push_back(std::move(one));
  objects.push_back({kFleetClasses, fleet_class("licences", kLicenceDriver)});
  objects.push_back({kFleetClasses, fleet_class("booked", "fairlead.io/devices")});
  objects.push_back({kFleetClaims, licence()});
  objects.push_back({kDeviceApi + "/namespaces/team-ml/resourceclaimtemplates", one_gpu()});
  for (const WorldObject& wanted : objects)
    if (auto made = create(admin_, wanted.collection, wanted.object); !made) return made;
  logger_("admin",
          "writes a Placement of all clusters, the queue training, and one site-licence: a "
          "FleetResourceClaim, whose driver gives it to one cluster at a time");
  for (const auto& [name, api] : clusters_)
    if (auto joined = join(name, api); !joined) return joined;
  logger_("fleet", "east, north and west join the hub, with 8 GPUs each");
  return {};
}

Result<void> LicenceFleet::join(const std::string& cluster, const Api& api) {
  if (auto made = create(admin_, kManagedClusters, managed_cluster(cluster).object); !made)
    return made;
  if (auto said = set_agent(cluster, Agent::heard, start_); !said) return said;
  const WorkerCluster reached{cluster, kClusterGpus, CredentialKind::secret, false};
  const WorldObject credential = credential_object(reached);
  if (auto made = create(admin_, credential.collection, credential.object); !made) return made;
  const std::string node = cluster + "-1";
  Json object = object_of("v1", "Node", node);
  object["metadata"]["labels"] = {{"kubernetes.io/hostname", node}};
  if (auto made = create(api, kNodes, object); !made) return made;
  const Json amounts{{"cpu", "96"}, {"memory", "512Gi"}, {"pods", "110"}};
  const Json ready = Json::array({condition("Ready", "True", "KubeletReady", start_)});
  const Json status{{"allocatable", amounts}, {"capacity", amounts}, {"conditions", ready}};
  if (auto done = merge(api, kNodes + "/" + node + "/status", {{"status", status}}); !done)
    return done;
  if (auto made = create(api, kDeviceApi + "/deviceclasses", gpu_class()); !made) return made;
  return create(api, kDeviceApi + "/resourceslices", gpu_slice(node));
}

// OCM taints a cluster whose agent it does not hear of, and no Placement selects it.
Result<void> LicenceFleet::set_agent(const std::string& cluster, Agent agent, LogTime now) {
  const bool silent = agent == Agent::silent;
  const Json taint{{"key", "cluster.open-cluster-management.io/unreachable"},
                   {"effect", "NoSelect"},
                   {"timeAdded", to_rfc3339(LogTime{now.ns / seconds(1).ns * seconds(1).ns})}};
  const std::string path = kManagedClusters + "/" + cluster;
  if (auto done = merge(admin_, path,
                        {{"spec", {{"taints", silent ? Json::array({taint}) : Json(nullptr)}}}});
      !done)
    return done;
  return merge(admin_, path + "/status",
               {{"status", silent ? silent_status(now) : available_status(now)}});
}

void LicenceFleet::write_round() {
  const Duration begin{round_++ * kLicenceRoundLength.ns};
  const auto at = [&](std::int64_t minute) {
    return Duration{begin.ns + minutes(minute).ns + seconds(random_.below(15)).ns};
  };
  const auto submit = [&](std::int64_t minute, std::int64_t length, const char* text) {
    script_.push_back(
        {at(minute), Fault::submit, "sim-" + std::to_string(++jobs_), minutes(length), text});
  };
  submit(1, 5, "a job that needs the site-licence");
  submit(2, 4, "another one that needs it, too");
  script_.push_back({at(3), Fault::book, kBooking, {}, "books a GPU, wherever one is free"});
  script_.push_back(
      {at(13), Fault::occupy_gpus, "east", {}, "pods of another team take all of its GPUs"});
  submit(14, 4, "a third one, for which the cluster with the licence has no GPUs");
  script_.push_back(
      {at(15), Fault::go_silent, "east", {}, "is not heard of any more: OCM taints it"});
  script_.push_back({at(20), Fault::come_back, "east", {}, "is back"});
  script_.push_back({at(21), Fault::free_gpus, "east", {}, "the other team's pods end"});
  script_.push_back({at(23), Fault::end_booking, kBooking, {}, "deletes the booking"});
  script_.push_back({at(24), Fault::renew, kLicence, {}, "writes the licence anew"});
}

void LicenceFleet::advance(LogTime now) {
  if (script_.empty()) write_round();
  if (start_ + script_.front().at <= now) {
    const Scheduled entry = std::move(script_.front());
    script_.pop_front();
    const auto done = carry_out(entry, now);
    const bool by_user = entry.fault == Fault::submit;
    const bool by_admin = entry.fault == Fault::book || entry.fault == Fault::end_booking ||
                          entry.fault == Fault::renew;
    logger_(by_user    ? "user"
            : by_admin ? "admin"
                       : "fleet",
            entry.subject + ": " + entry.text +
                (done ? "" : " -- not possible: " + done.error().message));
  }
  placement_.look(now);
  kueue_.look(now, gpus_);
  driver_.look(now);
}

Result<void> LicenceFleet::carry_out(const Scheduled& entry, LogTime now) {
  switch (entry.fault) {
    case Fault::submit:
      return create(admin_, kTeamWorkloads, job_with_licence(entry.subject, entry.length));
    case Fault::book: return create(admin_, kFleetClaims, booking());
    case Fault::end_booking: return remove(kFleetClaims + "/" + entry.subject);
    case Fault::occupy_gpus: gpus_[entry.subject] = 0; return {};
    case Fault::free_gpus: gpus_[entry.subject] = kClusterGpus; return {};
    case Fault::go_silent: return set_agent(entry.subject, Agent::silent, now);
    case Fault::come_back: return set_agent(entry.subject, Agent::heard, now);
    case Fault::renew: break;
  }
  if (auto gone = remove(kFleetClaims + "/" + entry.subject); !gone) return gone;
  return create(admin_, kFleetClaims, licence());
}

}  // namespace fairlead
