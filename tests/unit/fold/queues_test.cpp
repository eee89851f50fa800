#include "engine/fold/queues/queues.h"

#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/writes/outcomes.h"

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
  Queue& queue = state.queues.by_name["q"];
  Seq last;  // of the events so far
  Seq sent;  // of the last write of `writes`

  Hub() {
    Claim& claim = state.claims.by_name["k"];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 5000, {}}};
    claim.winner = claim.known = true;
    state.claims.of_queue["q"] = {"k"};
    state.claims.of_cluster["c1"] = {"k"};
    sees(cpu_of_od(0));
    PatchIntended intent;
    intent.target = {Kind::cluster_queue, "", "q"};
    intent.contributions = {{"c1", "od", "cpu", 5000}};
    ClusterQueueFacts expected;
    expected.groups = cpu_of_od(5000);
    intent.expected = expected;
    accept_queue_write(state, intent, {last = Seq{4}, state.now});
    sees(cpu_of_od(5000));
    forget_open();
  }
  void sees(std::vector<ResourceGroup> groups, const std::string& uid = "u") {
    observe_queue(state, queue_with(std::move(groups), uid), last = next(last));
  }
  // Sends a write that is not answered yet.
  void writes(std::vector<ResourceGroup> groups) {
    PatchIntended intent;
    intent.cluster = std::string(kHub);
    intent.target = {Kind::cluster_queue, "", "q"};
    intent.overlaid = queue.facts.groups;
    ClusterQueueFacts expected;
    expected.groups = std::move(groups);
    intent.expected = expected;
    note_intent(state, intent, sent = last = next(last));
  }
  // The write was accepted and made `version`; empty: the stream had already reported it.
  void accepted(const std::string& version) {
    last = next(last);
    hand_on(state, note_accepted(state, {sent, 200, "u", version}));
  }
  void grants(Amount amount) { state.claims.by_name["k"].grants[0].granted = amount; }
  void forget_open() {
    state.queues.dirty.clear();
    state.queues.dirty_quotas.clear();
    state.claims.dirty.clear();
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
  auto& groups = state.queues.by_name["q"].facts.groups;
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
    CHECK(hub.queue.contested.empty());
    hub.sees(cpu_of_od(9000 + i));
    hub.sees(cpu_of_od(5000));  // ours again
    hub.state.now = hub.state.now + seconds(1);
    if (i == 3) CHECK(hub.queue.overwrites.size() == kOverwritesAnswered);
  }
  hub.sees(cpu_of_od(8000));
  CHECK(hub.queue.contested == std::set<QuotaKey>{kPair});
  SECTION("it ends with an edit of the claim") {
    resolve_conflict(hub.state.queues, "q");
    CHECK(hub.queue.overwrites.empty());
  }
  SECTION("it ends when the observed value is ours") { hub.sees(cpu_of_od(5000)); }
  SECTION("an overwrite that is older than the window does not count") {
    hub.sees(cpu_of_od(5000));
    hub.state.now = hub.state.now + kOverwriteWindow + seconds(1);
    hub.sees(cpu_of_od(8000));
    CHECK(hub.queue.overwrites.size() == 1);
  }
  CHECK(hub.queue.contested.empty());
}

// Two pairs of one claim, 5 cpu of od and 3 of spot, as our last write left them.
struct TwoPairs : Hub {
  const QuotaKey spot{"spot", "cpu"};

  TwoPairs() {
    Claim& claim = state.claims.by_name["k"];
    claim.terms->rows.push_back({"q", "spot", "cpu", "cpu", 3000, 0, 0});
    claim.grants.push_back({claim.terms->rows[1], 3000, {}});
    ++*state.claims.terms_changes;
    writes(both(5000, 3000));
    sees(both(5000, 3000));
    accepted("");
  }
  static std::vector<ResourceGroup> both(Amount on_demand, Amount spot) {
    auto groups = cpu_of_od(on_demand);
    groups[0].flavors.push_back({"spot", {{"cpu", to_quantity("cpu", spot), {}, {}}}});
    return groups;
  }
  // Another writer changes spot once too often.
  void loses_spot() {
    for (int i = 0; i < 4; ++i) {
      sees(both(5000, 3000));
      sees(both(5000, 1000));
    }
    REQUIRE(queue.contested == std::set<QuotaKey>{spot});
  }
};

TEST_CASE("queues: only the pairs that differ at the fourth overwrite are contested") {
  TwoPairs hub;
  hub.loses_spot();
  // A write of the other pair carries the foreign value, which does not become ours.
  hub.grants(4000);
  hub.writes(TwoPairs::both(4000, 1000));
  hub.accepted("7");
  hub.sees(TwoPairs::both(4000, 1000));
  CHECK(hub.queue.contested == std::set<QuotaKey>{hub.spot});
  CHECK(hub.queue.written == std::map<QuotaKey, Amount>{{kPair, 4000}, {hub.spot, 3000}});
  SECTION("the writer that restores its whole list contests the other pair too") {
    hub.sees(TwoPairs::both(5000, 1000));
    CHECK(hub.queue.contested == std::set<QuotaKey>{kPair, hub.spot});
    CHECK(hub.queue.overwrites.size() == kOverwritesAnswered);
    hub.sees(TwoPairs::both(5000, 3000));  // one of them is ours again
    CHECK(hub.queue.contested == std::set<QuotaKey>{kPair});
  }
  SECTION("what that writer does to its own value counts no more") {
    hub.sees(TwoPairs::both(4000, 2000));
    CHECK(hub.queue.contested == std::set<QuotaKey>{hub.spot});
  }
  SECTION("the value that we would write now ends it") {
    hub.state.claims.by_name["k"].grants[1].granted = 1000;
    recompute_pairs(hub.state, "q");
    CHECK(hub.queue.contested.empty());
  }
  SECTION("so does the value that we wrote last, and an edit of the claim") {
    hub.sees(TwoPairs::both(4000, 3000));
    CHECK(hub.queue.contested.empty());
  }
  SECTION("a pair that is not ours any more is not contested") {
    hub.queue.written.erase(hub.spot);
    recompute_pairs(hub.state, "q");
    CHECK_FALSE(hub.queue.contested.contains(hub.spot));
  }
}

// The stream may report a later version alone: what another writer made of our write at once.
TEST_CASE("queues: an overwrite counts although no observation had our list") {
  Hub hub;
  hub.sees(cpu_of_od(1000));
  REQUIRE(hub.queue.overwrites.size() == 1);
  hub.writes(cpu_of_od(5000));
  SECTION("the answer comes first, and the value differs") {
    hub.accepted("7");
    hub.sees(cpu_of_od(2000));
  }
  SECTION("the answer comes first, and the value is that of before") {
    hub.accepted("7");
    hub.sees(cpu_of_od(1000));
  }
  SECTION("the observation comes first") {
    hub.sees(cpu_of_od(2000));
    REQUIRE(hub.queue.overwrites.size() == 1);  // perhaps from before our write
    hub.forget_open();
    hub.accepted("");
    CHECK(hub.state.queues.dirty.contains("q"));
    CHECK(hub.state.claims.dirty.contains("k"));
  }
  CHECK(hub.queue.overwrites.size() == 2);
}

TEST_CASE("queues: an observation from before our write is no overwrite of it") {
  Hub hub;
  hub.writes(cpu_of_od(6000));
  SECTION("an older version") {
    hub.accepted("8");
    hub.sees(cpu_of_od(2000));
    CHECK(hub.queue.overwrites.empty());
  }
  SECTION("our list itself") {
    hub.sees(cpu_of_od(6000));
    hub.accepted("");
    CHECK(hub.queue.overwrites.empty());
  }
}

// The state in which another writer left our write is observed before the answer to it comes: that
// observation or the answer counts the overwrite, never both.
TEST_CASE("queues: an overwrite that is observed before the answer counts once") {
  Hub hub;
  hub.grants(6000);
  hub.writes(cpu_of_od(6000));
  SECTION("another value") { hub.sees(cpu_of_od(2000)); }
  SECTION("several values") {
    hub.sees(cpu_of_od(2000));
    hub.sees(cpu_of_od(3000));
  }
  SECTION("the value that was ours before the write") { hub.sees(cpu_of_od(5000)); }
  SECTION("another value, then the one that was ours before the write") {
    hub.sees(cpu_of_od(2000));
    hub.sees(cpu_of_od(5000));
  }
  SECTION("the value that was ours before the write, then another") {
    hub.sees(cpu_of_od(5000));
    hub.sees(cpu_of_od(2000));
  }
  hub.accepted("");
  CHECK(hub.queue.overwrites.size() == 1);
  CHECK(hub.queue.written_groups == cpu_of_od(6000));
}

TEST_CASE("queues: after an overwrite that counted before the answer") {
  Hub hub;
  hub.grants(6000);
  hub.writes(cpu_of_od(6000));
  hub.sees(cpu_of_od(2000));
  hub.accepted("");
  SECTION("what the other writer does to its own value is none") {
    hub.sees(cpu_of_od(4000));
    CHECK(hub.queue.overwrites.size() == 1);
  }
  SECTION("that of the next write is another one") {
    hub.writes(cpu_of_od(6000));
    hub.sees(cpu_of_od(4000));
    hub.accepted("");
    CHECK(hub.queue.overwrites.size() == 2);
  }
  SECTION("that of a write that was observed is another one") {
    hub.writes(cpu_of_od(6000));
    hub.sees(cpu_of_od(6000));
    hand_on(hub.state, note_observed(hub.state, std::string(kHub), queue_with(cpu_of_od(6000))));
    hub.accepted("");
    hub.sees(cpu_of_od(4000));
    CHECK(hub.queue.overwrites.size() == 2);
  }
}

TEST_CASE("queues: an overwrite of a write that changed our list counts once after the answer") {
  Hub hub;
  hub.grants(6000);
  hub.writes(cpu_of_od(6000));
  hub.accepted("7");
  SECTION("another value") { hub.sees(cpu_of_od(2000)); }
  SECTION("the value that was ours before the write") { hub.sees(cpu_of_od(5000)); }
  CHECK(hub.queue.overwrites.size() == 1);
}

TEST_CASE("queues: an overwrite of our first write counts once") {
  Hub hub;
  hub.queue.written_groups.reset();
  SECTION("of a pair that was ours because it was as desired") {
    hub.grants(6000);
    hub.writes(cpu_of_od(6000));
    hub.sees(cpu_of_od(2000));
    CHECK(hub.queue.overwrites.size() == 1);
  }
  SECTION("of a pair that was not ours") {
    hub.queue.written.clear();
    hub.writes(cpu_of_od(6000));
    hub.sees(cpu_of_od(2000));
    CHECK(hub.queue.overwrites.empty());
  }
  hub.accepted("");
  CHECK(hub.queue.overwrites.size() == 1);
}

TEST_CASE("queues: an overwrite of a pair that the write made ours counts once") {
  Hub hub;
  Claim& claim = hub.state.claims.by_name["k"];
  claim.terms->rows.push_back({"q", "spot", "cpu", "cpu", 3000, 0, 0});
  claim.grants.push_back({claim.terms->rows[1], 3000, {}});
  ++*hub.state.claims.terms_changes;
  const auto with_spot = [](Amount on_demand, Amount spot) {
    auto groups = cpu_of_od(on_demand);
    groups[0].flavors.push_back({"spot", {{"cpu", to_quantity("cpu", spot), {}, {}}}});
    return groups;
  };
  hub.writes(with_spot(5000, 3000));
  SECTION("alone") { hub.sees(with_spot(5000, 1000)); }
  SECTION("with one that was ours") { hub.sees(with_spot(4000, 1000)); }
  hub.accepted("");
  CHECK(hub.queue.overwrites.size() == 1);
}

TEST_CASE("queues: an overwrite that was resolved before the answer does not count at it") {
  Hub hub;
  hub.writes(cpu_of_od(6000));
  hub.sees(cpu_of_od(2000));
  resolve_conflict(hub.state.queues, "q");
  hub.accepted("");
  CHECK(hub.queue.overwrites.empty());
}

TEST_CASE("queues: what a write without an answer made of our pair is no overwrite") {
  Hub hub;
  hub.writes(cpu_of_od(6000));
  hub.grants(7000);
  hub.sees(cpu_of_od(6000, 1000));  // another writer added a lending limit to it
  CHECK(hub.queue.overwrites.empty());
  hub.accepted("");
  CHECK(hub.queue.overwrites.empty());
  CHECK(hub.queue.lending == std::map<QuotaKey, Quantity>{{kPair, to_quantity("cpu", 1000)}});
}

TEST_CASE("queues: a conflict ends with the answer to the write whose value is observed") {
  Hub hub;
  hub.queue.overwrites.assign(kOverwritesAnswered, hub.state.now);
  hub.writes(cpu_of_od(6000));
  hub.sees(cpu_of_od(2000));
  CHECK(hub.queue.contested == std::set<QuotaKey>{kPair});
  hub.sees(cpu_of_od(6000, 1000));
  CHECK(hub.queue.contested == std::set<QuotaKey>{kPair});
  hub.accepted("");
  CHECK(hub.queue.contested.empty());
}

TEST_CASE("queues: a foreign value that is what we want now is no overwrite") {
  Hub hub;
  hub.grants(7000);
  hub.sees(cpu_of_od(7000));
  CHECK(hub.queue.overwrites.empty());
  hub.sees(cpu_of_od(5000));
  hub.sees(cpu_of_od(6000));
  CHECK(hub.queue.overwrites.size() == 1);
}

TEST_CASE("queues: our own write that comes back concerns the queue's quota alone") {
  Hub hub;
  hub.sees(cpu_of_od(5000));
  CHECK(hub.state.queues.dirty_quotas == std::set<std::string>{"q"});
  CHECK(hub.state.queues.dirty.empty());
  CHECK(hub.state.claims.dirty.empty());
  hub.sees(cpu_of_od(9000));
  CHECK(hub.state.queues.dirty == std::set<std::string>{"q"});
  CHECK(hub.state.claims.dirty == std::set<std::string>{"k"});
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
  CHECK(hub.state.claims.dirty == std::set<std::string>{"k"});
  forget_queue(hub.state, "none");
  CHECK_FALSE(hub.state.queues.by_name.contains("none"));
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
  hub.state.claims.of_queue.clear();
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
  hub.state.claims.of_queue.clear();
  ++*hub.state.claims.terms_changes;
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
  CHECK_FALSE(quota_automated(state.multikueue, queue));
  auto& check = state.multikueue.checks["mk"];
  check.seen.facts.parameters_kind = "MultiKueueConfig";
  check.seen.facts.parameters_name = "workers";
  CHECK_FALSE(quota_automated(state.multikueue, queue));
  auto& config = state.multikueue.configs["workers"];
  CHECK_FALSE(quota_automated(state.multikueue, queue));
  config.facts.quota_management = "Automated";
  CHECK(quota_automated(state.multikueue, queue));
  // A check of a Placement: its list has the Placement's name, if the check is ours.
  check.seen.facts.parameters_kind = "Placement";
  check.placement = "workers";
  CHECK_FALSE(quota_automated(state.multikueue, queue));
  check.ours = true;
  CHECK(quota_automated(state.multikueue, queue));
}

}  // namespace
}  // namespace fairlead::queues_test
