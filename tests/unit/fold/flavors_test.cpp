#include "engine/fold/capacity/flavors.h"

#include <catch2/catch.hpp>

#include "engine/fold/state.h"

namespace fairlead::flavors_test {
namespace {

ResourceFlavorFacts labelled(const std::string& type) { return {{{"type", type}}, {}, {}, ""}; }

void assign(State& state, const std::string& flavor) {
  Claim& claim = state.claims.by_name["k"];
  claim.terms = ClaimTerms{};
  claim.terms->rows = {{"q", flavor, "cpu", "cpu", 1000, 0, 0}};
}

TEST_CASE("flavors: one that nothing names is gone when it goes") {
  State state;
  const auto facts = labelled("od");
  observe_flavor(state, "od", &facts, Seq{3});
  CHECK(flavor_exists(state.flavors, "od"));
  CHECK(state.flavors.seqs == std::map<std::string, Seq>{{"od", Seq{3}}});
  observe_flavor(state, "od", nullptr, Seq{4});
  CHECK_FALSE(flavor_exists(state.flavors, "od"));
  CHECK(state.flavors.by_name.empty());
  CHECK(state.flavors.gone.empty());
  CHECK(state.flavors.seqs.empty());
}

TEST_CASE("flavors: one that a claim or a work names stays in force while it is gone") {
  State state;
  const auto facts = labelled("od");
  observe_flavor(state, "od", &facts, Seq{3});
  SECTION("a claim") { assign(state, "od"); }
  SECTION("a member's work") {
    state.clusters["c1"].member.quota_works["fairlead-quota"].facts.quotas = {
        {"q", "od", "cpu", 1000}};
  }
  observe_flavor(state, "od", nullptr, Seq{4});
  CHECK_FALSE(flavor_exists(state.flavors, "od"));
  CHECK(state.flavors.by_name.at("od") == facts);
  release_gone_flavors(state);  // still named
  CHECK(state.flavors.gone == std::set<std::string>{"od"});
  CHECK_FALSE(state.all_dirty);
  state.claims.by_name.clear();
  state.clusters.clear();
  release_gone_flavors(state);
  CHECK(state.flavors.by_name.empty());
  CHECK(state.flavors.gone.empty());
  CHECK(state.all_dirty);
}

TEST_CASE("flavors: one that returns exists again, as it is then") {
  State state;
  const auto before = labelled("od"), after = labelled("on-demand");
  observe_flavor(state, "od", &before, Seq{3});
  assign(state, "od");
  observe_flavor(state, "od", nullptr, Seq{4});
  observe_flavor(state, "od", &after, Seq{5});
  CHECK(flavor_exists(state.flavors, "od"));
  CHECK(state.flavors.by_name.at("od") == after);
  CHECK(state.flavors.seqs.at("od") == Seq{5});
}

TEST_CASE("flavors: one that was never there can go") {
  State state;
  assign(state, "od");
  observe_flavor(state, "od", nullptr, Seq{4});
  CHECK(state.flavors.by_name.empty());
  CHECK(state.flavors.gone.empty());
}

ResourceGroup group_of(std::vector<std::string> resources, const std::vector<std::string>& flavors,
                       Amount nominal = 0) {
  ResourceGroup group{std::move(resources), {}};
  for (const std::string& flavor : flavors) {
    group.flavors.push_back({flavor, {}});
    for (const std::string& resource : group.covered_resources)
      group.flavors.back().resources.push_back({resource, to_quantity(resource, nominal), {}, {}});
  }
  return group;
}

TEST_CASE("flavors: a use counts while a queue or a claim has it, and quotas are no use") {
  State state;
  state.seq = Seq{7};
  const std::vector<ResourceGroup> small{group_of({"cpu"}, {"od"})};
  const std::vector<ResourceGroup> edited{group_of({"cpu"}, {"od"}, 5000)};
  const std::vector<ResourceGroup> large{group_of({"cpu", "memory"}, {"od", "spot"})};
  ClaimTerms terms;
  terms.rows = {{"q", "od", "cpu", "cpu", 1000, 0, 0}};
  note_groups(state, nullptr, &small);
  CHECK(state.flavors.edited == Seq{7});
  adopt_uses(state);
  CHECK_FALSE(state.flavors.edited);
  CHECK(state.flavors.in_force == FlavorUses{{"cpu", {"od"}}});
  note_groups(state, &small, &edited);
  note_rows(state, terms, Sign::plus);
  CHECK_FALSE(state.flavors.edited);  // nothing to count again
  note_groups(state, &edited, &large);
  adopt_uses(state);
  CHECK(state.flavors.in_force == FlavorUses{{"cpu", {"od", "spot"}}, {"memory", {"od", "spot"}}});
  note_groups(state, &large, nullptr);
  adopt_uses(state);
  CHECK(state.flavors.in_force == FlavorUses{{"cpu", {"od"}}});  // of the claim
  note_rows(state, terms, Sign::minus);
  adopt_uses(state);
  CHECK(state.flavors.in_force.empty());
  CHECK(state.flavors.uses.empty());
}

}  // namespace
}  // namespace fairlead::flavors_test
