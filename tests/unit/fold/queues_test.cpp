#include "engine/fold/queues/queues.h"

#include <catch2/catch.hpp>

#include "engine/fold/writes/writes.h"

namespace fairlead::queues_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

std::vector<ResourceGroup> cpu_of_od(Amount amount, std::optional<Amount> lending = std::nullopt) {
  ResourceQuota quota{"cpu", to_quantity("cpu", amount), {}, {}};
  if (lending) quota.lending_limit = to_quantity("cpu", *lending);
  return {{{"cpu"}, {{"od", {quota}}}}};
}

ObjectObserved queue_with(std::vector<ResourceGroup> groups, const std::string& uid = "u") {
  ClusterQueueFacts facts;
  facts.groups = std::move(groups);
  return {{Kind::cluster_queue, "", "q"}, "v1beta2", uid, "7", 1, facts, {}};
}

// A queue to which one claim was granted 5 cpu of od, as our last write left it.
struct Hub {
  State state;
  Queue& queue = state.queues["q"];

  Hub() {
    Claim& claim = state.claims["k"];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 5000, ""}};
    claim.winner = claim.known = true;
    state.claims_of_queue["q"] = {"k"};
    state.claims_of_cluster["c1"] = {"k"};
    sees(cpu_of_od(0));
    PatchIntended intent;
    intent.target = {Kind::cluster_queue, "", "q"};
    intent.contributions = {{"c1", "od", "cpu", 5000}};
    ClusterQueueFacts expected;
    expected.groups = cpu_of_od(5000);
    intent.expected = expected;
    accept_queue_write(state, intent, {Seq{4}, state.now});
    sees(cpu_of_od(5000));
    forget_open();
  }
  void sees(std::vector<ResourceGroup> groups, const std::string& uid = "u") {
    observe_queue(state, queue_with(std::move(groups), uid), Seq{9});
  }
  // Sends a write that is not answered yet.
  void writes(Amount amount, Seq seq) {
    PatchIntended intent;
    intent.cluster = std::string(kHub);
    intent.target = {Kind::cluster_queue, "", "q"};
    ClusterQueueFacts expected;
    expected.groups = cpu_of_od(amount);
    intent.expected = expected;
    note_intent(state, intent, seq);
  }
  void forget_open() {
    state.open_queues.clear();
    state.open_quotas.clear();
    state.open_claims.clear();
  }
};

TEST_CASE("queues: a pair is found under the name that the queue covers") {
  const ResourceAliases aliases = {{"gpu", "nvidia.com/gpu"}};
  const std::vector<ResourceGroup> groups = {
      {{"cpu"}, {{"od", {{"cpu", *Quantity::parse("2500m"), {}, {}}}}}},
      {{"gpu"}, {{"tpu", {{"gpu", *Quantity::parse("4"), {}, {}}}}}}};
  CHECK(covered_name(groups, aliases, "nvidia.com/gpu") == "gpu");
  CHECK(covered_name(groups, {}, "nvidia.com/gpu") == std::nullopt);
  CHECK(amount_in(groups, aliases, {"tpu", "nvidia.com/gpu"}) == 4);
  CHECK(amount_in(groups, aliases, {"od", "cpu"}) == 2500);
  CHECK(amount_in(groups, aliases, {"od", "nvidia.com/gpu"}) == std::nullopt);
  CHECK(find_quota(groups, "tpu", "gpu") == &groups[1].flavors[0].resources[0]);
  CHECK(find_quota(groups, "tpu", "nvidia.com/gpu") == nullptr);
}

TEST_CASE("queues: an alias beside its canonical name is ambiguous") {
  State state;
  state.configuration.resource_aliases = {{"gpu", "nvidia.com/gpu"}};
  auto& groups = state.queues["q"].facts.groups;
  groups = {{{"gpu"}, {}}};
  CHECK_FALSE(covers_alias_twice(state, "q", "nvidia.com/gpu"));
  groups.push_back({{"nvidia.com/gpu"}, {}});
  CHECK(covers_alias_twice(state, "q", "nvidia.com/gpu"));
  CHECK_FALSE(covers_alias_twice(state, "none", "nvidia.com/gpu"));
}

TEST_CASE(
    "queues: three foreign overwrites in ten minutes are answered, the fourth is a conflict") {
  Hub hub;
  for (int i = 0; i < 4; ++i) {
    INFO(i);
    CHECK_FALSE(hub.queue.conflict);
    hub.sees(cpu_of_od(9000 + i));
    hub.sees(cpu_of_od(5000));  // ours again
    hub.state.now = hub.state.now + seconds(1);
    if (i == 3) CHECK(hub.queue.overwrites.size() == kOverwritesAnswered);
  }
  hub.sees(cpu_of_od(8000));
  CHECK(hub.queue.conflict);
  SECTION("it ends with an edit of the claim") {
    resolve_conflict(hub.state, "q");
    CHECK(hub.queue.overwrites.empty());
  }
  SECTION("it ends when the observed value is ours") { hub.sees(cpu_of_od(5000)); }
  SECTION("an overwrite that is older than the window does not count") {
    hub.sees(cpu_of_od(5000));
    hub.state.now = hub.state.now + kOverwriteWindow + seconds(1);
    hub.sees(cpu_of_od(8000));
    CHECK(hub.queue.overwrites.size() == 1);
  }
  CHECK_FALSE(hub.queue.conflict);
}

// The stream may report a later version alone: what another writer made of our write at once.
TEST_CASE("queues: an overwrite counts although no observation had our list") {
  Hub hub;
  hub.sees(cpu_of_od(1000));
  REQUIRE(hub.queue.overwrites.size() == 1);
  hub.writes(5000, Seq{10});
  SECTION("the answer comes first, and the value differs") {
    note_accepted(hub.state, {Seq{10}, 200, "u", "7"});
    hub.sees(cpu_of_od(2000));
  }
  SECTION("the answer comes first, and the value is that of before") {
    note_accepted(hub.state, {Seq{10}, 200, "u", "7"});
    hub.sees(cpu_of_od(1000));
  }
  SECTION("the observation comes first") {
    hub.sees(cpu_of_od(2000));
    REQUIRE(hub.queue.overwrites.size() == 1);  // perhaps from before our write
    hub.forget_open();
    note_accepted(hub.state, {Seq{10}, 200, "u", ""});
    CHECK(hub.state.open_queues.contains("q"));
    CHECK(hub.state.open_claims.contains("k"));
  }
  CHECK(hub.queue.overwrites.size() == 2);
}

TEST_CASE("queues: an observation from before our write is no overwrite of it") {
  Hub hub;
  hub.writes(6000, Seq{10});
  SECTION("an older version") {
    note_accepted(hub.state, {Seq{10}, 200, "u", "8"});
    hub.sees(cpu_of_od(2000));
    CHECK(hub.queue.overwrites.empty());
  }
  SECTION("our list itself") {
    hub.sees(cpu_of_od(6000));
    note_accepted(hub.state, {Seq{10}, 200, "u", ""});
    CHECK(hub.queue.overwrites.empty());
  }
}

TEST_CASE("queues: a foreign value that is what we want now is no overwrite") {
  Hub hub;
  hub.state.claims["k"].grants[0].granted = 7000;
  hub.sees(cpu_of_od(7000));
  CHECK(hub.queue.overwrites.empty());
  hub.sees(cpu_of_od(5000));
  hub.sees(cpu_of_od(6000));
  CHECK(hub.queue.overwrites.size() == 1);
}

TEST_CASE("queues: our own write that comes back concerns the queue's quota alone") {
  Hub hub;
  hub.sees(cpu_of_od(5000));
  CHECK(hub.state.open_quotas == std::set<std::string>{"q"});
  CHECK(hub.state.open_queues.empty());
  CHECK(hub.state.open_claims.empty());
  hub.sees(cpu_of_od(9000));
  CHECK(hub.state.open_queues == std::set<std::string>{"q"});
  CHECK(hub.state.open_claims == std::set<std::string>{"k"});
}

TEST_CASE("queues: a lending limit is the administrator's where the list is not ours") {
  Hub hub;
  hub.sees(cpu_of_od(5000, 2000));
  CHECK(hub.queue.lending == std::map<QuotaKey, Quantity>{{kPair, to_quantity("cpu", 2000)}});
  hub.sees(cpu_of_od(5000));
  CHECK(hub.queue.lending.size() == 1);  // our list: it says nothing of theirs
  hub.sees(cpu_of_od(6000));
  CHECK(hub.queue.lending.empty());
}

TEST_CASE("queues: a queue that goes loses what was written, and keeps its base") {
  Hub hub;
  hub.queue.base.amounts[kPair] = 1000;
  forget_queue(hub.state, "q");
  CHECK_FALSE(hub.queue.present);
  CHECK(hub.queue.written.empty());
  CHECK_FALSE(hub.queue.written_groups);
  CHECK(hub.queue.contributed.empty());
  CHECK(hub.state.open_claims == std::set<std::string>{"k"});
  forget_queue(hub.state, "none");
  CHECK_FALSE(hub.state.queues.contains("none"));
}

TEST_CASE("queues: one that is made anew under its name has no writes of ours") {
  Hub hub;
  hub.sees(cpu_of_od(5000), "another");
  CHECK(hub.queue.uid == "another");
  CHECK(hub.queue.written.empty());
  CHECK_FALSE(hub.queue.written_groups);
}

TEST_CASE("queues: an accepted write keeps its pairs, its parts and when they changed") {
  Hub hub;
  CHECK(hub.queue.written == std::map<QuotaKey, Amount>{{kPair, 5000}});
  CHECK(hub.queue.written_groups == cpu_of_od(5000));
  const std::pair<std::string, QuotaKey> part{"c1", kPair};
  REQUIRE(hub.queue.contributed_at.contains(part));
  CHECK(hub.queue.contributed_at.at(part).seq == Seq{4});
  PatchIntended intent;
  intent.target = {Kind::cluster_queue, "", "q"};
  intent.contributions = {{"c1", "od", "cpu", 5000}};
  intent.expected = ClusterQueueFacts{};
  accept_queue_write(hub.state, intent, {Seq{6}, hub.state.now});
  CHECK(hub.queue.contributed_at.at(part).seq == Seq{4});  // the same part
  CHECK(hub.queue.written_at.seq == Seq{6});
  // Of a cluster that no claim names and no worker is: forgotten.
  hub.state.claims_of_queue.clear();
  intent.contributions.clear();
  accept_queue_write(hub.state, intent, {Seq{7}, hub.state.now});
  CHECK(hub.queue.contributed_at.empty());
}

TEST_CASE("queues: a named pair that is as desired is ours, one that is not named is given up") {
  Hub hub;
  hub.queue.written.clear();
  CHECK(named_pairs(hub.state, "q") == std::set<QuotaKey>{kPair});
  hub.queue.facts.groups = cpu_of_od(4000);
  recompute_pairs(hub.state, "q");
  CHECK(hub.queue.written.empty());
  hub.queue.facts.groups = cpu_of_od(5000);
  recompute_pairs(hub.state, "q");
  CHECK(hub.queue.written == std::map<QuotaKey, Amount>{{kPair, 5000}});
  // No claim names it any more: ours until it is 0.
  hub.state.claims_of_queue.clear();
  ++*hub.state.terms_changes;
  recompute_pairs(hub.state, "q");
  CHECK(owned_pairs(hub.state, "q") == std::set<QuotaKey>{kPair});
  hub.queue.facts.groups = cpu_of_od(0);
  recompute_pairs(hub.state, "q");
  CHECK(owned_pairs(hub.state, "q").empty());
}

TEST_CASE("queues: Kueue writes the quota where a config of one of its checks says Automated") {
  State state;
  Queue queue;
  queue.facts.admission_checks = {"other", "mk"};
  CHECK_FALSE(quota_automated(state, queue));
  auto& check = state.multikueue.checks["mk"];
  check.seen.facts.parameters_kind = "MultiKueueConfig";
  check.seen.facts.parameters_name = "workers";
  CHECK_FALSE(quota_automated(state, queue));
  auto& config = state.multikueue.configs["workers"];
  CHECK_FALSE(quota_automated(state, queue));
  config.facts.quota_management = "Automated";
  CHECK(quota_automated(state, queue));
  // A check of a Placement: its list has the Placement's name, if the check is ours.
  check.seen.facts.parameters_kind = "Placement";
  check.placement = "workers";
  CHECK_FALSE(quota_automated(state, queue));
  check.ours = true;
  CHECK(quota_automated(state, queue));
}

}  // namespace
}  // namespace fairlead::queues_test
