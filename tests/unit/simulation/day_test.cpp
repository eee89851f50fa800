// A day of a hub and three member clusters on one thread, in virtual time.
#include <random>

#include "engine/fleet/random.h"
#include "engine/fleet/world.h"
#include "engine/log/memory_log.h"
#include "schema/codec.h"
#include "tests/unit/simulation/simulated_hub.h"

using namespace fairlead;

namespace {

constexpr LogTime kMorning{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
constexpr std::int64_t kCpuOfMachine = 96;

// A member whose machines are cordoned, fail and come back by a script that a seed decides.
struct SimulatedMember {
  SimulatedMember(model::VirtualTime& time, std::string name_given, std::uint64_t seed)
      : name(std::move(name_given)), server(time, seed) {
    for (const std::string_view flavor : {kOnDemand, kSpot})
      for (int i = 0; i < 3; ++i)
        machines.push_back(
            {{std::string(flavor) + "-" + std::to_string(i), std::string(flavor), "rack-a"}});
  }
  void write(const Machine& machine, LogTime now) {
    const std::string path = kNodes + "/" + machine.layout.name;
    REQUIRE(server.model.call("PATCH", path, {{"spec", node_spec(machine)}}).has_value());
    REQUIRE(server.model.call("PATCH", path + "/status", {{"status", node_status(machine, now)}})
                .has_value());
  }
  std::int64_t usable(std::string_view flavor) const {
    std::int64_t cpu = 0;
    for (const Machine& machine : machines)
      if (machine.layout.flavor == flavor && !machine.cordoned && !machine.down)
        cpu += kCpuOfMachine;
    return cpu;
  }

  std::string name;
  SimulatedServer server;
  std::vector<Machine> machines;
};

// More than the cluster has, so that each queue gets what there is.
WorldObject claim_of(const std::string& cluster) {
  WorldObject claim = first_claim();
  claim.object["metadata"]["name"] = cluster + "-resource-claim";
  claim.object["spec"]["clusterName"] = cluster;
  claim.object["spec"]["nominalResources"] = {
      {"cpu", "18000"}, {"memory", "18000Gi"}, {"gpu", "180"}};
  claim.object["spec"]["resourceAssignments"] = assignments(9000);
  return claim;
}

class Day {
 public:
  Day() {
    for (const WorldObject& wanted : hub_objects()) create(hub_.model, wanted);
    for (SimulatedMember* member : members()) {
      create(hub_.model, managed_cluster(member->name));
      create(hub_.model, claim_of(member->name));
      for (const Machine& machine : member->machines) {
        create(member->server.model, node(machine));
        member->write(machine, kMorning);
      }
    }
    schedule();
    Configuration configuration;
    configuration.headroom.percent.clear();
    configuration.create_claims = false;
    configuration.member_mode = MemberMode::none;
    std::map<SourceName, SimulatedServer*> servers{{std::string(kHub), &hub_}};
    for (SimulatedMember* member : members()) {
      configuration.member_kubeconfigs.push_back({member->name, "", "virtual", ""});
      servers[member->name] = &member->server;
    }
    hub = std::make_unique<SimulatedHub>(time, log, std::move(configuration), servers);
  }

  std::vector<SimulatedMember*> members() { return {&east_, &north_, &west_}; }
  std::int64_t usable(std::string_view flavor) {
    std::int64_t cpu = 0;
    for (const SimulatedMember* member : members()) cpu += member->usable(flavor);
    return cpu;
  }
  std::string claims() { return to_text(*hub_.model.call("GET", kClaims)); }
  /// What the hub's API server has for cpu in that queue and flavor.
  std::string quota(std::string_view queue, std::string_view flavor_name) {
    const auto read = hub_.model.call("GET", kQueues + "/" + std::string(queue));
    REQUIRE(read.has_value());
    for (const Json& group : (*read)["spec"]["resourceGroups"])
      for (const Json& flavor : group["flavors"])
        if (flavor["name"] == flavor_name) return flavor["resources"][0]["nominalQuota"];
    return "none";
  }

 private:
  static void create(model::Model& model, const WorldObject& wanted) {
    REQUIRE(model.call("POST", wanted.collection, wanted.object).has_value());
  }
  // The last three hours are quiet: a cluster that flapped is suppressed for an hour at most.
  void schedule() {
    if (time.now() > kMorning + hours(21)) return;
    time.post(minutes(5 + random_.below(20)), [this] {
      change();
      schedule();
    });
  }
  void change() {
    ++changes;
    SimulatedMember& member = *members()[static_cast<std::size_t>(random_.below(3))];
    Machine& machine = member.machines[static_cast<std::size_t>(random_.below(6))];
    bool& what = random_.below(2) == 0 ? machine.cordoned : machine.down;
    what = !what;
    member.write(machine, time.now());
  }

  Random random_{7};

 public:
  model::VirtualTime time{kMorning};
  MemoryLog log;
  int changes = 0;  ///< of machines

 private:
  SimulatedServer hub_{time, 1};
  SimulatedMember east_{time, "east", 2}, north_{time, "north", 3}, west_{time, "west", 4};

 public:
  std::unique_ptr<SimulatedHub> hub;
};

}  // namespace

TEST_CASE("a day in virtual time ends with the quotas that members have, twice with the same log") {
  Day first, second;
  for (Day* day : {&first, &second}) {
    day->hub->run_to(kMorning + hours(24));
    CHECK(day->changes > 50);
    INFO(day->claims());
    CHECK(day->quota(kHighQueue, kOnDemand) == std::to_string(day->usable(kOnDemand)));
    CHECK(day->quota(kLowQueue, kSpot) == std::to_string(day->usable(kSpot)));
    const HubStats stats = day->hub->stats();
    CHECK(stats.planning);
    CHECK(stats.accepted > 50);
    CHECK(stats.rejected == 0);
    CHECK(stats.log_time > kMorning + hours(21));
  }
  CHECK(first.log.last_seq() == second.log.last_seq());
  CHECK(first.log.chain() == second.log.chain());
}
