#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"
#include "engine/ingest/ingest.h"

namespace fairlead {
namespace {

// What an API server says, taken in and folded if it is logged.
struct Bench {
  State state;
  Ingest ingest;
  int version = 0;

  bool take(const SourceName& source, WatchFact fact) {
    const auto draft = ingest.take(state, fact);
    if (!draft) return false;
    Touched touched;
    Event event;
    event.seq = next(state.seq);
    event.source = source;
    event.fact = draft->fact;
    evolve(state, event, touched);
    return true;
  }
  bool shows(const SourceName& source, Kind kind, const std::string& name, Facts facts) {
    return take(source, {source, ObjectSeen{{kind, "", name},
                                            "v1beta2",
                                            "u",
                                            std::to_string(++version),
                                            1,
                                            std::move(facts),
                                            {}}});
  }
  bool misses(const SourceName& source, Kind kind, const std::string& name) {
    return take(source, {source, ObjectMissing{{kind, "", name}, "u", std::to_string(++version)}});
  }
};

EffectiveQuotas nothing_by(const std::string& name) { return {{"g", "k", name}, {}}; }

}  // namespace

TEST_CASE("a Cohort is logged when its parent or its effective quotas change, and when it goes") {
  Bench bench;
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{}));
  CHECK_FALSE(bench.shows("hub", Kind::cohort, "c", CohortFacts{}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", std::nullopt}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("a")}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("b")}));
  CHECK_FALSE(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("b")}));
  CHECK_FALSE(bench.shows("member", Kind::cohort, "c", CohortFacts{}));
  CHECK(bench.misses("hub", Kind::cohort, "c"));
  CHECK_FALSE(bench.misses("hub", Kind::cohort, "c"));
  CHECK(bench.state.cohorts.empty());
}

TEST_CASE("effective quotas of a ClusterQueue are logged, of a member's too; none is not nothing") {
  for (const std::string source : {"hub", "member"}) {
    Bench bench;
    ClusterQueueFacts facts;
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
    CHECK_FALSE(bench.shows(source, Kind::cluster_queue, "q", facts));
    facts.effective = nothing_by("a");
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
    CHECK_FALSE(bench.shows(source, Kind::cluster_queue, "q", facts));
    if (source == "member")
      CHECK(bench.state.clusters.at(source).member_queues.at("q").effective == facts.effective);
    facts.effective.reset();
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
  }
}

}  // namespace fairlead
