// What a member or a tenant sends is projected on the thread that all of them share: the work must
// grow with the text, not with its square. Each of these took minutes.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

std::string joined(int count, const std::function<std::string(int)>& item) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + item(i);
  return out;
}

// Of an object with this `spec`, 5 MB at most.
template <class F>
F projected_soon(const std::string& version, const std::string& kind, const std::string& spec) {
  const std::string text = R"({"apiVersion":")" + version + R"(","kind":")" + kind +
                           R"(","metadata":{"name":"x","namespace":"n","uid":"u"},"spec":)" + spec +
                           "}";
  const auto began = std::chrono::steady_clock::now();
  F facts = std::get<F>(seen(text).facts);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  return facts;
}

}  // namespace

TEST_CASE("a Pod of many sidecars and init containers is projected soon") {
  const auto pod = projected_soon<PodFacts>(
      "v1", "Pod",
      R"({"initContainers":[)" +
          joined(10'000,
                 [](int i) {
                   return R"({"restartPolicy":"Always","resources":{"requests":{"r)" +
                          std::to_string(i) + R"(":"1"}}})";
                 }) +
          "," + joined(100'000, [](int) { return "{}"; }) + "]}");
  CHECK(pod.requests.to_map().size() == 10'000);
}

TEST_CASE("a ClusterQueue of many old words is projected soon") {
  const auto queue = projected_soon<ClusterQueueFacts>(
      "kueue.x-k8s.io/v1beta1", "ClusterQueue",
      R"({"flavorFungibility":[)" + joined(500'000, [](int) { return R"("Borrow")"; }) + "]}");
  REQUIRE(queue.sharing);
  CHECK(queue.sharing->flavor_fungibility ==
        "[" + joined(500'000, [](int) { return R"("MayStopSearch")"; }) + "]");
}
