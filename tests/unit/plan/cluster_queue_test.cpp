#include "engine/plan/queues/cluster_queue.h"

#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead::cluster_queue_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

// A hub queue q with 2 cpu of od, of which a claim is granted 5.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];

  Hub() {
    state.now = LogTime{} + seconds(1000);
    state.flavors.by_name["od"] = state.flavors.by_name["spot"] = {};
    queue.present = true;
    queue.uid = "u";
    queue.resource_version = "7";
    queue.seq = Seq{2};
    shows(2000);
    grants(5000);
  }
  ResourceQuota& shows(Amount cpu) {
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", cpu), {}, {}}}}}}};
    return queue.facts.groups[0].flavors[0].resources[0];
  }
  Claim& grants(Amount cpu) {
    Claim& claim = state.claims.by_name["k"];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.terms->rows = {{"q", "od", "cpu", "cpu", cpu, 0, 0}};
    claim.grants = {{claim.terms->rows[0], cpu, {}}};
    claim.terms_seq = Seq{3};
    claim.winner = claim.known = true;
    state.claims.of_queue["q"] = {"k"};
    state.claims.of_cluster["c1"] = {"k"};
    return claim;
  }
  QueueWish wish() {
    HubQuotas quotas(state);
    return wish_for_queue(state, "q", quotas);
  }
  const ResourceQuota& entry(const QueueWish& wish) const {
    return *find_quota(wish.groups, "od", "cpu");
  }
  Proposed proposed() {
    QueueWishes wishes(state);
    return emit_queue(state, "q", wishes);
  }
};

TEST_CASE("cluster queue: the wish is the list that was read with our quota in it") {
  Hub hub;
  const QueueWish wish = hub.wish();
  CHECK(wish.emitted);
  CHECK(wish.differs);
  CHECK(wish.direction == Direction::other);
  CHECK(hub.entry(wish).nominal == to_quantity("cpu", 5000));
  CHECK(wish.contributions == std::vector<Contribution>{{"c1", "od", "cpu", 5000}});
  hub.shows(8000);
  CHECK(hub.wish().direction == Direction::lowers);
  hub.shows(5000);
  CHECK_FALSE(hub.wish().differs);
  hub.shows(5000).nominal = *Quantity::parse("5000m");  // the same by value
  CHECK_FALSE(hub.wish().differs);
  HubQuotas quotas(hub.state);
  CHECK_FALSE(wish_for_queue(hub.state, "none", quotas).differs);
}

TEST_CASE("cluster queue: limits exist in a cohort alone, lending at most the nominal quota") {
  Hub hub;
  hub.shows(2000).borrowing_limit = *Quantity::parse("9");
  hub.queue.lending[kPair] = *Quantity::parse("7");
  CHECK_FALSE(hub.entry(hub.wish()).borrowing_limit);
  CHECK_FALSE(hub.entry(hub.wish()).lending_limit);
  hub.queue.facts.cohort = "team";
  CHECK(hub.entry(hub.wish()).borrowing_limit == *Quantity::parse("9"));
  CHECK(hub.entry(hub.wish()).lending_limit == to_quantity("cpu", 5000));
  hub.grants(9000);  // the administrator's comes back as the quota grows
  CHECK(hub.entry(hub.wish()).lending_limit == *Quantity::parse("7"));
}

TEST_CASE("cluster queue: why a pair is left unchanged") {
  Hub hub;
  const auto bar = [&](const QuotaKey& pair) {
    const auto kept = hub.wish().kept;
    const auto at = kept.find(pair);
    return at == kept.end() ? std::nullopt : std::optional(at->second);
  };
  CHECK_FALSE(bar(kPair));
  hub.grants(5000).known = false;
  CHECK(bar(kPair) == PairBar::unknown_capacity);
  CHECK_FALSE(hub.wish().differs);
  hub.grants(5000);
  hub.state.flavors.gone = {"od"};
  CHECK(bar(kPair) == PairBar::withheld);
  CHECK(hub.wish().withheld.at(kPair) == GrantReason::flavor_not_found);
  hub.state.flavors.gone.clear();
  // A pair of an earlier write, which no claim names any more and the list does not have.
  hub.queue.written[{"spot", "cpu"}] = 0;
  CHECK(bar({"spot", "cpu"}) == PairBar::no_place);
}

TEST_CASE("cluster queue: a contested pair stays as observed, the pair beside it follows") {
  Hub hub;
  Claim& claim = hub.grants(5000);
  claim.terms->rows.push_back({"q", "spot", "cpu", "cpu", 3000, 0, 0});
  claim.grants.push_back({claim.terms->rows[1], 3000, {}});
  const QuotaKey spot{"spot", "cpu"};
  hub.queue.contested = {spot};
  hub.queue.written[spot] = 3000;
  hub.queue.contributed = {{"c1", "spot", "cpu", 3000}};
  SECTION("with another value") {
    hub.queue.facts.groups[0].flavors.push_back(
        {"spot", {{"cpu", SpelledQuantity(*Quantity::parse("1000m"), "1000m"), {}, {}}}});
    CHECK(find_quota(hub.wish().groups, "spot", "cpu")->nominal.as_written() == "1000m");
  }
  SECTION("which the other writer removed") {
    CHECK(find_quota(hub.wish().groups, "spot", "cpu") == nullptr);
  }
  const QueueWish wish = hub.wish();
  CHECK(wish.emitted);
  CHECK(wish.kept == std::map<QuotaKey, PairBar>{{spot, PairBar::contested}});
  CHECK(hub.entry(wish).nominal == to_quantity("cpu", 5000));
  // What the write before promised of it stays recorded.
  CHECK(wish.contributions ==
        std::vector<Contribution>{{"c1", "od", "cpu", 5000}, {"c1", "spot", "cpu", 3000}});
}

TEST_CASE("cluster queue: a Quantity that we do not change keeps its text") {
  Hub hub;
  ResourceQuota& quota = hub.shows(5000);
  quota.nominal = SpelledQuantity(*Quantity::parse("5000m"), "5000m");
  quota.borrowing_limit = SpelledQuantity(*Quantity::parse("2000m"), "2000m");
  hub.queue.facts.cohort = "all";
  CHECK_FALSE(hub.wish().differs);  // a text is no reason to write
  hub.grants(4000);
  const Json entry = groups_as_written(hub.wish().groups)[0]["flavors"][0]["resources"][0];
  CHECK(entry["nominalQuota"] == "4");
  CHECK(entry["borrowingLimit"] == "2000m");
  // What is made for a member is canonical: a new text on the hub is no reason to write there.
  CHECK(groups_json(hub.wish().groups)[0]["flavors"][0]["resources"][0]["borrowingLimit"] == "2");
}

TEST_CASE("cluster queue: what keeps a queue from being written, in its order") {
  Hub hub;
  const auto bar = [&] { return queue_bar(hub.state, "q"); };
  CHECK(bar() == QueueBar::none);
  hub.queue.facts.deleting = true;
  CHECK(bar() == QueueBar::deleting);
  hub.queue.facts.effective = EffectiveQuotas{};
  CHECK(bar() == QueueBar::orchestrated);
  CHECK(hub.wish().orchestrated);
  CHECK_FALSE(hub.wish().emitted);
  hub.queue.present = false;
  CHECK(bar() == QueueBar::absent);
  CHECK(queue_bar(hub.state, "none") == QueueBar::absent);
}

TEST_CASE("cluster queue: a proposal carries version, list, parts, what it overlaid and why") {
  Hub hub;
  const Proposed proposal = hub.proposed();
  REQUIRE(proposal);
  CHECK(proposal->rank == Rank::grow);
  const PatchIntended& intent = *proposal;
  CHECK(intent.force);
  CHECK(intent.uid == "u");
  CHECK(intent.overlaid == hub.queue.facts.groups);
  CHECK(Json::parse(intent.body) == Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
    "metadata": {"name": "q", "resourceVersion": "7", "uid": "u"},
    "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
      {"name": "od", "resources": [{"name": "cpu", "nominalQuota": "5"}]}]}]}})"));
  CHECK(intent.reason.rule == "claims/grow");
  CHECK(intent.reason.text == "od cpu 2 -> 5");
  CHECK(intent.reason.because == std::vector<Seq>{Seq{2}, Seq{3}});
  REQUIRE(intent.expected);
  CHECK(std::get<ClusterQueueFacts>(*intent.expected).groups == hub.wish().groups);
  hub.shows(8000);
  CHECK(hub.proposed()->rank == Rank::shrink);
  CHECK(hub.proposed()->reason.rule == "claims/shrink");
}

TEST_CASE(
    "cluster queue: growth waits for the write interval, a fall does not, neither for no answer") {
  Hub hub;
  PatchIntended intent = *hub.proposed();
  note_intent(hub.state, intent, Seq{5});
  CHECK_FALSE(hub.proposed());
  hand_on(hub.state, note_accepted(hub.state, {Seq{5}, 200, "u", "8"}));
  CHECK_FALSE(hub.proposed());  // not seen yet
  ObjectObserved seen{{Kind::cluster_queue, "", "q"}, "v1beta2", "u", "8", 1, hub.queue.facts, {}};
  hand_on(hub.state, note_observed(hub.state, std::string(kHub), seen));
  CHECK_FALSE(hub.proposed());
  hub.shows(8000);
  CHECK(hub.proposed());
  hub.shows(2000);
  hub.state.now = hub.state.now + hub.state.configuration.debounce.write_interval;
  CHECK(hub.proposed());
}

TEST_CASE("cluster queue: a wish is made once, and again when its queue or cluster changed") {
  Hub hub;
  QueueWishes wishes(hub.state);
  const auto nominal = [&] { return hub.entry(wishes.of("q")).nominal; };
  CHECK(nominal() == to_quantity("cpu", 5000));
  hub.grants(6000);
  CHECK(nominal() == to_quantity("cpu", 5000));
  DirtySet dirty;
  wishes.go_on(dirty);
  CHECK(nominal() == to_quantity("cpu", 5000));
  dirty.queues = {"q"};
  note_quota_change(hub.state.queues, "q");
  wishes.go_on(dirty);
  CHECK(nominal() == to_quantity("cpu", 6000));
  hub.grants(7000);
  wishes.go_on(dirty);  // dirty, but nothing changed that it follows from
  CHECK(nominal() == to_quantity("cpu", 6000));
  dirty.everything = true;
  wishes.go_on(dirty);
  CHECK(nominal() == to_quantity("cpu", 7000));
}

}  // namespace
}  // namespace fairlead::cluster_queue_test
