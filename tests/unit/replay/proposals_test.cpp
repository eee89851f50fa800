// `plan --admit`: which request a proposed object is, and how findings are printed. The rules have
// their tests in tests/unit/admission.
#include "replay/proposals.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "engine/log/memory_log.h"
#include "replay/audit/audit.h"
#include "replay/dry_run.h"

namespace fairlead {
namespace {

std::string queue(const std::string& od, const std::string& annotations = "{}") {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q","annotations":)" +
         annotations +
         R"(},"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"od","resources":[{"name":"cpu","nominalQuota":")" +
         od + R"("}]}]}]}})";
}

std::string claim(const std::string& name, const std::string& cpu, const std::string& flavor = "od",
                  const std::string& metadata = "") {
  return R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":")" +
         name + "\"" + metadata +
         R"(},"spec":{"clusterName":"east","nominalResources":{"cpu":"20"},"resourceAssignments":[{"clusterQueueName":"q","flavor":")" +
         flavor + R"(","resources":{"cpu":")" + cpu + R"("}}]}})";
}

const std::string kFlavor =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"od"}})";
const std::string kNode =
    R"({"type":"ADDED","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"32"},"conditions":[{"type":"Ready","status":"True"}]}}})";

std::vector<InputLine> lines_of(const std::string& text) {
  std::vector<InputLine> lines;
  REQUIRE(read_objects_text(text, "f", lines).has_value());
  return lines;
}

std::string deleted(const std::string& object) {
  return R"({"type":"DELETED","object":)" + object + "}";
}

struct Hub {
  std::vector<InputLine> live =
      lines_of(kFlavor + "\n" + queue("0", R"({"fairlead.io/base-quota":"x"})") + "\n" +
               claim("k", "10") + "\n" + kNode + "\n");
  MemoryLog log;
  DryRun dry_run{log, {}};

  Hub() { REQUIRE(dry_run.run(live).has_value()); }
  std::vector<CheckedProposal> judged(const std::string& proposed) const {
    return check_proposals(dry_run.state(), live_annotations(live), lines_of(proposed));
  }
  // "OPERATION rule action", joined.
  std::string verdicts(const std::string& proposed) const {
    std::string all;
    for (const CheckedProposal& one : judged(proposed))
      for (const Finding& finding : one.verdict.findings)
        all += std::string(text_of(one.request.operation)) + " " +
               std::string(info(finding.rule).name) + " " + std::string(text_of(finding.action)) +
               "\n";
    return all;
  }
};

TEST_CASE("proposals: an object that is there is updated, another one created") {
  const Hub hub;
  CHECK(hub.verdicts(claim("k", "10")).empty());
  CHECK(hub.verdicts(claim("k", "21")) == "UPDATE claimInvalid deny\n");
  CHECK(hub.verdicts(claim("k2", "10")) == "CREATE clusterTaken deny\n");
  CHECK(hub.verdicts(claim("k", "10", "tpu")) == "UPDATE unknownTarget warn\n");
  CHECK(hub.verdicts(deleted(kFlavor)) == "DELETE flavorInUse warn\n");
  CHECK(hub.verdicts(deleted(queue("10"))) == "DELETE queueInUse warn\n");
}

TEST_CASE("proposals: the granted quota is compared with what a file has") {
  const Hub hub;
  CHECK(hub.verdicts(queue("10")).empty());
  CHECK(hub.verdicts(queue("10000m")).empty());
  CHECK(hub.verdicts(queue("7")) == "UPDATE ownedQuota warn\n");
}

TEST_CASE("proposals: an annotation that stood before is not judged again") {
  const Hub hub;
  CHECK(hub.verdicts(queue("10", R"({"fairlead.io/base-quota":"x"})")).empty());
  CHECK(hub.verdicts(queue("10", R"({"fairlead.io/base-quota":"y"})")) == "UPDATE badBase deny\n");
}

TEST_CASE("proposals: who deletes writes the override on the object that goes") {
  Hub hub;
  const std::string with =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"od","annotations":{"fairlead.io/override":"r"}}})";
  const auto judged = hub.judged(deleted(with));
  REQUIRE(judged.size() == 1);
  CHECK(judged[0].request.old_object->annotations.at("override") == "r");
}

TEST_CASE("proposals: other kinds and other clusters are left out") {
  const Hub hub;
  CHECK(hub.judged(kNode).empty());
  CHECK(hub.judged(R"({"type":"ADDED","cluster":"east","object":)" + queue("7") + "}").empty());
  CHECK(hub.judged(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})").empty());
}

TEST_CASE("proposals: one JSON line a finding, in the order of the input, or a table") {
  const Hub hub;
  const auto judged = hub.judged(queue("7") + "\n" + claim("k2", "21"));
  CHECK(any_denied(judged));
  const std::string json = proposals_json(judged);
  const auto first = Json::parse(json.substr(0, json.find('\n')));
  CHECK(first["cluster"] == "hub");
  CHECK(first["operation"] == "UPDATE");
  CHECK(first["apiVersion"] == "kueue.x-k8s.io/v1beta2");
  CHECK(first["kind"] == "ClusterQueue");
  CHECK(first["name"] == "q");
  CHECK(first["rule"] == "ownedQuota");
  CHECK(first["action"] == "warn");
  CHECK(first["field"] == "spec.resourceGroups");
  CHECK(std::count(json.begin(), json.end(), '\n') == 3);
  const std::string table = proposals_table(judged);
  CHECK(table.starts_with("ACTION  OPERATION  OBJECT"));
  CHECK(table.find("deny    CREATE     ClusterResourceClaim k2  claimInvalid") !=
        std::string::npos);
  CHECK_FALSE(any_denied(hub.judged(queue("7"))));
}

// ---- audit admissions ----

AdmissionDecided decision(Kind kind, const std::string& name, AdmissionOutcome outcome) {
  return {"u",
          "alice",
          AdmissionOperation::update,
          {kind, "", name},
          {AdmissionRule::owned_quota},
          outcome,
          outcome == AdmissionOutcome::overridden ? "INC-7" : ""};
}

TEST_CASE("audit admissions: what was refused, by object and span") {
  MemoryLog log;
  for (const AdmissionDecided& note :
       {decision(Kind::cluster_queue, "q", AdmissionOutcome::denied),
        decision(Kind::claim, "q", AdmissionOutcome::overridden),
        decision(Kind::cluster_queue, "r", AdmissionOutcome::denied)}) {
    std::vector<EventDraft> drafts;
    drafts.push_back({std::string(kSelf), {}, note});
    drafts.push_back({std::string(kSelf), {}, TimerFired{}});
    REQUIRE(log.append(drafts, log.last_time() + seconds(1), Epoch{1}).has_value());
  }
  const auto rows = [&](const std::string& object, Seq from, Seq to) {
    auto answer = audit_admissions({log}, object, from, to);
    REQUIRE(answer.has_value());
    std::string seqs;
    for (const Json& row : answer->document["rows"]) seqs += row["seq"].dump() + " ";
    return seqs;
  };
  CHECK(rows("", Seq{1}, Seq{6}) == "1 3 5 ");
  CHECK(rows("q", Seq{1}, Seq{6}) == "1 3 ");
  CHECK(rows("clusterqueue/q", Seq{1}, Seq{6}) == "1 ");
  CHECK(rows("ClusterResourceClaims/q", Seq{1}, Seq{6}) == "3 ");
  CHECK(rows("nodes/q", Seq{1}, Seq{6}).empty());
  CHECK(rows("", Seq{2}, Seq{4}) == "3 ");
  CHECK(audit_admissions({log}, "", Seq{4}, Seq{2}).has_error());
  auto answer = audit_admissions({log}, "clusterresourceclaim/q", Seq{1}, Seq{6});
  REQUIRE(answer.has_value());
  const Json& row = answer->document["rows"][0];
  CHECK(row["user"] == "alice");
  CHECK(row["outcome"] == "overridden");
  CHECK(row["reason"] == "INC-7");
  CHECK(row["rules"] == Json{"ownedQuota"});
  // The words of the row; where the lines of a narrow table break is another test's matter.
  std::istringstream words(audit_text(*answer));
  std::string text, word;
  while (words >> word) text += word + " ";
  INFO(text);
  CHECK(text.find("overridden alice UPDATE ClusterResourceClaim q [ownedQuota] INC-7 ") !=
        std::string::npos);
}

}  // namespace
}  // namespace fairlead
