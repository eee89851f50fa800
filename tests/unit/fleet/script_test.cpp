#include "engine/fleet/script.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/fleet/layout.h"

using namespace fairlead;

namespace {

std::vector<ScheduledFault> rounds(std::uint64_t seed, std::int64_t count) {
  std::vector<ScheduledFault> all;
  for (std::int64_t round = 0; round < count; ++round)
    for (ScheduledFault& fault : script_of_round(seed, round)) all.push_back(std::move(fault));
  return all;
}

}  // namespace

TEST_CASE("the same seed plays the same script, another one another") {
  CHECK(rounds(7, 3) == rounds(7, 3));
  CHECK(rounds(7, 1) != rounds(8, 1));
  CHECK(script_of_round(7, 0) != script_of_round(7, 1));
}

TEST_CASE("the script of a seed never changes unnoticed") {
  const std::vector<ScheduledFault> script = script_of_round(7, 0);
  REQUIRE(script.size() == 31);
  CHECK(script.front().cluster == "cluster1");
  CHECK(script.front().kind == FaultKind::assign);
}

TEST_CASE("the first round brings every kind of trouble") {
  const FaultKind all[] = {FaultKind::cordon,     FaultKind::uncordon,       FaultKind::stop,
                           FaultKind::start,      FaultKind::go_silent,      FaultKind::come_back,
                           FaultKind::join,       FaultKind::leave,          FaultKind::assign,
                           FaultKind::edit_claim, FaultKind::overwrite_queue};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<FaultKind> seen;
    for (const ScheduledFault& fault : script_of_round(seed, 0)) seen.insert(fault.kind);
    for (const FaultKind kind : all) CHECK(seen.count(kind) == 1);
  }
}

TEST_CASE("a round keeps its time and its order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<ScheduledFault> script = rounds(seed, 3);
    CHECK(std::is_sorted(
        script.begin(), script.end(),
        [](const ScheduledFault& a, const ScheduledFault& b) { return a.at < b.at; }));
    CHECK(script.back().at < Duration{3 * kRoundLength.ns});
  }
}

TEST_CASE("what breaks is mended within its round, on machines that exist") {
  std::set<std::pair<std::string, std::string>> machines;
  for (const ClusterLayout& cluster : fleet_layout())
    for (const MachineLayout& machine : cluster.machines)
      machines.insert({cluster.name, machine.name});
  const std::map<FaultKind, FaultKind> undone_by = {{FaultKind::uncordon, FaultKind::cordon},
                                                    {FaultKind::start, FaultKind::stop},
                                                    {FaultKind::come_back, FaultKind::go_silent},
                                                    {FaultKind::leave, FaultKind::join}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::tuple<FaultKind, std::string, std::string>> broken;
    for (const ScheduledFault& fault : script_of_round(seed, 0)) {
      std::vector<std::string> parts = fault.nodes;
      for (const std::string& name : parts) CHECK(machines.count({fault.cluster, name}) == 1);
      if (parts.empty()) parts.push_back("");
      const auto undo = undone_by.find(fault.kind);
      for (const std::string& part : parts) {
        if (undo != undone_by.end())
          CHECK(broken.erase({undo->second, fault.cluster, part}) == 1);
        else if (std::any_of(undone_by.begin(), undone_by.end(),
                             [&](const auto& pair) { return pair.second == fault.kind; }))
          CHECK(broken.insert({fault.kind, fault.cluster, part}).second);
      }
    }
    CHECK(broken.empty());
  }
}

TEST_CASE("everything that happens is reported in words, and by whom") {
  for (const ScheduledFault& fault : script_of_round(3, 0)) {
    CHECK_FALSE(fault.text.empty());
    const bool by_admin = fault.kind == FaultKind::assign || fault.kind == FaultKind::edit_claim ||
                          fault.kind == FaultKind::overwrite_queue;
    CHECK(actor_of(fault.kind) == (by_admin ? "admin" : "fleet"));
  }
}
