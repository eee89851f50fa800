#include "engine/plan/claims/written_status.h"

#include <catch2/catch.hpp>

#include "engine/base/json.h"

namespace fairlead {
namespace {

Json status() {
  return Json::parse(R"json({
    "observedGeneration": 3, "seq": 70, "overcommitted": [],
    "grants": [{"clusterQueueName": "qa", "flavor": "any", "resource": "cpu", "assigned": "10",
                "granted": "8", "reason": "ClusterCapacity"}],
    "capacity": [{"flavor": "any", "resource": "cpu", "observed": "9", "usable": "9",
                  "accepted": "8", "state": "Growing"},
                 {"flavor": "old", "resource": "cpu", "observed": "0", "usable": "0",
                  "accepted": "0", "state": "Accepted"}],
    "conditions": [{"type": "Valid", "status": "True", "reason": "ValidWithWarnings",
                    "message": "a queue is missing"},
                   {"type": "Damped", "status": "False", "reason": "Steady", "message": "1"},
                   {"type": "Released", "status": "False", "reason": "Waits", "message": "qa"}]
  })json");
}

std::optional<WrittenStatus> read(const Json& status) {
  return read_status(to_text(Json{{"metadata", {{"name", "c"}}}, {"status", status}}));
}

StatusContent content_of(const Json& status) {
  const auto written = read(status);
  REQUIRE(written.has_value());
  REQUIRE(written->content.has_value());
  return *written->content;
}

}  // namespace

TEST_CASE("a status is read as it is compared") {
  const auto written = read(status());
  REQUIRE(written.has_value());
  CHECK(written->seq == 70);
  REQUIRE(written->capacity.size() == 2);
  CHECK(written->capacity[0].key == CapacityKey{"any", "cpu"});
  CHECK(written->capacity[0].accepted == Quantity::parse("8"));
  const StatusContent& content = written->content.value();
  CHECK(content.observed_generation == 3);
  CHECK(content.grants == std::vector<std::array<std::string, 6>>{
                              {"10", "qa", "any", "8", "ClusterCapacity", "cpu"}});
  CHECK(content.accepted == std::vector<std::array<std::string, 3>>{{"any", "cpu", "8"}});
  CHECK(content.warnings == std::vector<std::string>{"ValidWithWarnings"});
  CHECK(content.conditions ==
        std::vector<std::array<std::string, 4>>{{"Valid", "True", "", ""},
                                                {"Damped", "False", "Steady", ""},
                                                {"Released", "False", "Waits", "qa"}});
}

TEST_CASE("what changes at once, what waits, and what is not requested") {
  const StatusContent before = content_of(status());
  const auto differs = [&](const char* pointer, const Json& value) {
    Json changed = status();
    changed[Json::json_pointer(pointer)] = value;
    const StatusContent after = content_of(changed);
    return std::pair(after.urgently_differs(before), after.patiently_differs(before));
  };
  constexpr std::pair urgent{true, false}, patient{false, true}, neither{false, false};
  CHECK(differs("/grants/0/granted", "9") == urgent);
  CHECK(differs("/grants/0/reason", "") == urgent);
  CHECK(differs("/observedGeneration", 4) == urgent);
  CHECK(differs("/overcommitted", Json::parse(R"([{"clusterQueueName": "qa", "flavor": "any",
      "granted": "8", "resource": "cpu", "usage": "9"}])")) == urgent);
  CHECK(differs("/conditions/1/reason", "NodesSuppressed") == urgent);
  CHECK(differs("/conditions/2/message", "qb") == urgent);
  CHECK(differs("/capacity/0/accepted", "9") == patient);
  CHECK(differs("/conditions/0/reason", "Valid") == patient);
  CHECK(differs("/capacity/0/state", "Accepted") == neither);
  CHECK(differs("/capacity/1/observed", "4") == neither);
  CHECK(differs("/conditions/1/message", "2") == neither);
  CHECK(differs("/seq", 71) == neither);
}

TEST_CASE("of Propagated the objects that the message names are compared, numbers are not") {
  const auto differs = [](const std::string& reason, const std::string& was,
                          const std::string& is) {
    StatusContent before, after;
    add_condition(before, "Propagated", "False", reason, was);
    add_condition(after, "Propagated", "False", reason, is);
    return after.urgently_differs(before);
  };
  CHECK(differs("MemberQueueInactive", "ClusterQueue qa of c1 is not active: FlavorNotFound",
                "ClusterQueue qa of c1 is not active: TopologyNotFound"));
  CHECK(differs("HubRejected", "ManifestWork fairlead-quota: 413: too large",
                "ClusterQueue qa: 403: refused"));
  CHECK(differs("MemberDiffers", "ClusterQueue qa of c1: od cpu: 3 instead of 5",
                "ClusterQueue qb of c1: od cpu: 3 instead of 5"));
  CHECK_FALSE(differs("MemberDiffers", "ClusterQueue qa of c1: od cpu: 3 instead of 5",
                      "ClusterQueue qa of c1: od cpu: 2 instead of 5"));
  CHECK_FALSE(differs("WaitingForHub", "ClusterQueue qa od cpu: 3 of 5 is written",
                      "ClusterQueue qa od cpu: 4 of 5 is written"));
}

TEST_CASE("a status that this program would not write is like no other") {
  for (const char* missing : {"/observedGeneration", "/overcommitted", "/grants/0/reason"}) {
    Json other = status().flatten();
    other.erase(missing);
    if (std::string_view(missing) == "/overcommitted") other.erase("/overcommitted");
    const auto written = read(other.unflatten());
    REQUIRE(written.has_value());
    CHECK_FALSE(written->content.has_value());
  }
  Json more = status();
  more["grants"][0]["more"] = "1";
  CHECK_FALSE(read(more)->content.has_value());
}

TEST_CASE("no body, and a body without a status, tell nothing") {
  CHECK_FALSE(read_status("").has_value());
  CHECK_FALSE(read_status("{").has_value());
  CHECK_FALSE(read_status("{\"metadata\":{}}").has_value());
  CHECK_FALSE(read(Json::object()).has_value());
}

TEST_CASE("a status is read again when its body is another") {
  WrittenStatuses all;
  const auto body = [](std::uint64_t seq) { return to_text(Json{{"status", {{"seq", seq}}}}); };
  CHECK(all.of("a", body(1)).value().seq == 1);
  CHECK(all.of("b", body(2)).value().seq == 2);
  CHECK(all.of("a", body(1)).value().seq == 1);
  CHECK(all.of("a", body(3)).value().seq == 3);
  CHECK_FALSE(all.of("a", "").has_value());
}

}  // namespace fairlead
