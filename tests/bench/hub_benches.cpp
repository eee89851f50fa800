// A hub with a million nodes: what a question about now takes, and the end of the process.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/audit_question.h"
#include "engine/runtime/leader.h"
#include "engine/runtime/system_clock.h"
#include "snapshots/aside_save.h"
#include "snapshots/snapshot_store.h"
#include "tests/bench/benches.h"
#include "tests/bench/resident.h"
#include "tests/unit/core/small_world.h"

namespace fairlead::bench {
namespace {

constexpr std::uint64_t kNodesOfOffer = 10'000;

AuditQuestion about_quotas() {
  AuditQuestion question;
  question.subject = "quota";
  return question;
}

/// A hub that has listed its nodes and plans, without a thread of its own.
class LargeHub {
 public:
  LargeHub(const std::filesystem::path& data, std::uint64_t nodes)
      : log_(need(RocksdbLog::open(data, OpenMode::write))), snapshots_(data) {
    world_.at_once();
    world_.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
    start();
    for (WatchFact& fact : world_.hub.list(every_hub_kind())) leader_->offer(std::move(fact));
    for (WatchFact& fact : world_.member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
      leader_->offer(std::move(fact));
    step(Input::complete);
    for (std::uint64_t first = 0; first < nodes; first += kNodesOfOffer) {
      offer_nodes(first);
      step(Input::more_pending);
    }
    for (int rounds = 0; leader_->next_due() <= leader_->now() && rounds < 1000; ++rounds)
      step(Input::complete);
  }

  /// A hub that begins again in the same log.
  void start() {
    HubSettings settings{"bench", WriteMode::apply, &snapshots_};
    settings.present = &present_;
    replica_ =
        std::make_unique<Replica>(*log_, clock_, std::move(settings), [](const Diagnostic&) {});
    need(replica_->fold({}));
    leader_ = std::make_unique<Leader>(*replica_);
    need(leader_->begin(world_.configuration));
  }
  /// Answers `audit quota` as a hub does, whose thread looks for questions meanwhile. Returns the
  /// bytes that this takes.
  double ask() {
    const double before = resident_bytes();
    std::thread hub([this] {
      while (!present_.asked()) std::this_thread::yield();
      step(Input::complete);
    });
    const auto state =
        present_.ask([](const State& of) { return clusters_read(of, about_quotas()); });
    hub.join();
    if (!state) give_up("the hub did not answer");
    const AuditAnswer answer = need(answer_question({*log_, &snapshots_, &*state}, about_quotas()));
    keep(answer.document.size());
    return grown_since(before);
  }
  /// The same from the log.
  void ask_log() {
    keep(need(answer_question({*log_, &snapshots_}, about_quotas())).document.size());
  }
  /// Milliseconds for which the hub's thread is held up.
  double held_up() {
    double milliseconds = 0;
    std::thread hub([&] {
      while (!present_.asked()) std::this_thread::yield();
      milliseconds = 1e3 * seconds_of([this] { step(Input::complete); });
    });
    keep(present_.ask([](const State& of) { return clusters_read(of, about_quotas()); })
             .has_value());
    hub.join();
    return milliseconds;
  }
  /// Seconds from the request to stop to what `fairlead hub` does behind the log.
  double end() {
    start();
    return seconds_of([this] {
      need(leader_->give_up());
      need(log_->move_to_tables());
    });
  }
  /// Milliseconds for which the hub's thread is held up by a snapshot that a child saves.
  double begin_snapshot() {
    std::unique_ptr<AsideSave> save;
    const double seconds =
        seconds_of([&] { save = AsideSave::begin(snapshots_, leader_->state(), log_->chain()); });
    if (!save) give_up("no process could be made");
    return 1e3 * seconds;
  }
  double save() {
    return seconds_of([this] { need(snapshots_.save(leader_->state(), log_->chain())); });
  }

 private:
  void offer_nodes(std::uint64_t first) {
    ServerDouble member("cluster2");
    for (std::uint64_t number = first; number < first + kNodesOfOffer; ++number) {
      const std::string name = "node-" + std::to_string(number);
      NodeFacts facts;
      facts.labels = {{"kubernetes.io/arch", "amd64"},
                      {"kubernetes.io/hostname", name},
                      {"kubernetes.io/os", "linux"},
                      {"pool", number % 3 != 0 ? "on-demand" : "spot"}};
      facts.ready = true;
      facts.allocatable = {{"cpu", 63'500}, {"memory", 270'582'939'648}, {"pods", 110}};
      leader_->offer(member.put(SmallWorld::node(name), facts));
    }
  }
  // One step; its writes are carried out at once.
  void step(Input input) {
    for (const WriteRequest& request : need(leader_->step(input)).requests) {
      const auto event = need(need(log_->read(request.intent))->next());
      auto written = world_.hub.write(request.intent, std::get<PatchIntended>(event->fact));
      if (written.observed) leader_->offer(std::move(*written.observed));
      leader_->answer(std::move(written.answer));
    }
  }

  SmallWorld world_;
  std::unique_ptr<RocksdbLog> log_;
  SnapshotStore snapshots_;
  SystemClock clock_;
  PresentState present_{[] {}};
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Leader> leader_;
};

std::shared_ptr<LargeHub> large_hub(const Place& place) {
  return std::make_shared<LargeHub>(place.directory / "data",
                                    place.size == Size::tiny ? kNodesOfOffer : 1'000'000);
}

Trial prepare_question_now(const Place& place) {
  const auto hub = large_hub(place);
  return {[hub] { return 1e3 * seconds_of([&] { hub->ask(); }); },
          [hub] { return 1e3 * seconds_of([&] { hub->ask_log(); }); }};
}

Trial prepare_held_up(const Place& place) {
  const auto hub = large_hub(place);
  return {[hub] { return hub->held_up(); }, [] { return 10.0; }};
}

Trial prepare_bytes_of_question(const Place& place) {
  const auto hub = large_hub(place);
  return {[hub] { return figure_of_a_process([&] { return hub->ask(); }); }, [] { return 100e6; }};
}

Trial prepare_end(const Place& place) {
  const auto hub = large_hub(place);
  return {[hub] { return hub->end(); }, [hub] { return hub->save(); }};
}

Trial prepare_snapshot(const Place& place) {
  const auto hub = large_hub(place);
  return {[hub] { return hub->begin_snapshot(); }, [] { return 50.0; }};
}

}  // namespace

void add_hub_benches(Suite& suite) {
  suite.add({"hub/question about now, 1 M nodes", "the same, folded from the log", "ms",
             Better::less, 0.1, prepare_question_now});
  suite.add({"hub/held up by it, 1 M nodes", "10 ms", "ms", Better::less, 1, prepare_held_up});
  suite.add({"hub/memory of it, 1 M nodes", "100 MB", "bytes", Better::less, 1,
             prepare_bytes_of_question});
  suite.add(
      {"hub/held up by a snapshot, 1 M nodes", "50 ms", "ms", Better::less, 1, prepare_snapshot});
  suite.add({"hub/end, 1 M nodes", "saving a snapshot", "s", Better::less, 0.1, prepare_end});
}

}  // namespace fairlead::bench
