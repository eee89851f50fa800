#include "tests/unit/model/fixture.h"

namespace fairlead::model {
using Lines = std::vector<std::string>;

TEST_CASE_METHOD(ModelFixture,
                 "The claim of the contract is accepted unchanged and keeps its order") {
  const Json claim =
      Json::parse(R"({"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim",
    "metadata":{"name":"cluster2-resource-claim"},"spec":{"clusterName":"cluster2",
    "nominalResources":{"cpu":"1000","memory":"1000Gi","gpu":"10"},"resourceAssignments":[
    {"clusterQueueName":"high-priority-queue","flavor":"on-demand","resources":{"cpu":"500","memory":"500Gi","gpu":"5"}},
    {"clusterQueueName":"low-priority-queue","flavor":"spot","resources":{"cpu":"500","memory":"500Gi","gpu":"5"}}]}})");
  const std::string claims = "/apis/galaxy.kubestellar.io/v1alpha1/clusterresourceclaims";
  const Json made = ok("POST", claims, claim);
  CHECK(made["spec"] == claim["spec"]);
  const Json status = refused(422, "PATCH", claims + "/cluster2-resource-claim",
                              {{"spec", {{"clusterName", "x"}}}});
  CHECK(status["details"]["causes"][0]["message"] ==
        "Invalid value: \"x\": clusterName is immutable");
}

TEST_CASE_METHOD(ModelFixture, "Quantities are stored as they were written") {
  const Json made = ok("POST", kQueues, queue("q", {{"resourceGroups", groups("cpu", "12000m")}}));
  CHECK(made["spec"]["resourceGroups"] == groups("cpu", "12000m"));
}

TEST_CASE_METHOD(ModelFixture, "A spec change bumps the generation, labels and status do not") {
  ok("POST", kQueues, queue("q"));
  CHECK(ok("PATCH", std::string(kQueues) + "/q",
           {{"metadata", {{"labels", {{"a", "b"}}}}}})["metadata"]["generation"] == 1);
  CHECK(ok("PATCH", std::string(kQueues) + "/q/status",
           {{"status", {{"pendingWorkloads", 1}}}})["metadata"]["generation"] == 1);
  CHECK(ok("PATCH", std::string(kQueues) + "/q",
           {{"spec", {{"cohortName", "c"}}}})["metadata"]["generation"] == 2);
}

TEST_CASE_METHOD(
    ModelFixture,
    "Unknown fields are dropped with a warning, or refused where strictness is asked for") {
  const Json wrong = queue("q", {{"nope", 1}});
  refused(400, "POST", std::string(kQueues) + "?fieldValidation=Strict", wrong);
  ApiRequest request = parse_target("POST", kQueues);
  request.body = to_text(wrong);
  const ApiAnswer answer = model.handle(request);
  CHECK(answer.code == 201);
  CHECK(answer.warnings == std::vector<std::string>{"unknown field \"spec.nope\""});
  CHECK_FALSE(Json::parse(answer.body)["spec"].contains("nope"));
}

TEST_CASE_METHOD(ModelFixture, "An object with a finalizer waits for it") {
  Json held = queue("q");
  held["metadata"]["finalizers"] = {"fairlead.io/claim"};
  ok("POST", kQueues, held);
  const Json waiting = ok("DELETE", std::string(kQueues) + "/q");
  CHECK(waiting["metadata"].contains("deletionTimestamp"));
  ok("PATCH", std::string(kQueues) + "/q", {{"metadata", {{"finalizers", nullptr}}}});
  refused(404, "GET", std::string(kQueues) + "/q");
}

TEST_CASE_METHOD(ModelFixture, "A delete with another uid or version is refused") {
  ok("POST", kQueues, queue("q"));
  refused(409, "DELETE", std::string(kQueues) + "/q", {{"preconditions", {{"uid", "x"}}}});
  refused(409, "DELETE", std::string(kQueues) + "/q",
          {{"preconditions", {{"resourceVersion", "1"}}}});
  CHECK(ok("DELETE", std::string(kQueues) + "/q")["status"] == "Success");
}

TEST_CASE_METHOD(ModelFixture, "Pages of one list show one moment, and expire with the history") {
  for (const char* name : {"a", "b", "c"}) ok("POST", kQueues, queue(name));
  const Json first = ok("GET", std::string(kQueues) + "?limit=2");
  CHECK(first["items"].size() == 2);
  CHECK(first["metadata"]["remainingItemCount"] == 1);
  const std::string next = std::string(kQueues) +
                           "?limit=2&continue=" + first["metadata"]["continue"].get<std::string>();
  ok("DELETE", std::string(kQueues) + "/c");
  CHECK(ok("GET", next)["items"][0]["metadata"]["name"] == "c");
  model.compact();
  CHECK(refused(410, "GET", next)["reason"] == "Expired");
}

TEST_CASE_METHOD(ModelFixture, "A watch from nothing tells the present first, then every change") {
  ok("POST", kQueues, queue("a"));
  auto stream = watch(std::string(kQueues) + "?watch=true");
  ok("PATCH", std::string(kQueues) + "/a", {{"spec", {{"cohortName", "c"}}}});
  ok("POST", kQueues, queue("b"));
  ok("DELETE", std::string(kQueues) + "/a");
  CHECK(lines_of(*stream) == Lines{"ADDED a", "MODIFIED a", "ADDED b", "DELETED a"});
}

TEST_CASE_METHOD(ModelFixture, "A streaming list ends with an annotated bookmark") {
  ok("POST", kQueues, queue("a"));
  auto stream = watch(
      std::string(kQueues) +
      "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");
  CHECK(lines_of(*stream) == Lines{"ADDED a", "BOOKMARK "});
  model.send_bookmarks();
  CHECK(lines_of(*stream) == Lines{"BOOKMARK "});
}

TEST_CASE_METHOD(ModelFixture, "A watch of metadata has bookmarks of their kind") {
  ok("POST", kQueues, queue("a"));
  ApiRequest request =
      parse_target("GET", std::string(kQueues) +
                              "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                              "resourceVersionMatch=NotOlderThan");
  request.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const auto stream = model.handle(request).watch;
  REQUIRE(stream);
  model.send_bookmarks();
  for (const char* type : {"ADDED", "BOOKMARK", "BOOKMARK"}) {
    const Json event = Json::parse(stream->next().value());
    CHECK(event["type"] == type);
    CHECK(event["object"]["kind"] == "PartialObjectMetadata");
    CHECK(event["object"].size() == 3);
  }
}

TEST_CASE_METHOD(ModelFixture, "A watch from before the history gets one 410 and ends") {
  ok("POST", kQueues, queue("a"));
  const std::string before = std::to_string(model.revision());
  ok("POST", kQueues, queue("b"));
  auto fresh = watch(std::string(kQueues) + "?watch=1&resourceVersion=" + before);
  CHECK(lines_of(*fresh) == Lines{"ADDED b"});
  model.compact();
  auto stale = watch(std::string(kQueues) + "?watch=1&resourceVersion=" + before);
  const Json event = Json::parse(stale->next().value());
  CHECK(event["type"] == "ERROR");
  CHECK(event["object"]["code"] == 410);
  CHECK(stale->ended());
}

TEST_CASE_METHOD(ModelFixture, "An object that leaves a selection is reported as deleted") {
  auto stream = watch(std::string(kQueues) + "?watch=1&labelSelector=team%3Da");
  Json labelled = queue("q");
  labelled["metadata"]["labels"] = {{"team", "a"}};
  ok("POST", kQueues, labelled);
  ok("PATCH", std::string(kQueues) + "/q", {{"metadata", {{"labels", {{"team", "b"}}}}}});
  ok("PATCH", std::string(kQueues) + "/q", {{"metadata", {{"labels", {{"team", "a"}}}}}});
  CHECK(lines_of(*stream) == Lines{"ADDED q", "DELETED q", "ADDED q"});
}

TEST_CASE_METHOD(ModelFixture, "A watcher that does not read loses its stream, not our memory") {
  auto stream = watch(std::string(kQueues) + "?watch=1");
  for (int i = 0; i < 60; ++i) ok("POST", kQueues, queue("q" + std::to_string(i)));
  CHECK(lines_of(*stream).size() == 50);
  CHECK(stream->ended());
}

TEST_CASE_METHOD(ModelFixture,
                 "A kind is served in both versions, without the fields that the other lacks") {
  Json made = queue("q", {{"cohortName", "c"}});
  ok("POST", kQueues, made);
  const Json old = ok("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/q");
  CHECK(old["apiVersion"] == "kueue.x-k8s.io/v1beta1");
  CHECK_FALSE(old["spec"].contains("cohortName"));
}

TEST_CASE_METHOD(ModelFixture, "A kind without a definition is a 404 until it is installed") {
  const std::string widgets = "/apis/example.io/v1/widgets";
  CHECK(model.handle(parse_target("GET", widgets)).code == 404);
  const Json crd =
      Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.example.io"},"spec":{"group":"example.io","scope":"Cluster",
    "names":{"kind":"Widget","plural":"widgets","singular":"widget"},"versions":[{"name":"v1","served":true,
    "storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
    "properties":{"size":{"type":"integer","minimum":1}}}}}}}]}})");
  REQUIRE(model.install_crd(crd).has_value());
  refused(422, "POST", widgets,
          {{"apiVersion", "example.io/v1"},
           {"kind", "Widget"},
           {"metadata", {{"name", "w"}}},
           {"spec", {{"size", 0}}}});
  ok("POST", widgets,
     {{"apiVersion", "example.io/v1"},
      {"kind", "Widget"},
      {"metadata", {{"name", "w"}}},
      {"spec", {{"size", 1}}}});
  ok("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io");
  CHECK(model.handle(parse_target("GET", widgets)).code == 404);
}

TEST_CASE_METHOD(ModelFixture, "A namespace takes its content with it, but waits for finalizers") {
  ok("POST", "/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  ok("POST", "/api/v1/namespaces/team/configmaps", {{"metadata", {{"name", "plain"}}}});
  ok("POST", "/api/v1/namespaces/team/configmaps",
     {{"metadata", {{"name", "held"}, {"finalizers", {"a.b/c"}}}}});
  CHECK(ok("DELETE", "/api/v1/namespaces/team")["status"]["phase"] == "Terminating");
  refused(404, "GET", "/api/v1/namespaces/team/configmaps/plain");
  refused(403, "POST", "/api/v1/namespaces/team/configmaps", {{"metadata", {{"name", "late"}}}});
  ok("PATCH", "/api/v1/namespaces/team/configmaps/held", {{"metadata", {{"finalizers", nullptr}}}});
  refused(404, "GET", "/api/v1/namespaces/team");
}

TEST_CASE_METHOD(ModelFixture, "A pod is pending until its status is written") {
  const std::string pods = "/api/v1/namespaces/default/pods";
  const Json container{{"name", "main"}, {"image", "none"}};
  const Json made =
      ok("POST", pods,
         {{"metadata", {{"name", "p"}}}, {"spec", {{"containers", Json::array({container})}}}});
  CHECK(made["status"]["phase"] == "Pending");
  ok("PATCH", pods + "/p", {{"spec", {{"nodeName", "n"}}}, {"status", {{"phase", "Running"}}}});
  CHECK(ok("GET", pods + "/p")["status"]["phase"] == "Pending");
  ok("PATCH", pods + "/p/status", {{"status", {{"phase", "Running"}}}});
  CHECK(ok("GET", pods + "/p")["spec"]["nodeName"] == "n");
  CHECK(ok("GET", pods + "/p")["status"]["phase"] == "Running");
}

TEST_CASE_METHOD(ModelFixture, "A strategic merge patch merges conditions of a node by type") {
  const Json ready{{"type", "Ready"}, {"status", "True"}},
      disk{{"type", "DiskPressure"}, {"status", "False"}};
  ok("POST", "/api/v1/nodes",
     {{"metadata", {{"name", "n"}}}, {"status", {{"conditions", {ready, disk}}}}});
  const Json changed =
      ok("PATCH", "/api/v1/nodes/n/status",
         {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "Unknown"}}}}}}},
         "application/strategic-merge-patch+json");
  CHECK(changed["status"]["conditions"].size() == 2);
  CHECK(changed["status"]["conditions"][0]["status"] == "Unknown");
}

TEST_CASE("The same seed and requests give the same objects") {
  auto run = [] {
    ModelFixture fixture;
    return fixture.ok("POST", ModelFixture::kQueues, ModelFixture::queue("q"));
  };
  CHECK(run() == run());
}

TEST_CASE_METHOD(ModelFixture, "A dry run answers as if, and stores nothing") {
  const std::uint64_t before = model.revision();
  CHECK(ok("POST", std::string(kQueues) + "?dryRun=All", queue("q"))["metadata"]["name"] == "q");
  CHECK(model.revision() == before);
}

TEST_CASE_METHOD(ModelFixture, "Of a text the first fault is told, and that it is not base64") {
  Json commit{{"apiVersion", "fairlead.io/v1alpha1"},
              {"kind", "LogCommit"},
              {"metadata", {{"name", "ring-0"}}}};
  commit["spec"] = {{"log", "x"}, {"slots", 1}, {"commit", 0},
                    {"first", 1}, {"count", 1}, {"pack", ""}};
  const std::string ring = "/apis/fairlead.io/v1alpha1/namespaces/default/logcommits";
  const Json status = refused(422, "POST", ring, commit);
  std::vector<std::string> causes;
  for (const Json& cause : status["details"]["causes"]) causes.push_back(cause["message"]);
  CHECK(causes == std::vector<std::string>{
                      "Invalid value: \"x\": spec.log in body should be at least 32 chars long",
                      "Invalid value: \"\": spec.pack in body must be of type byte: \"\""});
  commit["spec"]["log"] = std::string(32, '0');
  commit["spec"]["pack"] = "YQ==";
  ok("POST", ring, commit);
}

}  // namespace fairlead::model
