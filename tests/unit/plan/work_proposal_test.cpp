#include "engine/plan/members/work_proposal.h"

#include <catch2/catch.hpp>

#include "engine/fold/members/works.h"

namespace fairlead::work_proposal_test {
namespace {

const std::string kCluster = "c1";

// Content of one flavor with that much cpu for queue q.
WorkContent content_of(Amount cpu, const std::string& flavor = "od") {
  WorkContent content;
  content.spec = {{"workload", {{"manifests", Json::array({flavor, cpu})}}}};
  content.facts.quotas = {{"q", flavor, "cpu", cpu}};
  content.facts.flavors = {{flavor, true}};
  return content;
}

// A member whose quota work is there as content_of(5000) made it, applied.
struct Member {
  State state;
  Work& work = state.clusters[kCluster].member.quota_works["fairlead-quota"];

  Member() {
    state.now = LogTime{} + seconds(1000);
    const WorkContent content = content_of(5000);
    work.present = true;
    work.uid = "u";
    work.resource_version = "7";
    work.generation = 2;
    work.seq = Seq{4};
    work.facts = content.facts;
    work.facts.spec_digest = sha256(to_text(content.spec["workload"]["manifests"]));
    work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 2};
  }
  std::vector<PatchIntended> proposed(std::optional<WorkContent> content) {
    std::vector<PatchIntended> proposals;
    propose_work({state, kCluster, kQuotaWork, work}, std::move(content), proposals);
    return proposals;
  }
  PatchIntended only(std::optional<WorkContent> content) {
    const auto proposals = proposed(std::move(content));
    REQUIRE(proposals.size() == 1);
    CHECK(proposals[0].rank == Rank::member);
    return proposals[0];
  }
};

TEST_CASE("work proposal: the same content is no write, another one says what changes") {
  Member member;
  CHECK(member.proposed(content_of(5000)).empty());
  PatchIntended intent = member.only(content_of(8000));
  CHECK(intent.verb == Verb::apply);
  CHECK(intent.force);
  CHECK(intent.reason.rule == "members/update");
  CHECK(intent.reason.text == "q od cpu 5 -> 8");
  CHECK(Json::parse(intent.body)["metadata"] == Json::parse(R"({
    "name": "fairlead-quota", "namespace": "c1", "uid": "u", "resourceVersion": "7",
    "labels": {"app.kubernetes.io/managed-by": "fairlead"}})"));
  CHECK(member.only(content_of(3000)).reason.rule == "members/shrink");
  member.work = {};
  intent = member.only(content_of(8000));
  CHECK(intent.reason.rule == "members/create");
  CHECK(intent.uid.empty());
}

TEST_CASE("work proposal: other feedback rules are a write, rules that no record has are not") {
  Member member;
  WorkContent content = content_of(5000);
  content.spec["manifestConfigs"] = Json::parse(R"([{"feedbackRules": [{"type": "JSONPaths"}]}])");
  CHECK(member.proposed(content).empty());
  member.work.facts.feedback_digest = sha256(R"([{"type":"JSONPaths"}])");
  CHECK(member.proposed(content).empty());
  member.work.facts.feedback_digest = sha256("");
  CHECK(member.only(content).reason.text == "content follows the hub");
}

TEST_CASE("work proposal: without content the work is removed, and nothing where there is none") {
  Member member;
  const PatchIntended intent = member.only(std::nullopt);
  CHECK(intent.verb == Verb::remove);
  CHECK(intent.body.empty());
  member.work = {};
  CHECK(member.proposed(std::nullopt).empty());
}

TEST_CASE("work proposal: a work on its way out is left alone") {
  Member member;
  member.work.facts.deleting = true;
  CHECK(member.proposed(content_of(8000)).empty());
  CHECK(member.proposed(std::nullopt).empty());
}

TEST_CASE(
    "work proposal: a flavor that would go with the work is orphaned first, and nothing else") {
  Member member;
  member.work.facts.flavors = {{"od", false}, {"spot", true}};
  for (const bool goes : {true, false}) {
    const PatchIntended intent = member.only(goes ? std::nullopt : std::optional(content_of(8000)));
    CHECK(intent.verb == Verb::patch);
    CHECK(intent.reason.rule == "members/orphan");
    CHECK(Json::parse(intent.body) ==
          Json{{"metadata", {{"resourceVersion", "7"}}},
               {"spec",
                {{"deleteOption", selectively_orphan(Json::array(
                                      {orphaned_flavor("od"), orphaned_flavor("spot")}))}}}});
    CHECK(std::get<ManifestWorkFacts>(*intent.expected).flavors ==
          std::vector<WorkFlavor>{{"od", true}, {"spot", true}});
  }
}

TEST_CASE("work proposal: a flavor leaves only once the agent has applied that it is orphaned") {
  Member member;
  member.work.facts.applied.observed_generation = 1;
  CHECK(member.proposed(std::nullopt).empty());
  CHECK(member.proposed(content_of(5000, "spot")).empty());
  CHECK(member.proposed(content_of(8000)).size() == 1);  // it keeps the flavor
  member.work.facts.applied.observed_generation = 2;
  CHECK(member.proposed(content_of(5000, "spot")).size() == 1);
}

TEST_CASE("work proposal: the rule that keeps an object names it by group, resource and name") {
  CHECK(orphaned_flavor("od") == Json::parse(R"({"group": "kueue.x-k8s.io",
    "resource": "resourceflavors", "namespace": "", "name": "od"})"));
  CHECK(orphaning_rule("", "namespaces", "team")["group"] == "");
  CHECK(selectively_orphan(Json::array()) == Json::parse(R"({
    "propagationPolicy": "SelectivelyOrphan", "selectivelyOrphans": {"orphaningRules": []}})"));
}

}  // namespace
}  // namespace fairlead::work_proposal_test
