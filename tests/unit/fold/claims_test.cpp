#include "engine/fold/claims/claims.h"

#include <catch2/catch.hpp>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/state.h"

namespace fairlead::claims_test {
namespace {

using Rows = std::vector<ClaimAssignment>;

ClaimAssignment row(const std::string& queue, const std::string& flavor, const std::string& cpu) {
  return {queue, flavor, {{"cpu", cpu}}, {}, {}};
}

ObjectObserved claim_of(const std::string& name, Rows rows, const std::string& cluster = "c1") {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = {{"cpu", "100"}};
  facts.spec.assignments = std::move(rows);
  return {{Kind::claim, "", name}, "v1alpha1", "u-" + name, "1", 1, facts, {}};
}

ClaimFacts& facts_of(ObjectObserved& seen) { return std::get<ClaimFacts>(seen.facts); }

struct Bench {
  State state;
  DirtySet dirty;

  void sees(const ObjectObserved& seen) {
    state.seq = next(state.seq);
    observe_claim(state, seen, state.seq);
    recompute_claims(state, dirty);
  }
  // The cluster's accepted cpu by flavor; mapped, so that flavors bind.
  void accepts(std::map<std::string, Amount> cpu) {
    Cluster& cluster = state.clusters["c1"];
    cluster.known = true;
    cluster.capacity.clear();
    cluster.mapped.clear();
    for (const auto& [flavor, amount] : cpu) {
      cluster.capacity[{flavor, "cpu"}].damped.accepted = amount;
      if (!flavor.empty()) cluster.mapped.insert({flavor, "cpu"});
    }
    cluster.totals_accepted = cpu.contains("");
    mark_cluster_claims_dirty(state.claims, "c1");
    recompute_claims(state, dirty);
  }
  const Claim& claim(const std::string& name = "k") { return state.claims.by_name.at(name); }
  // What each row was granted, with the reason.
  std::vector<std::pair<Amount, std::string>> grants(const std::string& name = "k") {
    std::vector<std::pair<Amount, std::string>> all;
    for (const Grant& grant : claim(name).grants)
      all.emplace_back(grant.granted, text_of(grant.reason));
    return all;
  }
};

using Grants = std::vector<std::pair<Amount, std::string>>;

TEST_CASE("claims: before capacity is known a grant is the last one, or that of the status") {
  Bench bench;
  ObjectObserved seen = claim_of("k", {row("q", "od", "5"), row("q", "spot", "3")});
  facts_of(seen).status_grants = {{"q", "od", "cpu", "4"}, {"q", "spot", "cpu", "-1"}};
  bench.sees(seen);
  CHECK_FALSE(bench.claim().known);
  CHECK(bench.grants() == Grants{{4000, "CapacityUnknown"}, {0, "CapacityUnknown"}});
  bench.accepts({{"od", 9000}, {"spot", 9000}});
  CHECK(bench.claim().known);
  CHECK(bench.grants() == Grants{{5000, ""}, {3000, ""}});
}

TEST_CASE("claims: a mapped flavor binds, then the cluster") {
  Bench bench;
  bench.sees(claim_of("k", {row("q", "od", "5"), row("q", "spot", "8")}));
  bench.accepts({{"od", 3000}, {"spot", 4000}});
  CHECK(bench.grants() == Grants{{3000, "FlavorCapacity"}, {4000, "FlavorCapacity"}});
  // Of a flavor that never had a node the total alone bounds.
  bench.accepts({{"od", 9000}});
  CHECK(bench.grants() == Grants{{3000, "ClusterCapacity"}, {6000, "ClusterCapacity"}});
  // Where only totals are known no flavor binds.
  bench.accepts({{"", 13000}});
  CHECK(bench.grants() == Grants{{5000, ""}, {8000, ""}});
}

TEST_CASE("claims: the steps of a grant are those that the grant took") {
  Bench bench;
  bench.sees(claim_of("k", {row("q", "od", "5"), row("q", "tpu", "8")}));
  bench.accepts({{"od", 3000}, {"spot", 6000}});
  const auto steps = grant_steps(bench.state, bench.state.clusters.at("c1"), bench.claim());
  REQUIRE(steps.size() == 2);
  CHECK(steps[0] == GrantSteps{5000, 3000, 3000, 9000});
  CHECK(steps[1] == GrantSteps{8000, std::nullopt, 8000, 9000});
  CHECK(grant_steps(bench.state, bench.state.clusters.at("c1"), Claim{}).empty());
}

TEST_CASE("claims: the oldest claim of a cluster wins, then the lowest uid") {
  Bench bench;
  ObjectObserved older = claim_of("older", {row("q", "od", "5")});
  ObjectObserved newer = claim_of("newer", {row("q", "od", "3")});
  facts_of(newer).created = LogTime{} + seconds(1);
  bench.sees(newer);
  CHECK(bench.claim("newer").winner);
  bench.sees(older);
  CHECK(bench.claim("older").winner);
  CHECK_FALSE(bench.claim("newer").winner);
  CHECK(bench.grants("newer") == Grants{{0, "ClusterAlreadyClaimed"}});
  CHECK(winning_claim(bench.state.claims, "c1") == &bench.claim("older"));
  // Equal times: by uid.
  facts_of(newer).created = {};
  bench.sees(newer);
  CHECK(bench.claim("newer").winner);
  // One that is being deleted does not win, and is granted nothing.
  facts_of(newer).deleting = true;
  bench.sees(newer);
  CHECK(bench.claim("older").winner);
  CHECK(bench.grants("newer") == Grants{{0, "ClaimDeleted"}});
  forget_claim(bench.state, "older");
  CHECK(winning_claim(bench.state.claims, "c1") == nullptr);
  CHECK(bench.state.claims.of_queue ==
        std::map<std::string, std::set<std::string>>{{"q", {"newer"}}});
}

TEST_CASE("claims: an invalid edit keeps the last valid terms, and the cluster cannot change") {
  Bench bench;
  bench.sees(claim_of("k", {row("q", "od", "5")}));
  const Seq valid = bench.state.seq;
  bench.sees(claim_of("k", {row("q", "od", "101")}));
  REQUIRE(bench.claim().fault);
  CHECK(bench.claim().fault->reason == ClaimFaultReason::assignments_exceed_nominal);
  CHECK(bench.claim().terms->rows.at(0).assigned == 5000);
  CHECK(bench.claim().terms_seq == valid);
  CHECK(bench.claim().edited_seq == bench.state.seq);
  bench.sees(claim_of("k", {row("q", "od", "6")}, "c2"));
  CHECK(bench.claim().fault == ClaimFault{ClaimFaultReason::cluster_name_immutable,
                                          "spec.clusterName: c1 cannot become c2"});
  CHECK(bench.state.claims.of_cluster ==
        std::map<std::string, std::set<std::string>>{{"c1", {"k"}}});
  // Invalid from the start: no terms, no grants, and nothing to wait for.
  bench.sees(claim_of("bad", {row("q", "od", "101")}, "c3"));
  CHECK_FALSE(bench.claim("bad").terms);
  CHECK(bench.claim("bad").known);
  CHECK(bench.claim("bad").grants.empty());
}

TEST_CASE("claims: a claim that is made anew under its name starts without terms") {
  Bench bench;
  bench.sees(claim_of("k", {row("q", "od", "5")}));
  ObjectObserved again = claim_of("k", {row("q2", "od", "5")}, "c2");
  again.uid = "another";
  bench.sees(again);
  CHECK_FALSE(bench.claim().fault);
  CHECK(bench.claim().terms->cluster == "c2");
  CHECK(bench.state.claims.of_queue == std::map<std::string, std::set<std::string>>{{"q2", {"k"}}});
}

TEST_CASE("claims: an edit of the winner lets falls count at once, another sight does not") {
  Bench bench;
  const auto at_once = [&] {
    return std::exchange(bench.state.clusters.at("c1").observation.at_once_all, false);
  };
  ObjectObserved seen = claim_of("k", {row("q", "od", "5")});
  bench.sees(seen);
  CHECK_FALSE(at_once());  // it was not in force before
  seen.resource_version = "2";
  bench.sees(seen);
  CHECK_FALSE(at_once());
  CHECK(bench.claim().resource_version == "2");
  facts_of(seen).spec.assignments[0].resources["cpu"] = "4";
  bench.sees(seen);
  CHECK(at_once());
  forget_claim(bench.state, "k");
  CHECK(at_once());
}

TEST_CASE("claims: a malformed debounce annotation is a warning, the others count") {
  Bench bench;
  ObjectObserved seen = claim_of("k", {row("q", "od", "5")});
  facts_of(seen).debounce = {{"growWindow", "10s"}, {"shrinkWindow", "soon"}};
  bench.sees(seen);
  REQUIRE(bench.claim().warnings.size() == 1);
  CHECK(bench.claim().warnings[0].starts_with(
      "annotation fairlead.io/debounce.shrinkWindow \"soon\": "));
  CHECK(settings_of(bench.state, "c1").grow_window == seconds(10));
}

TEST_CASE("claims: the configuration's aliases are applied to every claim anew") {
  Bench bench;
  ObjectObserved seen = claim_of("k", {{"q", "od", {{"tpu", "2"}}, {}, {}}});
  facts_of(seen).spec.nominal_resources = {{"tpu", "2"}};
  bench.sees(seen);
  CHECK(bench.claim().terms->rows.at(0).resource == "tpu");
  bench.state.configuration.resource_aliases = {{"tpu", "example.com/tpu"}};
  reparse_claims(bench.state);
  CHECK(bench.claim().terms->rows.at(0).resource == "example.com/tpu");
  CHECK(bench.claim().terms->rows.at(0).spelled == "tpu");
  CHECK(bench.state.claims.dirty == std::set<std::string>{"k"});
}

TEST_CASE("claims: the headroom follows aliases that changed, whatever asked for it meanwhile") {
  Bench bench;
  ObjectObserved seen = claim_of("k", {});
  facts_of(seen).spec.headroom.percent = std::map<std::string, std::string>{{"tpu", "10"}};
  bench.sees(seen);
  const auto percent_of = [&](const std::string& resource) {
    const auto& terms = terms_of(bench.state, "c1", bench.state.clusters["c1"]);
    for (const auto& row : terms.headroom.rows)
      if (row.resource == resource) return row.percent;
    return std::int64_t{-1};
  };
  CHECK(percent_of("tpu") == 10);
  bench.state.configuration.resource_aliases = {{"tpu", "example.com/tpu"}};
  ++*bench.state.claims.terms_changes;  // as ConfigChanged, whose counts of nodes ask next
  percent_of("tpu");
  reparse_claims(bench.state);
  CHECK(percent_of("example.com/tpu") == 10);
}

TEST_CASE(
    "claims: what a claim assigns that the configuration made valid is named at its cluster") {
  Bench bench;
  bench.state.configuration.resource_aliases = {{"tpu", "example.com/tpu"}};
  ObjectObserved seen = claim_of("k", {row("q", "od", "2")});
  facts_of(seen).spec.nominal_resources = {{"cpu", "2"}, {"tpu", "2"}, {"example.com/tpu", "2"}};
  bench.sees(seen);
  REQUIRE(bench.claim().fault);
  CHECK(bench.state.clusters["c1"].member.named.empty());
  bench.state.configuration.resource_aliases.clear();
  reparse_claims(bench.state);
  CHECK_FALSE(bench.claim().fault);
  CHECK(bench.state.clusters["c1"].member.named.at("q") == std::set<std::string>{"od"});
}

TEST_CASE("claims: a queue that covers an alias and its name grants neither") {
  Bench bench;
  bench.state.configuration.resource_aliases = {{"core", "cpu"}};
  Queue& queue = bench.state.queues.by_name["q"];
  queue.facts.groups = {{{"core", "cpu"}, {}}};
  bench.sees(claim_of("k", {row("q", "od", "5"), row("q2", "od", "5")}));
  bench.accepts({{"od", 9000}});
  CHECK(bench.grants() == Grants{{0, "AmbiguousResourceAlias"}, {5000, ""}});
}

}  // namespace
}  // namespace fairlead::claims_test
