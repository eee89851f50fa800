#include "engine/runtime/leader.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/log/log_fixture.h"
#include "tests/unit/runtime/hub_bench.h"
#include "tests/unit/runtime/stubborn_log.h"

namespace fairlead {
namespace {

TEST_CASE("what a claim grants reaches its queues, and the log tells why") {
  HubBench bench;
  bench.at_once();
  bench.run();
  CHECK(bench.quotas() == "500 500");
  const auto intents = facts_in<PatchIntended>(*bench.log);
  const auto accepted = facts_in<PatchAccepted>(*bench.log);
  CHECK(intents.size() >= 3);  // two queues, a finalizer, a status
  CHECK(accepted.size() == intents.size());
  check_log(bench);
}

TEST_CASE("a hub that starts from a snapshot goes on as one that folds its log") {
  const ScratchDirectory directory;
  SnapshotStore store(directory.path());
  HubBench bench;
  bench.at_once();
  bench.configuration.snapshot_every = 10;
  bench.snapshots = &store;
  bench.run();
  const auto taken = store.list();
  REQUIRE(taken.has_value());
  CHECK(taken->size() >= 2);
  CHECK(facts_in<Checkpoint>(*bench.log).size() == taken->size());
  REQUIRE(bench.leader->give_up().has_value());
  CHECK(store.list()->back().seq.value == bench.log->last_seq().value - 1);  // the Checkpoint
  const auto verdicts = verify_snapshots(*bench.log, store);
  REQUIRE(verdicts.has_value());
  for (const SnapshotVerdict& verdict : *verdicts) CHECK(verdict.fault == "");

  bench.start();
  bench.sync();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(seconds(1));
  CHECK(bench.quotas() == "500 400");
  check_log(bench);
}

TEST_CASE("an epoch begins each run, a configuration is logged when it changes") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.start();
  bench.configuration.debounce.write_interval = seconds(7);
  bench.start();
  const auto events = events_of(*bench.log);
  CHECK(facts_in<EpochStarted>(*bench.log).size() == 3);
  CHECK(facts_in<ConfigChanged>(*bench.log).size() == 2);
  CHECK(events.back().epoch == Epoch{3});
  CHECK(events.front().epoch == Epoch{1});
}

TEST_CASE("nothing is planned before every kind of the hub was listed") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  std::vector<Kind> kinds = every_hub_kind();
  const Kind last = Kind::cohort;
  std::erase(kinds, last);
  for (WatchFact& fact : bench.member.list({Kind::node})) bench.leader->offer(std::move(fact));
  for (WatchFact& fact : bench.hub.list(kinds)) bench.leader->offer(std::move(fact));
  bench.advance(hours(1));
  CHECK(facts_in<PatchIntended>(*bench.log).empty());
  CHECK_FALSE(bench.leader->stats().planning);
  CHECK(bench.leader->awaited() == std::set<Kind>{last});

  SECTION("its list") {
    for (WatchFact& fact : bench.hub.list({last})) bench.leader->offer(std::move(fact));
    bench.settle();
    CHECK(bench.quotas() == "500 500");
  }
  SECTION("or the word that it is not served") {
    bench.leader->absent(last);
    bench.settle();
    CHECK(bench.leader->stats().planning);
  }
}

TEST_CASE("duplicates and relists leave no trace") {
  HubBench bench;
  bench.at_once();
  bench.run();
  const Seq before = bench.log->last_seq();
  for (int i = 0; i < 3; ++i) bench.sync();
  bench.leader->offer({"hub", StreamAlive{Kind::cluster_queue, "999"}});
  bench.advance(hours(1));
  CHECK(bench.log->last_seq() == before);
}

TEST_CASE("a lost node takes its share, and a restart writes nothing") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.settle();
  CHECK(bench.quotas() == "500 400");
  const std::size_t intents = facts_in<PatchIntended>(*bench.log).size();
  bench.start();
  bench.sync();
  bench.advance(hours(1));
  CHECK(facts_in<PatchIntended>(*bench.log).size() == intents);
  check_log(bench);
}

TEST_CASE("what vanished while the hub was down is gone after the first list") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.member.remove(HubBench::node("spot-3"));
  bench.hub.remove({Kind::resource_flavor, "", "on-demand"});
  bench.start();
  CHECK(bench.leader->state().flavors.by_name.size() == 2);
  bench.sync();
  bench.settle();
  // The claim names it: what it was stays known.
  CHECK(bench.leader->state().flavors.gone == std::set<std::string>{"on-demand"});
  CHECK(bench.quota("high", "on-demand") == "500");
  CHECK(bench.quota("low", "spot") == "400");
  CHECK(facts_in<ObjectGone>(*bench.log).size() == 2);
  check_log(bench);
}

TEST_CASE("a kind that is not served any more after a restart takes its objects with it") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.start();
  bench.leader->absent(Kind::resource_flavor);
  bench.step();
  CHECK(bench.leader->state().flavors.gone.size() == 2);
  CHECK(facts_in<ObjectGone>(*bench.log).size() == 2);
  CHECK(bench.quotas() == "500 500");
}

TEST_CASE("a crash between append and request writes the same again") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  bench.sync();
  while (bench.requests.empty()) bench.step();
  const auto lost = facts_in<PatchIntended>(*bench.log);
  bench.requests.clear();  // the process ends here: the intents are logged, nothing was sent
  const Seq crashed = bench.log->last_seq();
  bench.clock.time = bench.clock.time + seconds(1);
  bench.start();
  bench.sync();
  bench.advance(minutes(10));
  CHECK(bench.quotas() == "500 500");
  const auto again = facts_in<PatchIntended>(*bench.log, next(crashed));
  REQUIRE(again.size() >= lost.size());
  for (const PatchIntended& intent : lost) {
    INFO(intent.target.name);
    const bool repeated = std::any_of(again.begin(), again.end(), [&](const PatchIntended& later) {
      return later.target == intent.target && later.verb == intent.verb &&
             later.body == intent.body;
    });
    CHECK(repeated);
  }
  check_log(bench);
}

TEST_CASE("a crash between request and answer has no second effect") {
  HubBench undisturbed;
  undisturbed.at_once();
  undisturbed.run();

  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  bench.sync();
  while (bench.requests.empty()) bench.step();
  for (const WriteRequest& request : std::exchange(bench.requests, {})) bench.carry_out(request);
  bench.clock.time = bench.clock.time + seconds(1);
  bench.start();  // the answers and what the watch would have shown are lost with the process
  bench.sync();
  bench.advance(minutes(10));
  CHECK(bench.quotas() == "500 500");
  CHECK(bench.hub.effects == undisturbed.hub.effects);
  check_log(bench);
}

TEST_CASE("an answer that comes after its own news blocks nothing") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.step();
  REQUIRE(bench.requests.front().target.kind == Kind::cluster_queue);
  const WriteRequest request = bench.requests.front();
  bench.requests.clear();
  const auto intent = std::get<PatchIntended>(events_of(*bench.log, request.intent).front().fact);
  auto written = bench.hub.write(request.intent, intent);
  bench.leader->offer(*written.observed);
  bench.step();
  bench.leader->answer(written.answer);
  bench.settle();
  // The claim's status follows the ClusterQueue.
  REQUIRE(bench.diagnostics.size() >= 2);
  const std::string& line = bench.diagnostics[bench.diagnostics.size() - 2];
  CHECK(line.find("write accepted") == 0);
  CHECK(line.find("object=\"ClusterQueue low\" rule=claims/shrink") != std::string::npos);
  bench.leader->offer(bench.member.remove(HubBench::node("spot-4")));
  bench.settle();
  CHECK(bench.quotas() == "500 300");
  check_log(bench);
}

TEST_CASE("a conflict is derived again from what the watch shows") {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.step();
  REQUIRE(bench.requests.front().target.kind == Kind::cluster_queue);
  // Another writer changes the queue before our request arrives.
  ClusterQueueFacts changed = bench.hub.facts<ClusterQueueFacts>(HubBench::queue("low"));
  changed.queueing_strategy = "StrictFIFO";
  const WatchFact news = bench.hub.put(HubBench::queue("low"), changed);
  bench.carry_out(bench.requests.front());
  bench.requests.clear();
  bench.step();
  CHECK(facts_in<PatchRejected>(*bench.log).back().http_code == 409);
  bench.leader->offer(news);
  bench.advance(minutes(1));
  CHECK(bench.quotas() == "500 400");
  CHECK(bench.hub.facts<ClusterQueueFacts>(HubBench::queue("low")).queueing_strategy ==
        "StrictFIFO");
  check_log(bench);
}

TEST_CASE("an update that is not logged still moves the version that the next write carries") {
  HubBench bench;
  bench.at_once();
  bench.run();
  const ObjectKey low = HubBench::queue("low");
  bench.leader->offer(bench.hub.put(low, bench.hub.facts<ClusterQueueFacts>(low)));
  bench.settle();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.settle();
  CHECK(facts_in<PatchRejected>(*bench.log).empty());
  CHECK(bench.quotas() == "500 400");
  check_log(bench);
}

TEST_CASE("timers of the default windows bring growth, and the log folds alike without them") {
  HubBench bench;
  bench.run();
  bench.advance(minutes(10));
  CHECK(bench.quotas() == "500 500");
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(minutes(1));
  CHECK(bench.quotas() == "500 400");
  bench.leader->offer(bench.add_node("spot-3", "spot"));
  bench.advance(minutes(2));
  CHECK(bench.quotas() == "500 400");
  bench.advance(minutes(10));
  CHECK(bench.quotas() == "500 500");
  check_log(bench);

  std::vector<Event> events = events_of(*bench.log);
  std::size_t timers = 0;
  LogTime before;
  // A Checkpoint at the time of the event before it does nothing: the timer is gone, and every seq
  // stays.
  for (Event& event : events) {
    if (std::holds_alternative<TimerFired>(event.fact)) {
      ++timers;
      event.fact = Checkpoint{};
      event.log_time = before;
    }
    before = event.log_time;
  }
  CHECK(timers > 3);
  const Event horizon{
      next(events.back().seq), bench.clock.time + hours(1), Epoch{1}, "self", Seq{}, Checkpoint{}};
  std::vector<Event> with = events_of(*bench.log);
  with.push_back(horizon);
  events.push_back(horizon);
  CHECK((folded(events) == folded(with)));
}

TEST_CASE("what follows a decided moment is later than it") {
  HubBench bench;
  bench.at_once();
  bench.run();  // the clock does not move
  const auto events = events_of(*bench.log);
  bool intent_before = false;
  for (std::size_t i = 1; i < events.size(); ++i) {
    const bool intent = std::holds_alternative<PatchIntended>(events[i].fact);
    INFO(events[i].seq.value);
    if (intent && !intent_before) CHECK(events[i].log_time > events[i - 1].log_time);
    intent_before = intent;
  }
  CHECK(events.back().log_time > events.front().log_time);
}

TEST_CASE("a burst of one object is looked at once per interval") {
  HubBench bench;
  bench.run();
  bench.advance(minutes(10));
  const Seq before = bench.log->last_seq();
  for (int i = 0; i < 20; ++i) {
    NodeFacts facts = bench.member.facts<NodeFacts>(HubBench::node("spot-0"));
    facts.labels = {{"turn", std::to_string(i)}};
    bench.leader->offer(bench.member.put(HubBench::node("spot-0"), facts));
    bench.settle();
    bench.clock.time = bench.clock.time + milliseconds(10);
  }
  bench.advance(seconds(5));
  std::size_t seen = 0;
  for (const ObjectObserved& observed : facts_in<ObjectObserved>(*bench.log, next(before)))
    if (observed.key == HubBench::node("spot-0")) ++seen;
  CHECK(seen == 2);
  CHECK(bench.leader->state()
            .clusters.at("cluster2")
            .reports.nodes.at("spot-0")
            .facts.labels.find("turn") == "19");
}

TEST_CASE("recommend-only logs no intent and says each write once") {
  HubBench bench;
  bench.at_once();
  bench.run(WriteMode::recommend);
  CHECK(facts_in<PatchIntended>(*bench.log).empty());
  CHECK(bench.requests.empty());
  const std::size_t said = bench.recommendations.size();
  CHECK(said >= 3);
  CHECK(bench.quotas() == "0 0");
  bench.sync();
  bench.advance(hours(1));
  CHECK(bench.recommendations.size() == said);
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.settle();
  CHECK(bench.recommendations.size() > said);
  check_log(bench);
}

TEST_CASE("a changed configuration acts at once, the same one is no event") {
  HubBench bench;
  bench.at_once();
  bench.run();
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  CHECK(facts_in<ConfigChanged>(*bench.log).size() == 1);
  bench.configuration.headroom.percent = {{"cpu", 50}};
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  bench.settle();
  CHECK(bench.quotas() == "250 250");
  check_log(bench);
}

TEST_CASE("a changed configuration is in force although a note of the webhook came before it") {
  HubBench bench;
  bench.at_once();
  bench.run();
  AdmissionDecided note;
  note.request_uid = "u-1";
  bench.leader->note({note});
  bench.leader->note({note});
  bench.configuration.headroom.percent = {{"cpu", 50}};
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  CHECK(bench.leader->state().configuration == bench.configuration);
  CHECK(facts_in<AdmissionDecided>(*bench.log).size() == 2);
  bench.settle();
  CHECK(bench.quotas() == "250 250");
  check_log(bench);
}

TEST_CASE("a member that leaves the configuration keeps its quota until lostAfter") {
  HubBench bench;
  bench.at_once();
  bench.run();
  const std::string quotas = bench.quotas();
  REQUIRE(quotas != "0 0");
  const auto members = std::exchange(bench.configuration.member_kubeconfigs, {});
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  bench.settle();
  CHECK(bench.quotas() == quotas);
  CHECK(std::any_of(bench.diagnostics.begin(), bench.diagnostics.end(), [](const auto& line) {
    return line.find("no longer names the cluster of a claim") != std::string::npos;
  }));
  const Seq before = bench.log->last_seq();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.settle();
  CHECK(bench.log->last_seq() == before);  // what it still says is dropped
  const Duration lost_after = bench.configuration.debounce.lost_after;
  bench.advance(Duration{lost_after.ns - seconds(2).ns});
  CHECK(bench.quotas() == quotas);
  SECTION("then it is lost, also where the hub was started in between") {
    bench.start();
    bench.sync();
    bench.settle();
    CHECK(bench.quotas() == quotas);
    bench.advance(seconds(5));
    CHECK(bench.quotas() == "0 0");
    CHECK(facts_in<SourceLost>(*bench.log).empty());
  }
  SECTION("read again before, nothing happens") {
    bench.configuration.member_kubeconfigs = members;
    REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
    bench.sync();
    bench.settle();
    bench.advance(lost_after);
    CHECK(bench.quotas() != "0 0");
  }
  check_log(bench);
}

TEST_CASE("writes without an answer are unknown at the end") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  bench.sync();
  while (bench.requests.empty()) bench.step();
  bench.leader->wind_down();
  CHECK(bench.leader->under_way() == bench.requests.size());
  REQUIRE(bench.leader->give_up().has_value());
  CHECK(facts_in<PatchUnknown>(*bench.log).size() == bench.requests.size());
  CHECK(bench.leader->under_way() == 0);
}

TEST_CASE("who cannot append cannot write") {
  auto log = std::make_shared<StubbornLog>();
  HubBench bench(log);
  bench.at_once();
  bench.run();
  const Seq before = log->last_seq();
  log->full = true;
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  const auto effects = bench.leader->step(Input::complete);
  REQUIRE(effects.has_error());
  CHECK(effects.error().message == "no space left on device");
  CHECK(log->last_seq() == before);
}

TEST_CASE("an object that is too large for the log is left out, with a word, and nothing else is") {
  auto log = std::make_shared<StubbornLog>();
  log->too_large = "spot-1";
  HubBench bench(log);
  bench.at_once();
  bench.run();
  CHECK(bench.quotas() == "500 400");
  CHECK(bench.leader->stats().oversized == 1);
  const bool said =
      std::any_of(bench.diagnostics.begin(), bench.diagnostics.end(), [](const std::string& line) {
        return line.find("too large") != std::string::npos &&
               line.find("spot-1") != std::string::npos;
      });
  CHECK(said);
}

}  // namespace
}  // namespace fairlead
