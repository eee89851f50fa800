// Updates that changed nothing that is kept: what becomes of them before the log.
#include <catch2/catch.hpp>

#include "engine/core/batches.h"
#include "engine/fold/state.h"
#include "engine/ingest/ingest.h"

namespace fairlead {
namespace {

const ObjectKey kQueue{Kind::cluster_queue, "", "q"};

WatchFact unchanged(const std::string& version) {
  return {std::string(kHub), ObjectUnchanged{kQueue, "v1beta2", "u", version}};
}

WatchFact queue_seen(const std::string& version) {
  ObjectSeen seen;
  seen.key = kQueue;
  seen.uid = "u";
  seen.resource_version = version;
  seen.facts = ClusterQueueFacts{};
  return {std::string(kHub), std::move(seen)};
}

State with_queue() {
  State state;
  Queue& queue = state.queues.by_name["q"];
  queue.present = true;
  queue.uid = "u";
  queue.generation = 3;
  queue.facts.cohort = "c";
  return state;
}

TEST_CASE("an unchanged update moves the version that the next write carries, and is not logged") {
  State state = with_queue();
  Ingest ingest;
  CHECK_FALSE(ingest.draft(state, unchanged("9")).has_value());
  CHECK(ingest.newest_version(std::string(kHub), kQueue) == "9");
  CHECK_FALSE(ingest.draft(state, unchanged("8")).has_value());
  CHECK(ingest.newest_version(std::string(kHub), kQueue) == "9");
  CHECK(ingest.counts().unchanged == 1);
  CHECK(ingest.counts().older == 1);
}

TEST_CASE("an unchanged update is logged where a write of ours awaits to be seen") {
  State state = with_queue();
  state.writes.by_key[{std::string(kHub), kQueue, false}].awaited_version = "9";
  Ingest ingest;
  const auto draft = ingest.draft(state, unchanged("9"));
  REQUIRE(draft.has_value());
  const auto* observed = std::get_if<ObjectObserved>(&draft->fact);
  REQUIRE(observed != nullptr);
  CHECK(observed->resource_version == "9");
  CHECK(observed->generation == 3);
  CHECK(observed->version == "v1beta2");
  CHECK(observed->facts == Facts(state.queues.by_name["q"].facts));
}

TEST_CASE("in a batch an unchanged update only moves the version of what was seen before it") {
  std::vector<WatchFact> facts;
  for (WatchFact fact : {queue_seen("5"), unchanged("7"), unchanged("8")}) facts.push_back(fact);
  const auto batches = into_batches(facts, 10);
  REQUIRE(batches.size() == 1);
  REQUIRE(batches[0].size() == 1);
  const auto* kept = std::get_if<ObjectSeen>(&batches[0][0].said);
  REQUIRE(kept != nullptr);
  CHECK(kept->resource_version == "8");
  CHECK(into_batches({unchanged("7"), queue_seen("9")}, 10).size() == 2);
}

}  // namespace
}  // namespace fairlead
