#include "tests/bench/busy_hub.h"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "tests/bench/bench.h"

namespace fairlead::bench {
namespace {

// Ten changes each hundredth of a second: one commit, one sync and one view of each round.
constexpr int kRoundsPerSecond = 100;
constexpr std::chrono::milliseconds kRound{1000 / kRoundsPerSecond};
constexpr int kChangesOfRound = kBusyEventsPerSecond / kRoundsPerSecond;

double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Every window off, so that each change is an event and the claim is granted at once. Its status is
// written as often as on a hub.
Configuration busy_configuration(SmallWorld& world) {
  world.at_once();
  world.configuration.status_interval = Configuration{}.status_interval;
  return world.configuration;
}

}  // namespace

BusyHub::BusyHub(const std::filesystem::path& directory)
    : log_(need(RocksdbLog::open(directory / "data", OpenMode::write))),
      feed_(busy_configuration(world_)) {
  world_.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
  replica_ = std::make_unique<Replica>(*log_, clock_,
                                       HubSettings{"bench", WriteMode::apply, nullptr, &feed_},
                                       [](const Diagnostic&) {});
  need(replica_->fold({}));
  leader_ = std::make_unique<Leader>(*replica_);
  need(leader_->begin(busy_configuration(world_)));
  for (WatchFact& fact : world_.hub.list(every_hub_kind())) leader_->offer(std::move(fact));
  for (WatchFact& fact : world_.member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
    leader_->offer(std::move(fact));
  // Until the quotas of the claim are written and answered.
  for (int rounds = 0; leader_->next_due() <= leader_->now() && rounds < 1000; ++rounds) step();
  thread_ = std::thread([this] { run(); });
}

BusyHub::~BusyHub() {
  ending_ = true;
  thread_.join();
}

void BusyHub::run() {
  auto next = std::chrono::steady_clock::now();
  for (int round = 0; !ending_; ++round) {
    change_nodes(round);
    step();
    cpu_seconds_ = thread_cpu_seconds();
    next += kRound;
    std::this_thread::sleep_until(next);
  }
}

// Only upwards from what the claim needs, so that grants, and with them answers, stay the same.
void BusyHub::change_nodes(int round) {
  for (int i = 0; i < kChangesOfRound; ++i) {
    const char* pool = i % 2 == 0 ? "on-demand" : "spot";
    NodeFacts facts;
    facts.labels = {{"pool", pool}};
    facts.ready = true;
    facts.allocatable = {{"cpu", 100'000 + 1000 * (1 + (round + i) % 50)}};
    leader_->offer(world_.member.put(
        SmallWorld::node(std::string(pool) + "-" + std::to_string(i / 2 % 5)), facts));
  }
}

// One step; its writes are carried out at once.
void BusyHub::step() {
  for (const WriteRequest& request : need(leader_->step(Input::complete)).requests) {
    const auto event = need(need(log_->read(request.intent))->next());
    auto written = world_.hub.write(request.intent, std::get<PatchIntended>(event->fact));
    if (written.observed) leader_->offer(std::move(*written.observed));
    leader_->answer(std::move(written.answer));
  }
  folded_ = leader_->state().seq.value;
}

}  // namespace fairlead::bench
