// Which Workloads are not taken up: those that finished long ago, and those past workloads.max.
#include <catch2/catch.hpp>

#include "engine/fold/held.h"
#include "tests/unit/ingest/ingest_bench.h"

namespace fairlead {
namespace {

WatchFact workload_seen(IngestBench& bench, const SourceName& source, const std::string& name,
                        std::optional<LogTime> finished = {}) {
  WorkloadFacts facts;
  facts.finished = finished.has_value();
  facts.progress.emplace().finished_at = finished;
  return {source, ObjectSeen{{Kind::workload, "team", name},
                             "v1beta2",
                             "u-" + name,
                             std::to_string(++bench.version),
                             1,
                             std::move(facts),
                             {}}};
}

}  // namespace

TEST_CASE("a relist does not log what finished before keepFinished and was forgotten") {
  for (const char* source : {"hub", "member"}) {
    IngestBench bench;
    bench.state.now = LogTime{hours(100).ns};
    const LogTime begin = bench.state.now;
    CHECK(bench.take(source, workload_seen(bench, source, "a", begin)));
    // It is held: its changes are events.
    CHECK(bench.take(source, workload_seen(bench, source, "a", begin + seconds(1))));
    DirtySet dirty;
    run_until(bench.state, begin + hours(2), dirty);
    CHECK_FALSE(held(bench.state, source, {Kind::workload, "team", "a"}));
    CHECK_FALSE(bench.take(source, workload_seen(bench, source, "a", begin + seconds(1))));
    CHECK_FALSE(bench.misses(source, Kind::workload, "a"));
    CHECK(bench.ingest.counts().unchanged == 2);
    CHECK(bench.take(source, workload_seen(bench, source, "a")));  // made again
  }
}

TEST_CASE("a Workload that finished while no hub ran is logged, and then forgotten") {
  IngestBench bench;
  bench.state.now = LogTime{hours(100).ns};
  CHECK(bench.take("hub", workload_seen(bench, "hub", "a")));
  DirtySet dirty;
  run_until(bench.state, LogTime{hours(150).ns}, dirty);
  const ObjectKey key{Kind::workload, "team", "a"};
  WatchFact finished = workload_seen(bench, "hub", "a", LogTime{hours(120).ns});
  const auto draft = bench.ingest.draft(bench.state, finished);
  REQUIRE(draft);
  Event event;
  event.seq = next(bench.state.seq);
  event.log_time = bench.state.now;
  event.source = "hub";
  event.fact = draft->fact;
  evolve(bench.state, event, dirty);
  CHECK(held(bench.state, "hub", key));
  // What the hub made for it has to end first.
  run_until(bench.state, bench.state.now + minutes(59), dirty);
  CHECK(held(bench.state, "hub", key));
  run_until(bench.state, bench.state.now + minutes(1), dirty);
  CHECK_FALSE(held(bench.state, "hub", key));
}

TEST_CASE("past workloads.max a new Workload is taken up only in place of a finished one") {
  for (const char* source : {"hub", "member"}) {
    IngestBench bench;
    bench.state.configuration.workloads.max = 2;
    CHECK(bench.take(source, workload_seen(bench, source, "a")));
    CHECK(bench.take(source, workload_seen(bench, source, "b")));
    CHECK_FALSE(bench.take(source, workload_seen(bench, source, "c")));
    CHECK(bench.ingest.counts().beyond_max == 1);
    CHECK(bench.take(source == SourceName("hub") ? "member" : "hub",
                     workload_seen(bench, source == SourceName("hub") ? "member" : "hub", "x")));
    // What is held is followed on.
    CHECK(bench.take(source, workload_seen(bench, source, "b", bench.state.now)));
    CHECK(bench.take(source, workload_seen(bench, source, "c")));
    CHECK(held_workloads(bench.state, source) == 2);
    CHECK_FALSE(held(bench.state, source, {Kind::workload, "team", "b"}));
    // One that has finished already takes no other's place.
    CHECK(bench.take(source, workload_seen(bench, source, "c", bench.state.now)));
    CHECK_FALSE(bench.take(source, workload_seen(bench, source, "d", bench.state.now)));
    CHECK(bench.ingest.counts().beyond_max == 2);
  }
}

TEST_CASE("the Workloads of one batch take room before they are folded") {
  IngestBench bench;
  bench.state.configuration.workloads.max = 2;
  int drafted = 0;
  for (const char* name : {"a", "b", "c", "d"})
    if (bench.ingest.draft(bench.state, workload_seen(bench, "hub", name))) ++drafted;
  CHECK(drafted == 2);
  CHECK(bench.ingest.counts().beyond_max == 2);
}

}  // namespace fairlead
