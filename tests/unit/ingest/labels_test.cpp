// Labels of Workloads: those that usage.labels lists are kept, changes of others are no events.
#include <catch2/catch.hpp>

#include "engine/fold/held.h"
#include "engine/ingest/comparison.h"
#include "tests/unit/ingest/ingest_bench.h"

namespace fairlead {
namespace {

using Texts = std::map<std::string, std::string>;

/// Offers a Workload with labels as the core does.
bool takes_labels(IngestBench& bench, const SourceName& source, const Texts& labels) {
  WorkloadFacts facts;
  facts.progress.emplace().labels = labels;
  ObjectSeen seen{{Kind::workload, "team", "w"},
                  "v1beta2",
                  "u",
                  std::to_string(++bench.version),
                  1,
                  std::move(facts),
                  {}};
  drop_unlisted_labels(bench.state.configuration, seen);
  return bench.take(source, {source, std::move(seen)});
}

}  // namespace

TEST_CASE("labels of a Workload are kept where usage.labels lists them") {
  for (const char* source : {"hub", "member"}) {
    IngestBench bench;
    bench.state.configuration.usage.labels = {"team", "project"};
    CHECK(takes_labels(bench, source, {{"team", "a"}, {"run", "1"}}));
    const auto held =
        held_facts(bench.state, source, {Kind::workload, "team", "w"}).value_or(Facts());
    CHECK(std::get<WorkloadFacts>(held).progress.value().labels == Texts{{"team", "a"}});
    CHECK_FALSE(takes_labels(bench, source, {{"team", "a"}, {"run", "2"}}));
    CHECK_FALSE(takes_labels(bench, source, {{"team", "a"}}));
    CHECK(takes_labels(bench, source, {{"team", "b"}}));
    CHECK(takes_labels(bench, source, {{"team", "b"}, {"project", "p"}}));
  }
}

TEST_CASE("no label is kept where usage.labels lists none, as by default") {
  IngestBench bench;
  CHECK(takes_labels(bench, "hub", {{"team", "a"}}));
  CHECK_FALSE(takes_labels(bench, "hub", {{"team", "b"}}));
}

}  // namespace fairlead
