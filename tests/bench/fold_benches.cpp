// The fold: replay of a fleet, memory of its nodes, planning after one change, and questions about
// the past of a long log.
#include <array>
#include <memory>

#include "engine/fold/evolve.h"
#include "engine/log/read_ahead.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/plan/plan.h"
#include "replay/audit/audit.h"
#include "snapshots/snapshot_store.h"
#include "tests/bench/benches.h"
#include "tests/bench/floors.h"
#include "tests/bench/resident.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kClusters = 20;

/// A fleet of nodes in twenty clusters, two flavors, a queue with a claim of every cluster. Nodes
/// go and come, at random.
class Fleet {
 public:
  explicit Fleet(std::uint64_t nodes) : nodes_(nodes), ready_(nodes, true) {}

  static std::string cluster_name(std::uint64_t cluster) {
    return "cluster-" + std::to_string(cluster);
  }

  /// Passes to `take`, one after the other, the events before the first change.
  template <class Take>
  void begin(const Take& take) {
    take({std::string(kSelf), {}, EpochStarted{"bench", "bench", kFoldVersion, 1}});
    take({std::string(kSelf), {}, ConfigChanged{}});
    for (const char* pool : {"on-demand", "spot"}) {
      ResourceFlavorFacts flavor;
      flavor.node_labels = {{"pool", pool}};
      take(seen(std::string(kHub), {Kind::resource_flavor, "", pool}, flavor));
    }
    take(seen(std::string(kHub), {Kind::cluster_queue, "", "training"}, queue()));
    for (std::uint64_t cluster = 0; cluster < kClusters; ++cluster) take(claim(cluster));
    for (std::uint64_t node = 0; node < nodes_; ++node) take(node_draft(node));
  }
  /// One node more or less.
  EventDraft change() {
    const std::uint64_t node = random_.roll() % nodes_;
    ready_[node] = !ready_[node];
    return node_draft(node);
  }

 private:
  EventDraft seen(SourceName source, ObjectKey key, Facts facts) {
    ObjectObserved what;
    what.key = std::move(key);
    what.version = "v1";
    what.uid = random_.uid();
    what.resource_version = std::to_string(++version_);
    what.generation = 1;
    what.facts = std::move(facts);
    return {std::move(source), {}, std::move(what)};
  }
  static ClusterQueueFacts queue() {
    ClusterQueueFacts facts;
    ResourceGroup group{{"cpu", "nvidia.com/gpu"}, {}};
    for (const char* flavor : {"on-demand", "spot"})
      group.flavors.push_back({flavor, {{"cpu", {}, {}, {}}, {"nvidia.com/gpu", {}, {}, {}}}});
    facts.groups = {group};
    return facts;
  }
  EventDraft claim(std::uint64_t cluster) {
    ClaimFacts facts;
    facts.spec.cluster_name = cluster_name(cluster);
    facts.spec.nominal_resources = {{"cpu", "1G"}, {"gpu", "1G"}};
    ClaimAssignment assignment;
    assignment.cluster_queue = "training";
    assignment.flavor = "on-demand";
    assignment.resources = {{"cpu", "100k"}, {"gpu", "10k"}};
    facts.spec.assignments = {assignment};
    return seen(std::string(kHub), {Kind::claim, "", cluster_name(cluster) + "-claim"}, facts);
  }
  EventDraft node_draft(std::uint64_t number) {
    const std::string name = "node-" + std::to_string(number);
    NodeFacts facts;
    facts.labels = {{"beta.kubernetes.io/arch", "amd64"},
                    {"beta.kubernetes.io/os", "linux"},
                    {"kubernetes.io/arch", "amd64"},
                    {"kubernetes.io/hostname", name},
                    {"kubernetes.io/os", "linux"},
                    {"pool", number % 3 != 0 ? "on-demand" : "spot"},
                    {"topology.kubernetes.io/zone",
                     "zone-" + std::string(1, static_cast<char>('a' + number % 3))}};
    facts.ready = ready_[number];
    facts.allocatable = {{"cpu", 63'500},
                         {"memory", 270'582'939'648 + static_cast<Amount>(number % 999) * 4096},
                         {"nvidia.com/gpu", 8},
                         {"pods", 110}};
    return seen(cluster_name(number % kClusters), {Kind::node, "", name}, facts);
  }

  std::uint64_t nodes_;
  std::vector<bool> ready_;
  Random random_{7};
  std::uint64_t version_ = 40'000'000;
};

/// The log of a fleet: its beginning and `changes`, 256 a commit, a commit every two seconds, if
/// asked for with the snapshots that a hub takes, and closed as a hub does it.
struct FleetLog {
  fs::path directory;
  std::uint64_t events = 0;
  LogTime first, last;
};

enum class Snapshots : std::uint8_t { none, taken };

std::shared_ptr<const FleetLog> write_fleet(const Place& place, std::uint64_t nodes,
                                            std::uint64_t changes, Snapshots snapshots) {
  auto written = std::make_shared<FleetLog>();
  written->directory = place.directory / "fleet";
  const auto log = need(RocksdbLog::open(written->directory, OpenMode::write));
  SnapshotStore store(written->directory);
  State state;
  DirtySet dirty;
  written->first = written->last = LogTime{1'750'000'000'000'000'000};
  std::uint64_t next_snapshot = snapshot_spacing(state.configuration.snapshot_every, 0);
  const auto commit = [&](std::vector<EventDraft> drafts) {
    const auto events =
        need(log->append(std::move(drafts), written->last, Epoch{1}, Durability::durable));
    written->events += events.size();
    if (snapshots == Snapshots::none) return;
    for (const Event& event : events) evolve(state, event, dirty);
    dirty = {};
  };
  const auto append = [&](std::vector<EventDraft> drafts) {
    written->last = written->last + seconds(2);
    commit(std::move(drafts));
    if (snapshots == Snapshots::none || written->events < next_snapshot) return;
    const SnapshotInfo taken = need(store.save(state, log->chain()));
    std::vector<EventDraft> note;  // without a Checkpoint behind it a snapshot does not count
    note.push_back({std::string(kSelf), Seq{},
                    Checkpoint{taken.state_digest, taken.seq.value, taken.log_digest}});
    commit(std::move(note));
    need(store.apply_retention(*log, kSnapshotsMax));
    next_snapshot =
        written->events + snapshot_spacing(state.configuration.snapshot_every, taken.bytes);
  };
  Fleet fleet(nodes);
  std::vector<EventDraft> all;
  fleet.begin([&](EventDraft draft) { all.push_back(std::move(draft)); });
  for (std::size_t at = 0; at < all.size(); at += 256)
    append({all.begin() + static_cast<std::ptrdiff_t>(at),
            all.begin() + static_cast<std::ptrdiff_t>(std::min(at + 256, all.size()))});
  for (std::uint64_t done = 0; done < changes; done += 256) {
    std::vector<EventDraft> group;
    for (int i = 0; i < 256; ++i) group.push_back(fleet.change());
    append(std::move(group));
  }
  need(log->move_to_tables());
  return written;
}

// ---- replay ----

/// What a fold needs at least for an object: one piece of memory, found by its number.
struct alignas(64) Slot {
  std::uint64_t version = 0;
  std::array<std::uint64_t, 7> values{};
};

/// Reads the packs and changes one slot of a table for each event. Events a CPU second.
double floor(const FleetLog& written, std::uint64_t nodes) {
  std::vector<Slot> table(nodes);
  Random random(5);
  std::uint64_t events = 0;
  const double seconds = cpu_seconds_of([&] {
    read_packs(written.directory, [&](std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) {
        Slot& slot = table[random.roll() % nodes];
        slot.values[slot.version++ % slot.values.size()] += ++events;
      }
    });
  });
  keep(table);
  if (events != written.events) give_up("the packs hold other events than were written");
  return static_cast<double>(events) / seconds;
}

template <class Clock>
double fold(const FleetLog& written, const Clock& clock) {
  const auto log = need(RocksdbLog::open(written.directory, OpenMode::read));
  State state;
  const double seconds = clock([&] { state = need(state_from(*log, State{}, log->last_seq())); });
  if (state.seq.value != written.events) give_up("the fold ended early");
  return static_cast<double>(written.events) / seconds;
}

std::uint64_t nodes_at(const Place& place) { return place.size == Size::tiny ? 200 : 100'000; }

std::shared_ptr<const FleetLog> write_replayed(const Place& place) {
  return write_fleet(place, nodes_at(place), place.size == Size::tiny ? 512 : 1'000'000,
                     Snapshots::none);
}

Trial prepare_replay(const Place& place) {
  const std::uint64_t nodes = nodes_at(place);
  const auto written = write_replayed(place);
  return {[written] { return fold(*written, [](auto&& work) { return cpu_seconds_of(work); }); },
          [written, nodes] { return floor(*written, nodes); }};
}

Trial prepare_replay_rate(const Place& place) {
  const auto written = write_replayed(place);
  return {[written] { return fold(*written, [](auto&& work) { return seconds_of(work); }); },
          [] { return 1.5e6; }};
}

// ---- memory ----

double bytes_of_fold(std::uint64_t nodes) {
  const double before = resident_bytes();
  State state;
  DirtySet dirty;
  Event event{Seq{0}, LogTime{1}, Epoch{1}, {}, {}, {}};
  Fleet(nodes).begin([&](EventDraft draft) {
    event.seq = next(event.seq);
    event.source = std::move(draft.source);
    event.fact = std::move(draft.fact);
    evolve(state, event, dirty);
  });
  return grown_since(before);
}

double bytes_per_node(std::uint64_t nodes) {
  const double bytes = figure_of_a_process([nodes] { return bytes_of_fold(nodes); });
  if (bytes <= 0) give_up("a fold took no memory");
  return bytes / static_cast<double>(nodes);
}

Trial prepare_memory(const Place& place) {
  const std::uint64_t nodes = place.size == Size::tiny ? 10'000 : 1'000'000;
  return {[nodes] { return bytes_per_node(nodes); }, [] { return 1024.0; }};
}

// ---- planning ----

enum class Feeding : std::uint8_t { a_queue_each, all_one_queue };

/// A hub with `count` claims, each of which feeds a queue of its own or all one; one node of one
/// cluster changes what one claim grants to one queue.
class ManyClaims {
 public:
  explicit ManyClaims(std::uint64_t count, Feeding feeding) : clusters_(count) {
    take(std::string(kSelf), ConfigChanged{at_once()});
    ResourceFlavorFacts flavor;
    observe(std::string(kHub), {Kind::resource_flavor, "", "default"}, flavor);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const std::string queue_name =
          "queue-" + (feeding == Feeding::a_queue_each ? number : std::string("0"));
      ClusterQueueFacts queue;
      queue.groups = {{{"cpu"}, {{"default", {{"cpu", {}, {}, {}}}}}}};
      if (feeding == Feeding::a_queue_each || i == 0)
        observe(std::string(kHub), {Kind::cluster_queue, "", queue_name}, queue);
      ClaimFacts claim;
      claim.finalizers = {"fairlead.io/claim"};
      claim.spec.cluster_name = "c" + number;
      claim.spec.nominal_resources = {{"cpu", "1000"}};
      ClaimAssignment assignment;
      assignment.cluster_queue = queue_name;
      assignment.flavor = "default";
      assignment.resources = {{"cpu", "1000"}};
      claim.spec.assignments = {assignment};
      observe(std::string(kHub), {Kind::claim, "", "claim-" + number}, claim);
      change_node(i, 100);
    }
    write_everything();
  }

  /// Seconds of a plan after one change, the fold of the change left out.
  double plan_seconds() {
    double total = 0;
    constexpr int kTurns = 200;
    for (int turn = 0; turn < kTurns; ++turn) {
      change_node(random_.roll() % clusters_, 100 + turn + 1);
      close_moment(state_, dirty_);
      std::vector<PatchIntended> intents;
      total += seconds_of([&] { intents = plan(state_, dirty_); });
      if (intents.empty()) give_up("a change led to no write");
      answer(std::move(intents));
    }
    return total / kTurns;
  }

  /// Seconds a claim of a plan of everything, as after a start.
  double seconds_a_claim() {
    DirtySet all;
    all.everything = true;
    const double all_seconds = seconds_of([&] { keep(plan(state_, all).size()); });
    return all_seconds / static_cast<double>(clusters_);
  }

 private:
  static Configuration at_once() {
    Configuration configuration;
    configuration.member_mode = MemberMode::none;
    configuration.headroom.percent.clear();
    DebounceSettings& debounce = configuration.debounce;
    debounce.shrink_window = debounce.grow_window = debounce.first_quiet = {};
    debounce.min_grow_interval = debounce.write_interval = debounce.mass_shrink_hold = {};
    debounce.grow_deadband_percent = debounce.flap_penalty = 0;
    return configuration;
  }
  void take(SourceName source, Fact fact) {
    const Event event{
        next(state_.seq), state_.now + milliseconds(1), Epoch{1}, std::move(source), {},
        std::move(fact)};
    evolve(state_, event, dirty_);
  }
  void observe(SourceName source, ObjectKey key, Facts facts) {
    ObjectObserved seen;
    seen.uid = "u-" + key.name;
    seen.key = std::move(key);
    seen.version = "v1beta2";
    seen.resource_version = std::to_string(++version_);
    seen.generation = 1;
    seen.facts = std::move(facts);
    take(std::move(source), std::move(seen));
  }
  void change_node(std::uint64_t cluster, Amount cpus) {
    NodeFacts facts;
    facts.ready = true;
    facts.allocatable = {{"cpu", cpus * 1000}};
    observe("c" + std::to_string(cluster), {Kind::node, "", "node"}, facts);
  }
  void answer(std::vector<PatchIntended> intents) {
    for (PatchIntended& intent : intents) {
      const ObjectKey target = intent.target;
      const auto expected = intent.expected;
      take(std::string(kSelf), std::move(intent));
      take(std::string(kSelf), PatchAccepted{state_.seq, 200, "u-" + target.name, ""});
      if (expected && target.kind == Kind::cluster_queue)
        observe(std::string(kHub), target, *expected);
    }
  }
  void write_everything() {
    for (int round = 0; round < 8; ++round) {
      close_moment(state_, dirty_);
      std::vector<PatchIntended> intents = plan(state_, dirty_);
      if (intents.empty()) return;
      answer(std::move(intents));
    }
  }

  std::uint64_t clusters_;
  State state_;
  DirtySet dirty_;
  std::uint64_t version_ = 0;
  Random random_{3};
};

Trial prepare_plan(const Place& place) {
  const bool tiny = place.size == Size::tiny;
  const auto many = std::make_shared<ManyClaims>(tiny ? 50 : 100'000, Feeding::a_queue_each);
  const auto few = std::make_shared<ManyClaims>(tiny ? 10 : 1000, Feeding::a_queue_each);
  return {[many] { return many->plan_seconds() * 1e6; },
          [few] { return few->plan_seconds() * 1e6; }};
}

Trial prepare_shared_queue(const Place& place) {
  const std::uint64_t claims = place.size == Size::tiny ? 10 : 1000;
  const auto many = std::make_shared<ManyClaims>(claims * 10, Feeding::all_one_queue);
  const auto few = std::make_shared<ManyClaims>(claims, Feeding::all_one_queue);
  return {[many] { return many->seconds_a_claim() * 1e6; },
          [few] { return few->seconds_a_claim() * 1e6; }};
}

// ---- questions ----

/// Milliseconds of a question, the opening of the log included, as the command has it.
template <class Ask>
double milliseconds_of(const FleetLog& written, const Ask& ask) {
  Random random(11);
  double worst = 0;
  for (int i = 0; i < 5; ++i) {
    const LogTime at{written.first.ns + static_cast<std::int64_t>(random.roll() >> 2) %
                                            (written.last - written.first).ns};
    worst = std::max(worst, 1e3 * seconds_of([&] {
                              const auto log =
                                  need(RocksdbLog::open(written.directory, OpenMode::read));
                              const SnapshotStore snapshots(written.directory);
                              keep(need(ask(AuditSource{*log, &snapshots}, at)).document.size());
                            }));
  }
  return worst;
}

template <class Ask>
auto prepare_question(double limit_ms, Ask ask) {
  return [limit_ms, ask](const Place& place) {
    const bool tiny = place.size == Size::tiny;
    // 10 M events of 10000 nodes.
    const auto written =
        write_fleet(place, tiny ? 200 : 10'000, tiny ? 1024 : 10'000'000, Snapshots::taken);
    return Trial{[written, ask] { return milliseconds_of(*written, ask); },
                 [limit_ms] { return limit_ms; }};
  };
}

}  // namespace

void add_fold_benches(Suite& suite) {
  suite.add({"replay/100k nodes", "the packs read, one slot of a table changed an event",
             "events/CPU s", Better::more, 0.5, prepare_replay});
  suite.add({"replay/100k nodes, rate", "1.5 M events a second", "events/s", Better::more, 1,
             prepare_replay_rate});
  suite.add({"memory/1 M nodes", "1 KB a node", "bytes", Better::less, 1, prepare_memory});
  suite.add({"plan/100k queues", "the same with 1000 queues", "us", Better::less, 2, prepare_plan});
  suite.add({"plan/10k claims, one queue", "a claim of 1000 on one queue", "us", Better::less, 2,
             prepare_shared_queue});
  suite.add({"audit/as-of, 10 M events", "100 ms, the worst of five moments", "ms", Better::less, 1,
             prepare_question(100, [](const AuditSource& source, LogTime at) {
               return audit_quota(source, at, "training");
             })});
  suite.add({"audit/why, 10 M events", "200 ms, the worst of five moments", "ms", Better::less, 1,
             prepare_question(200, [](const AuditSource& source, LogTime at) {
               return audit_why(source, {"training", "on-demand", "gpu"}, at);
             })});
  suite.add({"audit/diff, 10 M events", "1000 ms, the worst of five moments", "ms", Better::less, 1,
             prepare_question(1000, [](const AuditSource& source, LogTime at) {
               return audit_diff(source, at, source.log.last_time(), "training");
             })});
}

}  // namespace fairlead::bench
