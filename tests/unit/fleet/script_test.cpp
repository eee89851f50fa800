#include "engine/fleet/script.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/fleet/layout.h"

using namespace fairlead;

namespace {

std::vector<Happening> rounds(std::uint64_t seed, std::int64_t count) {
  std::vector<Happening> all;
  for (std::int64_t round = 0; round < count; ++round)
    for (Happening& happening : script_of_round(seed, round)) all.push_back(std::move(happening));
  return all;
}

}  // namespace

TEST_CASE("the same seed plays the same script, another one another") {
  CHECK(rounds(7, 3) == rounds(7, 3));
  CHECK(rounds(7, 1) != rounds(8, 1));
  CHECK(script_of_round(7, 0) != script_of_round(7, 1));
}

TEST_CASE("the script of a seed never changes unnoticed") {
  const std::vector<Happening> script = script_of_round(7, 0);
  REQUIRE(script.size() == 31);
  CHECK(script.front().cluster == "cluster1");
  CHECK(script.front().deed == Deed::assign);
}

TEST_CASE("the first round brings every kind of trouble") {
  const Deed all[] = {Deed::cordon,    Deed::uncordon,   Deed::stop,           Deed::start,
                      Deed::go_silent, Deed::come_back,  Deed::join,           Deed::leave,
                      Deed::assign,    Deed::edit_claim, Deed::overwrite_queue};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<Deed> seen;
    for (const Happening& happening : script_of_round(seed, 0)) seen.insert(happening.deed);
    for (const Deed deed : all) CHECK(seen.count(deed) == 1);
  }
}

TEST_CASE("a round keeps its time and its order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Happening> script = rounds(seed, 3);
    CHECK(std::is_sorted(script.begin(), script.end(),
                         [](const Happening& a, const Happening& b) { return a.at < b.at; }));
    CHECK(script.back().at < Duration{3 * kRoundLength.ns});
  }
}

TEST_CASE("what breaks is mended within its round, on machines that exist") {
  std::set<std::pair<std::string, std::string>> machines;
  for (const ClusterLayout& cluster : fleet_layout())
    for (const MachineLayout& machine : cluster.machines)
      machines.insert({cluster.name, machine.name});
  const std::map<Deed, Deed> undone_by = {{Deed::uncordon, Deed::cordon},
                                          {Deed::start, Deed::stop},
                                          {Deed::come_back, Deed::go_silent},
                                          {Deed::leave, Deed::join}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::tuple<Deed, std::string, std::string>> broken;
    for (const Happening& happening : script_of_round(seed, 0)) {
      std::vector<std::string> parts = happening.nodes;
      for (const std::string& name : parts) CHECK(machines.count({happening.cluster, name}) == 1);
      if (parts.empty()) parts.push_back("");
      const auto undo = undone_by.find(happening.deed);
      for (const std::string& part : parts) {
        if (undo != undone_by.end())
          CHECK(broken.erase({undo->second, happening.cluster, part}) == 1);
        else if (std::any_of(undone_by.begin(), undone_by.end(),
                             [&](const auto& pair) { return pair.second == happening.deed; }))
          CHECK(broken.insert({happening.deed, happening.cluster, part}).second);
      }
    }
    CHECK(broken.empty());
  }
}

TEST_CASE("everything that happens is told in words, and by whom") {
  for (const Happening& happening : script_of_round(3, 0)) {
    CHECK_FALSE(happening.text.empty());
    const bool by_admin = happening.deed == Deed::assign || happening.deed == Deed::edit_claim ||
                          happening.deed == Deed::overwrite_queue;
    CHECK(actor_of(happening.deed) == (by_admin ? "admin" : "fleet"));
  }
}
