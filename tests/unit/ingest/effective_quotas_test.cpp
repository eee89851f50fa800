#include <catch2/catch.hpp>

#include "tests/unit/ingest/ingest_bench.h"

namespace fairlead {
namespace {

EffectiveQuotas nothing_by(const std::string& name) { return {{"g", "k", name}, {}}; }

}  // namespace

TEST_CASE("a Cohort is logged when its parent or its quotas change, and when it goes") {
  IngestBench bench;
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{}));
  CHECK_FALSE(bench.shows("hub", Kind::cohort, "c", CohortFacts{}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", std::nullopt}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("a")}));
  CHECK(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("b")}));
  CHECK_FALSE(bench.shows("hub", Kind::cohort, "c", CohortFacts{"org", nothing_by("b")}));
  CohortFacts own{"org", nothing_by("b"), CohortTerms{}};
  CHECK(bench.shows("hub", Kind::cohort, "c", own));  // nothing was known of them
  own.terms->weight = Quantity::parse("2");
  CHECK(bench.shows("hub", Kind::cohort, "c", own));
  CHECK_FALSE(bench.shows("hub", Kind::cohort, "c", own));
  CHECK(bench.shows("member", Kind::cohort, "c", CohortFacts{}));
  CHECK_FALSE(bench.shows("member", Kind::cohort, "c", CohortFacts{}));
  CHECK(bench.misses("hub", Kind::cohort, "c"));
  CHECK_FALSE(bench.misses("hub", Kind::cohort, "c"));
  CHECK(bench.state.queues.cohorts.empty());
}

TEST_CASE("effective quotas of a ClusterQueue are logged, of a member's too; none is not nothing") {
  for (const std::string source : {"hub", "member"}) {
    IngestBench bench;
    ClusterQueueFacts facts;
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
    CHECK_FALSE(bench.shows(source, Kind::cluster_queue, "q", facts));
    facts.effective = nothing_by("a");
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
    CHECK_FALSE(bench.shows(source, Kind::cluster_queue, "q", facts));
    if (source == "member")
      CHECK(bench.state.clusters.at(source).member.queues.at("q").effective == facts.effective);
    facts.effective.reset();
    CHECK(bench.shows(source, Kind::cluster_queue, "q", facts));
  }
}

}  // namespace fairlead
