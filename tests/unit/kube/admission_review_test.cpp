#include "connectors/kube/admission_review.h"

#include <catch2/catch.hpp>

#include "connectors/kube/document/json_document.h"

using namespace fairlead;

namespace {

const std::string kClaim =
    R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"k","annotations":{"fairlead.io/override":"why","other/one":"x"}},"spec":{"clusterName":"east","nominalResources":{"cpu":"10"}}})";

std::string review_of(
    const std::string& object, const std::string& old_object, const std::string& operation,
    const std::string& more = "",
    const std::string& kind =
        R"({"group":"galaxy.kubestellar.io","version":"v1alpha1","kind":"ClusterResourceClaim"})") {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","kind":)" +
         kind + R"(,"name":"k","operation":")" + operation +
         R"(","userInfo":{"username":"alice","groups":["dev","system:authenticated"]},"object":)" +
         object + R"(,"oldObject":)" + old_object + more + "}}";
}

Json response_of(const std::string& answer) {
  const Json json = Json::parse(answer);
  CHECK(json["apiVersion"] == "admission.k8s.io/v1");
  CHECK(json["kind"] == "AdmissionReview");
  return json["response"];
}

std::string refusal(const std::string& body) {
  auto review = read_admission_review(body);
  REQUIRE(review.has_error());
  CHECK(review.error().code == ErrorCode::bad_input);
  return review.error().message;
}

AdmissionReview reviewed(const std::string& body) {
  auto review = read_admission_review(body);
  REQUIRE(review.has_value());
  return *review;
}

AdmissionVerdict found(std::vector<Finding> findings) {
  AdmissionVerdict verdict;
  verdict.findings = std::move(findings);
  return verdict;
}

}  // namespace

TEST_CASE("review: who asks for what") {
  const auto review = reviewed(review_of(kClaim, "null", "CREATE", R"(,"dryRun":true)"));
  CHECK(review.uid == "u-1");
  CHECK(review.group == "galaxy.kubestellar.io");
  CHECK(review.kind == "ClusterResourceClaim");
  CHECK(review.unread.empty());
  REQUIRE(review.request);
  CHECK(review.request->user == "alice");
  CHECK(review.request->groups == std::vector<std::string>{"dev", "system:authenticated"});
  CHECK(review.request->operation == AdmissionOperation::create);
  CHECK(review.request->dry_run);
  CHECK(review.request->version == "v1alpha1");
  CHECK(review.request->key == ObjectKey{Kind::claim, "", "k"});
  CHECK(!review.request->old_object);
  REQUIRE(review.request->object);
  CHECK(review.request->object->annotations ==
        std::map<std::string, std::string>{{"override", "why"}});
  CHECK_FALSE(review.request->object->deleting);
  CHECK(std::get<ClaimFacts>(review.request->object->facts).spec.cluster_name == "east");
}

TEST_CASE("review: an update has both states, a delete the old one") {
  std::string going = kClaim;
  going.replace(going.find(R"("name":"k")"), 10,
                R"("name":"k","deletionTimestamp":"2026-01-01T00:00:00Z")");
  const auto update = reviewed(review_of(going, kClaim, "UPDATE"));
  REQUIRE(update.request);
  CHECK(update.request->object->deleting);
  CHECK_FALSE(update.request->old_object->deleting);
  CHECK_FALSE(update.request->dry_run);
  const auto gone = reviewed(review_of("null", kClaim, "DELETE"));
  REQUIRE(gone.request);
  CHECK(gone.request->operation == AdmissionOperation::remove);
  CHECK(!gone.request->object);
  CHECK(gone.request->old_object);
}

TEST_CASE("review: what no rule judges has an answer, and no request") {
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"k"}})";
  const auto other =
      reviewed(review_of(pod, "null", "CREATE", "", R"({"group":"","version":"v1","kind":"Pod"})"));
  CHECK(!other.request);
  CHECK(other.unread.empty());
  CHECK(!reviewed(review_of(kClaim, kClaim, "UPDATE", R"(,"subResource":"status")")).request);
  CHECK(!reviewed(review_of(kClaim, "null", "CONNECT")).request);
  CHECK(response_of(admission_answer(other, {})) == Json{{"uid", "u-1"}, {"allowed", true}});
}

TEST_CASE("review: an object that cannot be read is admitted with a warning") {
  for (const std::string& body :
       {review_of("null", "null", "CREATE"), review_of(kClaim, "null", "UPDATE"),
        review_of("null", "null", "DELETE"), review_of("[]", "null", "CREATE"),
        review_of(R"({"apiVersion":"galaxy.kubestellar.io/v9","kind":"ClusterResourceClaim"})",
                  "null", "CREATE"),
        review_of(
            R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim"})",
            "null", "CREATE")}) {
    INFO(body);
    const auto review = reviewed(body);
    CHECK(!review.request);
    CHECK(!review.unread.empty());
    const Json response = response_of(admission_answer(review, {}));
    CHECK(response["allowed"] == true);
    REQUIRE(response["warnings"].size() == 1);
    CHECK(response["warnings"][0].get<std::string>().starts_with("not checked by fairlead: "));
  }
}

TEST_CASE("review: what is none") {
  CHECK(refusal("").find("expected an AdmissionReview of admission.k8s.io/v1: ") == 0);
  CHECK(refusal("<html>").size() > 10);
  CHECK(refusal("{}").find("kind or the apiVersion") != std::string::npos);
  std::string old = review_of(kClaim, "null", "CREATE");
  old.replace(old.find("admission.k8s.io/v1"), 19, "admission.k8s.io/v1beta1");
  CHECK(refusal(old).find("kind or the apiVersion") != std::string::npos);
  CHECK(refusal(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})")
            .find("request.uid is missing") != std::string::npos);
  CHECK(refusal(
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":7}})")
            .find("request.uid is missing") != std::string::npos);
}

TEST_CASE("review: a key twice is refused, at any depth; in two objects it is not twice") {
  CHECK(refusal(review_of(kClaim, "null", "CREATE", R"(,"uid":"u-2")")).find("twice") !=
        std::string::npos);
  CHECK(refusal(review_of(R"({"a":[{"b":1,"b":2}]})", "null", "CREATE")).find("twice") !=
        std::string::npos);
  CHECK(refusal(review_of(R"({"b":1,"\u0062":2})", "null", "CREATE")).find("twice") !=
        std::string::npos);
  CHECK(read_admission_review(review_of(R"([{"b":1},{"b":2}])", "null", "CREATE")).has_value());
}

TEST_CASE("review: depth and size are bounded") {
  const auto nested = [](std::size_t depth) {
    return review_of(std::string(depth, '[') + std::string(depth, ']'), "null", "CREATE");
  };
  // The review and its request are two levels.
  CHECK(read_admission_review(nested(kReviewDepthMax - 2)).has_value());
  CHECK(refusal(nested(kReviewDepthMax - 1)).find("nested deeper than 64") != std::string::npos);
  CHECK(refusal(nested(100'000)).size() > 10);
  CHECK(refusal(std::string(kReviewBytesMax + 1, ' ')).find("longer than") != std::string::npos);
}

TEST_CASE("answer: a wrong field is 422 Invalid, with its cause") {
  const auto review = reviewed(review_of(kClaim, "null", "CREATE"));
  const Json response = response_of(admission_answer(
      review, found({{AdmissionRule::cluster_taken,
                      RuleAction::deny,
                      {"spec.clusterName", CauseType::duplicate, "is \"taken\"\n"}},
                     {AdmissionRule::unknown_target, RuleAction::warn, {"f", {}, "later"}}})));
  CHECK(response["uid"] == "u-1");
  CHECK(response["allowed"] == false);
  CHECK(response["status"] ==
        Json{{"status", "Failure"},
             {"code", 422},
             {"reason", "Invalid"},
             {"message",
              "ClusterResourceClaim.galaxy.kubestellar.io \"k\" is invalid: spec.clusterName: is "
              "\"taken\" "},
             {"details",
              {{"name", "k"},
               {"group", "galaxy.kubestellar.io"},
               {"kind", "ClusterResourceClaim"},
               {"causes", Json::array({{{"reason", "FieldValueDuplicate"},
                                        {"message", "is \"taken\" "},
                                        {"field", "spec.clusterName"}}})}}}});
  CHECK(response["warnings"] == Json{"f: later"});
}

TEST_CASE("answer: where no field is wrong it is 403 Forbidden; a wrong field prevails") {
  const auto review = reviewed(review_of("null", kClaim, "DELETE"));
  const Finding in_use{
      AdmissionRule::claim_in_use, RuleAction::deny, {"", CauseType::forbidden, "in use"}};
  const Finding wrong{AdmissionRule::bad_base, RuleAction::deny, {"f", CauseType::invalid, "bad"}};
  Json status = response_of(admission_answer(review, found({in_use})))["status"];
  CHECK(status["code"] == 403);
  CHECK(status["reason"] == "Forbidden");
  CHECK(status["message"] ==
        "ClusterResourceClaim.galaxy.kubestellar.io \"k\" is forbidden: in use");
  status = response_of(admission_answer(review, found({in_use, wrong})))["status"];
  CHECK(status["code"] == 422);
  CHECK(status["details"]["causes"].size() == 2);
}

TEST_CASE("answer: many causes are counted, a long message is cut, warnings alone admit") {
  const auto review = reviewed(review_of(kClaim, "null", "CREATE"));
  std::vector<Finding> many(
      40, {AdmissionRule::bad_base, RuleAction::deny, {"f", {}, std::string(3000, 'x')}});
  Json response = response_of(admission_answer(review, found(many)));
  REQUIRE(response["status"]["details"]["causes"].size() == kCausesMax);
  CHECK(response["status"]["details"]["causes"][kCausesMax - 1] ==
        Json{{"message", "and 25 more"}});
  CHECK(response["status"]["message"].get<std::string>().size() <= 2048);
  for (Finding& finding : many) finding.action = RuleAction::warn;
  response = response_of(admission_answer(review, found(many)));
  CHECK(response["allowed"] == true);
  CHECK(!response.contains("status"));
  CHECK(response["warnings"].size() == kWarningsMax);
}

TEST_CASE("answer: the uid comes back as it was, whatever it holds") {
  std::string body = review_of(kClaim, "null", "CREATE");
  body.replace(body.find("u-1"), 3, R"(\"\\\u0001\u00e9)");
  const auto review = reviewed(body);
  CHECK(response_of(admission_answer(review, {}))["uid"] == "\"\\\x01\u00e9");
}
