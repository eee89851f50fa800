#include "connectors/kube/kube_sink.h"

#include <catch2/catch.hpp>

#include "connectors/kube/resource_path.h"

using namespace fairlead;

namespace {

WriteRequest request(Verb verb) {
  WriteRequest out;
  out.intent = {42};
  out.verb = verb;
  out.target = {Kind::manifest_work, "c 2", "fairlead-quota"};
  out.version = "v1";
  out.field_manager = "fairlead";
  out.body = "{}";
  return out;
}

WriteAnswer answer(Verb verb, int status, std::string body,
                   std::optional<Duration> retry_after = {}) {
  return classify(request(verb),
                  Result<HttpResponse>(HttpResponse{status, retry_after, std::move(body)}));
}

std::string status(const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","reason":")" + reason + R"(","message":")" +
         message + "\"}";
}

}  // namespace

TEST_CASE("each verb goes to its path with its content type") {
  const std::string collection =
      "/apis/work.open-cluster-management.io/v1/namespaces/c%202/manifestworks";
  HttpRequest apply = to_http(request(Verb::apply));
  CHECK(apply.method == "PATCH");
  CHECK(apply.target == collection + "/fairlead-quota?fieldManager=fairlead");
  CHECK(apply.content_type == "application/apply-patch+yaml");
  WriteRequest forced = request(Verb::apply_status);
  forced.force = true;
  CHECK(to_http(forced).target ==
        collection + "/fairlead-quota/status?fieldManager=fairlead&force=true");
  HttpRequest create = to_http(request(Verb::create));
  CHECK(create.method == "POST");
  CHECK(create.target == collection + "?fieldManager=fairlead");
  CHECK(create.content_type == "application/json");
  HttpRequest patch = to_http(request(Verb::patch));
  CHECK(patch.method == "PATCH");
  CHECK(patch.content_type == "application/merge-patch+json");
  WriteRequest remove = request(Verb::remove);
  remove.uid = "u";
  remove.resource_version = "7";
  HttpRequest deleted = to_http(remove);
  CHECK(deleted.method == "DELETE");
  CHECK(deleted.target == collection + "/fairlead-quota");
  CHECK(
      deleted.body ==
      R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"resourceVersion":"7","uid":"u"}})");
}

TEST_CASE("core and cluster-scoped kinds have the paths of Kubernetes") {
  CHECK(resource_path(info(Kind::node), "v1", "", "n") == "/api/v1/nodes/n");
  CHECK(resource_path(info(Kind::cluster_queue), "v1beta2", "ignored", "q") ==
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q");
  CHECK(resource_path(info(Kind::local_queue), "v1beta2", "", "") ==
        "/apis/kueue.x-k8s.io/v1beta2/localqueues");
}

TEST_CASE("an accepted write tells uid and resourceVersion") {
  WriteAnswer said = answer(Verb::apply, 200, R"({"metadata":{"uid":"u","resourceVersion":"9"}})");
  CHECK(said.intent == Seq{42});
  CHECK(said.result == WriteResult::accepted);
  CHECK(said.http_code == 200);
  CHECK(said.uid == "u");
  CHECK(said.resource_version == "9");
  CHECK(said.reason.empty());
  CHECK(answer(Verb::remove, 200, R"({"kind":"Status","status":"Success","details":{"uid":"u"}})")
            .uid == "u");
}

TEST_CASE("answers of a real API server mean what the applier must do") {
  // The texts are those of kube-apiserver 1.36.3.
  CHECK(
      answer(
          Verb::apply, 409,
          status(
              "Conflict",
              R"(Operation cannot be fulfilled on nodes \"n\": the object has been modified; please apply your changes to the latest version and try again)"))
          .result == WriteResult::conflict);
  CHECK(answer(Verb::apply, 409,
               status("Conflict",
                      "uid mismatch: the provided object specified uid x, and no existing object "
                      "was found"))
            .result == WriteResult::gone);
  CHECK(
      answer(
          Verb::remove, 409,
          status(
              "Conflict",
              R"(Operation cannot be fulfilled on Node \"zz\": the UID in the precondition (0) does not match the UID in record (1). The object might have been deleted and then recreated)"))
          .result == WriteResult::gone);
  CHECK(
      answer(
          Verb::remove, 409,
          status(
              "Conflict",
              R"(Operation cannot be fulfilled on Node \"zz\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (404). The object might have been modified)"))
          .result == WriteResult::conflict);
  CHECK(
      answer(Verb::create, 409, status("AlreadyExists", R"(nodes \"n\" already exists)")).result ==
      WriteResult::conflict);
  WriteAnswer contested =
      answer(Verb::apply, 409,
             R"({"kind":"Status","reason":"Conflict","message":"Apply failed with 1 conflict",
    "details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"kubectl\"","field":".spec.resourceGroups"}]}})");
  CHECK(contested.result == WriteResult::conflict);
  CHECK(contested.reason ==
        "Conflict: Apply failed with 1 conflict [FieldManagerConflict .spec.resourceGroups]");
  CHECK(answer(
            Verb::apply, 422,
            status(
                "Invalid",
                R"(Node \"n\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable)"))
            .result == WriteResult::gone);
  CHECK(
      answer(Verb::apply, 422, status("Invalid", "spec.clusterName: field is immutable")).result ==
      WriteResult::refused);
  CHECK(answer(Verb::apply, 404, status("NotFound", "not found")).result == WriteResult::gone);
  CHECK(answer(Verb::remove, 404, status("NotFound", "not found")).result == WriteResult::accepted);
  CHECK(answer(Verb::apply, 403, status("Forbidden", "admission webhook denied")).result ==
        WriteResult::refused);
  CHECK(answer(Verb::apply, 400, status("BadRequest", "")).result == WriteResult::refused);
  CHECK(answer(Verb::apply, 500,
               R"({"kind":"Status","message":"failed to create typed patch object","code":500})")
            .result == WriteResult::refused);
  const std::string webhook_is_down =
      "Internal error occurred: failed calling webhook \\\"vclusterqueue.kb.io\\\": failed to call "
      "webhook: Post: dial tcp: connect: connection refused";
  CHECK(answer(Verb::apply, 500, status("InternalError", webhook_is_down)).result ==
        WriteResult::unserved);
  const std::string no_right =
      R"(clusterqueues.kueue.x-k8s.io \"q\" is forbidden: User \"system:serviceaccount:fairlead-system:fairlead\" cannot patch resource \"clusterqueues\" in API group \"kueue.x-k8s.io\" at the cluster scope)";
  CHECK(answer(Verb::apply, 403, status("Forbidden", no_right)).result == WriteResult::forbidden);
  CHECK(answer(Verb::apply, 500, status("InternalError", "etcdserver: no leader")).result ==
        WriteResult::unknown);
  CHECK(answer(Verb::apply, 504, status("Timeout", "")).result == WriteResult::unknown);
}

TEST_CASE("throttling carries Retry-After, no answer is unknown, reasons are bounded") {
  WriteAnswer slow = answer(Verb::apply, 429, status("TooManyRequests", "x"), seconds(9));
  CHECK(slow.result == WriteResult::throttled);
  CHECK(slow.retry_after == seconds(9));
  CHECK(answer(Verb::apply, 503, "").retry_after == seconds(1));
  CHECK_FALSE(answer(Verb::apply, 200, "{}").retry_after);
  WriteAnswer nothing = classify(request(Verb::apply),
                                 Result<HttpResponse>(Error{ErrorCode::unavailable, "timeout"}));
  CHECK(nothing.result == WriteResult::unknown);
  CHECK(nothing.http_code == 0);
  CHECK(nothing.reason == "timeout");
  CHECK(answer(Verb::apply, 403, status("", std::string(5000, 'x'))).reason.size() == 1024);
}

TEST_CASE("of a refusal that is no Status nothing is quoted, it may echo our token") {
  const std::string echo = "Authorization: Bearer s3cret";
  CHECK(answer(Verb::apply, 403, echo).reason == "the answer is no Status (28 bytes)");
  CHECK(answer(Verb::apply, 403, R"({"reason":"s3cret","message":"s3cret"})").reason ==
        "the answer is no Status (38 bytes)");
  CHECK(answer(Verb::apply, 403, R"("s3cret")").reason == "the answer is no Status (8 bytes)");
  CHECK(answer(Verb::apply, 502, "").reason.empty());
}
