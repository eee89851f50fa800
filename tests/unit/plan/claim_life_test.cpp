#include "engine/plan/claims/claim_life.h"

#include <catch2/catch.hpp>

#include "engine/fold/writes/outcomes.h"

namespace fairlead::claim_life_test {
namespace {

// A joined cluster c1 whose first values were accepted.
struct Hub {
  State state;
  Cluster& cluster = state.clusters["c1"];

  Hub() {
    state.now = LogTime{} + seconds(1000);
    cluster.presence.managed = ManagedClusterFacts{};
    cluster.known = true;
    accepts("od", "cpu", 3000);
    accepts("spot", "cpu", 2500);
  }
  void accepts(const std::string& flavor, const std::string& resource, Amount amount) {
    cluster.capacity[{flavor, resource}].damped.accepted = amount;
  }
  Claim& claims(const std::string& name, std::vector<std::string> finalizers) {
    Claim& claim = state.claims.by_name[name];
    claim.uid = "u";
    claim.resource_version = "7";
    claim.facts.finalizers = std::move(finalizers);
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.winner = true;
    state.claims.of_cluster["c1"].insert(name);
    return claim;
  }
  Proposed finalizer(const std::string& name) {
    QueueWishes wishes(state);
    return emit_finalizer(state, name, wishes);
  }
};

Json body_of(const Proposed& proposal) {
  REQUIRE(proposal);
  return Json::parse(proposal->body);
}

TEST_CASE("claim life: a new claim names what is accepted above zero, summed over flavors") {
  Hub hub;
  hub.accepts("od", "memory", 0);
  hub.accepts("od", "nvidia.com/gpu", 4);
  hub.accepts("od", "pods", 110);                      // no compute resource
  hub.accepts("od", "attachable.kubernetes.io/x", 9);  // Kubernetes' own
  const Proposed proposal = emit_new_claim(hub.state, "c1");
  const Json body = body_of(proposal);
  CHECK(body["metadata"]["name"] == "c1-resource-claim");
  CHECK(body["metadata"]["finalizers"] == Json::array({"fairlead.io/claim"}));
  CHECK(body["spec"] == Json::parse(R"({"clusterName": "c1", "nominalResources":
                                        {"cpu": "5", "nvidia.com/gpu": "4"}})"));
  CHECK(proposal->verb == Verb::create);
  CHECK(proposal->rank == Rank::claim_life);
}

TEST_CASE("claim life: no claim is made whose name an API server would refuse") {
  Hub hub;
  for (const auto& [length, made] : {std::pair{238, true}, std::pair{239, false}}) {
    const std::string name(static_cast<std::size_t>(length), 'c');
    hub.state.clusters[name] = hub.cluster;
    CHECK(emit_new_claim(hub.state, name).has_value() == made);
  }
}

TEST_CASE("claim life: no claim is made where there is one, was one, or nothing is offered") {
  Hub hub;
  SECTION("it is not asked for") { hub.state.configuration.create_claims = false; }
  SECTION("there was one since it joined") { hub.cluster.presence.claim_seen = true; }
  SECTION("the name is taken") { hub.state.claims.by_name["c1-resource-claim"]; }
  SECTION("it left") { hub.cluster.presence.managed.reset(); }
  SECTION("it is detached") { hub.cluster.presence.detached = true; }
  SECTION("it is lost") { hub.cluster.liveness_at_close = Liveness::lost; }
  SECTION("its capacity is unknown") { hub.cluster.known = false; }
  SECTION("nothing is above zero") {
    hub.accepts("od", "cpu", 0);
    hub.accepts("spot", "cpu", 0);
  }
  CHECK_FALSE(emit_new_claim(hub.state, "c1"));
  CHECK_FALSE(emit_new_claim(hub.state, "none"));
}

TEST_CASE("claim life: a list of ours grows by what it does not name, and by nothing else") {
  Hub hub;
  Claim& claim = hub.claims("k", {"fairlead.io/claim"});
  claim.facts.spec.nominal_resources = {{"cpu", "1"}};
  claim.terms->nominal["cpu"] = {"cpu", 1000};
  hub.accepts("od", "nvidia.com/gpu", 4);
  CHECK_FALSE(emit_grown_nominal(hub.state, "c1"));  // not ours
  WriteState& write = hub.state.writes.by_key[{std::string(kHub), {Kind::claim, "", "k"}, false}];
  write.nominal = claim.facts.spec.nominal_resources;
  const Json body = body_of(emit_grown_nominal(hub.state, "c1"));
  CHECK(body["spec"] == Json::parse(R"({"nominalResources": {"nvidia.com/gpu": "4"}})"));
  CHECK(body["metadata"] == Json::parse(R"({"resourceVersion": "7"})"));
  SECTION("another writer changed it") { claim.facts.spec.nominal_resources["cpu"] = "2"; }
  SECTION("nothing is new") { hub.accepts("od", "nvidia.com/gpu", 0); }
  SECTION("it is not in force") { claim.winner = false; }
  SECTION("its newest spec is invalid") { claim.fault = ClaimFault{}; }
  SECTION("our finalizer does not hold it") { claim.facts.finalizers.clear(); }
  CHECK_FALSE(emit_grown_nominal(hub.state, "c1"));
}

TEST_CASE("claim life: a live claim without our finalizer gets it, as a field of ours alone") {
  Hub hub;
  Claim& claim = hub.claims("k", {"other/x"});
  CHECK_FALSE(has_finalizer(claim));
  const Json body = body_of(hub.finalizer("k"));
  CHECK(body["metadata"]["finalizers"] == Json::array({"fairlead.io/claim"}));
  CHECK(body["metadata"]["uid"] == "u");
  claim.facts.finalizers.emplace_back("fairlead.io/claim");
  CHECK(has_finalizer(claim));
  CHECK_FALSE(hub.finalizer("k"));
  CHECK_FALSE(hub.finalizer("none"));
}

TEST_CASE("claim life: a deleted claim is released with the finalizers of others in place") {
  Hub hub;
  Claim& claim = hub.claims("k", {"a/b", "fairlead.io/claim", "c/d"});
  claim.facts.deleting = true;
  claim.winner = false;
  const Proposed proposal = hub.finalizer("k");
  CHECK(body_of(proposal)["metadata"] ==
        Json::parse(R"({"finalizers": ["a/b", "c/d"], "resourceVersion": "7"})"));
  CHECK(proposal->rank == Rank::release);
  claim.facts.finalizers = {"fairlead.io/claim"};
  CHECK(body_of(hub.finalizer("k"))["metadata"]["finalizers"].is_null());
  claim.facts.finalizers = {"a/b"};
  CHECK_FALSE(hub.finalizer("k"));
}

TEST_CASE("claim life: a deleted claim whose queue waits for an answer is not released") {
  Hub hub;
  Claim& claim = hub.claims("k", {"fairlead.io/claim"});
  claim.facts.deleting = true;
  claim.winner = false;
  claim.terms->rows = {{"q", "od", "cpu", "cpu", 1000, 0, 0}};
  PatchIntended intent;
  intent.cluster = kHub;
  intent.target = {Kind::cluster_queue, "", "q"};
  note_intent(hub.state, intent, Seq{5});
  CHECK_FALSE(hub.finalizer("k"));
  note_gone(hub.state, std::string(kHub), intent.target);
  CHECK(hub.finalizer("k"));
}

}  // namespace
}  // namespace fairlead::claim_life_test
