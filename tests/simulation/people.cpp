#include "tests/simulation/people.h"

#include <utility>

#include "engine/fleet/kueue_workload.h"
#include "engine/fleet/worker_world.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Which quota of a queue, whatever it has then.
struct SomeQuota {
  std::size_t flavor, resource;
  explicit SomeQuota(Random& random)
      : flavor(static_cast<std::size_t>(random.below(1 << 20))),
        resource(static_cast<std::size_t>(random.below(1 << 20))) {}
  Json& of(Json& groups) const {
    Json& flavors = groups[0]["flavors"];
    Json& resources = flavors[flavor % flavors.size()]["resources"];
    return resources[resource % resources.size()];
  }
};

// What a claim assigns: to the queue of devices up to 500 of each flavor.
Json rows_of_claim(std::int64_t cpu, const Storm& storm) {
  Json rows = assignments(cpu);
  if (storm.devices > 0)
    for (const std::string_view flavor : {kOnDemand, kSpot})
      rows.push_back({{"clusterQueueName", kAcceleratorQueue},
                      {"flavor", flavor},
                      {"resources", {{kAccelerator, "500"}}}});
  return rows;
}

}  // namespace

Json device_queue() {
  Json queue = hub_objects().back().object;  // for the version of its kind
  queue["kind"] = "ClusterQueue";
  queue["metadata"] = {{"name", kAcceleratorQueue}};
  Json flavors = Json::array();
  for (const std::string_view flavor : {kOnDemand, kSpot}) {
    const Json quota = {{"name", kAccelerator}, {"nominalQuota", "0"}};
    flavors.push_back({{"name", flavor}, {"resources", Json::array({quota})}});
  }
  const Json group = {{"coveredResources", Json::array({kAccelerator})}, {"flavors", flavors}};
  queue["spec"] = {{"namespaceSelector", Json::object()}, {"resourceGroups", Json::array({group})}};
  return queue;
}

Json claim_of(const std::string& cluster, const Storm& storm) {
  Json claim = first_claim().object;
  claim["metadata"]["name"] = cluster + "-resource-claim";
  claim["spec"]["clusterName"] = cluster;
  claim["spec"]["nominalResources"] = {{"cpu", "18000"}, {"memory", "18000Gi"}, {"gpu", "180"}};
  if (storm.devices > 0) claim["spec"]["nominalResources"][kAccelerator] = "1000";
  claim["spec"]["resourceAssignments"] = rows_of_claim(9000, storm);
  return claim;
}

People::People(World& world) : world_(world), occasions_(world.time()) {
  const Storm& storm = world.storm();
  using Act = void (People::*)(Random&);
  std::uint64_t actor = static_cast<std::uint64_t>(storm.seed) * 31;
  for (const auto& [times, act] : std::initializer_list<std::pair<std::int64_t, Act>>{
           {storm.node_changes, &People::change_node},
           {storm.drains, &People::drain},
           {storm.flaps, &People::flap},
           {storm.claim_edits, &People::edit_claim},
           {storm.queue_edits, &People::edit_queue},
           {storm.foreign_quotas, &People::write_quota},
           {storm.limits, &People::set_limit},
           {storm.jobs, &People::submit},
           {storm.devices > 0 ? storm.device_changes : 0, &People::change_devices}})
    occasions_.repeat(times, hours(1), ++actor,
                      [this, does = act](Random& random) { (this->*does)(random); });
  change_workers(storm);
}

void People::change_workers(const Storm& storm) {
  Workers* const workers = world_.controllers().workers();
  if (workers == nullptr) return;
  const auto seed = static_cast<std::uint64_t>(storm.seed) * 31 + 100;
  occasions_.repeat(storm.decision_shifts, hours(1), seed, [workers](Random& random) {
    random.below(3) == 0 ? workers->shift_label(random) : workers->shift_score(random);
  });
  occasions_.repeat(storm.credential_changes, hours(1), seed + 1,
                    [workers](Random& random) { workers->change_credential(random); });
  occasions_.repeat(storm.training_jobs, hours(1), seed + 2,
                    [workers](Random& random) { workers->submit(random); });
}

void People::later(Duration span, std::function<void()> work) {
  world_.time().post(span, [this, work = std::move(work)] {
    if (!occasions_.over()) work();
  });
}

void People::change_node(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  const std::int64_t kind = random.below(8);
  if (kind == 0 || member.nodes() == 0) return member.join();
  const std::int64_t at = random.below(member.nodes());
  if (kind == 1) return member.vanish(at);
  bool& what = kind < 5 ? member.machine(at).cordoned : member.machine(at).down;
  what = !what;
  member.write(at);
}

void People::drain(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  for (std::int64_t at = 0; at < member.nodes() / 2; ++at)
    later(minutes(at), [&member, at] {
      if (at >= member.nodes()) return;
      member.machine(at).cordoned = true;
      member.write(at);
    });
}

void People::flap(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  if (member.nodes() == 0) return;
  const std::int64_t at = random.below(member.nodes());
  const Duration pause = seconds(5 + random.below(120));
  for (std::int64_t turn = 0; turn < 20; ++turn)
    later({pause.ns * turn}, [&member, at, turn] {
      if (at >= member.nodes()) return;
      member.machine(at).down = turn % 2 == 0;
      member.write(at);
    });
}

void People::edit_claim(Random& random) {
  const std::string& cluster = world_.member(random.below(world_.members())).name();
  const std::int64_t cpu = 100 * (1 + random.below(random.below(2) == 0 ? 10 : 90));
  want(kClaims + "/" + cluster + "-resource-claim",
       {{"spec", {{"resourceAssignments", rows_of_claim(cpu, world_.storm())}}}});
}

void People::want(const std::string& path, const Json& patch) {
  wanted_[path] = patch;
  world_.hub_server().try_write("administrator", "PATCH", path, patch);
}

void People::say_again() {
  for (const auto& [path, patch] : wanted_)
    world_.hub_server().try_write("administrator", "PATCH", path, patch);
  if (Workers* const workers = world_.controllers().workers()) workers->say_again();
}

void People::edit_queue(Random& random) {
  const std::string queue(random.below(2) == 0 ? kHighQueue : kLowQueue);
  const char* const strategy = random.below(2) == 0 ? "StrictFIFO" : "BestEffortFIFO";
  want(kQueues + "/" + queue, {{"spec", {{"queueingStrategy", strategy}}}});
}

void People::write_quota(Random& random) {
  const std::string path =
      kQueues + "/" + std::string(random.below(2) == 0 ? kHighQueue : kLowQueue);
  // Drawn before anything is looked at: what is there depends on the hub, and so on the storm.
  const SomeQuota some(random);
  const std::string amount = std::to_string(random.below(1000));
  Json groups = world_.hub_server().read(path)["spec"]["resourceGroups"];
  if (!groups.is_array() || groups.empty()) return;
  some.of(groups)["nominalQuota"] = amount;
  world_.hub_server().try_write("second-human", "PATCH", path,
                                {{"spec", {{"resourceGroups", std::move(groups)}}}});
}

// Only one of the queues is in a cohort, and a lendingLimit may be above its quota: Kueue refuses
// what does not fit. A limit of null takes it away.
void People::set_limit(Random& random) {
  const std::string path =
      kQueues + "/" + std::string(random.below(4) == 0 ? kLowQueue : kHighQueue);
  const SomeQuota some(random);
  const char* const limit = random.below(3) == 0 ? "borrowingLimit" : "lendingLimit";
  const std::int64_t amount = random.below(400);  // from 300 on: none
  Json groups = world_.hub_server().read(path)["spec"]["resourceGroups"];
  if (!groups.is_array() || groups.empty()) return;
  Json& quota = some.of(groups);
  if (amount >= 300)
    quota.erase(limit);
  else
    quota[limit] = std::to_string(amount);
  world_.hub_server().try_write("administrator", "PATCH", path,
                                {{"spec", {{"resourceGroups", std::move(groups)}}}});
}

void People::submit(Random& random) {
  const bool on_hub = world_.storm().works == 0 || random.below(2) == 0;
  Server& server =
      on_hub ? world_.hub_server() : world_.member(random.below(world_.members())).server();
  Json job =
      training_job("job-" + std::to_string(++submitted_), 0, minutes(1 + random.below(60))).object;
  const std::string space = random.below(2) == 0 ? "team-blue" : "team-green";
  job["metadata"]["namespace"] = space;
  job["spec"]["queueName"] = "jobs";
  const std::int64_t size = 1 + random.below(40);
  job["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = {
      {"cpu", std::to_string(size)}, {"memory", std::to_string(size) + "Gi"}};
  (void)server.try_write("user", "POST", kKueueApi + "/namespaces/" + space + "/workloads", job);
}

void People::change_devices(Random& random) {
  Member& member = world_.member(random.below(world_.members()));
  if (member.nodes() == 0) return;
  const std::int64_t at = random.below(member.nodes());
  if (random.below(3) > 0) return member.change_devices(at, random.below(world_.storm().devices));
  member.driver().upgrade(member.machine(at).layout.name, seconds(1 + random.below(600)));
}

void People::end() {
  occasions_.end();
  for (std::int64_t at = 0; at < world_.servers(); ++at)
    for (const Json& job : world_.server(at).items(kWorkloads))
      if (!is_true(job, "Admitted"))
        (void)world_.server(at).try_write(
            "user", "DELETE",
            kKueueApi + "/namespaces/" + job["metadata"]["namespace"].get<std::string>() +
                "/workloads/" + job["metadata"]["name"].get<std::string>(),
            nullptr);
}

}  // namespace fairlead::simulation
