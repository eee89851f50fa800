// Which Workloads State forgets, and when.
#include "engine/fold/multikueue/finished_workloads.h"

#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"
#include "engine/fold/held.h"

namespace fairlead {
namespace {

const LogTime kFinishBegin{hours(1000).ns};

struct WorkloadLog {
  void fold(LogTime time, const SourceName& source, Fact fact) {
    Event event;
    event.seq = next(state.seq);
    event.log_time = time;
    event.source = source;
    event.fact = std::move(fact);
    evolve(state, event, dirty);
  }
  /// `finished`: nullopt: not yet; LogTime{}: Kueue does not say when.
  void observe(LogTime time, const SourceName& source, const std::string& name,
               std::optional<LogTime> finished = {}, const std::string& uid = "u") {
    ObjectObserved seen;
    seen.key = {Kind::workload, "team", name};
    seen.uid = uid;
    WorkloadFacts facts;
    facts.finished = finished.has_value();
    facts.cluster_name = "w1";
    facts.checks.push_back({"check", "Pending"});
    facts.progress.emplace();
    if (finished && *finished != LogTime{}) facts.progress->finished_at = finished;
    seen.facts = std::move(facts);
    fold(time, source, std::move(seen));
  }
  std::string names(const SourceName& source) const {
    std::string text;
    for (const ObjectKey& key : held_objects(state, source, Kind::workload)) text += key.name + " ";
    return text;
  }
  State state;
  DirtySet dirty;
};

LogTime minutes_on(std::int64_t span) { return kFinishBegin + minutes(span); }

// The hub may hear late that it finished, and has to end then what it made for the Workload.
TEST_CASE("a Workload leaves State keepFinished after it was observed finished, without an event") {
  for (const char* source : {"hub", "member"}) {
    WorkloadLog log;
    log.observe(minutes_on(0), source, "pending");
    log.observe(minutes_on(0), source, "done");
    log.observe(minutes_on(20), source, "done", minutes_on(10));
    CHECK(log.state.deadlines.next() == kForever);
    run_until(log.state, minutes_on(79), log.dirty);
    CHECK(log.names(source) == "done pending ");
    run_until(log.state, minutes_on(80), log.dirty);
    CHECK(log.names(source) == "pending ");
    CHECK(log.state.multikueue.finished.empty());
  }
}

TEST_CASE("what the rules index of a Workload of the hub goes with it, and our writes of it") {
  WorkloadLog log;
  log.observe(minutes_on(0), "hub", "done");
  CHECK(log.state.multikueue.workloads_on.contains("w1"));
  PatchIntended intent;
  intent.cluster = std::string(kHub);
  intent.target = {Kind::workload, "team", "done"};
  intent.verb = Verb::apply_status;
  intent.body = "{}";
  log.fold(minutes_on(1), std::string(kSelf), intent);
  CHECK(log.state.writes.by_key.size() == 1);
  log.observe(minutes_on(2), "hub", "done", minutes_on(2));
  run_until(log.state, minutes_on(62), log.dirty);
  CHECK(log.state.multikueue.workloads_on.empty());
  CHECK(log.state.multikueue.workloads_of_check.empty());
  CHECK(log.state.writes.by_key.empty());
}

TEST_CASE("a Workload of which Kueue does not say when it finished counts from its observation") {
  WorkloadLog log;
  log.observe(minutes_on(0), "member", "done", LogTime{});
  log.observe(minutes_on(30), "member", "done", LogTime{}, "u");
  run_until(log.state, minutes_on(59), log.dirty);
  CHECK(log.names("member") == "done ");
  run_until(log.state, minutes_on(60), log.dirty);
  CHECK(log.names("member").empty());
}

TEST_CASE("the clock of an API server that is ahead keeps no Workload for longer") {
  WorkloadLog log;
  log.observe(minutes_on(0), "member", "done", minutes_on(100'000));
  run_until(log.state, minutes_on(60), log.dirty);
  CHECK(log.names("member").empty());
}

TEST_CASE("a Workload that is gone, or made again, is not forgotten for what it was") {
  WorkloadLog log;
  log.observe(minutes_on(0), "member", "again", minutes_on(0));
  log.observe(minutes_on(1), "member", "gone", minutes_on(0));
  log.observe(minutes_on(2), "member", "again", {}, "another");
  log.fold(minutes_on(3), "member", ObjectGone{{Kind::workload, "team", "gone"}, "u", ""});
  CHECK(log.state.multikueue.finished.empty());
  log.observe(minutes_on(4), "member", "gone");
  run_until(log.state, minutes_on(100), log.dirty);
  CHECK(log.names("member") == "again gone ");
}

TEST_CASE("another keepFinished counts for what has finished already") {
  WorkloadLog log;
  log.observe(minutes_on(0), "hub", "done", minutes_on(0));
  log.observe(minutes_on(0), "member", "done", minutes_on(0));
  ConfigChanged changed;
  changed.configuration.workloads.keep_finished = minutes(5);
  log.fold(minutes_on(1), std::string(kSelf), changed);
  run_until(log.state, minutes_on(4), log.dirty);
  CHECK(log.names("hub") + log.names("member") == "done done ");
  run_until(log.state, minutes_on(5), log.dirty);
  CHECK((log.names("hub") + log.names("member")).empty());
}

TEST_CASE("past workloads.max the one that finished last goes first") {
  for (const char* source : {"hub", "member"}) {
    WorkloadLog log;
    log.state.configuration.workloads.max = 3;
    log.observe(minutes_on(0), source, "a", minutes_on(0));
    log.observe(minutes_on(1), source, "b", minutes_on(1));
    log.observe(minutes_on(1), source == SourceName("hub") ? "member" : "hub", "x",
                minutes_on(2));  // of another API server
    log.observe(minutes_on(2), source, "c");
    log.observe(minutes_on(3), source, "d");
    CHECK(log.names(source) == "a c d ");
    log.observe(minutes_on(4), source, "e");
    CHECK(log.names(source) == "c d e ");
    log.observe(minutes_on(5), source, "d", minutes_on(5));
    CHECK(log.names(source) == "c d e ");
  }
}

// The closes of a live engine and of a fold of its log are not the same ones.
TEST_CASE("forgetting is the same however often moments close") {
  WorkloadLog once, often;
  for (int i = 0; i < 200; ++i) {
    const LogTime time = minutes_on(i);
    const std::string name = std::to_string(i % 17);
    const std::string source = i % 3 == 0 ? "hub" : "member";
    std::optional<LogTime> finished;
    if (i % 5 != 0) finished = minutes_on(i - i % 7);
    for (WorkloadLog* log : {&once, &often}) log->observe(time, source, name, finished);
    run_until(often.state, time, often.dirty);
    run_until(often.state, time + seconds(30), often.dirty);
  }
  run_until(once.state, minutes_on(230), once.dirty);
  run_until(often.state, minutes_on(230), often.dirty);
  CHECK(once.names("hub") == often.names("hub"));
  CHECK(once.names("member") == often.names("member"));
  CHECK((once.state.multikueue == often.state.multikueue));
}

}  // namespace
}  // namespace fairlead
