// What a write leaves of an object that has other owners too.
#include "replay/dry_run.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("an apply of one admission check keeps the others and what it does not set") {
  const Json live = Json::parse(
      R"({"status":{"admissionChecks":[{"name":"budget","state":"Ready","message":"paid"},{"name":"multikueue","state":"Pending","retryCount":2}]}})");
  const Json applied =
      Json::parse(R"({"status":{"admissionChecks":[{"name":"multikueue","state":"Ready"}]}})");
  const Json expected = Json::parse(
      R"({"status":{"admissionChecks":[{"name":"budget","state":"Ready","message":"paid"},{"name":"multikueue","state":"Ready","retryCount":2}]}})");
  CHECK(merge_applied(live, applied) == expected);
}

TEST_CASE("a list without keys is replaced as a whole") {
  const Json live = Json::parse(R"({"spec":{"clusters":["a","b"]}})");
  const Json applied = Json::parse(R"({"spec":{"clusters":["b"]}})");
  CHECK(merge_applied(live, applied) == applied);
}

}  // namespace
}  // namespace fairlead
