// A hub that only records: what it reads, that it writes nothing, and that its log and that of a
// hub that writes are one.
#include <set>

#include "engine/runtime/leader.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

const std::vector<Kind> kRecorded{Kind::resource_flavor, Kind::cluster_queue,
                                  Kind::local_queue,     Kind::cohort,
                                  Kind::workload,        Kind::multikueue_cluster};

class RecordBench : public HubBench {
 public:
  RecordBench() {
    at_once();
    hub.put(claim(), claim_facts());
  }
  void record_from_start() {
    configuration.record = true;
    start();
    offer_all(hub.list(kRecorded));
    offer_all(member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}));
    settle();
  }
  void write_from_start() {
    configuration.record = false;
    start();
    sync();
    settle();
  }
  void offer_all(std::vector<WatchFact> facts) {
    for (WatchFact& fact : facts) leader->offer(std::move(fact));
  }
  std::size_t intents() const { return facts_in<PatchIntended>(*log).size(); }
  /// Another writer sets the cpu quota of `high`.
  void set_quota(const char* cpu) {
    ClusterQueueFacts facts = hub.facts<ClusterQueueFacts>(queue("high"));
    facts.groups[0].flavors[0].resources[0].nominal = *Quantity::parse(cpu);
    leader->offer(hub.put(queue("high"), facts));
    settle();
  }
  bool folds_to_state() const { return folded(events_of(*log)) == leader->state(); }
};

TEST_CASE("record: quotas and Nodes are logged, no claim is awaited and nothing is written") {
  RecordBench bench;
  bench.configuration.record = true;
  bench.start();
  CHECK(bench.leader->awaited() == std::set<Kind>(kRecorded.begin(), kRecorded.end()));
  bench.offer_all(bench.hub.list(kRecorded));
  bench.offer_all(bench.member.list({Kind::node}));
  bench.settle();
  CHECK(bench.leader->stats().planning);
  CHECK(bench.leader->state().queues.by_name.size() == 2);
  CHECK(bench.leader->state().clusters.at("cluster2").reports.nodes.size() == 10);
  bench.set_quota("7");
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(hours(1));
  CHECK(bench.intents() == 0);
  CHECK(bench.requests.empty());
  CHECK(bench.recommendations.empty());
  CHECK(bench.hub.effects == 0);
  CHECK(facts_in<SourceLost>(*bench.log).empty());
  CHECK(bench.quota("high", "on-demand") == "7");
  CHECK(bench.folds_to_state());
}

TEST_CASE("record: a hub that writes goes on in the log of one that recorded, and back") {
  RecordBench bench;
  bench.record_from_start();
  bench.set_quota("7");
  bench.write_from_start();
  CHECK(bench.quotas() == "500 500");
  const std::size_t written = bench.intents();
  CHECK(written > 0);

  bench.record_from_start();
  const auto lost = facts_in<SourceLost>(*bench.log);
  REQUIRE(lost.size() == 1);  // what State holds of claims is observed no more
  CHECK(lost[0].kind == Kind::claim);
  bench.set_quota("9");
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(hours(1));
  CHECK(bench.quotas() == "9 500");
  CHECK(bench.intents() == written);
  CHECK(bench.folds_to_state());

  bench.write_from_start();
  CHECK(bench.quotas() == "500 400");
  CHECK(facts_in<ConfigChanged>(*bench.log).size() == 4);
  CHECK(bench.folds_to_state());
}

TEST_CASE("record: switched on in a running hub, no write that waits is sent any more") {
  RecordBench bench;
  bench.configuration.writes.inflight_max = 1;
  bench.start();
  bench.sync();
  while (bench.requests.empty()) bench.step();
  REQUIRE(bench.requests.size() == 1);  // one is under way, others wait
  const std::size_t intended = bench.intents();
  CHECK(intended > 1);
  bench.configuration.record = true;
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  const WriteRequest sent = bench.requests.front();
  bench.requests.clear();
  bench.advance(hours(1));
  CHECK(bench.leader->under_way() == 0);
  CHECK(facts_in<PatchUnknown>(*bench.log).size() == intended);
  CHECK(bench.intents() == intended);
  CHECK(bench.hub.effects == 0);
  bench.carry_out(sent);  // what was under way arrives all the same, and is observed
  bench.settle();
  CHECK(bench.hub.effects == 1);
  CHECK(bench.intents() == intended);
  CHECK(bench.folds_to_state());

  bench.configuration.record = false;
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  bench.sync();
  bench.advance(minutes(10));
  CHECK(bench.quotas() == "500 500");
  CHECK(bench.folds_to_state());
}

}  // namespace
}  // namespace fairlead
