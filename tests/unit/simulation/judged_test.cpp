// Whether the checkers have anything to judge: a checker that sees nothing finds nothing.
#include <catch2/catch.hpp>
#include <map>

#include "tests/simulation/world.h"

using namespace fairlead;
using namespace fairlead::simulation;

namespace {

// Every part of the world, and people who are busy.
Storm with_every_part(std::int64_t seed) {
  Storm storm = storm_of(static_cast<std::uint64_t>(seed));
  storm.minutes = 40;
  storm.settle_minutes = 200;
  storm.members = 2;
  storm.nodes = 4;
  storm.replicas = seed;
  storm.snapshot_every = 20;
  storm.works = storm.workers = 1;
  storm.devices = 2;
  storm.jobs = storm.limits = storm.decision_shifts = storm.credential_changes =
      storm.training_jobs = storm.device_changes = 10;
  return storm;
}

bool has_condition(const SeenWrite& write, std::string_view who, std::string_view type) {
  return write.who == who && write.body.find(type) != std::string::npos && !write.changed_nothing();
}

}  // namespace

TEST_CASE("each checker judges, and each part of the world does something") {
  std::map<std::string, std::uint64_t> judged, seen;
  for (const std::int64_t seed : {1, 2}) {
    World world(with_every_part(seed), {});
    const auto failure = world.run();
    INFO("seed " << seed << (failure ? ": " + failure->checker + ": " + failure->what : ""));
    REQUIRE_FALSE(failure.has_value());
    for (const auto& checker : world.checkers())
      judged[std::string(checker->name())] += checker->judged();
    seen["what members admit"] += world.record().admission.size();
    for (const SeenWrite& write : world.record().writes) {
      seen["jobs admitted"] += has_condition(write, "kueue", "\"Admitted\"");
      seen["jobs finished"] += has_condition(write, "kueue", "\"Finished\"");
      seen["queues refused by Kueue"] += write.status == 403;
      seen["worker lists"] +=
          write.by_hub() && write.path.find("multikueueconfigs") != write.path.npos;
      seen["decisions of Placements"] += write.path.find("placementdecisions") != write.path.npos;
      seen["credentials"] += write.path.find("/secrets") != write.path.npos;
      seen["slices of devices"] += write.path.find("resourceslices") != write.path.npos;
    }
  }
  CHECK(judged.size() >= 16);
  for (const auto& counts : {judged, seen})
    for (const auto& [what, count] : counts) {
      INFO(what);
      CHECK(count > 0);
    }
}
