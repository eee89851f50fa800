// Which events a write of a queue is put down to: those that moved it since the last, and no other.
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runtime/hub_bench.h"

using namespace fairlead;

namespace {

class Because {
 public:
  Because() {
    bench.at_once();
    bench.configuration.member_kubeconfigs.push_back({"cluster3", "", "other.kubeconfig", ""});
    bench.hub.put({Kind::claim, "", "cluster3-resource-claim"}, claim_of("cluster3", "300"));
    for (int i = 0; i < 5; ++i) put_node(other, "other-" + std::to_string(i));
    bench.run();
    for (WatchFact& fact : other.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
      bench.leader->offer(std::move(fact));
    bench.settle();
    REQUIRE(bench.quota("high", "on-demand") == "800");
  }

  static ClaimFacts claim_of(const std::string& cluster, const std::string& cpu) {
    ClaimFacts facts = HubBench::claim_facts();
    facts.spec.cluster_name = cluster;
    facts.spec.assignments = {{"high", "on-demand", {{"cpu", cpu}}, {}, {}}};
    return facts;
  }
  static WatchFact put_node(ServerDouble& member, const std::string& name, bool ready = true) {
    NodeFacts facts;
    facts.labels = {{"pool", "on-demand"}};
    facts.ready = ready;
    facts.allocatable = {{"cpu", 100'000}};
    return member.put(HubBench::node(name), facts);
  }
  /// Offers it; the seq under which it is logged.
  Seq tell(WatchFact fact) {
    const Seq before = bench.log->last_seq();
    bench.leader->offer(std::move(fact));
    bench.settle();
    return next(before);
  }
  /// The newest write of the queue "high".
  std::vector<Seq> because() const {
    std::vector<Seq> seqs;
    for (const PatchIntended& intent : facts_in<PatchIntended>(*bench.log))
      if (intent.target == HubBench::queue("high")) seqs = intent.reason.because;
    return seqs;
  }
  std::string quota() const { return bench.quota("high", "on-demand"); }

  HubBench bench;
  ServerDouble other{"cluster3"};
};

using Seqs = std::vector<Seq>;

}  // namespace

TEST_CASE("a quota that nodes moved names their events, and nothing of another cluster") {
  Because history;
  const Seq lost = history.tell(history.bench.member.remove(HubBench::node("on-demand-0")));
  CHECK(history.quota() == "700");
  CHECK(history.because() == Seqs{lost});
  const Seq away = history.tell(Because::put_node(history.other, "other-4", false));
  CHECK(history.quota() == "700");  // 400 are more than the 300 of its claim
  const Seq gone = history.tell(history.other.remove(HubBench::node("other-3")));
  CHECK(history.quota() == "700");
  const Seq last = history.tell(history.other.remove(HubBench::node("other-2")));
  CHECK(history.quota() == "600");
  CHECK(history.because() == Seqs{last});
  CHECK(away < gone);
  const Seq back = history.tell(Because::put_node(history.bench.member, "on-demand-0"));
  CHECK(history.quota() == "700");
  CHECK(history.because() == Seqs{back});
}

TEST_CASE("a quota that a claim's edit moved names the edit") {
  Because history;
  history.tell(history.bench.member.remove(HubBench::node("on-demand-0")));
  const ObjectKey claim{Kind::claim, "", "cluster3-resource-claim"};
  ClaimFacts facts = Because::claim_of("cluster3", "200");
  facts.finalizers = history.bench.hub.facts<ClaimFacts>(claim).finalizers;
  const Seq edit = history.tell(history.bench.hub.put(claim, facts));
  CHECK(history.quota() == "600");
  CHECK(history.because() == Seqs{edit});
}

TEST_CASE("a quota that the configuration moved names the configuration") {
  Because history;
  history.tell(history.bench.member.remove(HubBench::node("on-demand-0")));
  REQUIRE(history.quota() == "700");
  Configuration& configuration = history.bench.configuration;
  const auto reconfigured = [&] {
    REQUIRE(history.bench.leader->reconfigure(configuration).has_value());
    history.bench.settle();
    return history.bench.leader->state().configuration_seq;
  };
  configuration.overbook_percent = 110;
  const Seq overbooked = reconfigured();
  CHECK(history.quota() == "770");
  CHECK(history.because() == Seqs{overbooked});
  configuration.headroom.percent = {{"cpu", 50}};
  const Seq headroom = reconfigured();
  CHECK(history.quota() == "495");  // 110 % of half of 400 and of 500
  CHECK(history.because() == Seqs{headroom});
  configuration.writes.qps += 1;
  reconfigured();
  const Seq back = history.tell(Because::put_node(history.bench.member, "on-demand-0"));
  CHECK(history.quota() == "550");
  CHECK(history.because() == Seqs{back});
}

TEST_CASE("a quota that went with its source names the loss, and with its return that") {
  Because history;
  const Seq lost = history.tell({"cluster2", StreamLost{Kind::node}});
  CHECK(history.quota() == "300");
  CHECK(history.because() == Seqs{lost});
  const Seq back = history.tell({"cluster2", StreamAlive{Kind::node, "1"}});
  history.bench.advance(seconds(1));
  CHECK(history.quota() == "800");
  CHECK(history.because() == Seqs{back});
}

TEST_CASE("a quota that another writer set names that observation of the queue") {
  Because history;
  ClusterQueueFacts facts = history.bench.hub.facts<ClusterQueueFacts>(HubBench::queue("high"));
  facts.groups.front().flavors.front().resources.front().nominal = *Quantity::parse("9");
  const Seq edit = history.tell(history.bench.hub.put(HubBench::queue("high"), facts));
  CHECK(history.quota() == "800");
  CHECK(history.because() == Seqs{edit});
}
