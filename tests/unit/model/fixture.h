// A model with a clock that a test sets, and short ways to query it.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "engine/fleet/model/model.h"

namespace fairlead::model {

class TestClock final : public Clock {
 public:
  LogTime now() override { return time; }
  LogTime time{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
};

struct ModelFixture {
  TestClock clock;
  Model model{clock, ModelOptions{.history_max = 1000, .watch_lines_max = 50}};

  ModelFixture() { model.install_fairlead_crds(); }

  static constexpr const char* kQueues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";

  static Json queue(const std::string& name, Json spec = Json::object()) {
    return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
            {"kind", "ClusterQueue"},
            {"metadata", {{"name", name}}},
            {"spec", std::move(spec)}};
  }
  static Json groups(const std::string& resource, const std::string& quota) {
    return Json::array(
        {{{"coveredResources", {resource}},
          {"flavors",
           {{{"name", "f"}, {"resources", {{{"name", resource}, {"nominalQuota", quota}}}}}}}}});
  }

  /// The answer of a request that must succeed.
  Json ok(std::string_view method, const std::string& target, const Json& body = nullptr,
          std::string_view type = "") {
    Outcome<Json> answer = model.call(method, target, body, type);
    INFO(method << " " << target << ": " << (answer ? "" : to_text(answer.error().body)));
    REQUIRE(answer.has_value());
    return *answer;
  }
  /// The Status of a request that must fail with `code`.
  Json refused(int code, std::string_view method, const std::string& target,
               const Json& body = nullptr, std::string_view type = "") {
    Outcome<Json> answer = model.call(method, target, body, type);
    INFO(method << " " << target << ": "
                << (answer ? to_text(*answer) : to_text(answer.error().body)));
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == code);
    return answer.error().body;
  }
  Json apply(const std::string& manager, const Json& object, const std::string& extra = "") {
    return ok("PATCH", target_of(manager, object, extra), object, "application/apply-patch+yaml");
  }
  static std::string target_of(const std::string& manager, const Json& object,
                               const std::string& extra) {
    return std::string(kQueues) + "/" + object["metadata"]["name"].get<std::string>() +
           "?fieldManager=" + manager + extra;
  }

  std::shared_ptr<WatchStream> watch(const std::string& target) {
    ApiAnswer answer = model.handle(parse_target("GET", target));
    REQUIRE(answer.watch != nullptr);
    return answer.watch;
  }
  /// `TYPE name` of every line that waits.
  static std::vector<std::string> lines_of(WatchStream& stream) {
    std::vector<std::string> lines;
    while (auto line = stream.next()) {
      const Json event = Json::parse(*line);
      lines.push_back(event["type"].get<std::string>() + " " +
                      event["object"].value("metadata", Json::object()).value("name", ""));
    }
    return lines;
  }
};

}  // namespace fairlead::model
