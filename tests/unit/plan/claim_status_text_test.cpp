#include "engine/plan/claims/claim_status_text.h"

#include <catch2/catch.hpp>

#include "engine/base/json.h"
#include "engine/plan/claims/claim_restore.h"

namespace fairlead::claim_status_text_test {
namespace {

StatusContent content_of(int generation) {
  StatusContent content;
  content.observed_generation = generation;
  content.grants = {{"5", "q", "spot", "3", "FlavorCapacity", "cpu"},
                    {"4", "q", "od", "4", "", "cpu"}};
  return content;
}

TEST_CASE("claim status text: canonical JSON with every part under its name") {
  StatusContent content = content_of(3);
  content.overcommitted = {{"q", "od", "4", "cpu", "9"}};
  ClaimStatus status{content, {}, {}, {}, 12};
  status.capacity = {{"6", "od", "8", "cpu", "Growing", "7"}};
  status.unassigned = {{"cpu", "1"}};
  status.conditions = {{"Valid", "True", "Valid", "a \"b\"", "1970-01-01T00:00:01Z"}};
  const Json json = Json::parse(text_of(status).text);
  CHECK(to_text(json) == text_of(status).text);
  CHECK(json == Json::parse(R"({
    "capacity": [{"accepted": "6", "flavor": "od", "observed": "8", "resource": "cpu",
                  "state": "Growing", "usable": "7"}],
    "conditions": [{"lastTransitionTime": "1970-01-01T00:00:01Z", "message": "a \"b\"",
                    "observedGeneration": 3, "reason": "Valid", "status": "True",
                    "type": "Valid"}],
    "grants": [{"assigned": "5", "clusterQueueName": "q", "flavor": "spot", "granted": "3",
                "reason": "FlavorCapacity", "resource": "cpu"},
               {"assigned": "4", "clusterQueueName": "q", "flavor": "od", "granted": "4",
                "reason": "", "resource": "cpu"}],
    "observedGeneration": 3,
    "overcommitted": [{"clusterQueueName": "q", "flavor": "od", "granted": "4",
                       "resource": "cpu", "usage": "9"}],
    "seq": 12, "unassigned": {"cpu": "1"}})"));
}

TEST_CASE("claim status text: an empty unassigned is left out, empty lists are not") {
  const StatusContent content;
  const Json json = Json::parse(text_of({content, {}, {}, {}, 0}).text);
  CHECK_FALSE(json.contains("unassigned"));
  for (const char* list : {"capacity", "conditions", "grants", "overcommitted"})
    CHECK(json[list] == Json::array());
}

TEST_CASE("claim status text: the digest is that of the status as the watch will show it") {
  const StatusContent content = content_of(3);
  ClaimStatus status{content, {}, {}, {{"Valid", "True", "Valid", "", "t"}}, 12};
  const ClaimStatusText text = text_of(status);
  CHECK(text.digest == digest_of_claim_status(Json::parse(text.text)));
  CHECK_FALSE(text.digest == Digest{});
  StatusContent other = content;
  other.grants[0][3] = "2";
  CHECK_FALSE(text_of({other, {}, {}, status.conditions, 12}).digest == text.digest);
}

TEST_CASE("claim status text: stored grants are sorted, without amounts that were only asked for") {
  CHECK(stored_grants(content_of(1)) ==
        std::vector<ClaimGrant>{{"q", "od", "cpu", "4"}, {"q", "spot", "cpu", "3"}});
  CHECK(stored_grants({}).empty());
}

TEST_CASE("claim status text: what a status tells is what reading its text tells") {
  const StatusContent content = content_of(3);
  ClaimStatus status{content, {}, {}, {{"Valid", "False", "Malformed", "", "t"}}, 12};
  status.capacity = {{"6", "od", "8", "cpu", "Growing", "7"}};
  const WrittenStatus written = as_read(status);
  CHECK(written.seq == 12);
  CHECK(written.content == content);
  REQUIRE(written.capacity.size() == 1);
  CHECK(written.capacity[0].key == CapacityKey{"od", "cpu"});
  CHECK(written.capacity[0].accepted == Quantity::parse("6"));
  CHECK(written.turns == std::vector<WrittenStatus::Turn>{{"Valid", "False", "t"}});
}

}  // namespace
}  // namespace fairlead::claim_status_text_test
