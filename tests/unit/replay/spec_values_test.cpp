#include "replay/audit/spec_values.h"

#include <catch2/catch.hpp>

#include "engine/log/memory_log.h"
#include "replay/audit/spec_history.h"

namespace fairlead {
namespace {

using Presence = KnownSpec::Presence;

KnownSpec absent() {
  KnownSpec spec;
  spec.presence = Presence::absent;
  return spec;
}

std::vector<std::string> changes(const KnownSpec& before, const KnownSpec& after) {
  std::vector<std::string> lines;
  for (const SpecChange& change : spec_changes(before, after))
    lines.push_back(text_of(change.place) + " " + to_text(change.before) + " " +
                    to_text(change.after));
  return lines;
}

using Lines = std::vector<std::string>;

ClusterQueueFacts known_queue() {
  ClusterQueueFacts queue;
  queue.sharing = SharingTerms{};
  return queue;
}

std::vector<ResourceGroup> cpu(const char* nominal) {
  return {{{"cpu"}, {{"a", {{"cpu", *Quantity::parse(nominal), {}, {}}}}}}};
}

TEST_CASE("What a record is too old to have is not known, and is no change") {
  ClusterQueueFacts old;
  old.cohort = "a";
  ClusterQueueFacts now = known_queue();
  now.cohort = "b";
  now.sharing->weight = Quantity::parse("3");
  CHECK(changes(spec_of(old), spec_of(now)) == Lines{R"(cohort "a" "b")"});
  CHECK(changes(spec_of(now), spec_of(old)) == Lines{R"(cohort "b" "a")"});

  const CohortFacts old_cohort{"org"};
  const CohortFacts cohort{"org", {}, CohortTerms{cpu("5"), Quantity::parse("2")}};
  CHECK(changes(spec_of(old_cohort), spec_of(cohort)).empty());
  CHECK(changes(spec_of(cohort), spec_of(CohortFacts{"org", {}, CohortTerms{}})) ==
        Lines{R"(fairSharing.weight "2" "1")", R"(a cpu nominalQuota "5" null)"});
  CHECK(changes(KnownSpec(), spec_of(cohort)).empty());
  CHECK(changes(spec_of(cohort), KnownSpec()).empty());
}

TEST_CASE("What a server fills in is no change, and is not mentioned of an object that came") {
  ClusterQueueFacts bare = known_queue();
  ClusterQueueFacts filled = bare;
  filled.stop_policy = "None";
  filled.queueing_strategy = "BestEffortFIFO";
  filled.sharing->weight = Quantity::parse("1000m");
  CHECK(changes(spec_of(bare), spec_of(filled)).empty());
  filled.namespace_selector = "{}";
  filled.preemption =
      R"({"borrowWithinCohort":{"policy":"Never"},"reclaimWithinCohort":"Never","withinClusterQueue":"Never"})";
  filled.sharing->flavor_fungibility =
      R"({"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"})";
  CHECK(changes(absent(), spec_of(filled)).empty());
  filled.stop_policy = "Hold";
  filled.namespace_selector = R"({"matchLabels":{"team":"a"}})";
  CHECK(
      changes(absent(), spec_of(filled)) ==
      Lines{R"(namespaceSelector null {"matchLabels":{"team":"a"}})", R"(stopPolicy null "Hold")"});
  CHECK(changes(spec_of(filled), absent()).size() == 2);
}

TEST_CASE("Every field of a ClusterQueue that decides who gets quota is compared") {
  const auto only = [](const auto& edit) {
    ClusterQueueFacts after = known_queue();
    edit(after);
    const auto found = spec_changes(spec_of(known_queue()), spec_of(after));
    REQUIRE(found.size() == 1);
    return std::pair(text_of(found[0].place), owned_field(found[0].place));
  };
  using Queue = ClusterQueueFacts;
  const auto named = [](SpecField field) { return std::pair(std::string(text_of(field)), field); };
  CHECK(only([](Queue& q) { q.cohort = "a"; }) == named(SpecField::cohort));
  CHECK(only([](Queue& q) { q.stop_policy = "Hold"; }) == named(SpecField::stop_policy));
  CHECK(only([](Queue& q) { q.admission_checks = {"x"}; }) == named(SpecField::admission_checks));
  CHECK(only([](Queue& q) { q.sharing->check_flavors = "[1]"; }) ==
        std::pair(std::string("admissionChecks.onFlavors"), SpecField::admission_checks));
  CHECK(only([](Queue& q) { q.queueing_strategy = "StrictFIFO"; }) ==
        named(SpecField::queueing_strategy));
  CHECK(only([](Queue& q) { q.preemption = "{}"; }) == named(SpecField::preemption));
  CHECK(only([](Queue& q) { q.namespace_selector = "{}"; }) ==
        named(SpecField::namespace_selector));
  CHECK(only([](Queue& q) { q.base_quota = "{}"; }) == named(SpecField::base_quota));
  CHECK(only([](Queue& q) { q.extend_resource_groups = true; }) ==
        named(SpecField::extend_resource_groups));
  CHECK(only([](Queue& q) { q.worker_quota.from = "workers"; }) == named(SpecField::quota_from));
  CHECK(only([](Queue& q) { q.worker_quota.percent = "5"; }) == named(SpecField::quota_percent));
  CHECK(only([](Queue& q) { q.worker_quota.reserve = "{}"; }) == named(SpecField::quota_reserve));
  CHECK(only([](Queue& q) { q.sharing->weight = Quantity::parse("2"); }) ==
        named(SpecField::weight));
  CHECK(only([](Queue& q) { q.sharing->flavor_fungibility = "{}"; }) ==
        named(SpecField::flavor_fungibility));
  CHECK(only([](Queue& q) { q.sharing->admission_scope = "{}"; }) ==
        named(SpecField::admission_scope));
  CHECK(only([](Queue& q) { q.sharing->concurrent_admission = "{}"; }) ==
        named(SpecField::concurrent_admission));
}

// The log of a hub that was upgraded, downgraded and upgraded again: the weight is 2 in records
// that have it, until an edit.
TEST_CASE("An upgrade shows no change, and an edit while a field was not recorded shows one") {
  MemoryLog log;
  std::int64_t minute = 0;
  const auto observe = [&](std::optional<SharingTerms> sharing, const std::string& cohort) {
    ObjectObserved seen{{Kind::cluster_queue, "", "q"}, "v1beta2", "u", "1", 1, {}, {}};
    ClusterQueueFacts queue;
    queue.sharing = std::move(sharing);
    queue.cohort = cohort;
    seen.facts = queue;
    const std::vector<EventDraft> drafts{{std::string(kHub), {}, std::move(seen)}};
    REQUIRE(log.append(drafts, LogTime{++minute * 60'000'000'000}, Epoch{1}).has_value());
  };
  SharingTerms two;
  two.weight = Quantity::parse("2");
  SharingTerms three;
  three.weight = Quantity::parse("3");
  observe({}, "a");
  observe(two, "a");
  observe({}, "b");
  observe(two, "b");
  observe({}, "b");
  observe(three, "b");
  const AuditSource source{log};
  EventLookup lookup(log);
  const auto rows =
      spec_history(source, {Kind::cluster_queue, "", "q"}, {Seq{1}, log.last_seq()}, lookup);
  REQUIRE(rows.has_value());
  Lines shown;
  for (const Json& row : *rows)
    shown.push_back(to_text(row["seq"]) + " " + to_text(row["field"]) + " " + to_text(row["old"]) +
                    " " + to_text(row["new"]));
  CHECK(shown == Lines{R"(1 "cohort" null "a")", R"(3 "cohort" "a" "b")",
                       R"(6 "fairSharing.weight" "2" "3")"});
}

TEST_CASE("The names of objects whose history can be asked for") {
  CHECK(object_named("cohort/root") == ObjectKey{Kind::cohort, "", "root"});
  CHECK(object_named("resourceflavor/a100") == ObjectKey{Kind::resource_flavor, "", "a100"});
  CHECK(object_named("admissioncheck/x") == ObjectKey{Kind::admission_check, "", "x"});
  CHECK(object_named("localqueue/team/main") == ObjectKey{Kind::local_queue, "team", "main"});
  for (const char* text : {"root", "cohort/", "cohort/a/b", "localqueue/main", "localqueue//main",
                           "localqueue/team/", "node/n1", ""})
    CHECK_FALSE(object_named(text));
}

}  // namespace
}  // namespace fairlead
