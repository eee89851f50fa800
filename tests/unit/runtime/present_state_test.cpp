#include "engine/runtime/present_state.h"

#include <future>

#include "engine/fold/light_copy.h"
#include "engine/runtime/inbox.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

std::set<std::string> all_clusters(const State& state) {
  std::set<std::string> names;
  for (const auto& [name, cluster] : state.clusters) names.insert(name);
  return names;
}

std::set<std::string> no_cluster(const State&) { return {}; }

// A hub whose State is asked for from another thread, as a question does.
struct AskedHub : HubBench {
  AskedHub() {
    at_once();
    present = &shown;
  }
  std::future<std::optional<State>> ask(PresentState::NodesRead nodes) {
    auto answer = std::async(std::launch::async,
                             [this, nodes = std::move(nodes)] { return shown.ask(nodes); });
    while (!shown.asked() && answer.wait_for(1ms) != std::future_status::ready) {
    }
    return answer;
  }

  PresentState shown{[] {}};
};

TEST_CASE("a question gets what the log folds to, with the nodes that it reads") {
  AskedHub hub;
  hub.run();
  const State whole = folded(events_of(*hub.log));

  auto asked = hub.ask(all_clusters);
  hub.step();
  const auto all = asked.get();
  REQUIRE(all.has_value());
  CHECK((*all == whole));

  asked = hub.ask(no_cluster);
  hub.step();
  const auto none = asked.get();
  REQUIRE(none.has_value());
  State expected = whole;
  CHECK_FALSE(expected.clusters.at("cluster2").reports.nodes.empty());
  for (auto& [name, cluster] : expected.clusters) {
    cluster.reports.nodes.clear();
    cluster.reports.metrics_nodes.clear();
  }
  CHECK((*none == expected));
  // The hub has kept its nodes.
  CHECK((hub.leader->state() == whole));
  hub.leader->offer(hub.member.remove(HubBench::node("spot-3")));
  hub.advance(seconds(1));
  CHECK((hub.leader->state() == folded(events_of(*hub.log))));
}

TEST_CASE("in a burst a question is answered when a moment closes") {
  AskedHub hub;
  hub.run();
  auto asked = hub.ask(all_clusters);
  hub.leader->offer(hub.member.remove(HubBench::node("spot-3")));
  hub.step();
  const auto state = asked.get();
  REQUIRE(state.has_value());
  // At the end of that moment, or of one that its writes made.
  std::vector<Event> events = events_of(*hub.log);
  while (events.back().seq > state->seq) events.pop_back();
  CHECK((*state == folded(events)));
}

TEST_CASE("a hub that plans nothing yet has the question answered from the log, at once") {
  AskedHub hub;
  hub.start();
  auto asked = hub.ask(no_cluster);
  hub.step();
  CHECK_FALSE(asked.get().has_value());
}

TEST_CASE("a question does not wait for ever for a hub that is busy") {
  AskedHub hub;
  hub.run();
  auto asked = hub.ask(no_cluster);
  CHECK_FALSE(asked.get().has_value());
  hub.step();  // nothing waits any more
  CHECK_FALSE(hub.shown.asked());
}

TEST_CASE("a copy that would hold the hub up is not made") {
  AskedHub hub;
  hub.run();
  State state = hub.leader->state();
  NameTable<NodeRecord>& nodes = state.clusters.at("cluster2").reports.nodes;
  for (std::size_t i = 0; i < kPresentObjectsMax; ++i) nodes["node-" + std::to_string(i)];
  CHECK(objects_in_copy(state, {"cluster2"}) > kPresentObjectsMax);
  CHECK(objects_in_copy(state, {}) < kPresentObjectsMax);

  Core core({});
  core.restore(std::move(state));
  auto asked = hub.ask(all_clusters);
  core.set_planning(Planning::on);
  while (core.moment_open()) (void)core.ready(LogTime{}, Input::complete);
  REQUIRE(hub.shown.show(core, Planning::on, [] { return Result<void>(); }).has_value());
  CHECK_FALSE(asked.get().has_value());
}

TEST_CASE("a question wakes the hub's thread") {
  Inbox inbox(1);
  inbox.wake();
  const auto began = std::chrono::steady_clock::now();
  (void)inbox.dequeue(seconds(60), 1);
  CHECK(std::chrono::steady_clock::now() - began < 30s);
}

}  // namespace
}  // namespace fairlead
