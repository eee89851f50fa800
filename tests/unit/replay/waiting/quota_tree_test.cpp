// The quota of a cohort tree. The figures of the first cases are those of Kueue's own tests
// (pkg/cache/scheduler/resource_test.go).
#include "replay/waiting/quota_tree.h"

#include <catch2/catch.hpp>
#include <random>

#include "replay/waiting/quota_amount.h"
#include "tests/unit/replay/waiting/quota_samples.h"

namespace fairlead {
namespace {

using namespace waiting;

struct TreeUnderTest {
  QuotaTree tree;
  std::map<std::string, ClusterQueueFacts> queues;

  void queue(const std::string& name, std::int64_t nominal, const std::string& cohort,
             const Limits& limits = {}) {
    queues[name] = queue_of({group_of("red", "cpu", nominal, limits)}, cohort);
    tree.set_queue(name, &queues[name], {});
  }
  void cohort(const std::string& name, std::int64_t nominal, const std::string& parent = "",
              const Limits& limits = {}) {
    const CohortFacts facts = cohort_of({group_of("red", "cpu", nominal, limits)}, parent);
    tree.set_cohort(name, &facts, {});
  }
  void use(const std::string& name, std::int64_t cores) {
    queues[name].reserved = {{"red", "cpu", cores * 1000}};
    tree.set_queue(name, &queues[name], {});
  }
  // In cores: (available, potential).
  std::pair<std::int64_t, std::int64_t> room(const std::string& name) {
    tree.settle();
    QueueRooms rooms;
    tree.read(name, rooms);
    REQUIRE(rooms.rooms.size() == 1);
    return {rooms.rooms[0].available / 1000, rooms.rooms[0].potential / 1000};
  }
};
using Room = std::pair<std::int64_t, std::int64_t>;

TEST_CASE("a queue borrows what its Cohort has of its own") {
  TreeUnderTest t;
  t.queue("cq1", 10, "cohort");
  t.cohort("cohort", 10);
  CHECK(t.room("cq1") == Room{20, 20});
  t.use("cq1", 11);
  CHECK(t.room("cq1") == Room{9, 20});
}

TEST_CASE("what a queue uses too much is missing in the others, also in one that lends nothing") {
  TreeUnderTest t;
  t.queue("cq1", 10, "cohort");
  t.queue("cq2", 10, "cohort", {0, 0});
  t.cohort("cohort", 10);
  t.use("cq1", 31);
  CHECK(t.room("cq1") == Room{0, 20});
  // Its own 10 cores count against the 11 that the Cohort has less than nothing.
  CHECK(t.room("cq2") == Room{0, 10});
}

TEST_CASE("lending and borrowing limits") {
  TreeUnderTest t;
  t.queue("cq1", 10, "cohort");
  t.queue("cq2", 10, "cohort", {2, {}});
  t.queue("cq3", 10, "cohort", {{}, 5});
  t.cohort("cohort", 10);
  t.use("cq1", 20);
  t.use("cq2", 10);
  t.use("cq3", 6);
  CHECK(t.room("cq1") == Room{4, 35});
  CHECK(t.room("cq2") == Room{2, 12});
  CHECK(t.room("cq3") == Room{4, 40});
}

TEST_CASE("Cohorts below a Cohort") {
  TreeUnderTest t;
  t.queue("cq1", 10, "left");
  t.queue("cq2", 10, "right", {{}, 0});
  t.cohort("left", 10, "root");
  t.cohort("right", 10, "root");
  t.use("cq1", 10);
  t.use("cq2", 5);
  CHECK(t.room("cq1") == Room{20, 30});
  CHECK(t.room("cq2") == Room{25, 40});
}

TEST_CASE("limits of a Cohort") {
  TreeUnderTest borrowing;
  borrowing.queue("left-cq1", 10, "left");
  borrowing.queue("left-cq2", 10, "left", {5, {}});
  borrowing.queue("right-cq", 10, "right");
  borrowing.cohort("left", 10, "root", {5, {}});
  borrowing.cohort("right", 10, "root");
  CHECK(borrowing.room("left-cq1") == Room{35, 35});
  CHECK(borrowing.room("left-cq2") == Room{15, 15});
  CHECK(borrowing.room("right-cq") == Room{50, 50});
  TreeUnderTest lending;
  lending.queue("left-cq1", 10, "left", {{}, 5});
  lending.queue("left-cq2", 10, "left");
  lending.queue("right-cq", 0, "right");
  lending.queue("root-cq", 0, "root");
  lending.cohort("left", 0, "root", {{}, 5});
  lending.cohort("right", 0, "root");
  CHECK(lending.room("left-cq1") == Room{20, 20});
  CHECK(lending.room("left-cq2") == Room{15, 15});
  CHECK(lending.room("right-cq") == Room{5, 5});
  CHECK(lending.room("root-cq") == Room{5, 5});
}

TEST_CASE("a Cohort that does not exist has no quota of its own, and one that goes leaves none") {
  TreeUnderTest t;
  t.queue("cq1", 10, "cohort");
  t.queue("cq2", 3, "cohort");
  CHECK(t.room("cq1") == Room{13, 13});
  t.cohort("cohort", 7);
  CHECK(t.room("cq1") == Room{20, 20});
  t.tree.set_cohort("cohort", nullptr, {});
  CHECK(t.room("cq1") == Room{13, 13});
  t.tree.set_queue("cq2", nullptr, {});
  CHECK(t.room("cq1") == Room{10, 10});
  QueueRooms gone;
  t.tree.read("cq2", gone);
  CHECK(gone.shape == nullptr);
}

TEST_CASE("queues below a cycle of Cohorts have no quota until it is cut") {
  TreeUnderTest t;
  t.queue("cq", 10, "a");
  t.cohort("a", 1, "b");
  t.cohort("b", 1, "c");
  CHECK(t.room("cq") == Room{12, 12});
  t.cohort("c", 1, "b");
  CHECK(t.room("cq") == Room{0, 0});
  t.cohort("c", 1);
  CHECK(t.room("cq") == Room{13, 13});
}

TEST_CASE("effective quotas are in force in place of the groups, also if there are none") {
  TreeUnderTest t;
  t.queue("cq", 100, "");
  t.queues["cq"].effective = EffectiveQuotas{{}, {group_of("red", "cpu", 60)}};
  t.tree.set_queue("cq", &t.queues["cq"], {});
  CHECK(t.room("cq") == Room{60, 60});
  t.queues["cq"].effective->groups.clear();
  t.tree.set_queue("cq", &t.queues["cq"], {});
  t.tree.settle();
  QueueRooms rooms;
  t.tree.read("cq", rooms);
  CHECK(rooms.shape->groups.empty());
}

TEST_CASE("the greatest amount means unlimited") {
  CHECK(quota_sum(kUnlimited, -5) == kUnlimited);
  CHECK(quota_difference(kUnlimited, 5) == kUnlimited);
  CHECK(quota_difference(kUnlimited, kUnlimited) == 0);
  CHECK(quota_difference(5, kUnlimited) == INT64_MIN);
  CHECK(quota_sum(INT64_MAX - 1, 5) == kUnlimited);
  CHECK(quota_amount("cpu", *Quantity::parse("1E")) == kUnlimited);
  CHECK(quota_amount("cpu", *Quantity::parse("2")) == 2000);
  CHECK(quota_amount("memory", *Quantity::parse("1Ki")) == 1024);
}

TEST_CASE("settle() names the queues of each tree that changed, and why") {
  TreeUnderTest t;
  t.queue("a", 10, "one");
  t.queue("b", 10, "one");
  t.queue("c", 10, "");
  t.tree.settle();
  t.queues["a"].reserved = {{"red", "cpu", 1000}};
  t.tree.set_queue("a", &t.queues["a"], {Seq{7}});
  auto changes = t.tree.settle();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].queues == std::vector<std::string>{"a", "b"});
  CHECK(changes[0].causes == std::vector{Seq{7}});
  CHECK(t.tree.settle().empty());
  t.queues["a"].cohort = "";
  t.tree.set_queue("a", &t.queues["a"], {Seq{9}});
  changes = t.tree.settle();
  REQUIRE(changes.size() == 2);
  for (const auto& change : changes) CHECK(change.causes == std::vector{Seq{9}});
}

// What the tree keeps from one change to the next is what one made of the last facts has.
TEST_CASE("changes in any order lead to what a new tree has") {
  std::mt19937 random(7);
  const auto draw = [&random](unsigned most) { return static_cast<int>(random() % (most + 1)); };
  for (int round = 0; round < 60; ++round) {
    TreeUnderTest t;
    std::map<std::string, CohortFacts> cohorts;
    for (int step = 0; step < 60; ++step) {
      const std::string name(1, static_cast<char>('a' + draw(4)));
      const std::string above =
          draw(2) == 0 ? "" : std::string(1, static_cast<char>('v' + draw(3)));
      Limits limits;
      if (draw(2) == 0) limits.borrowing = draw(5);
      if (draw(2) == 0) limits.lending = draw(5);
      const std::string cohort(1, static_cast<char>('v' + draw(3)));
      switch (draw(4)) {
        case 0: t.queue(name, draw(20), above, limits); break;
        case 1: t.queues.erase(name), t.tree.set_queue(name, nullptr, {}); break;
        case 2:
          cohorts[cohort] = cohort_of({group_of("red", "cpu", draw(9), limits)}, above);
          t.tree.set_cohort(cohort, &cohorts[cohort], {});
          break;
        case 3: cohorts.erase(cohort), t.tree.set_cohort(cohort, nullptr, {}); break;
        case 4:
          if (t.queues.contains(name)) t.use(name, draw(30));
          break;
      }
      if (draw(1) == 0) continue;
      t.tree.settle();
      QuotaTree fresh;
      for (const auto& [of, facts] : cohorts) fresh.set_cohort(of, &facts, {});
      for (const auto& [of, facts] : t.queues) fresh.set_queue(of, &facts, {});
      fresh.settle();
      for (const char* of : {"a", "b", "c", "d", "e"}) {
        QueueRooms kept, made;
        t.tree.read(of, kept);
        fresh.read(of, made);
        CHECK(kept == made);
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
