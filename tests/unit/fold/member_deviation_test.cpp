#include "engine/fold/members/member_deviation.h"

#include <catch2/catch.hpp>

#include "engine/fold/members/works.h"
#include "engine/fold/state.h"

using namespace fairlead;

namespace {

const std::string kMember = "c1";
const WriteKey kWork{std::string(kHub), {Kind::manifest_work, kMember, std::string(kQuotaWork)}};

std::vector<ResourceGroup> group(Amount cpu, Amount spot = 0) {
  const auto quota = [](Amount amount) {
    return ResourceQuota{"cpu", to_quantity("cpu", amount), std::nullopt, std::nullopt};
  };
  return {{{"cpu"}, {{"od", {quota(cpu)}}, {"spot", {quota(spot)}}}}};
}

// A member whose applied work brings 5 cpu of od to queue qa.
struct Bench {
  State state;
  Cluster& cluster = state.clusters[kMember];

  Bench() {
    state.now = LogTime{} + minutes(100);
    Work& work = cluster.member.quota_works["fairlead-quota"];
    work.present = true;
    work.generation = 3;
    work.facts.quotas = {{"qa", "od", "cpu", 5000}, {"qa", "spot", "cpu", 0}};
    work.facts.applied = {ConditionStatus::yes, "", 3};
  }
  void shows(const std::vector<ResourceGroup>& groups) {
    cluster.member.queues["qa"].groups = groups;
    recompute_member_queue(state, kMember, "qa", DeviationSource::member);
  }
  std::optional<LogTime> touch() const {
    const auto next = touch_due(state, kMember, std::string(kQuotaWork));
    return next ? std::optional(next->due) : std::nullopt;
  }
  void reports(std::int64_t generation) {
    cluster.member.quota_works["fairlead-quota"].facts.applied.observed_generation = generation;
    recompute_member_queues(state, kMember);
  }
};

}  // namespace

TEST_CASE("a queue that was changed at the member counts at once") {
  Bench bench;
  bench.shows(group(5000));
  CHECK_FALSE(member_difference(bench.state, bench.cluster).has_value());
  CHECK_FALSE(bench.touch().has_value());
  SECTION("less") { bench.shows(group(3000)); }
  SECTION("more") { bench.shows(group(9000)); }
  SECTION("a pair that the work has not") { bench.shows(group(5000, 1000)); }
  SECTION("deleted") {
    bench.cluster.member.queues.clear();
    recompute_member_queue(bench.state, kMember, "qa", DeviationSource::member);
  }
  CHECK(member_difference(bench.state, bench.cluster).has_value());
  CHECK(bench.touch() == bench.state.now);
  bench.shows(group(5000));
  CHECK_FALSE(member_difference(bench.state, bench.cluster).has_value());
}

TEST_CASE("the difference names queue, flavor and resource with both values") {
  Bench bench;
  bench.shows(group(3000));
  const auto difference = member_difference(bench.state, bench.cluster);
  REQUIRE(difference.has_value());
  CHECK(difference->cluster_queue == "qa");
  CHECK(difference->flavor == "od");
  CHECK(difference->resource == "cpu");
  CHECK(difference->observed == 3000);
  CHECK(difference->applied == 5000);
}

TEST_CASE("what the agent reports as applied may be seen a little later") {
  Bench bench;
  bench.reports(2);
  bench.shows(group(3000));
  CHECK_FALSE(awaits_member_observation(bench.state, bench.cluster));
  bench.reports(3);
  CHECK(awaits_member_observation(bench.state, bench.cluster));
  CHECK_FALSE(member_difference(bench.state, bench.cluster).has_value());
  SECTION("and is then well") {
    bench.shows(group(5000));
    CHECK(bench.cluster.member.deviating.empty());
  }
  SECTION("else it counts") {
    bench.state.now = bench.state.now + kMemberSightGrace;
    CHECK(member_difference(bench.state, bench.cluster).has_value());
    CHECK_FALSE(awaits_member_observation(bench.state, bench.cluster));
  }
}

TEST_CASE("nothing deviates from a work that is not applied, or is being written") {
  Bench bench;
  SECTION("not applied") { bench.reports(2); }
  SECTION("unanswered") { bench.state.writes.by_key[kWork].outstanding.emplace(); }
  SECTION("not seen yet") { bench.state.writes.by_key[kWork].awaited_version = "7"; }
  SECTION("another queue") {
    bench.cluster.member.quota_works["fairlead-quota"].facts.quotas.clear();
  }
  bench.shows(group(3000));
  CHECK(bench.cluster.member.deviating.empty());
}

TEST_CASE("a queue that was never seen at the member deviates from nothing") {
  Bench bench;
  bench.reports(3);
  CHECK(bench.cluster.member.deviating.empty());
}

TEST_CASE("a work is touched once a minute at most, and its own writes count") {
  Bench bench;
  bench.state.writes.by_key[kWork].last_write = bench.state.now;
  bench.state.now = bench.state.now + seconds(10);
  bench.shows(group(3000));
  CHECK(bench.touch() == bench.state.now + seconds(50));
}

TEST_CASE("the groups of a work have its quota") {
  Bench bench;
  bench.cluster.member.queues["qa"].groups = groups_in_work(bench.cluster, "qa");
  CHECK(queues_not_as_applied(bench.cluster).empty());
  CHECK(groups_in_work(bench.cluster, "qb").empty());
  bench.cluster.member.queues["qa"].groups = group(1);
  CHECK(queues_not_as_applied(bench.cluster) == std::set<std::string>{"qa"});
}
