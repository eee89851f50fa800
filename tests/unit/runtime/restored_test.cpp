// The hub's API server is restored from a backup: its list is the truth, though it is older than
// what was known, and what it does not show of our writes is written again.
#include <algorithm>
#include <utility>

#include "tests/unit/runtime/hub_bench.h"

using namespace fairlead;

namespace {

HubBench running_bench() {
  HubBench bench;
  bench.at_once();
  bench.run();
  REQUIRE(bench.quotas() == "500 500");
  return bench;
}

bool is_older(const WatchFact& now, const WatchFact& then) {
  return std::stoull(std::get<ObjectSeen>(now.said).resource_version) <
         std::stoull(std::get<ObjectSeen>(then.said).resource_version);
}

// The facts that a reflector reports of a list of `now` after it has reported all of `then`.
std::vector<WatchFact> relist(const ServerDouble& now, const ServerDouble& then) {
  std::vector<WatchFact> facts;
  for (WatchFact& fact : now.list(every_hub_kind())) {
    if (auto* seen = std::get_if<ObjectSeen>(&fact.said); seen && then.has(seen->key)) {
      const WatchFact before = then.seen(seen->key);
      if (std::get<ObjectSeen>(before.said).resource_version == seen->resource_version) continue;
      seen->went_back = is_older(fact, before);
    }
    if (auto* list = std::get_if<ListCompleted>(&fact.said)) list->went_back = true;
    facts.push_back(std::move(fact));
  }
  return facts;
}

void restore(HubBench& bench, const ServerDouble& backup) {
  const ServerDouble lost = std::exchange(bench.hub, backup);
  for (WatchFact& fact : relist(bench.hub, lost)) bench.leader->offer(std::move(fact));
}

// Carries out what is asked for, answers it, and shows none of it.
void write_unseen(HubBench& bench) {
  for (bench.step(); !bench.requests.empty(); bench.step())
    for (const WriteRequest& request : std::exchange(bench.requests, {})) {
      const Event event = events_of(*bench.log, request.intent).front();
      bench.leader->answer(
          bench.hub.write(request.intent, std::get<PatchIntended>(event.fact)).answer);
    }
}

void check_at_rest(const HubBench& bench) {
  for (const auto& [key, write] : bench.leader->state().writes.by_key) {
    INFO(key.object.name);
    CHECK_FALSE(write.outstanding.has_value());
    CHECK(!write.awaits());
    CHECK_FALSE(write.refusal.has_value());
  }
}

std::size_t lists_logged(const HubBench& bench, Seq from) {
  return facts_in<SourceSynced>(*bench.log, from).size();
}

}  // namespace

TEST_CASE("after a restore the list counts, and what was lost is written again") {
  HubBench bench = running_bench();
  const ServerDouble backup = bench.hub;
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  bench.settle();
  REQUIRE(bench.quotas() == "400 500");
  const std::string status = bench.hub.status(HubBench::claim());
  const Seq before = bench.log->last_seq();

  restore(bench, backup);
  CHECK(bench.quotas() == "500 500");
  bench.advance(seconds(1));
  CHECK(bench.quotas() == "400 500");
  const auto grants = [](const std::string& body) { return Json::parse(body)["status"]["grants"]; };
  CHECK(grants(bench.hub.status(HubBench::claim())) == grants(status));
  CHECK(facts_in<PatchRejected>(*bench.log, before).empty());
  check_at_rest(bench);
}

TEST_CASE("an object that only the lost store had is gone after a restore") {
  HubBench bench = running_bench();
  const ServerDouble backup = bench.hub;
  bench.leader->offer(bench.hub.put(HubBench::queue("late"), HubBench::empty_queue()));
  bench.settle();
  REQUIRE(bench.leader->state().queues.by_name.at("late").present);
  restore(bench, backup);
  // The reflector tells what it knew and the list lacks.
  bench.leader->offer({std::string(kHub), ObjectMissing{HubBench::queue("late"), "", ""}});
  bench.advance(seconds(1));
  CHECK_FALSE(bench.leader->state().queues.by_name.at("late").present);
  check_at_rest(bench);
}

TEST_CASE(
    "a write that was accepted and lost before the stream showed it is not awaited for ever") {
  HubBench bench = running_bench();
  const ServerDouble backup = bench.hub;
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  write_unseen(bench);
  REQUIRE(bench.quotas() == "400 500");

  SECTION("the list shows a store that went back") {
    const ServerDouble shown = backup;
    bench.hub = backup;
    for (WatchFact& fact : relist(bench.hub, shown)) bench.leader->offer(std::move(fact));
  }
  SECTION("a list is as new as the write and does not show it") {
    bench.hub = backup;
    for (const Kind kind : every_hub_kind())
      bench.leader->offer({std::string(kHub), ListCompleted{kind, "100000"}});
  }
  SECTION("a bookmark is as new as the write, and the stream has not shown it") {
    bench.hub = backup;
    for (const Kind kind : every_hub_kind())
      bench.leader->offer({std::string(kHub), StreamAlive{kind, "100000"}});
  }
  SECTION("the hub is started again") {
    bench.hub = backup;
    bench.start();
    bench.sync();
  }
  bench.advance(seconds(1));
  CHECK(bench.quotas() == "400 500");
  check_at_rest(bench);
}

TEST_CASE("a write that is on its way to the stream is waited for") {
  HubBench bench = running_bench();
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  bench.step();
  REQUIRE(bench.requests.size() == 1);
  const WriteRequest request = std::exchange(bench.requests, {}).front();
  const Event event = events_of(*bench.log, request.intent).front();
  const auto written = bench.hub.write(request.intent, std::get<PatchIntended>(event.fact));
  bench.leader->answer(written.answer);
  bench.settle();
  const Seq before = bench.log->last_seq();
  const std::uint64_t version = std::stoull(written.answer.resource_version);

  SECTION("a list that was asked for before it") {
    bench.leader->offer(
        {std::string(kHub), ListCompleted{Kind::cluster_queue, std::to_string(version - 1)}});
    bench.step();
    CHECK(lists_logged(bench, next(before)) == 0);
    CHECK(bench.leader->state()
              .writes.by_key.at({std::string(kHub), request.target, false})
              .awaited_version == written.answer.resource_version);
  }
  SECTION("a list that shows it, in one batch") {
    bench.leader->offer(bench.hub.seen(request.target));
    bench.leader->offer(
        {std::string(kHub), ListCompleted{Kind::cluster_queue, std::to_string(version + 1)}});
    bench.settle();
    CHECK(lists_logged(bench, next(before)) == 0);
    check_at_rest(bench);
  }
  SECTION("a start behind it") {
    bench.start();
    const Seq started = bench.log->last_seq();
    bench.sync();
    bench.settle();
    const auto lists = facts_in<SourceSynced>(*bench.log, next(started));
    CHECK(std::none_of(lists.begin(), lists.end(), [](const SourceSynced& list) {
      return list.kind == Kind::cluster_queue || list.kind == Kind::claim;
    }));
  }
}

TEST_CASE("a hub that was down during the restore tells statuses again") {
  HubBench bench = running_bench();
  const ServerDouble backup = bench.hub;
  ClaimFacts edited = bench.hub.facts<ClaimFacts>(HubBench::claim());
  edited.spec.assignments.back().resources = {{"cpu", "400"}};
  bench.leader->offer(bench.hub.put(HubBench::claim(), edited));
  bench.settle();
  bench.hub = backup;
  const std::string stale = bench.hub.status(HubBench::claim());
  bench.start();
  const Seq started = bench.log->last_seq();
  bench.sync();
  bench.advance(seconds(1));
  const auto lists = facts_in<SourceSynced>(*bench.log, next(started));
  CHECK(std::any_of(lists.begin(), lists.end(),
                    [](const SourceSynced& list) { return list.kind == Kind::claim; }));
  CHECK(bench.quotas() == "500 500");
  CHECK(bench.hub.status(HubBench::claim()) != stale);
  check_at_rest(bench);
}

TEST_CASE("a store that went back stays known where a newer state takes the place of the list's") {
  HubBench bench = running_bench();
  const ServerDouble backup = bench.hub;
  for (int i = 0; i < 3; ++i) {
    bench.leader->offer(bench.hub.put(HubBench::queue("high"), HubBench::empty_queue()));
    bench.settle();
  }
  const ServerDouble lost = std::exchange(bench.hub, backup);
  std::vector<WatchFact> facts = relist(bench.hub, lost);
  ClusterQueueFacts renamed = bench.hub.facts<ClusterQueueFacts>(HubBench::queue("high"));
  renamed.cohort = "c";
  facts.push_back(bench.hub.put(HubBench::queue("high"), renamed));
  for (WatchFact& fact : facts) bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->state().queues.by_name.at("high").facts.cohort == "c");
  check_at_rest(bench);
}
