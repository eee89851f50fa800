// Writes that meet others: what is refused because another writer was faster, and what follows an
// answer that the stream has not caught up with.
#include <algorithm>
#include <utility>

#include "engine/fold/queues/queues.h"
#include "tests/unit/runtime/hub_bench.h"

using namespace fairlead;

namespace {

HubBench settled_bench(Duration write_interval) {
  HubBench bench;
  bench.at_once();
  bench.configuration.debounce.write_interval = write_interval;
  return bench;
}

ClusterQueueFacts with_quota(ClusterQueueFacts facts, const char* nominal) {
  facts.groups.front().flavors.front().resources.front().nominal = *Quantity::parse(nominal);
  return facts;
}

// Carries out what is asked for until nothing is; the stream shows nothing of it. The versions that
// statuses made, in order.
std::vector<std::string> write_unseen(HubBench& bench) {
  std::vector<std::string> versions;
  for (bench.step(); !bench.requests.empty(); bench.step())
    for (const WriteRequest& request : std::exchange(bench.requests, {})) {
      const Event event = events_of(*bench.log, request.intent).front();
      auto written = bench.hub.write(request.intent, std::get<PatchIntended>(event.fact));
      if (request.verb == Verb::apply_status) versions.push_back(written.answer.resource_version);
      bench.leader->answer(std::move(written.answer));
    }
  return versions;
}

}  // namespace

TEST_CASE("what a conflict kept back comes when its interval is over") {
  HubBench bench = settled_bench(seconds(5));
  bench.run();
  bench.advance(seconds(20));
  REQUIRE(bench.quotas() == "500 500");
  const ObjectKey queue = HubBench::queue("high");
  const auto lowered = with_quota(bench.hub.facts<ClusterQueueFacts>(queue), "50");

  bench.leader->offer(bench.hub.put(queue, lowered));
  bench.step();
  REQUIRE_FALSE(bench.requests.empty());
  WatchFact faster = bench.hub.put(queue, lowered);  // Kueue writes its status
  for (const WriteRequest& request : std::exchange(bench.requests, {})) bench.carry_out(request);
  bench.leader->offer(std::move(faster));
  bench.settle();
  const auto refused = facts_in<PatchRejected>(*bench.log);
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().http_code == 409);
  CHECK(bench.quotas() == "50 500");

  bench.advance(seconds(6));
  CHECK(bench.quotas() == "500 500");
}

TEST_CASE("a status carries the version that the answer to the one before reported") {
  HubBench bench = settled_bench(Duration{});
  bench.run();
  std::vector<std::string> versions;
  for (const char* node : {"on-demand-0", "on-demand-1", "on-demand-2"}) {
    bench.leader->offer(bench.member.remove(HubBench::node(node)));
    for (std::string& version : write_unseen(bench)) versions.push_back(std::move(version));
  }
  REQUIRE(versions.size() >= 3);
  CHECK(std::is_sorted(versions.begin(), versions.end()));
  CHECK(facts_in<PatchRejected>(*bench.log).empty());
}

TEST_CASE(
    "a status without an answer is not sent again before the stream shows what became of it") {
  HubBench bench = settled_bench(seconds(1));
  bench.run();
  bench.advance(seconds(5));
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  std::optional<WatchFact> shown;
  for (bench.step(); !bench.requests.empty(); bench.step())
    for (const WriteRequest& request : std::exchange(bench.requests, {})) {
      if (request.verb != Verb::apply_status) {
        bench.carry_out(request);
        continue;
      }
      const Event event = events_of(*bench.log, request.intent).front();
      shown = bench.hub.write(request.intent, std::get<PatchIntended>(event.fact)).observed;
      WriteAnswer lost;
      lost.intent = request.intent;
      lost.result = WriteResult::unknown;
      lost.reason = "timeout";
      bench.leader->answer(std::move(lost));
    }
  REQUIRE(shown.has_value());
  const Seq before = bench.log->last_seq();
  const auto statuses = [&] {
    const auto intents = facts_in<PatchIntended>(*bench.log, next(before));
    return std::count_if(intents.begin(), intents.end(), [](const PatchIntended& intent) {
      return intent.verb == Verb::apply_status;
    });
  };
  bench.advance(seconds(5));
  CHECK(statuses() == 0);
  bench.leader->offer(std::move(*shown));
  bench.advance(seconds(5));
  CHECK(statuses() == 0);  // the stream has shown, by its digest, that it was carried out
  CHECK(facts_in<PatchRejected>(*bench.log).empty());
}

TEST_CASE("a status without an answer whose sight came first is known to be carried out") {
  HubBench bench = settled_bench(seconds(1));
  bench.run();
  bench.advance(seconds(5));
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  std::size_t lost = 0;
  Seq unanswered;
  for (bench.step(); !bench.requests.empty(); bench.step())
    for (const WriteRequest& request : std::exchange(bench.requests, {})) {
      if (request.verb != Verb::apply_status || lost > 0) {
        bench.carry_out(request);
        continue;
      }
      ++lost;
      const Event event = events_of(*bench.log, request.intent).front();
      auto written = bench.hub.write(request.intent, std::get<PatchIntended>(event.fact));
      REQUIRE(written.observed.has_value());
      bench.leader->offer(std::move(*written.observed));
      bench.step();
      WriteAnswer none;
      none.intent = unanswered = request.intent;
      none.result = WriteResult::unknown;
      none.reason = "timeout";
      bench.leader->answer(std::move(none));
    }
  REQUIRE(lost == 1);
  bench.advance(seconds(2));
  const auto late = facts_in<PatchIntended>(*bench.log, next(unanswered));
  CHECK(std::none_of(late.begin(), late.end(), [](const PatchIntended& intent) {
    return intent.verb == Verb::apply_status;
  }));
  const Seq rest = bench.log->last_seq();
  bench.advance(seconds(20));
  CHECK(facts_in<PatchIntended>(*bench.log, next(rest)).empty());
}

// Another hub, or a tool that restores what it keeps in Git, may be that fast.
TEST_CASE("a writer that overwrites ours before the stream shows it meets an OwnershipConflict") {
  HubBench bench = settled_bench(Duration{});
  bench.run();
  bench.advance(seconds(5));
  const ObjectKey queue = HubBench::queue("high");
  const bool same = GENERATE(false, true);  // it writes the same value each time
  const bool answered_first = GENERATE(false, true);
  const bool capacity_changes = GENERATE(false, true);  // the first write is one of a new quota
  CAPTURE(same, answered_first, capacity_changes);
  int overwrites = 0;
  const auto overwrite = [&] {
    const std::string value = std::to_string(same ? 50 : 50 + overwrites);
    ++overwrites;
    return bench.hub.put(queue,
                         with_quota(bench.hub.facts<ClusterQueueFacts>(queue), value.c_str()));
  };
  bench.leader->offer(capacity_changes ? bench.member.remove(HubBench::node("on-demand-0"))
                                       : overwrite());
  for (bench.step(); !bench.requests.empty(); bench.step())
    for (const WriteRequest& request : std::exchange(bench.requests, {})) {
      const Event event = events_of(*bench.log, request.intent).front();
      const auto& intent = std::get<PatchIntended>(event.fact);
      if (intent.target != queue) {
        bench.carry_out(request);
        continue;
      }
      REQUIRE(overwrites < 10);
      auto written = bench.hub.write(request.intent, intent);
      if (answered_first) {
        bench.leader->answer(std::move(written.answer));
        bench.step();
      }
      bench.leader->offer(std::move(*written.observed));
      bench.leader->offer(overwrite());  // one batch: the stream's last state alone is seen
      if (answered_first) continue;
      bench.step();
      bench.leader->answer(std::move(written.answer));
    }
  bench.advance(seconds(60));
  CHECK(overwrites == 1 + static_cast<int>(kOverwritesAnswered));
  CHECK(bench.quota("high", "on-demand") == (same ? "50" : "53"));
  const auto intents = facts_in<PatchIntended>(*bench.log);
  CHECK(std::any_of(intents.begin(), intents.end(), [](const PatchIntended& intent) {
    return intent.verb == Verb::apply_status &&
           intent.body.find("ForeignOverwrites") != std::string::npos;
  }));
}

TEST_CASE("a Workload is not written again before the stream shows the write that was accepted") {
  HubBench bench = settled_bench(Duration{});
  const ObjectKey job{Kind::workload, "team", "job"};
  AdmissionCheckFacts check;
  check.controller_name = "open-cluster-management.io/placement";
  bench.hub.put({Kind::admission_check, "", "multikueue"}, check);
  WorkloadFacts workload;
  workload.checks = {{"multikueue", "Pending"}};
  bench.run();
  const auto writes = [&] {
    const auto intents = facts_in<PatchIntended>(*bench.log);
    return std::count_if(intents.begin(), intents.end(),
                         [&](const PatchIntended& intent) { return intent.target == job; });
  };
  for (int evictions = 1; evictions <= 2; ++evictions) {
    bench.leader->offer(bench.hub.put(job, workload));
    bench.step();
    REQUIRE(bench.requests.size() == 1);
    const WriteRequest request = std::exchange(bench.requests, {}).front();
    const Event event = events_of(*bench.log, request.intent).front();
    auto written = bench.hub.write(request.intent, std::get<PatchIntended>(event.fact));
    REQUIRE(written.answer.result == WriteResult::accepted);
    bench.leader->answer(std::move(written.answer));
    bench.advance(seconds(1));
    CHECK(writes() == evictions);
    REQUIRE(written.observed.has_value());
    bench.leader->offer(std::move(*written.observed));
    bench.advance(seconds(1));
    CHECK(writes() == evictions);
  }
  CHECK(facts_in<PatchRejected>(*bench.log).empty());
}

TEST_CASE("a claim that could not be created is created later, with no change of its cluster") {
  HubBench bench;
  bench.at_once();
  bench.configuration.create_claims = true;
  ManagedClusterFacts joined;
  joined.available.status = ConditionStatus::yes;
  bench.hub.put({Kind::managed_cluster, "", "cluster2"}, joined);
  bench.start();
  bench.sync();
  bench.step();
  REQUIRE(bench.requests.size() == 1);
  REQUIRE(bench.requests.front().target == ObjectKey{Kind::claim, "", "cluster2-resource-claim"});
  WriteAnswer answer;
  answer.intent = std::exchange(bench.requests, {}).front().intent;
  answer.result = WriteResult::refused;
  answer.http_code = 403;
  bench.leader->answer(std::move(answer));
  bench.settle();
  CHECK(facts_in<PatchRejected>(*bench.log).size() == 1);
  bench.advance(seconds(4));
  CHECK(facts_in<PatchIntended>(*bench.log).size() == 1);
  bench.advance(seconds(2));
  CHECK(facts_in<PatchAccepted>(*bench.log).size() >= 1);
  CHECK(
      bench.hub.facts<ClaimFacts>({Kind::claim, "", "cluster2-resource-claim"}).spec.cluster_name ==
      "cluster2");
}
