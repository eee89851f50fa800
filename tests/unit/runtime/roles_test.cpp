// Two replicas on one log: one leads, the other follows, and they change roles.
#include <array>
#include <memory>

#include "engine/runtime/leader.h"
#include "snapshots/state_codec.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

/// Replicas whose streams and requests reach one world. Whichever leads appends to the log of both.
class Roles {
 public:
  Roles() {
    world.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
    world.at_once();
    world.configuration.pool.clusters.push_back({"cluster2", 0, {}, {}, false});
    world.configuration.pool.tenants.push_back({"t1", "", "t1.kubeconfig"});
    world.configuration.snapshot_every = 10;
    for (std::size_t i = 0; i < 2; ++i) {
      replicas[i] = std::make_unique<Replica>(
          log, clock, HubSettings{"replica-" + std::to_string(i), WriteMode::apply, &stores[i]},
          [](const Diagnostic&) {});
      REQUIRE(replicas[i]->fold({}).has_value());
    }
    lead();
  }

  Replica& follower() { return *replicas[1 - leading]; }

  /// What a process does when it begins to lead: a new epoch, then the streams with their lists.
  void lead() {
    leader = std::make_unique<Leader>(*replicas[leading]);
    const State before = leader->state();
    REQUIRE(leader->begin(world.configuration).has_value());
    follow_from(before);
    watch.reset();
    CHECK(step().empty());
    REQUIRE(watch.has_value());
    CHECK(*watch == watch_of(follower().state()));
    for (WatchFact& fact : world.hub.list(every_hub_kind())) leader->offer(std::move(fact));
    for (WatchFact& fact : world.member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
      leader->offer(std::move(fact));
  }
  /// The leader steps down. What it had sent and was not answered is unknown to the next one, which
  /// wants the same streams.
  void change_roles() {
    const Watch former = *watch;
    REQUIRE(leader->step_down().has_value());
    leading = 1 - leading;
    lead();
    CHECK(*watch == former);
  }

  /// One step of the leader, which the follower takes up. Returns what is to be sent.
  std::vector<WriteRequest> step() {
    const State before = leader->state();
    auto effects = leader->step(Input::complete);
    REQUIRE(effects.has_value());
    if (effects->watch) watch = *effects->watch;
    follow_from(before);
    return std::move(effects->requests);
  }
  /// Until nothing is left to write.
  void settle() {
    for (int i = 0; i < 100; ++i) {
      const std::vector<WriteRequest> send = step();
      for (const WriteRequest& request : send) carry_out(request);
      if (!send.empty()) continue;
      if (leader->next_due() > clock.time + minutes(10)) return;
      clock.time = std::max(clock.time, leader->next_due());
    }
    FAIL("the leader does not come to rest");
  }
  ServerDouble::Written written(const WriteRequest& request) {
    const Event event = events_of(log, request.intent).front();
    return world.hub.write(request.intent, std::get<PatchIntended>(event.fact));
  }
  void carry_out(const WriteRequest& request) {
    auto done = written(request);
    if (done.observed) leader->offer(std::move(*done.observed));
    leader->answer(std::move(done.answer));
  }
  std::size_t intents() const { return facts_in<PatchIntended>(log).size(); }

  SmallWorld world;
  MemoryLog log;
  VirtualClock clock;
  const ScratchDirectory directories[2];
  SnapshotStore stores[2]{SnapshotStore(directories[0].path()),
                          SnapshotStore(directories[1].path())};
  std::array<std::unique_ptr<Replica>, 2> replicas;
  std::unique_ptr<Leader> leader;
  std::size_t leading = 0;
  std::optional<Watch> watch;  ///< that the leader asked for last

 private:
  // At each event, also inside a commit, the follower's State is what the event makes of the
  // leader's `state`, and at the last one what the leader has.
  void follow_from(State state) {
    DirtySet dirty;
    for (const Event& event : events_of(log, next(state.seq))) {
      evolve(state, event, dirty);
      REQUIRE(follower().follow(event.seq).has_value());
      REQUIRE(follower().state().seq == event.seq);
      REQUIRE(state_digest(follower().state()) == state_digest(state));
    }
    if (leader->stats().planning) close_moment(state, dirty);
    REQUIRE(state_digest(leader->state()) == state_digest(state));
  }
};

TEST_CASE("a follower holds what its leader holds at each event, and leads in its place") {
  Roles two;
  two.settle();
  REQUIRE(two.intents() > 0);
  for (int change = 0; change < 10; ++change) {
    const std::size_t before = two.intents();
    two.clock.time = two.clock.time + seconds(30);
    two.change_roles();
    two.settle();
    CHECK(two.intents() == before);  // nothing differs, so the new leader writes nothing
    CHECK(two.leader->state().epoch == Epoch{static_cast<std::uint64_t>(change) + 2});
    two.clock.time = two.clock.time + seconds(30);
    two.leader->offer(change % 2 == 0 ? two.world.member.remove(SmallWorld::node("spot-0"))
                                      : two.world.add_node("spot-0", "spot"));
    two.settle();
    CHECK(two.intents() > before);  // the quota follows the node
    CHECK(two.leader->stats().planning);
    CHECK_FALSE(two.follower().stats().planning);
    CHECK(two.follower().stats().queues == 2);
  }
  for (const SnapshotStore& store : two.stores) {
    const auto verdicts = verify_snapshots(two.log, store);
    REQUIRE(verdicts.has_value());
    CHECK_FALSE(verdicts->empty());
    for (const SnapshotVerdict& verdict : *verdicts) CHECK(verdict.fault == "");
  }
}

TEST_CASE("a write of the former leader that was not answered is looked at by the next one") {
  for (const bool carried_out : {false, true}) {
    CAPTURE(carried_out);
    Roles two;
    std::vector<WriteRequest> send;
    for (int i = 0; i < 100 && send.empty(); ++i) {
      send = two.step();
      if (send.empty()) two.clock.time = std::max(two.clock.time, two.leader->next_due());
    }
    REQUIRE_FALSE(send.empty());
    if (carried_out)
      for (const WriteRequest& request : send) two.written(request);
    const std::size_t asked = two.intents();
    two.clock.time = two.clock.time + seconds(30);
    two.change_roles();
    two.settle();
    if (!carried_out) CHECK(two.intents() > asked);
    const auto& queue = two.world.hub.facts<ClusterQueueFacts>(SmallWorld::queue("high"));
    CHECK(queue.groups.at(0).flavors.at(0).resources.at(0).nominal > Quantity());
  }
}

}  // namespace
}  // namespace fairlead
