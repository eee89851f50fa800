// Which slices of a pool count, and when it is complete; which taints a device has.
#include "engine/devices/pools.h"

#include <array>
#include <catch2/catch.hpp>
#include <deque>

namespace fairlead {
namespace {

using Names = std::vector<std::string_view>;
using Taints = std::vector<Taint>;

DeviceFacts device(std::string name, std::vector<CounterSet> consumes = {}) {
  DeviceFacts facts;
  facts.name = std::move(name);
  if (!consumes.empty()) facts.extras.emplace().consumes = std::move(consumes);
  return facts;
}
CounterSet set(std::string name, Counters counters) { return {std::move(name), counters}; }
Quantity units(int count) { return {count * Int128{1'000'000'000}, QuantityFormat::decimal_si}; }

// The slices of one pool, named s0, s1, ... in the order in which they are added.
class Slices {
 public:
  ResourceSliceFacts& add(std::int64_t generation, std::int64_t count, Names devices = {}) {
    ResourceSliceFacts& slice = facts_.emplace_back();
    slice.generation = generation;
    slice.slice_count = count;
    for (const auto name : devices) slice.devices.push_back(device(std::string(name)));
    return slice;
  }
  PoolView judge() const {
    std::vector<NamedSlice> named;
    for (std::size_t i = 0; i < facts_.size(); ++i) named.push_back({kNames.at(i), &facts_[i]});
    return view_of_pool(named);
  }

 private:
  static constexpr std::array<std::string_view, 4> kNames{"s0", "s1", "s2", "s3"};
  std::deque<ResourceSliceFacts> facts_;
};

Names names(const PoolView& view) {
  Names found;
  for (const NamedSlice& slice : view.slices) found.push_back(slice.name);
  return found;
}

TEST_CASE("only the slices of the highest generation count") {
  Slices slices;
  slices.add(1, 2, {"a"});
  slices.add(2, 1, {"a", "b"});
  slices.add(1, 2, {"b"});
  const PoolView view = slices.judge();
  CHECK(view.status == PoolStatus::complete);
  CHECK(view.why.empty());
  CHECK(names(view) == Names{"s1"});
}

TEST_CASE("a pool is incomplete while slices are missing") {
  Slices slices;
  slices.add(1, 1, {"a"});
  slices.add(2, 2, {"a"});
  CHECK(slices.judge().status == PoolStatus::incomplete);
  CHECK(slices.judge().why == "1 slices of 2");
  slices.add(2, 2, {"b"});
  CHECK(slices.judge().status == PoolStatus::complete);
}

TEST_CASE("slices that contradict each other make the pool invalid, complete or not") {
  SECTION("different counts") {
    Slices slices;
    slices.add(1, 2);
    slices.add(1, 3);
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "resourceSliceCount differs between slices");
  }
  SECTION("too many") {
    Slices slices;
    slices.add(1, 1, {"a"});
    slices.add(1, 1, {"b"});
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "2 slices of 1");
  }
  SECTION("a device twice") {
    Slices slices;
    slices.add(1, 3, {"b", "a"});
    slices.add(1, 3, {"c", "a"});
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "device a is named twice");
  }
  SECTION("a counter set twice") {
    Slices slices;
    slices.add(1, 3).counters = {set("x", {})};
    slices.add(1, 3).counters = {set("x", {})};
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "counter set x is named twice");
  }
}

TEST_CASE("what a device consumes must be in the pool once the pool has all slices") {
  Slices slices;
  slices.add(1, 2).devices = {device("a", {set("x", {{"memory", units(1)}})})};
  CHECK(slices.judge().status == PoolStatus::incomplete);
  SECTION("the set is there, in whatever slice") {
    slices.add(1, 2).counters = {set("x", {{"memory", units(8)}, {"cores", units(8)}})};
    CHECK(slices.judge().status == PoolStatus::complete);
  }
  SECTION("no such set") {
    slices.add(1, 2).counters = {set("y", {{"memory", units(8)}})};
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "device a consumes counter set x, which the pool lacks");
  }
  SECTION("no such counter in it") {
    slices.add(1, 2).counters = {set("x", {{"cores", units(8)}})};
    CHECK(slices.judge().status == PoolStatus::invalid);
    CHECK(slices.judge().why == "device a consumes counter x/memory, which the pool lacks");
  }
}

TEST_CASE("a device has its own taints and those of the rules that select it") {
  ResourceSliceFacts slice;
  slice.driver = "gpu.example.com";
  slice.pool = "p";
  slice.devices = {device("a"), device("b")};
  slice.devices[0].extras.emplace().taints = {{"old", "", "NoSchedule"}, {"note", "", "None"}};
  DeviceTaintRuleFacts rule;
  rule.taint = {"bad", "x", "NoExecute"};
  const auto taints = [&](std::size_t i) { return taints_of(slice, slice.devices[i], {&rule}); };
  const Taint bad = rule.taint, old{"old", "", "NoSchedule"};

  // Without a selector it selects each, as one does that is empty.
  CHECK(taints(0) == Taints{bad, old});
  rule.selects = true;
  CHECK(taints(0) == Taints{bad, old});
  CHECK(taints(1) == Taints{bad});
  rule.device = "b";
  CHECK(taints(0) == Taints{old});
  CHECK(taints(1) == Taints{bad});
  rule.driver = slice.driver;
  rule.pool = "q";
  CHECK(taints(1) == Taints{});
  rule.pool = "p";
  CHECK(taints(1) == Taints{bad});
  rule.driver = "other.example.com";
  CHECK(taints(1) == Taints{});
  rule.driver.reset();
  rule.taint.effect = "None";
  CHECK(taints(1) == Taints{});
}

}  // namespace
}  // namespace fairlead
