#include "tests/unit/model/fixture.h"

namespace fairlead::model {
using Lines = std::vector<std::string>;

namespace {

/// The FieldsV1 of a manager; null if it owns nothing.
Json owned_by(const Json& object, const std::string& manager) {
  for (const Json& entry : object["metadata"].value("managedFields", Json::array()))
    if (entry["manager"] == manager) return entry["fieldsV1"];
  return nullptr;
}

}  // namespace

TEST_CASE_METHOD(ModelFixture, "An apply creates an object and owns exactly what it applied") {
  const Json made = apply("a", queue("q", {{"stopPolicy", "Hold"}}));
  CHECK(made["spec"]["stopPolicy"] == "Hold");
  CHECK(made["spec"]["queueingStrategy"] == "BestEffortFIFO");
  CHECK(owned_by(made, "a") == Json::parse(R"({"f:spec":{"f:stopPolicy":{}}})"));
}

TEST_CASE_METHOD(ModelFixture,
                 "An apply of a field that another manager owns conflicts and names it") {
  ok("POST", std::string(kQueues) + "?fieldManager=admin",
     queue("q", {{"resourceGroups", groups("cpu", "1")}}));
  const Json mine = queue("q", {{"resourceGroups", groups("cpu", "2")}});
  const Json status =
      refused(409, "PATCH", target_of("fairlead", mine, ""), mine, "application/apply-patch+yaml");
  CHECK(status["details"]["causes"] ==
        Json::parse(R"([{"reason":"FieldManagerConflict","field":".spec.resourceGroups",
                         "message":"conflict with \"admin\" using kueue.x-k8s.io/v1beta2"}])"));
}

TEST_CASE_METHOD(ModelFixture, "A forced apply moves ownership of an atomic list as one field") {
  ok("POST", std::string(kQueues) + "?fieldManager=admin",
     queue("q", {{"resourceGroups", groups("cpu", "1")}}));
  const Json changed =
      apply("fairlead", queue("q", {{"resourceGroups", groups("cpu", "2")}}), "&force=true");
  CHECK(changed["metadata"]["generation"] == 2);
  CHECK(owned_by(changed, "fairlead") == Json::parse(R"({"f:spec":{"f:resourceGroups":{}}})"));
  CHECK_FALSE(owned_by(changed, "admin")["f:spec"].contains("f:resourceGroups"));
}

TEST_CASE_METHOD(ModelFixture, "A field that its only applier leaves out goes away") {
  apply("a", queue("q", {{"resourceGroups", groups("cpu", "1")}, {"cohortName", "c"}}));
  const Json changed = apply("a", queue("q", {{"cohortName", "c"}}));
  CHECK_FALSE(changed["spec"].contains("resourceGroups"));
  CHECK(changed["spec"]["cohortName"] == "c");
}

TEST_CASE_METHOD(ModelFixture, "A field that two appliers share survives when one leaves it out") {
  apply("a", queue("q", {{"cohortName", "c"}, {"stopPolicy", "Hold"}}));
  apply("b", queue("q", {{"cohortName", "c"}}));
  const Json changed = apply("a", queue("q", {{"stopPolicy", "Hold"}}));
  CHECK(changed["spec"]["cohortName"] == "c");
}

TEST_CASE_METHOD(ModelFixture, "Two appliers own different members of a list map") {
  const std::string checks = "admissionChecksStrategy";
  auto strategy = [&](const char* name) {
    return Json{{checks, {{"admissionChecks", {{{"name", name}}}}}}};
  };
  apply("a", queue("q", strategy("one")));
  const Json both = apply("b", queue("q", strategy("two")));
  CHECK(both["spec"][checks]["admissionChecks"] ==
        Json::parse(R"([{"name":"one"},{"name":"two"}])"));
  CHECK(owned_by(both, "b")["f:spec"]["f:admissionChecksStrategy"]["f:admissionChecks"].contains(
      R"(k:{"name":"two"})"));
  const Json one = apply("a", queue("q"));
  CHECK(one["spec"][checks]["admissionChecks"] == Json::parse(R"([{"name":"two"}])"));
}

TEST_CASE_METHOD(ModelFixture, "An identical apply changes nothing, not even the resourceVersion") {
  const Json first = apply("a", queue("q", {{"cohortName", "c"}}));
  clock.time = clock.time + seconds(60);
  CHECK(apply("a", queue("q", {{"cohortName", "c"}})) == first);
}

TEST_CASE_METHOD(ModelFixture, "A stale resourceVersion refuses an apply, forced or not") {
  Json mine = queue("q", {{"cohortName", "c"}});
  const Json first = apply("a", mine);
  ok("PATCH", std::string(kQueues) + "/q", {{"metadata", {{"labels", {{"x", "y"}}}}}});
  mine["metadata"]["resourceVersion"] = first["metadata"]["resourceVersion"];
  mine["spec"]["cohortName"] = "d";
  const Json status = refused(409, "PATCH", target_of("a", mine, "&force=true"), mine,
                              "application/apply-patch+yaml");
  CHECK_FALSE(status["details"].contains("causes"));
}

TEST_CASE_METHOD(ModelFixture, "The uid of an apply tells a deleted object from a new one") {
  Json mine = queue("q", {{"cohortName", "c"}});
  mine["metadata"]["uid"] = "11111111-1111-4111-a111-111111111111";
  const Json gone =
      refused(409, "PATCH", target_of("a", mine, ""), mine, "application/apply-patch+yaml");
  CHECK(gone["message"].get<std::string>().find("uid mismatch") != std::string::npos);
  ok("POST", kQueues, queue("q"));
  refused(422, "PATCH", target_of("a", mine, ""), mine, "application/apply-patch+yaml");
}

TEST_CASE_METHOD(ModelFixture, "An apply with an undeclared field is a failure without a reason") {
  const Json wrong = queue("q", {{"nope", 1}});
  const Json status =
      refused(500, "PATCH", target_of("a", wrong, ""), wrong, "application/apply-patch+yaml");
  CHECK_FALSE(status.contains("reason"));
  CHECK(status["message"].get<std::string>().ends_with(".spec.nope: field not declared in schema"));
}

TEST_CASE_METHOD(ModelFixture, "An apply to status changes and owns status alone") {
  apply("a", queue("q", {{"cohortName", "c"}}));
  Json status = queue("q", {{"cohortName", "other"}});
  status["status"] = {{"pendingWorkloads", 3}};
  const Json changed = ok("PATCH", std::string(kQueues) + "/q/status?fieldManager=a&force=true",
                          status, "application/apply-patch+yaml");
  CHECK(changed["spec"]["cohortName"] == "c");
  CHECK(changed["status"]["pendingWorkloads"] == 3);
  CHECK(changed["metadata"]["generation"] == 1);
  CHECK(changed["metadata"]["managedFields"].size() == 2);
}

}  // namespace fairlead::model
