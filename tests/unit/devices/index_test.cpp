// The index of a cluster's devices: what it answers is a function of the facts that it was
// given, whatever came first and however often it changed.
#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/cluster_devices.h"
#include "engine/devices/device_use.h"
#include "tests/unit/devices/fit_world.h"

namespace fairlead {
namespace {

using Lines = std::vector<std::string>;

// Returns the devices that reach a node in the order of the search; a pool that is not complete is
// `pool?`.
Lines reach(FitWorld& world, const std::string& node) {
  Lines found;
  for (DeviceNode* each : world.devices().nodes()) {
    if (each->name() != node) continue;
    for (const DevicePlace& place : world.devices().places(*each)) {
      if (!place.pool->complete()) found.push_back(place.pool->name() + "?");
      for (std::uint32_t i = place.begin; i < place.end; ++i)
        found.push_back(place.pool->name() + "/" + place.pool->devices[i].facts().name);
    }
  }
  return found;
}

const Device& device(FitWorld& world, const std::string& pool, const std::string& name) {
  const Device* found = world.devices().find({"d", pool, name});
  REQUIRE(found);
  return *found;
}

TEST_CASE("a slice that comes, changes and goes moves its own devices") {
  FitWorld world;
  world.read("node a");
  world.read("node b");
  world.read("slice s1 p on=a d1 d2");
  world.read("slice s2 q on=b d1");
  CHECK(reach(world, "a") == Lines{"p/d1", "p/d2"});
  world.read("slice s1 p on=b d2 d3");
  CHECK(reach(world, "a").empty());
  CHECK(reach(world, "b") == Lines{"p/d2", "p/d3", "q/d1"});
  SECTION("to another pool") {
    world.read("slice s1 r on=b d3");
    CHECK(reach(world, "b") == Lines{"q/d1", "r/d3"});
    CHECK_FALSE(world.devices().find({"d", "p", "d2"}));
  }
  SECTION("and away") {
    world.read("delete s1");
    CHECK(reach(world, "b") == Lines{"q/d1"});
    CHECK(world.devices().pools().size() == 1);
  }
  SECTION("to every node") {
    world.read("slice s1 p everywhere d2");
    CHECK(reach(world, "a") == Lines{"p/d2"});
    world.read("node c");
    CHECK(reach(world, "c") == Lines{"p/d2"});
  }
}

TEST_CASE("a pool is judged again when one of its slices changes") {
  FitWorld world;
  world.read("node a");
  world.read("slice s1 p of=2 on=a d1");
  CHECK(reach(world, "a") == Lines{"p?"});
  world.read("slice s2 p of=2 on=a d2");
  CHECK(reach(world, "a") == Lines{"p/d1", "p/d2"});
  world.read("slice s2 p of=2 on=a d1");
  CHECK(reach(world, "a") == Lines{"p?"});
  world.read("slice s3 p generation=2 on=a d3");
  CHECK(reach(world, "a") == Lines{"p/d3"});
  world.read("delete s3");
  world.read("delete s2");
  CHECK(reach(world, "a") == Lines{"p?"});
}

TEST_CASE("nodes may come after the slices that reach them, and change") {
  FitWorld world;
  world.read("slice s1 p on=a d1");
  world.read("slice s2 q where=zone=x d1");
  world.read("slice s3 r each d1{where=zone=x} d2{on=a} d3");
  CHECK(world.devices().nodes().empty());
  world.read("node a");
  CHECK(reach(world, "a") == Lines{"p/d1", "r/d2"});
  world.read("node a zone=x");
  CHECK(reach(world, "a") == Lines{"p/d1", "q/d1", "r/d1", "r/d2"});
  world.read("node a zone=y");
  CHECK(reach(world, "a") == Lines{"p/d1", "r/d2"});
  world.devices().erase_node("a");
  CHECK(world.devices().nodes().empty());
  world.read("node a zone=x");
  CHECK(reach(world, "a") == Lines{"p/d1", "q/d1", "r/d1", "r/d2"});
}

TEST_CASE("uses outlive the slices that published their devices") {
  FitWorld world;
  world.read("slice s1 p on=a d1 d2");
  world.read("used c p/d1");
  CHECK(world.devices().is_used(device(world, "p", "d1")));
  CHECK_FALSE(world.devices().is_used(device(world, "p", "d2")));
  world.read("delete s1");
  CHECK(world.devices().pools().size() == 1);
  world.read("slice s9 p generation=7 on=b d1");
  CHECK(world.devices().is_used(device(world, "p", "d1")));
  world.read("reserved w p/d1");
  world.read("used c");
  CHECK_FALSE(world.devices().is_used(device(world, "p", "d1")));
  CHECK(device(world, "p", "d1").used_whole());
  world.read("reserved w");
  CHECK_FALSE(device(world, "p", "d1").used_whole());
  world.read("delete s9");
  CHECK(world.devices().pools().empty());
}

TEST_CASE("taints are the device's and those of the rules, as rules come and go") {
  FitWorld world;
  world.read("slice s1 p on=a d1{taint:old:NoSchedule} d2");
  const auto count = [&](const std::string& name) {
    return world.devices().taints(device(world, "p", name)).size();
  };
  CHECK(count("d1") == 1);
  CHECK(count("d2") == 0);
  world.read("rule r pool=p taint:bad:NoExecute");
  CHECK(count("d1") == 2);
  CHECK(count("d2") == 1);
  world.read("rule r pool=p device=d1 taint:bad:NoExecute");
  CHECK(count("d1") == 2);
  CHECK(count("d2") == 0);
  world.devices().erase_taint_rule("r");
  CHECK(count("d1") == 1);
}

TEST_CASE("a verdict is remembered until the slice changes") {
  FitWorld world;
  world.read("slice s1 p on=a d1{.size=i1} d2");
  const auto list = world.devices().selectors().intern({{"device.driver == \"d\""}},
                                                       {{"device.attributes[\"d\"].size == 1"}});
  const auto verdict = [&](const std::string& name, std::size_t& failed) {
    return world.devices().verdict(device(world, "p", name), list, failed);
  };
  std::size_t failed = 0;
  CHECK(verdict("d1", failed) == SelectorVerdict::yes);
  CHECK(verdict("d2", failed) == SelectorVerdict::error);
  CHECK(failed == 1);
  world.read("slice s1 p on=a d1{.size=i2} d2{.size=i1}");
  CHECK(verdict("d1", failed) == SelectorVerdict::no);
  CHECK(verdict("d2", failed) == SelectorVerdict::yes);
}

TEST_CASE("selectors are forgotten when there are more than 1,024 of them") {
  FitWorld world;
  world.read("slice s1 p on=a d1{.size=i1}");
  const auto ask_up_to = [&world](int texts) {
    std::size_t failed = 0;
    for (int i = 0; i < texts; ++i) {
      const auto list = world.devices().selectors().intern(
          {}, {{"device.attributes[\"d\"].size == " + std::to_string(i)}});
      world.devices().verdict(device(world, "p", "d1"), list, failed);
    }
    world.devices().forget_selectors();
    return world.devices().selectors().text_count();
  };
  CHECK(ask_up_to(100) == 100);
  CHECK(ask_up_to(1024) == 1024);
  CHECK(ask_up_to(1025) == 0);
  CHECK(ask_up_to(3) == 3);
}

TEST_CASE("a tally follows slices and uses") {
  FitWorld world;
  world.read("slice s1 p on=a d1{.size=i1} d2 d3{.size=i1}");
  const auto list = world.devices().selectors().intern({{"device.attributes[\"d\"].size == 1"}});
  const auto tally = [&](TallyOf of) {
    return world.devices().tally(world.devices().pools().at({"d", "p"}), list, of);
  };
  CHECK(tally(TallyOf::all).yes == 2);
  CHECK(tally(TallyOf::all).has_errors);
  world.read("used c p/d2 p/d3");
  CHECK(tally(TallyOf::all).yes == 2);
  CHECK(tally(TallyOf::not_used_whole).yes == 1);
  CHECK_FALSE(tally(TallyOf::not_used_whole).has_errors);
  world.read("used c p/d2");
  CHECK(tally(TallyOf::not_used_whole).yes == 2);
}

// What node_tallies() would say if it had remembered nothing.
std::vector<std::pair<std::uint32_t, bool>> counted_anew(FitWorld& world, SelectorListId list,
                                                         TallyOf of) {
  std::vector<std::pair<std::uint32_t, bool>> found;
  for (DeviceNode* node : world.devices().nodes()) {
    auto& [yes, errors] = found.emplace_back();
    std::set<IndexedPool*> pools;
    for (const DevicePlace& place : world.devices().places(*node)) {
      if (!place.pool->complete() || !pools.insert(place.pool).second) continue;
      const PoolTally tally = world.devices().tally(*place.pool, list, of);
      yes += tally.yes;
      errors = errors || tally.has_errors;
    }
  }
  return found;
}

TEST_CASE("what is counted for each node follows every change") {
  const char* const changes[] = {"node a",
                                 "node b",
                                 "node c zone=z",
                                 "node c",
                                 "delete s1",
                                 "delete s2",
                                 "delete s3",
                                 "slice s1 p on=a d1{.size=i1} d2",
                                 "slice s1 p on=b d1{.size=i1} d2{.size=i1}",
                                 "slice s1 p of=2 on=a d1",
                                 "slice s2 q where=zone=z d1{.size=i1} d2{.size=i2}",
                                 "slice s3 r everywhere d1{.size=i1}",
                                 "slice s3 r each d1{.size=i1,on=a} d2{on=b}",
                                 "used c p/d1",
                                 "used c q/d1 r/d1",
                                 "used c",
                                 "reserved e p/d1 p/d2",
                                 "reserved e"};
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    FitWorld world;
    world.read("node 0");
    const auto list = world.devices().selectors().intern({{"device.attributes[\"d\"].size == 1"}});
    for (int step = 0; step < 200; ++step) {
      const std::string line = changes[random() % std::size(changes)];
      if (line.starts_with("node") && random() % 2 == 0)
        world.devices().erase_node(line.substr(5, 1));
      else
        world.read(line);
      if (random() % 3 == 0) continue;  // several changes between two questions
      INFO(seed << ", step " << step << ": " << line);
      const TallyOf of = random() % 2 == 0 ? TallyOf::all : TallyOf::not_used_whole;
      const NodeTallies& known = world.devices().node_tallies(list, of);
      const auto expected = counted_anew(world, list, of);
      REQUIRE(known.nodes.size() == expected.size());
      bool errors = false;
      for (std::size_t node = 0; node < expected.size(); ++node) {
        CHECK(known.nodes[node].yes == expected[node].first);
        CHECK(known.nodes[node].has_errors == expected[node].second);
        errors = errors || expected[node].second;
      }
      CHECK(known.has_errors == errors);
    }
  }
}

TEST_CASE("pins say what a use costs, as published when it is first seen") {
  const DeviceFacts plain{"d1", {}, {}, {}};
  DeviceFacts counted{"d2", {}, {}, {}};
  counted.extras.emplace().consumes = {{"s", {{"mem", *Quantity::parse("2")}}}};
  const auto published = [&](const DeviceId& id) -> const DeviceFacts* {
    return id.device == "d1" ? &plain : id.device == "d2" ? &counted : nullptr;
  };
  ClaimAllocation allocation;
  for (const char* name : {"d1", "d2", "gone", "admin"}) {
    AllocatedDevice& one = allocation.devices.emplace_back();
    one.driver = "d";
    one.pool = "p";
    one.device = name;
  }
  allocation.devices[0].consumed = {{"mem", *Quantity::parse("1")}};
  allocation.devices[3].admin = true;
  const auto uses = pin_uses(allocation, published);
  REQUIRE(uses.size() == 3);
  CHECK(uses[0].share);
  CHECK(uses[0].consumed == allocation.devices[0].consumed);
  CHECK(uses[0].cost == UseCost::pinned);
  CHECK(uses[0].counters.empty());
  CHECK_FALSE(uses[1].share);
  CHECK(uses[1].counters == counted.extras->consumes);
  CHECK(uses[2].cost == UseCost::unknown);
  CHECK(text(uses[2].device) == "d/p/gone");
}

TEST_CASE("of several classes that give a name the newest does, then the smallest") {
  FitWorld world;
  world.read("class b gives=x created=2");
  world.read("class c gives=x created=2");
  world.read("class a gives=x created=1");
  world.read("class z gives=y created=9");
  REQUIRE(world.devices().class_giving("x"));
  CHECK(*world.devices().class_giving("x") == "b");
  CHECK_FALSE(world.devices().class_giving("w"));
}

}  // namespace
}  // namespace fairlead
