// The cases by which use is defined, each as a log of its own.
#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"
#include "engine/fold/usage/queue_use.h"
#include "tests/unit/replay/usage/usage_log.h"

namespace fairlead {
namespace {

TEST_CASE("What a queue may have and what it uses are added up as they change") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 30});
  log.queue(120, "training", {.nominal = 32, .used = 30});
  log.tick(180);
  const UsageReport report = log.report({0, 180});
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].key == UsageRowKey{"hub", "hub", "training", "training-1", "od", "gpu"});
  CHECK(hours_in(report, "granted") == "112.00");
  CHECK(hours_in(report, "used") == "90.00");
  CHECK(hours_in(report, "own") == "90.00");
  CHECK(hours_in(report, "idle") == "22.00");
  CHECK(hours_in(report, "borrowed") == "0.00");
}

TEST_CASE("Use beyond the quota is borrowed, and nothing is idle then") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 44});
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  CHECK(hours_in(report, "own") == "40.00");
  CHECK(hours_in(report, "borrowed") == "4.00");
  CHECK(hours_in(report, "idle") == "0.00");
}

TEST_CASE("What is not observed is in no other column") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 44});
  log.silent(15);
  log.heard(45);
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  CHECK(hours_in(report, "own") == "20.00");
  CHECK(hours_in(report, "borrowed") == "2.00");
  CHECK(hours_in(report, "unknown") == "0.50");
}

TEST_CASE("From the last event of a hub until it runs again nothing is known") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 40});
  log.tick(10);
  log.start(40);
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  CHECK(hours_in(report, "used") == "20.00");
  CHECK(hours_in(report, "unknown") == "0.50");
  // The span may end while no hub runs: what follows says so.
  CHECK(hours_in(log.report({0, 30}), "unknown") == "0.33");
}

TEST_CASE("Effective quotas replace the groups of the spec") {
  UsageLog log;
  ClusterQueueFacts facts = queue_of({.nominal = 100, .used = 50});
  facts.effective = EffectiveQuotas{{}, quota_of(60)};
  log.queue(0, "training", facts);
  log.tick(60);
  CHECK(hours_in(log.report({0, 60}), "granted") == "60.00");
}

TEST_CASE("Quota that is reserved before the admission is counted beside what is used") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 0, .reserved = 8});
  log.queue(20, "training", {.nominal = 40, .used = 8, .reserved = 8});
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  CHECK(hours_in(report, "reserved") == "2.67");
  CHECK(hours_in(report, "used") == "5.33");
}

TEST_CASE("A queue that is made again is another row") {
  UsageLog log;
  log.queue(0, "training", queue_of({.nominal = 40}));
  log.queue_gone(30, "training");
  log.queue(45, "training", queue_of({.nominal = 20}), SourceName(kHub), "2");
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  REQUIRE(report.rows.size() == 2);
  CHECK(report.rows[1].key.uid == "training-2");
  CHECK(hours_in(report, "granted", 0) == "20.00");
  CHECK(hours_in(report, "granted", 1) == "5.00");
}

TEST_CASE("Hub and workers are not added up") {
  UsageLog log;
  log.queue(0, "training", queue_of({.nominal = 40}));
  log.queue(0, "training", queue_of({.nominal = 24}), "w1");
  log.tick(60);
  for (const UsageBy by :
       {UsageBy::queue, UsageBy::cohort, UsageBy::flavor, UsageBy::resource, UsageBy::cluster}) {
    const UsageReport report = log.report({0, 60}, {by, {}});
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].key.side == "hub");
    CHECK(hours_in(report, "granted", 0) == "40.00");
    CHECK(report.rows[1].key.cluster == "w1");
    CHECK(hours_in(report, "granted", 1) == "24.00");
  }
}

TEST_CASE("An observation that was held back counts from when it was read") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 0});
  ObjectObserved late = UsageLog::seen({Kind::cluster_queue, "", "training"}, "training-1",
                                       queue_of({.nominal = 40, .used = 36}));
  late.read = UsageLog::at(55);
  log.fact(62, SourceName(kHub), late);
  log.tick(120);
  const UsageReport report = log.report({0, 60, 120});
  REQUIRE(report.rows.size() == 2);
  CHECK(hours_in(report, "used", 0) == "3.00");
  CHECK(hours_in(report, "used", 1) == "36.00");
}

TEST_CASE("A coarser row is unknown while one of its queues existed, once") {
  UsageLog log;
  log.queue(0, "a", {.nominal = 10});
  log.queue(0, "b", {.nominal = 10});
  log.silent(30);
  log.tick(60);
  const UsageReport report = log.report({0, 60}, {UsageBy::cohort, {}});
  REQUIRE(report.rows.size() == 1);
  CHECK(hours_in(report, "granted") == "10.00");
  CHECK(hours_in(report, "unknown") == "0.50");
}

WorkloadFacts running(Amount amount, bool admitted) {
  WorkloadFacts facts;
  facts.quota_reserved = true;
  WorkloadProgress progress;
  progress.cluster_queue = "training";
  progress.owner_kind = "Job";
  progress.owner_name = "train";
  progress.labels = {{"team", "vision"}};
  progress.assigned = {{"main", 4, 0, {{"od", "gpu", amount}}}};
  progress.conditions = {
      {"Admitted", admitted ? ConditionStatus::yes : ConditionStatus::no, "", ""}};
  facts.progress = progress;
  return facts;
}

TEST_CASE("By namespace, owner and label the amounts are those of Workloads") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 8, .reserved = 8});
  log.workload(0, "job-1", running(8, false));
  log.workload(20, "job-1", running(8, true));
  WorkloadFacts less = running(8, true);
  less.progress->assigned[0].reclaimable = 2;
  log.workload(40, "job-1", less);
  WorkloadFacts done = less;
  done.finished = true;
  log.workload(50, "job-1", done);
  log.tick(60);
  const auto check = [&](const UsageView& view, const std::string& key) {
    const UsageReport report = log.report({0, 60}, view);
    REQUIRE(report.rows.size() == 1);
    CHECK(report.rows[0].key == UsageRowKey{"hub", "hub", key, "", "od", "gpu"});
    CHECK(hours_in(report, "reserved") == "2.67");
    CHECK(hours_in(report, "used") == "3.33");
    CHECK(hours_in(report, "granted").empty());
    REQUIRE(report.reconciliation.size() == 1);
    CHECK(report.reconciliation[0].key.uid == "training-1");
    CHECK(usage_json(report, UsageUnit::hours)["reconciliation"][0]["difference"] == "4.67");
  };
  check({UsageBy::namespace_, {}}, "team");
  check({UsageBy::owner, {}}, "team/Job/train");
  check({UsageBy::label, "team"}, "vision");
  check({UsageBy::label, "other"}, "");
}

TEST_CASE("Where Kueue calls another amount borrowed the report says so") {
  UsageLog log;
  log.queue(0, "alone", {.nominal = 40, .used = 44});
  log.queue(0, "lent", {.nominal = 40, .used = 44, .reserved = 0, .borrowed = 4});
  log.tick(60);
  const Json document = usage_json(log.report({0, 60}), UsageUnit::seconds);
  REQUIRE(document["borrowedDiffers"].size() == 1);
  CHECK(document["borrowedDiffers"][0]["key"] == "alone");
  CHECK(document["borrowedDiffers"][0]["difference"] == "14400");
}

TEST_CASE("A report names the events of its span and the chain after them") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40});
  log.tick(30);
  log.tick(60);
  const UsageReport part = log.report({0, 60});
  CHECK(part.first == Seq{1});
  CHECK(part.last == Seq{3});  // the span's end is the log's
  CHECK(part.chain == log.log().chain());
  CHECK(log.report({0, 30}).last == Seq{1});
  const UsageReport none = log.report({10, 20});
  CHECK(none.last == Seq{});
  CHECK(none.chain == Digest{});
}

// What a hub folds and saves: two restarts with a pruned log between them.
TEST_CASE("The counters of a hub go on over restarts and pruning") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 30});
  log.tick(30);
  log.start(40);
  log.queue(50, "training", {.nominal = 40, .used = 44});
  log.tick(60);
  log.start(70);
  log.tick(130);
  State state;
  DirtySet dirty;
  UseSums before;
  const auto reader = log.log().read(Seq{});
  REQUIRE(reader.has_value());
  for (;;) {
    const auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) break;
    evolve(state, **event, dirty);
    const auto counters = queue_counters(state.usage, state.now);
    for (const QueueCounter& counter : counters) {
      CHECK(counter.sums.granted >= before.granted);
      CHECK(counter.sums.used >= before.used);
      CHECK(counter.created == UsageLog::at(0));
      before = counter.sums;
    }
  }
  const UsageReport report = log.report({0, 130});
  CHECK(before.granted == report.rows[0].totals.sums.granted);
  CHECK(before.used == report.rows[0].totals.sums.used);
  CHECK(before.borrowed == report.rows[0].totals.sums.borrowed);
  CHECK(before.idle == report.rows[0].totals.sums.idle);
  CHECK(queue_counters(state.usage, state.now)[0].unknown == report.rows[0].totals.unknown);
}

}  // namespace
}  // namespace fairlead
