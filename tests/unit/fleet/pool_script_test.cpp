#include "engine/fleet/pool_script.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/fleet/pool_world.h"

using namespace fairlead;

namespace {

std::vector<PoolFault> pool_rounds(std::uint64_t seed, std::int64_t count) {
  std::vector<PoolFault> all;
  for (std::int64_t round = 0; round < count; ++round)
    for (PoolFault& fault : pool_script_of_round(seed, round)) all.push_back(std::move(fault));
  return all;
}

bool is_of_app(PoolFaultKind kind) { return actor_of(kind) == "tenant"; }

}  // namespace

TEST_CASE("pool: the same seed plays the same script, another one another") {
  CHECK(pool_rounds(7, 3) == pool_rounds(7, 3));
  CHECK(pool_rounds(7, 1) != pool_rounds(8, 1));
  CHECK(pool_script_of_round(7, 0) != pool_script_of_round(7, 1));
}

TEST_CASE("pool: a round keeps its time and its order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<PoolFault> script = pool_rounds(seed, 3);
    CHECK(std::is_sorted(script.begin(), script.end(),
                         [](const PoolFault& a, const PoolFault& b) { return a.at < b.at; }));
    CHECK(script.back().at < Duration{3 * kPoolRoundLength.ns});
  }
}

TEST_CASE("pool: each round has every kind of fault, of what exists") {
  std::set<std::string> apps, clusters, machines;
  for (const PoolApp& app : pool_apps()) apps.insert(app.id());
  for (const std::string& cluster : super_clusters()) {
    clusters.insert(cluster);
    for (const MachineLayout& machine : super_cluster_machines(cluster))
      machines.insert(cluster + "/" + machine.name);
  }
  for (std::int64_t round = 0; round < 4; ++round) {
    std::set<PoolFaultKind> kinds;
    for (const PoolFault& fault : pool_script_of_round(3, round)) {
      kinds.insert(fault.kind);
      CHECK((is_of_app(fault.kind) ? apps : clusters).contains(fault.subject));
      if (fault.kind == PoolFaultKind::stop || fault.kind == PoolFaultKind::start)
        CHECK(machines.contains(fault.subject + "/" + fault.value));
    }
    CHECK(kinds.size() == 11);
  }
}

TEST_CASE("pool: a round ends as it began") {
  const std::map<PoolFaultKind, PoolFaultKind> undone_by = {
      {PoolFaultKind::start, PoolFaultKind::stop},
      {PoolFaultKind::come_back, PoolFaultKind::go_silent},
      {PoolFaultKind::undrain, PoolFaultKind::drain}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::pair<PoolFaultKind, std::string>> broken;
    std::map<std::string, std::int64_t> pods, cpu;
    for (const PoolFault& fault : pool_script_of_round(seed, 1)) {
      const std::string part = fault.subject + "/" + fault.value;
      if (const auto undo = undone_by.find(fault.kind); undo != undone_by.end())
        CHECK(broken.erase({undo->second, part}) == 1);
      else if (!is_of_app(fault.kind))
        CHECK(broken.insert({fault.kind, part}).second);
      if (fault.kind == PoolFaultKind::scale) pods[fault.subject] = fault.amount;
      if (fault.kind == PoolFaultKind::set_quota) cpu[fault.subject] = fault.amount;
    }
    CHECK(broken.empty());
    for (const PoolApp& app : pool_apps()) {
      CHECK(pods.at(app.id()) == app.replicas);
      CHECK(cpu.at(app.id()) == app.quota_cpu);
    }
  }
}

TEST_CASE("pool: everything that happens is reported in words, and by whom") {
  for (const PoolFault& fault : pool_script_of_round(3, 0)) CHECK_FALSE(fault.text.empty());
  CHECK(actor_of(PoolFaultKind::stop) == "fleet");
  CHECK(actor_of(PoolFaultKind::drain) == "admin");
  CHECK(actor_of(PoolFaultKind::edit) == "tenant");
}
