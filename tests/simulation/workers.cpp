#include "tests/simulation/workers.h"

#include <algorithm>
#include <utility>

#include "engine/fleet/kueue_workload.h"

namespace fairlead::simulation {
namespace {

constexpr Duration kControllersLook = seconds(10);
// While a job is under way: its steps, and its end.
constexpr Duration kJobsLook = minutes(1);

void ignore(std::string_view, const std::string&) {}

// A kubeconfig as an administrator stores it.
std::string kubeconfig_of(const std::string& cluster, std::int64_t number) {
  const std::string canary = "canary-" + cluster + "-" + std::to_string(number) + "-of-a-secret";
  return "apiVersion: v1\nkind: Config\nusers:\n- name: " + cluster +
         "\n  user:\n    token: " + canary + "\n";
}

bool concerns_workers(const SeenChange& change) {
  const std::string& resource = change.resource;
  return resource != "clusterresourceclaims.galaxy.kubestellar.io" &&
         !resource.starts_with("events") && !resource.starts_with("leases.") &&
         !resource.starts_with("manifestworks.");
}

}  // namespace

Workers::Workers(model::VirtualTime& time, Server& hub, std::int64_t members)
    : time_(time), hub_(hub), kueue_(hub.shared(), ignore) {
  placement_.emplace(hub.shared(), ignore);
  for (const WorldObject& wanted : placement_objects())  // some namespaces are there
    (void)hub_.try_write("administrator", "POST", wanted.collection, wanted.object);
  for (WorkerCluster& layout : worker_clusters()) {
    if (std::ssize(clusters_) == members) break;
    Cluster& cluster = clusters_.emplace_back(Cluster{std::move(layout)});
    for (const WorldObject& wanted : worker_cluster_objects(cluster.layout))
      (void)hub_.try_write("ocm", "POST", wanted.collection, wanted.object);
    cluster.labelled = cluster.layout.labelled;
    if (cluster.labelled) label(cluster);
    (void)hub_.try_write("ocm", "PATCH", kManagedClusters + "/" + cluster.layout.name + "/status",
                         {{"status", available_status(time_.now())}});
    report(cluster);
    give_credential(cluster);
  }
  next_look_.after(kControllersLook);
}

void Workers::saw(const SeenWrite& write) {
  if (write.server != kHub || !std::ranges::any_of(write.changes, concerns_workers)) return;
  // What it decided is not what is stored any more.
  if (write.who == "restore") placement_.emplace(hub_.shared(), ignore);
  next_look_.after(kControllersLook);
}

void Workers::look() {
  std::map<std::string, std::int64_t> gpus;
  for (const Cluster& cluster : clusters_)
    gpus[cluster.layout.name] = cluster.layout.gpus - cluster.taken;
  placement_->look(time_.now());
  kueue_.look(time_.now(), gpus);
  const Json jobs = hub_.items(kTeamWorkloads);
  if (std::ranges::any_of(jobs, [](const Json& job) { return !is_true(job, "Finished"); }))
    next_look_.after(kJobsLook);
}

Workers::Cluster& Workers::any(Random& random) {
  return clusters_[static_cast<std::size_t>(random.below(std::ssize(clusters_)))];
}

void Workers::report(const Cluster& cluster) {
  (void)hub_.try_write("agent", "PATCH", score_path(cluster.layout.name) + "/status",
                       {{"status", score_status(cluster.layout.gpus - cluster.taken)}});
}

void Workers::shift_score(Random& random) {
  Cluster& cluster = any(random);
  cluster.taken = random.below(cluster.layout.gpus + 1);
  report(cluster);
}

void Workers::label(const Cluster& cluster) {
  const Json label = cluster.labelled ? Json(kGpuModel) : Json();
  (void)hub_.try_write("administrator", "PATCH", kManagedClusters + "/" + cluster.layout.name,
                       {{"metadata", {{"labels", {{kGpuLabel, label}}}}}});
}

void Workers::shift_label(Random& random) {
  Cluster& cluster = any(random);
  cluster.labelled = !cluster.labelled;
  label(cluster);
}

// A credential that is there already is rotated.
void Workers::give_credential(Cluster& cluster) {
  const std::string& name = cluster.layout.name;
  const std::string text = kubeconfig_of(name, ++cluster.given);
  WorldObject credential = credential_object(cluster.layout);
  if (cluster.layout.credential == CredentialKind::secret)
    credential.object["stringData"] = {{"kubeconfig", text}};
  const std::string path =
      credential.collection + "/" + credential.object["metadata"]["name"].get<std::string>();
  if (hub_.try_write("administrator", "POST", credential.collection, credential.object).is_null() &&
      cluster.layout.credential == CredentialKind::secret)
    (void)hub_.try_write("administrator", "PATCH", path, {{"stringData", {{"kubeconfig", text}}}});
  if (cluster.layout.credential == CredentialKind::cluster_profile)
    (void)hub_.try_write("ocm", "PATCH", path + "/status", {{"status", credential_status()}});
  cluster.credible = true;
}

void Workers::take_credential(Cluster& cluster) {
  cluster.credible = false;
  const std::string& name = cluster.layout.name;
  if (cluster.layout.credential == CredentialKind::secret)
    (void)hub_.try_write("administrator", "DELETE", kSecrets + "/" + secret_name(name), nullptr);
  else
    (void)hub_.try_write("ocm", "PATCH", kProfiles + "/" + name + "/status",
                         {{"status", no_credential_status()}});
}

void Workers::change_credential(Random& random) {
  Cluster& cluster = any(random);
  if (!cluster.credible || random.below(3) == 0)
    give_credential(cluster);
  else
    take_credential(cluster);
}

void Workers::say_again() {
  for (Cluster& cluster : clusters_) {
    report(cluster);
    label(cluster);
    if (cluster.credible)
      give_credential(cluster);
    else
      take_credential(cluster);
  }
}

void Workers::submit(Random& random) {
  const WorldObject job = training_job("train-" + std::to_string(++submitted_), 1 + random.below(4),
                                       minutes(1 + random.below(30)));
  (void)hub_.try_write("user", "POST", job.collection, job.object);
}

}  // namespace fairlead::simulation
