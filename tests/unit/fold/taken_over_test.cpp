// Pairs in use that become ours: what the hub keeps until the members confirm it.
#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"
#include "engine/fold/members/kept.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/queues/take_over.h"

namespace fairlead::taken_over_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

// A hub queue q with cpu of od in use, and clusters with members whose claims assign it.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];

  Hub() {
    queue.present = true;
    state.configuration.member_mode = MemberMode::manifest_work;
  }
  void shows(Amount amount) {
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", amount), {}, {}}}}}}};
  }
  void grants(const std::string& cluster, Amount amount) {
    Claim& claim = state.claims.by_name["of-" + cluster];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = cluster;
    claim.terms->rows = {{"q", "od", "cpu", "cpu", amount, 0, 0}};
    claim.grants = {{claim.terms->rows[0], amount, {}}};
    claim.winner = claim.known = true;
    state.claims.of_queue["q"].insert("of-" + cluster);
    state.claims.of_cluster[cluster].insert("of-" + cluster);
    state.clusters[cluster].member.named["q"] = {"od"};
  }
  Amount kept(const std::string& cluster) const {
    return kept_of(state.clusters.at(cluster), {"q", "od", "cpu"});
  }
  void confirms(const std::string& cluster, Amount amount) {
    state.clusters[cluster].member.confirmed[{"q", "od", "cpu"}] = amount;
    Work& work = state.clusters[cluster].member.quota_works["fairlead-quota"];
    work.present = true;
    work.facts.quotas = {{"q", "od", "cpu", amount}};
    work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 0};
    drop_confirmed(state.clusters[cluster], "q");
  }
  Amount nominal() const { return hub_quota(state, "q", kPair).nominal; }
  // The queue is looked at, and our write of it accepted.
  void written() {
    recompute_pairs(state, "q");
    queue.written[kPair] = nominal();
    queue.contributed = hub_quota(state, "q", kPair).contributions;
    shows(nominal());
  }
};

TEST_CASE("taken over: the hub keeps what was found, up to the grant") {
  Hub hub;
  hub.shows(20000);
  hub.grants("a", 10000);
  SECTION("more was found") {
    hub.written();
    CHECK(hub.nominal() == 10000);
  }
  SECTION("less was found: it becomes ours as it is") {
    hub.shows(4000);
    recompute_pairs(hub.state, "q");
    CHECK(hub.queue.written.at(kPair) == 4000);
    CHECK(hub.nominal() == 4000);
  }
  SECTION("nothing was found") {
    hub.shows(0);
    hub.written();
    CHECK(hub.nominal() == 0);
  }
  SECTION("a part of it is the base") {
    hub.queue.base.amounts[kPair] = 15000;
    hub.written();
    CHECK(hub.nominal() == 20000);
    CHECK(hub.kept("a") == 5000);
  }
  SECTION("more is promised than there is") {
    hub.state.configuration.overbook_percent = 150;
    hub.written();
    CHECK(hub.nominal() == 15000);
    CHECK(hub.kept("a") == 10000);
  }
}

TEST_CASE("taken over: several claims share what was found, and no more") {
  Hub hub;
  hub.shows(12000);
  hub.grants("a", 10000);
  hub.grants("b", 5000);
  hub.written();
  CHECK(hub.nominal() == 12000);
  CHECK(hub.kept("a") == 10000);
  CHECK(hub.kept("b") == 2000);
  // Another claim that comes later waits for its member: nothing is found for it.
  hub.grants("0", 3000);
  recompute_pairs(hub.state, "q");
  CHECK(hub.nominal() == 12000);
  hub.confirms("b", 5000);
  CHECK(hub.nominal() == 15000);
}

TEST_CASE("taken over: what the member confirms ends it, also where less is confirmed later") {
  Hub hub;
  hub.shows(20000);
  hub.grants("a", 10000);
  hub.written();
  hub.confirms("a", 3000);  // of a work from before
  CHECK(hub.nominal() == 10000);
  hub.confirms("a", 10000);
  CHECK(hub.state.clusters.at("a").member.taken_over.empty());
  hub.confirms("a", 2000);
  CHECK(hub.nominal() == 2000);
}

TEST_CASE("taken over: it falls with the grant and does not come back") {
  Hub hub;
  hub.shows(20000);
  hub.grants("a", 10000);
  hub.written();
  hub.grants("a", 4000);
  bound_taken_over(hub.state, "a");
  CHECK(hub.nominal() == 4000);
  hub.grants("a", 10000);
  bound_taken_over(hub.state, "a");
  CHECK(hub.nominal() == 4000);
  hub.state.claims.by_name.at("of-a").winner = false;
  bound_taken_over(hub.state, "a");
  CHECK(hub.state.clusters.at("a").member.taken_over.empty());
}

TEST_CASE("taken over: a watched member that has the quota admits it at once") {
  Hub hub;
  hub.shows(2000);
  hub.grants("a", 10000);
  MemberQueue& there = hub.state.clusters["a"].member.queues["q"];
  there.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", 7000), {}, {}}}}}}};
  SECTION("up to what it has") {
    hub.written();
    CHECK(hub.nominal() == 7000);
  }
  SECTION("up to the grant") {
    hub.grants("a", 6000);
    hub.written();
    CHECK(hub.nominal() == 6000);
  }
  SECTION("not where its queue is stopped") {
    there.active = ConditionStatus::no;
    hub.written();
    CHECK(hub.nominal() == 2000);
  }
  SECTION("not where another source of quota is in force there") {
    there.effective.emplace();
    hub.written();
    CHECK(hub.nominal() == 2000);
  }
  SECTION("no more than what a work of ours makes of it") {
    Work& work = hub.state.clusters["a"].member.quota_works["fairlead-quota"];
    work.present = true;
    work.facts.quotas = {{"q", "od", "cpu", 4000}};
    hub.written();
    CHECK(hub.nominal() == 4000);
  }
}

TEST_CASE("taken over: a cluster that gets a member keeps its part, others wait as before") {
  Hub hub;
  hub.state.configuration.member_mode = MemberMode::none;
  hub.shows(0);
  hub.grants("a", 10000);
  hub.written();
  CHECK(hub.nominal() == 10000);
  take_over_for_new_members(hub.state, {"a"});
  CHECK(hub.state.clusters.at("a").member.taken_over.empty());
  hub.grants("0", 5000);  // not written yet: its part is not the hub's
  hub.state.configuration.member_mode = MemberMode::manifest_work;
  take_over_for_new_members(hub.state, {"a"});
  CHECK(hub.nominal() == 10000);
  CHECK(hub.kept("a") == 10000);
  take_over_for_new_members(hub.state, {"a"});  // it has one already
  CHECK(hub.kept("a") == 10000);
  hub.state.configuration.member_mode = MemberMode::none;
  take_over_for_new_members(hub.state, {"a"});
  CHECK(hub.state.clusters.at("a").member.taken_over.empty());
}

TEST_CASE("taken over: a lost cluster keeps nothing") {
  Hub hub;
  hub.shows(20000);
  hub.grants("a", 10000);
  hub.state.clusters["a"].counted_again_at = kForever;
  hub.written();
  CHECK(hub.nominal() == 0);
  CHECK(hub.state.clusters.at("a").member.taken_over.empty());
}

}  // namespace
}  // namespace fairlead::taken_over_test
