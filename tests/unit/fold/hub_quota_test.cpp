// What the hub quota of a pair is made of: engine/fold/queues/hub_quota.cpp, declared in queues.h.
#include <catch2/catch.hpp>

#include "engine/fold/queues/queues.h"
#include "engine/fold/state.h"

namespace fairlead::hub_quota_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

// A hub queue q, and claims that were granted cpu of od in it.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];

  Hub() { queue.present = true; }
  Claim& grants(const std::string& name, const std::string& cluster, Amount amount) {
    Claim& claim = state.claims.by_name[name];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = cluster;
    claim.terms->rows = {{"q", "od", "cpu", "cpu", amount, 0, 0}};
    claim.grants = {{claim.terms->rows[0], amount, {}}};
    claim.winner = claim.known = true;
    state.claims.of_queue["q"].insert(name);
    state.claims.of_cluster[cluster].insert(name);
    return claim;
  }
  // The cluster has a member, whose applied work admits `amount`.
  Cluster& confirms(const std::string& cluster, Amount amount) {
    Cluster& made = state.clusters[cluster];
    made.presence.managed = ManagedClusterFacts{};
    made.member.confirmed[{"q", "od", "cpu"}] = amount;
    Work& work = made.member.quota_works["fairlead-quota"];
    work.present = true;
    work.facts.quotas = {{"q", "od", "cpu", amount}};
    work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 0};
    return made;
  }
  WorkerShare& works(const std::string& cluster, Amount amount) {
    queue.workers.asked = queue.workers.follows = queue.workers.known = true;
    WorkerShare& share = queue.workers.shares[cluster];
    share.from = ShareFrom::member;
    share.counted = share.known = true;
    share.values[kPair].accepted = amount;
    return share;
  }
  void shows(Amount amount) {
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", amount), {}, {}}}}}}};
  }
  HubQuota quota() const { return hub_quota(state, "q", kPair); }
};

TEST_CASE("hub quota: of a pair that no claim names it is nothing, and known") {
  Hub hub;
  CHECK_FALSE(hub.quota().unknown);
  CHECK_FALSE(hub.quota().assigned);
  CHECK(hub.quota().nominal == 0);
  CHECK(hub_quota(hub.state, "no such queue", kPair).nominal == 0);
}

TEST_CASE("hub quota: grants of clusters add up, with one contribution each, sorted") {
  Hub hub;
  hub.grants("k2", "c2", 3000);
  hub.grants("k1", "c9", 2000);
  const HubQuota quota = hub.quota();
  CHECK(quota.nominal == 5000);
  CHECK(quota.full == 5000);
  CHECK(quota.assigned);
  CHECK(quota.contributions ==
        std::vector<Contribution>{{"c2", "od", "cpu", 3000}, {"c9", "od", "cpu", 2000}});
  CHECK(hub_quota(hub.state, "q", kPair, Parts::summed).contributions.empty());
  CHECK(hub_quota(hub.state, "q", kPair, Parts::summed).nominal == 5000);
  CHECK(hub_quota(hub.state, "q", {"spot", "cpu"}).nominal == 0);
}

TEST_CASE("hub quota: it is unknown while every claim waits, and known beside a known one") {
  Hub hub;
  hub.grants("k1", "c1", 3000).known = false;
  CHECK(hub.quota().unknown);
  CHECK_FALSE(hub.quota().assigned);
  hub.grants("k2", "c2", 2000);
  CHECK_FALSE(hub.quota().unknown);
  CHECK(hub.quota().nominal == 5000);  // the unknown one counts its last grant
}

TEST_CASE("hub quota: a member counts for what it is known to admit") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  SECTION("less") {
    hub.confirms("c1", 1000);
    CHECK(hub.quota().nominal == 1000);
    CHECK(hub.quota().full == 3000);
  }
  SECTION("more") {
    hub.confirms("c1", 9000);
    CHECK(hub.quota().nominal == 3000);
  }
  SECTION("a cluster that the hub counts as lost") {
    hub.confirms("c1", 9000).counted_again_at = kForever;
    CHECK(hub.quota().nominal == 0);
  }
}

TEST_CASE(
    "hub quota: growth waits for a work that is not applied, the current quota does not fall") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  hub.confirms("c1", 3000).member.quota_works["fairlead-quota"].facts.applied.status =
      ConditionStatus::no;
  hub.queue.contributed = {{"c1", "od", "cpu", 1000}};
  hub.shows(1000);
  CHECK(hub.quota().nominal == 1000);
  CHECK(hub.quota().contributions == std::vector<Contribution>{{"c1", "od", "cpu", 1000}});
  hub.shows(2000);
  CHECK(hub.quota().nominal == 2000);  // another writer's value is not lowered by the wait
  hub.shows(5000);
  CHECK(hub.quota().nominal == 3000);  // a fall waits for nothing
}

TEST_CASE("hub quota: base and overbooking, floored to the quantum, saturating") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  hub.queue.base.amounts[kPair] = 500;
  hub.state.configuration.overbook_percent = 150;
  CHECK(hub.quota().nominal == 4500);  // 500 and 4.5 cores, floored to 4
  CHECK(quota_of_sum(hub.state, "q", kPair, Int128{INT64_MAX} * 2) == INT64_MAX);
  hub.state.configuration.overbook_percent = 100;
  CHECK(quota_of_sum(hub.state, "q", kPair, 1) == 501);  // not scaled: not floored
  CHECK(quota_of_sum(hub.state, "no such queue", kPair, 7) == 7);
}

TEST_CASE("hub quota: of a queue that follows its workers: percent of the sum, then the reserve") {
  Hub hub;
  hub.works("c1", 6000);
  hub.works("c2", 3000).counted = false;  // a newcomer is only looked at
  hub.queue.workers.percent = 50;
  hub.queue.workers.reserve[kPair] = 1000;
  hub.state.configuration.overbook_percent = 1000;  // counts for claims alone
  CHECK(hub.quota().nominal == 2000);
  hub.queue.workers.reserve[kPair] = 4000;
  hub.queue.base.amounts[kPair] = 700;
  CHECK(hub.quota().nominal == 700);  // never below the base
  hub.queue.workers.known = false;
  CHECK(hub.quota().unknown);
}

TEST_CASE("hub quota: beside workers a claim counts only for a worker that is not watched") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  hub.grants("k2", "c2", 2000);
  CHECK(claim_counts(nullptr, "c1"));
  hub.works("c1", 6000);
  CHECK(hub.quota().nominal == 6000);
  WorkerShare& unwatched = hub.works("c2", 0);
  unwatched.from = ShareFrom::claims;
  unwatched.values.clear();
  CHECK(hub.quota().nominal == 8000);
  unwatched.counted = false;
  CHECK(hub.quota().nominal == 6000);
  CHECK(followed(hub.state.queues, "q") == &hub.queue.workers);
  CHECK(depends_on_workers(hub.state.queues, "q"));
  hub.queue.workers.follows = false;
  CHECK(followed(hub.state.queues, "q") == nullptr);
  CHECK(hub.quota().nominal == 5000);
}

TEST_CASE("hub quota: a part is found by cluster and pair") {
  const std::vector<Contribution> parts = {
      {"c1", "od", "cpu", 1}, {"c1", "spot", "cpu", 2}, {"c2", "od", "cpu", 3}};
  CHECK(part_of(parts, "c1", {"spot", "cpu"}) == 2);
  CHECK(part_of(parts, "c2", kPair) == 3);
  CHECK(part_of(parts, "c2", {"spot", "cpu"}) == 0);
  CHECK(part_of({}, "c1", kPair) == 0);
}

TEST_CASE("hub quotas: each is derived once, until it is forgotten") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  HubQuotas quotas(hub.state);
  CHECK(quotas.of("q", kPair).nominal == 3000);
  CHECK(quotas.owned_pairs("q") == std::set<QuotaKey>{kPair});
  CHECK(quotas.assigns("q", "cpu"));
  CHECK_FALSE(quotas.assigns("q", "memory"));
  CHECK_FALSE(quotas.assigns("other", "cpu"));
  hub.grants("k1", "c1", 4000);
  CHECK(quotas.of("q", kPair).nominal == 3000);
  quotas.forget_followers();  // q follows no workers
  CHECK(quotas.of("q", kPair).nominal == 3000);
  quotas.forget("q");
  CHECK(quotas.of("q", kPair).nominal == 4000);
  hub.works("c1", 6000);
  quotas.forget_all();
  CHECK(quotas.of("q", kPair).nominal == 6000);
  hub.works("c1", 7000);
  quotas.forget_followers();
  CHECK(quotas.of("q", kPair).nominal == 7000);
}

TEST_CASE("hub quotas: a promise is what is contributed, or what a larger value carried") {
  Hub hub;
  hub.grants("k1", "c1", 3000);
  const auto promised = [&] { return HubQuotas(hub.state).promised("q", "c1", kPair); };
  hub.shows(3000);
  CHECK(promised() == 3000);
  // The hub still has more, which our last write carried.
  hub.shows(8000);
  hub.queue.written_groups = hub.queue.facts.groups;
  hub.queue.contributed = {{"c1", "od", "cpu", 5000}};
  CHECK(promised() == 5000);
  // Nothing was written in this log: the claim's status says what an earlier one had.
  hub.queue.written_groups.reset();
  CHECK(promised() == 3000);
  hub.state.claims.by_name["k1"].facts.status_grants = {{"q", "od", "cpu", "6"}};
  CHECK(promised() == 6000);
  hub.queue.present = false;
  CHECK(promised() == 0);
}

}  // namespace
}  // namespace fairlead::hub_quota_test
