// What a what-if says of objects that a changed setting does not reach.
#include <catch2/catch.hpp>

#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

// "name: setting=value from..to" of each row, in order.
std::string not_reached(const std::string& file, const WhatIfOptions& options) {
  MemoryLog log;
  rehearse(read_trace(file), log);
  const WhatIf result = asked(log, options);
  const Json document = to_json(result);
  const auto seq = [](const Json& place) { return place.is_null() ? "" : place["seq"].dump(); };
  std::string unreached;
  for (const Json& row : document["overridden"]) {
    unreached += row["kind"].get<std::string>() + " " + row["name"].get<std::string>() + ": " +
                 row["setting"].get<std::string>() + " by " + row["annotation"].get<std::string>() +
                 "=" + row["value"].get<std::string>() + " " + seq(row["from"]) + ".." +
                 seq(row["to"]) + "\n";
    CHECK(what_if_text(result).find(row["annotation"].get<std::string>()) != std::string::npos);
  }
  CHECK((what_if_text(result).find("NOT AFFECTED") == std::string::npos) == unreached.empty());
  return unreached;
}

const std::string kClaims = "tests/unit/replay/audit/claim-annotation.txt";

TEST_CASE("a what-if names the claims whose annotations override what it changes, and since when") {
  CHECK(not_reached(kClaims, under({"debounce.shrinkWindow=10m"})) ==
        "ClusterResourceClaim north-claim: debounce.shrinkWindow by "
        "fairlead.io/debounce.shrinkWindow=40s 24..29\n"
        "ClusterResourceClaim north-claim: debounce.shrinkWindow by "
        "fairlead.io/debounce.shrinkWindow=1m 29..\n");
  // A malformed annotation is none.
  CHECK(not_reached(kClaims, under({"debounce.growWindow=10m"})) ==
        "ClusterResourceClaim north-claim: debounce.growWindow by "
        "fairlead.io/debounce.growWindow=2m 24..34\n");
}

TEST_CASE("a what-if names no annotation of a setting that it leaves as it is") {
  CHECK(not_reached(kClaims, under({"debounce.minGrowInterval=10m"})).empty());
  CHECK(not_reached(kClaims, under({"debounce.shrinkWindow=15s"})).empty());
}

TEST_CASE("an annotation that is set when the worlds part is named from the beginning") {
  WhatIfOptions options = under({"debounce.shrinkWindow=10m"});
  options.from = Seq{35};
  CHECK(not_reached(kClaims, options) ==
        "ClusterResourceClaim north-claim: debounce.shrinkWindow by "
        "fairlead.io/debounce.shrinkWindow=1m ..\n");
}

TEST_CASE("a what-if names the AdmissionChecks whose annotations override a window") {
  const std::string file = "tests/scenarios/multikueue/two-checks-one-placement.txt";
  const std::string row =
      "AdmissionCheck multikueue: multikueue.moveWindow by fairlead.io/multikueue.moveWindow=5m ";
  CHECK(not_reached(file, under({"multikueue.moveWindow=10m"})).starts_with(row));
  // "soon" of the other check is malformed.
  CHECK(not_reached(file, under({"multikueue.settle=1m"})).empty());
}

TEST_CASE("a queue that follows its workers is named where overbooking changes") {
  const std::string file = "tests/scenarios/workers/bad-annotations.txt";
  const std::string unreached = not_reached(file, under({"capacity.overbookPercent=150"}));
  INFO(unreached);
  CHECK(unreached.find(
            "ClusterQueue qa: capacity.overbookPercent by fairlead.io/quota-from=workers ") !=
        std::string::npos);
  CHECK(unreached.find(
            "ClusterQueue qa: capacity.overbookPercent by fairlead.io/quota-percent=50 ") !=
        std::string::npos);
  CHECK(unreached.find("half") == std::string::npos);
}

}  // namespace
}  // namespace fairlead
