// What a recording sees of a server, and a server whose etcd is restored from a backup.
#include "tests/unit/model/fixture.h"

using namespace fairlead;

namespace {

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

Json config_map(const char* name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
}

}  // namespace

TEST_CASE_METHOD(model::ModelFixture, "an observer sees each write with what it changed") {
  std::vector<std::string> seen;
  model.observe([&](const model::ApiRequest& request, const model::ApiAnswer& answer,
                    std::span<const model::Change> changes) {
    seen.push_back(request.method + " " + std::to_string(answer.code) + " " +
                   (changes.empty() ? "nothing" : changes.front().key));
  });
  REQUIRE(model.call("POST", kConfigMaps, config_map("a")).has_value());
  REQUIRE_FALSE(model.call("POST", kConfigMaps, config_map("a")).has_value());
  REQUIRE(model.call("GET", kConfigMaps).has_value());
  CHECK(seen == std::vector<std::string>{"POST 201 default/a", "POST 409 nothing"});
}

TEST_CASE_METHOD(model::ModelFixture, "a restored server has what the backup had, and no history") {
  REQUIRE(model.call("POST", kConfigMaps, config_map("kept")).has_value());
  const model::ObjectStore saved = model.save();
  const std::uint64_t then = model.revision();
  REQUIRE(model.call("POST", kConfigMaps, config_map("lost")).has_value());
  for (const std::uint64_t jump : {0U, 1000U}) {
    model.restore(saved, jump);
    CHECK(model.revision() == then + jump);
    CHECK(model.oldest() == then + jump);
    CHECK(model.call("GET", std::string(kConfigMaps) + "/kept").has_value());
    CHECK_FALSE(model.call("GET", std::string(kConfigMaps) + "/lost").has_value());
  }
}
