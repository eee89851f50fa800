// The numbers of the dispatch by devices, on scenarios whose devices can be counted by hand.
#include <catch2/catch.hpp>

#include "engine/fold/dispatch/counts.h"
#include "replay/audit/audit_moment.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

DispatchCounts counts_at(const char* scenario, const char* time) {
  MemoryLog log;
  rehearse(read_trace(std::string("tests/scenarios/dispatch/") + scenario), log);
  const auto moment = moment_at({log, nullptr}, *parse_rfc3339(time));
  REQUIRE(moment.has_value());
  return count_dispatch(moment->state);
}

using Numbers = std::map<std::string, std::size_t>;

TEST_CASE("devices are counted by what they are, and Workloads by what was decided") {
  // Of 8 GPUs in one cluster and 8 in the other, a gang of 4 pods has 2 each.
  const DispatchCounts gang =
      counts_at("a-gang-goes-where-all-of-it-fits.txt", "1970-01-01T00:00:15Z");
  CHECK(gang.devices ==
        Numbers{{"free", 8}, {"incomplete", 0}, {"reserved", 8}, {"tainted", 0}, {"used", 0}});
  CHECK(gang.decisions == Numbers{{"NoCluster", 1}, {"Reserved", 1}});
  CHECK(gang.reservations == 1);
  CHECK(gang.broken == 0);
  CHECK(gang.steps > 0);
}

TEST_CASE("a reservation that lost a device is counted as broken") {
  const DispatchCounts broken = counts_at("a-broken-reservation-moves.txt", "1970-01-01T00:01:30Z");
  CHECK(broken.reservations == 2);
  CHECK(broken.broken == 1);
}

TEST_CASE("a device that a claim uses is used, also where another was reserved") {
  const DispatchCounts claimed =
      counts_at("claims-take-the-place-of-a-reservation.txt", "1970-01-01T00:00:25Z");
  CHECK(claimed.devices.at("used") == 1);
  CHECK(claimed.devices.at("reserved") == 0);
  CHECK(claimed.devices.at("free") == 1);
}

}  // namespace
}  // namespace fairlead
