#include "connectors/kube/access/discovery.h"

#include <catch2/catch.hpp>

using namespace fairlead;

TEST_CASE("the best served version of each kind is chosen, and an absent kind has none") {
  Discovery discovery({Kind::node, Kind::cluster_queue, Kind::local_queue, Kind::cluster_metrics});
  CHECK(discovery.paths() == std::vector<std::string>{"/api/v1", "/apis/kueue.x-k8s.io/v1beta2",
                                                      "/apis/kueue.x-k8s.io/v1beta1",
                                                      "/apis/galaxy.kubestellar.io/v1alpha1"});
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

TEST_CASE("a kind that is served only in versions that are not read is not one that is absent") {
  Discovery discovery({Kind::device_taint_rule, Kind::cluster_metrics});
  const std::string group = "/apis/resource.k8s.io";
  const auto say = [&](const std::string& path, int status, const std::string& body) {
    CHECK(discovery.answer(path, status, body).has_value());
  };
  for (const char* version : {"v1beta2", "v1alpha3"}) say(group + "/" + version, 404, "");
  CHECK(discovery.paths().size() == 4);  // three versions, and the one of ClusterMetrics
  say(group + "/v1", 200, R"({"resources":[{"name":"resourceslices"}]})");
  CHECK(discovery.decided(Kind::device_taint_rule));
  CHECK(discovery.unread_versions(Kind::device_taint_rule).empty());
  CHECK(discovery.unanswered() ==
        std::vector<std::string>{"/apis/galaxy.kubestellar.io/v1alpha1", group});
  CHECK(discovery.is_asked_beside(group));
  CHECK_FALSE(discovery.is_asked_beside(group + "/v1"));

  say(group, 200,
      R"({"kind":"APIGroup","versions":[{"version":"v1"},{"version":"v2"},{"version":"../v3"}]})");
  CHECK(discovery.paths().back() == group + "/v2");
  CHECK(discovery.unread_versions(Kind::device_taint_rule).empty());
  say(group + "/v2", 200, R"({"resources":[{"name":"devicetaintrules"}]})");
  CHECK(discovery.unread_versions(Kind::device_taint_rule) == std::vector<std::string>{"v2"});
  // What cannot be asked says nothing, and is no trouble.
  say(group + "/v2", 403, "");
  CHECK(discovery.unread_versions(Kind::device_taint_rule).empty());
  say(group, 500, "");
  CHECK(discovery.paths().back() == group);

  say(group + "/v1", 200, R"({"resources":[{"name":"devicetaintrules"}]})");
  CHECK(discovery.version(Kind::device_taint_rule) == "v1");
  CHECK(discovery.paths().size() == 4);
}
