// What the hub hands out to its webhook, and what it logs of it.
#include "engine/runtime/admission_feed.h"

#include "schema/event_json.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

// A HubBench whose hub publishes views.
struct FedBench : HubBench {
  AdmissionFeed feed{Configuration{}};

  void run_fed() {
    at_once();
    hub.put(claim(), claim_facts());
    begin({"test", WriteMode::apply, snapshots, &feed});
    step();
    CHECK(feed.current()->state == ViewState::unsynced);
    sync();
    settle();
  }
};

AdmissionDecided decision() {
  return {"u-1",
          "alice",
          AdmissionOperation::update,
          {Kind::cluster_queue, "", "high"},
          {AdmissionRule::owned_quota},
          AdmissionOutcome::denied,
          ""};
}

// The events but for decisions, without seq and time: a noted decision takes a seq.
std::vector<std::string> without_places(const ReadableLog& log) {
  std::vector<std::string> all;
  for (Event event : events_of(log)) {
    if (std::holds_alternative<AdmissionDecided>(event.fact)) continue;
    if (auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      Json body = Json::parse(intent->body);
      if (body.contains("status")) body["status"].erase("seq");
      all.push_back(intent->target.name + to_text(body));
    } else {
      all.push_back(std::to_string(event.fact.index()));
    }
  }
  return all;
}

TEST_CASE("a view is published once the hub is synced, and follows it") {
  FedBench bench;
  bench.run_fed();
  const auto view = bench.feed.current();
  REQUIRE(view->state == ViewState::synced);
  const ClaimEntry* claim = view->claims.find(HubBench::claim().name);
  REQUIRE(claim != nullptr);
  CHECK(claim->winner);
  REQUIRE(view->queues.find("high") != nullptr);
  CHECK(view->queues.find("high")->pairs.size() > 0);
  const ClusterEntry* cluster = view->clusters.find(claim->cluster);
  REQUIRE(cluster != nullptr);
  CHECK(cluster->known);
  CHECK(*cluster == *view_of(bench.leader->state()).clusters.find(claim->cluster));
  const Amount before = cluster->accepted.begin()->second;
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.settle();
  const AdmissionView whole = view_of(bench.leader->state());
  const auto now = bench.feed.current();
  CHECK(now != view);
  CHECK(*now->clusters.find(claim->cluster) == *whole.clusters.find(claim->cluster));
  CHECK(*now->queues.find("high") == *whole.queues.find("high"));
  CHECK(cluster->accepted.begin()->second == before);  // an old view stays as it was
}

TEST_CASE("a decision is logged, and nothing else differs by it") {
  FedBench with, without;
  with.run_fed();
  without.run_fed();
  with.leader->note({decision(), decision()});
  with.settle();
  for (FedBench* bench : {&with, &without}) {
    bench->leader->offer(bench->member.remove(HubBench::node("spot-3")));
    bench->settle();
  }
  CHECK(facts_in<AdmissionDecided>(*with.log) == std::vector{decision(), decision()});
  CHECK(facts_in<AdmissionDecided>(*without.log).empty());
  CHECK(with.quotas() == without.quotas());
  const auto one = without_places(*with.log), other = without_places(*without.log);
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    INFO(i);
    CHECK(one[i] == other[i]);
  }
  CHECK(one.size() == other.size());
  State folded_with = folded(events_of(*with.log));
  CHECK(folded_with == with.leader->state());
}

}  // namespace
}  // namespace fairlead
