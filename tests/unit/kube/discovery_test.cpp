#include "connectors/kube/access/discovery.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

std::vector<std::string> paths_of(const std::vector<DiscoveryRequest>& requests) {
  std::vector<std::string> out;
  for (const DiscoveryRequest& request : requests) out.push_back(request.path);
  return out;
}

using Paths = std::vector<std::string>;

// A document of the group kueue.x-k8s.io with these resources in v1beta2.
std::string document_of(const std::string& resources, const std::string& freshness = "Current") {
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
         R"({"metadata":{"name":"kueue.x-k8s.io"},"versions":[{"version":"v1beta2",)"
         R"("freshness":")" +
         freshness + R"(","resources":[)" + resources + "]}]}]}";
}

constexpr const char* kQueues = R"({"resource":"clusterqueues"})";
const DiscoveryRequest kGroups{"/apis", {}, {}};

}  // namespace

TEST_CASE("the best served version of each kind is chosen, and an absent kind has none") {
  Discovery discovery({Kind::node, Kind::cluster_queue, Kind::local_queue, Kind::cluster_metrics});
  CHECK(paths_of(discovery.lists()) ==
        std::vector<std::string>{"/api/v1", "/apis/galaxy.kubestellar.io/v1alpha1",
                                 "/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"});
  CHECK_FALSE(discovery.decided(Kind::node));
  CHECK(
      discovery
          .answer(
              "/api/v1", 200,
              R"({"kind":"APIResourceList","resources":[{"name":"nodes"},{"name":"nodes/status"}]})")
          .has_value());
  CHECK(discovery.version(Kind::node) == "v1");
  CHECK(discovery
            .answer("/apis/kueue.x-k8s.io/v1beta1", 200,
                    R"({"resources":[{"name":"clusterqueues"},{"name":"localqueues"}]})")
            .has_value());
  CHECK_FALSE(discovery.decided(Kind::cluster_queue));  // v1beta2 could still answer
  CHECK(discovery
            .answer("/apis/kueue.x-k8s.io/v1beta2", 200,
                    R"({"resources":[{"name":"clusterqueues"}]})")
            .has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.version(Kind::local_queue) == "v1beta1");
  CHECK(discovery.answer("/apis/galaxy.kubestellar.io/v1alpha1", 404, "404 page not found")
            .has_value());
  CHECK(discovery.decided(Kind::cluster_metrics));
  CHECK_FALSE(discovery.version(Kind::cluster_metrics));
  CHECK(discovery
            .answer("/apis/galaxy.kubestellar.io/v1alpha1", 200,
                    R"({"resources":[{"name":"clustermetrics"}]})")
            .has_value());
  CHECK(discovery.version(Kind::cluster_metrics) == "v1alpha1");
}

TEST_CASE("a failing answer changes nothing that was known") {
  Discovery discovery({Kind::node});
  CHECK(discovery.answer("/api/v1", 200, R"({"resources":[{"name":"nodes"}]})").has_value());
  CHECK(discovery.answer("/api/v1", 503, "").has_value());
  CHECK(discovery.answer("/api/v1", 0, "").has_value());
  CHECK(discovery.answer("/api/v1", 200, "<html>").has_error());
  CHECK(discovery.version(Kind::node) == "v1");
}

TEST_CASE("a 404 for the core API is a failure, and for a group it is an answer") {
  Discovery discovery({Kind::node, Kind::cluster_queue});
  const auto core = discovery.answer("/api/v1", 404, "not found");
  REQUIRE(core.has_error());
  CHECK(core.error().message == "/api/v1, which every API server serves, answered 404");
  CHECK_FALSE(discovery.decided(Kind::node));
  for (const char* version : {"v1beta2", "v1beta1"})
    CHECK(discovery.answer(std::string("/apis/kueue.x-k8s.io/") + version, 404, "").has_value());
  CHECK(discovery.decided(Kind::cluster_queue));
  CHECK(discovery.answer("/api/v1", 200, R"({"resources":[{"name":"nodes"}]})").has_value());
  CHECK(discovery.answer("/api/v1", 404, "").has_error());
  CHECK(discovery.version(Kind::node) == "v1");
}

TEST_CASE("a 200 that is not an APIResourceList is refused with the path, and decides nothing") {
  Discovery discovery({Kind::node});
  const auto why = [&](const char* body) {
    const auto read = discovery.answer("/api/v1", 200, body);
    CHECK_FALSE(discovery.decided(Kind::node));
    return read.has_error() ? read.error().message : std::string();
  };
  const std::string start = "/api/v1 answered 200 with what is not an APIResourceList: ";
  CHECK(why("<html>sign in</html>") == start + "it is not JSON");
  CHECK(why("") == start + "it is not JSON");
  CHECK(why("{}") == start + "it has no list of resources");
  CHECK(why("[]") == start + "it has no list of resources");
  CHECK(why(R"({"resources":null})") == start + "it has no list of resources");
  CHECK(why(R"({"kind":"APIResourceList","resources":{}})") ==
        start + "it has no list of resources");
  CHECK(why(R"({"kind":"Status","resources":[]})") == start + "it is of another kind");
  CHECK(why(R"({"kind":1,"resources":[]})") == start + "it is of another kind");
  CHECK(why(R"({"resources":[{"name":"nodes"},7]})") == start + "a resource has no name");
  CHECK(why(R"({"kind":"APIResourceList","resources":null})") ==
        start + "it has no list of resources");
  CHECK(why(R"({"kind":"APIResourceList","groupVersion":"v2","resources":[]})") ==
        start + "it is of another group version");
  CHECK(why(R"({"groupVersion":1,"resources":[]})") == start + "it is of another group version");
  CHECK(discovery
            .answer("/api/v1", 200,
                    R"({"kind":"APIResourceList","groupVersion":"v1","resources":null})")
            .has_value());
  CHECK(discovery.decided(Kind::node));
  CHECK_FALSE(discovery.version(Kind::node));
}

TEST_CASE("the list of one group is not taken for that of another") {
  Discovery discovery({Kind::cluster_queue});
  const std::string path = "/apis/kueue.x-k8s.io/v1beta2";
  const auto answer = [&](const std::string& group_version) {
    return discovery.answer(path, 200,
                            R"({"kind":"APIResourceList","groupVersion":")" + group_version +
                                R"(","resources":[{"name":"clusterqueues"}]})");
  };
  CHECK(answer("apps/v1beta2").has_error());
  CHECK(answer("v1beta2").has_error());
  CHECK_FALSE(discovery.version(Kind::cluster_queue));
  CHECK(answer("kueue.x-k8s.io/v1beta2").has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
}

TEST_CASE("a document of all groups decides what it has, and lists what it has not") {
  Discovery discovery({Kind::node, Kind::cluster_queue});
  CHECK(paths_of(discovery.documents()) == Paths{"/api", "/apis"});
  const std::string core =
      R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[)"
      R"({"version":"v1","freshness":"Current","resources":[{"resource":"nodes"}]}]}]})";
  CHECK(discovery.answer_document({"/api", {}, {}}, 200, core, "\"c\"").has_value());
  CHECK(discovery.version(Kind::node) == "v1");
  CHECK(discovery.answer_document(kGroups, 200, document_of(kQueues), "\"1\"").has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.decided(Kind::cluster_queue));
  // The version that is not served is confirmed once.
  CHECK(paths_of(discovery.lists()) == Paths{"/apis/kueue.x-k8s.io/v1beta1"});
  CHECK(discovery.answer("/apis/kueue.x-k8s.io/v1beta1", 404, "").has_value());
  CHECK(discovery.lists().empty());
  // From then on one request is a round, and 304 its answer.
  const auto again = discovery.documents();
  REQUIRE(paths_of(again) == Paths{"/apis"});
  CHECK(again[0].etag == "\"1\"");
  CHECK(discovery.answer_document(again[0], 304, "", "").has_value());
  CHECK(discovery.lists().empty());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.documents()[0].etag == "\"1\"");
}

TEST_CASE("a kind that comes and goes does so with the document") {
  Discovery discovery({Kind::cluster_queue});
  CHECK(discovery.answer_document(kGroups, 200, document_of(""), "\"1\"").has_value());
  CHECK(discovery.answer("/apis/kueue.x-k8s.io/v1beta1", 404, "").has_value());
  CHECK(discovery.decided(Kind::cluster_queue));
  CHECK_FALSE(discovery.version(Kind::cluster_queue));
  CHECK(discovery.answer_document(kGroups, 200, document_of(kQueues), "\"2\"").has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  const std::string none = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  CHECK(discovery.answer_document(kGroups, 200, none, "\"3\"").has_value());
  // A server that starts has a short document, and answers 503 to the list.
  CHECK(discovery.lists().size() == 2);
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.answer("/apis/kueue.x-k8s.io/v1beta2", 503, "").has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.answer("/apis/kueue.x-k8s.io/v1beta2", 404, "").has_value());
  CHECK_FALSE(discovery.version(Kind::cluster_queue));
}

TEST_CASE("a server without documents is asked for each list in each round") {
  Discovery discovery({Kind::cluster_queue});
  const Paths lists{"/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"};
  for (const int status : {404, 406, 403, 200}) {
    CHECK(discovery.answer_document(kGroups, status, R"({"kind":"APIGroupList","groups":[]})", "")
              .has_value());
    CHECK(paths_of(discovery.lists()) == lists);
    for (const std::string& path : lists) CHECK(discovery.answer(path, 404, "").has_value());
    CHECK(discovery.lists().empty());
  }
  CHECK(discovery.documents()[0].etag.empty());
}

TEST_CASE("a version of a server behind the server that is away is asked for by its list") {
  Discovery discovery({Kind::cluster_queue});
  CHECK(discovery.answer_document(kGroups, 200, document_of(kQueues), "\"1\"").has_value());
  CHECK(discovery.answer_document(kGroups, 200, document_of("", "Stale"), "\"2\"").has_value());
  CHECK(paths_of(discovery.lists()) ==
        Paths{"/apis/kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta2"});
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
}

TEST_CASE("a document that is none is refused, and a failure changes nothing") {
  Discovery discovery({Kind::cluster_queue});
  CHECK(discovery.answer_document(kGroups, 200, document_of(kQueues), "\"1\"").has_value());
  for (const int status : {0, 401, 429, 500, 503})
    CHECK(discovery.answer_document(kGroups, status, "", "").has_value());
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  CHECK(discovery.documents()[0].etag == "\"1\"");
  const auto why = [&](const char* body) {
    const auto read = discovery.answer_document(kGroups, 200, body, "\"2\"");
    return read.has_error() ? read.error().message : std::string();
  };
  const std::string start = "/apis answered 200 with what is no list of API groups: ";
  CHECK(why("<html>") == start + "it is not JSON");
  CHECK(why("[]") == start + "it is of another kind");
  CHECK(why(R"({"kind":"APIGroupDiscoveryList","items":1})") == start + "it has no list of groups");
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
  // Read whole again.
  CHECK(discovery.documents()[0].etag.empty());
}

TEST_CASE("a server at another address is asked for everything again") {
  Discovery discovery({Kind::node, Kind::cluster_queue});
  CHECK(discovery.answer("/api/v1", 200, R"({"resources":[{"name":"nodes"}]})").has_value());
  CHECK(discovery.answer_document(kGroups, 200, document_of(kQueues), "\"1\"").has_value());
  discovery.forget_documents();
  CHECK(paths_of(discovery.documents()) == Paths{"/api", "/apis"});
  CHECK(discovery.documents()[1].etag.empty());
  CHECK(discovery.lists().size() == 3);
  CHECK(discovery.version(Kind::cluster_queue) == "v1beta2");
}

TEST_CASE("a kind that is served only in versions that are not read is reported once") {
  Discovery discovery({Kind::device_taint_rule, Kind::cluster_metrics});
  const auto say = [&](const std::string& versions) {
    const std::string body =
        R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"resource.k8s.io"},)"
        R"("versions":[)" +
        versions + "]}]}";
    CHECK(discovery.answer_document(kGroups, 200, body, "").has_value());
    return discovery.newly_unread();
  };
  const std::string slices = R"({"version":"v1","resources":[{"resource":"resourceslices"}]})";
  const std::string rules = R"({"version":"v9","resources":[{"resource":"devicetaintrules"}]})";
  CHECK(say(slices).empty());
  CHECK(say(slices + "," + rules) ==
        std::vector<std::string>{
            "DeviceTaintRule is not read: resource.k8s.io serves it only as v9, and this version "
            "of Fairlead reads v1,v1beta2,v1alpha3; its objects count as absent"});
  CHECK(say(slices + "," + rules).empty());
  CHECK(say(R"({"version":"v1","resources":[{"resource":"devicetaintrules"}]},)" + rules).empty());
  CHECK(discovery.version(Kind::device_taint_rule) == "v1");
}
