#include "engine/fold/seen_workload.h"

#include <catch2/catch.hpp>

#include "engine/fold/canonical_bytes.h"
#include "tests/support/edit_workload.h"
#include "tests/unit/schema/samples/sample_workloads.h"

namespace fairlead {
namespace {

Observed<WorkloadFacts> observed() {
  Observed<WorkloadFacts> seen{"uid-1", "v1beta2", "17", 3, samples::workload(), Seq{9}};
  seen.facts.progress = samples::workload_progress();
  return seen;
}
// Of these, every pass that places Workloads reads those that wait.
Observed<WorkloadFacts> using_devices() {
  Observed<WorkloadFacts> seen = observed();
  seen.facts.pod_sets.emplace_back().name = "main";
  return seen;
}
Observed<WorkloadFacts> without_devices() {
  Observed<WorkloadFacts> seen = observed();
  seen.facts.pod_sets.clear();
  return seen;
}

TEST_CASE("seen Workload: it says what was observed, packed or not") {
  for (const auto& seen : {without_devices(), using_devices(), Observed<WorkloadFacts>()}) {
    const SeenWorkload kept(seen);
    CHECK(*kept.read() == seen);
    CHECK(kept.contents() == seen);
    CHECK(kept.head().uid == seen.uid);
    CHECK(kept.head().version == seen.version);
    CHECK(kept.head().resource_version == seen.resource_version);
    CHECK(kept.head().generation == seen.generation);
  }
  CHECK(*SeenWorkload().read() == Observed<WorkloadFacts>());
  CHECK(SeenWorkload() == SeenWorkload(Observed<WorkloadFacts>()));
}

TEST_CASE("seen Workload: a copy goes on when the first one changes") {
  for (const auto& seen : {without_devices(), using_devices()}) {
    SeenWorkload first(seen);
    const SeenWorkload copy = first;
    CHECK(copy == first);
    CHECK(copy.head().uid.data() == first.head().uid.data());  // one block of bytes for both
    edit(first)->facts.finished = !seen.facts.finished;
    CHECK_FALSE(copy == first);
    CHECK(copy.contents() == seen);
  }
}

TEST_CASE("seen Workload: whether its pods use devices may change") {
  SeenWorkload seen(without_devices());
  edit(seen)->facts.pod_sets.emplace_back();
  CHECK(seen->facts.pod_sets.size() == 1);
  edit(seen)->facts.pod_sets.clear();
  CHECK(seen.contents() == without_devices());
}

TEST_CASE("seen Workload: a snapshot has it as if it were not packed") {
  CHECK(canonical_shape<SeenWorkload>() == canonical_shape<Observed<WorkloadFacts>>());
  for (const auto& seen : {without_devices(), using_devices()}) {
    const std::string bytes = canonical_bytes(SeenWorkload(seen));
    CHECK(bytes == canonical_bytes(seen));
    const auto read = from_canonical_bytes<SeenWorkload>(bytes, "Workload");
    REQUIRE(read.has_value());
    CHECK(read->contents() == seen);
  }
}

}  // namespace
}  // namespace fairlead
