// The super cluster pool at its full size: what an event, a decision and a change of a cluster
// cost beside the same at a tenth, what a pod takes of memory, and how long a day is folded again.
//
// Karmada publishes 12 ms and 32 ms as the P50 and P99 of a decision at 100 clusters. It schedules
// other objects on other machines: its figures stand beside ours for the order of magnitude.
#include <algorithm>
#include <memory>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "snapshots/snapshot_source.h"
#include "tests/bench/benches.h"
#include "tests/bench/pool_world.h"
#include "tests/bench/resident.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

PoolSize full_size(const Place& place) {
  return place.size == Size::tiny ? PoolSize{20, 2, 20, 3} : PoolSize{};
}
PoolSize a_tenth(PoolSize size) {
  size.tenants /= 10;
  size.clusters /= 10;
  return size;
}

/// A world with what the turns of a bench need to differ.
struct Turns {
  explicit Turns(const PoolSize& size) : world(size) {}

  std::uint64_t any_namespace() { return random.roll() % world.size().all_namespaces(); }

  PoolWorld world;
  Random random{5};
  std::uint64_t next_cluster = 0;
  std::uint64_t next_pod = 0;
};

// ---- costs ----

using Cost = double (*)(Turns&);

/// CPU microseconds of fold and plan for an event of a pod.
double pod_event(Turns& turns) {
  std::uint64_t events = 0;
  turns.world.take_seconds();
  for (int i = 0; i < 200; ++i) events += turns.world.live(turns.any_namespace(), 1);
  return turns.world.take_seconds() / static_cast<double>(events) * 1e6;
}

/// CPU microseconds for a quota that changes, until its new placement is observed.
double namespace_decision(Turns& turns) {
  constexpr int kTurns = 100;
  turns.world.take_seconds();
  for (int i = 0; i < kTurns; ++i) {
    const std::uint64_t namespace_ = turns.any_namespace();
    turns.world.set_quota(namespace_, PoolWorld::kSlices + 2);
    turns.world.set_quota(namespace_, PoolWorld::kSlices);
  }
  return turns.world.take_seconds() / (2 * kTurns) * 1e6;
}

/// CPU microseconds a namespace for half of them that want a slice which the others give up, and
/// the other way round. The tenant is at its limit all the time.
double quotas_at_the_limit(Turns& turns) {
  turns.world.take_seconds();
  for (const std::int64_t slices : {1, 0}) {
    turns.world.shift_quotas(slices);
    if (turns.world.slices_of(0) != PoolWorld::kSlices + slices)
      give_up("a namespace did not get the slice that another one gave up");
  }
  return turns.world.take_seconds() / (2 * static_cast<double>(turns.world.size().namespaces)) *
         1e6;
}

/// CPU microseconds for a change of a cluster's capacity in which every slice still fits.
double capacity_change(Turns& turns) {
  constexpr int kTurns = 100;
  turns.world.take_seconds();
  for (int i = 0; i < kTurns; ++i) {
    const std::uint64_t cluster = turns.random.roll() % turns.world.size().clusters;
    turns.world.set_node(cluster, PoolWorld::kNodeCpus + 1);
    turns.world.set_node(cluster, PoolWorld::kNodeCpus);
  }
  return turns.world.take_seconds() / (2 * kTurns) * 1e6;
}

/// CPU microseconds for a cluster that loses an eighth of its capacity, while it was full: unused
/// slices of its namespaces move. The first clusters are full, and each loses it once.
double overflow(Turns& turns) {
  turns.world.take_seconds();
  turns.world.set_node(turns.next_cluster++, PoolWorld::kNodeCpus / 2);
  return turns.world.take_seconds() * 1e6;
}

/// Returns the q-th of a hundred of what `change` returns.
double percentile(Turns& turns, std::size_t decisions, std::size_t q, Cost change) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < decisions; ++i) seconds.push_back(change(turns));
  const std::size_t at = std::min(decisions - 1, decisions * q / 100);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(at),
                   seconds.end());
  return seconds[at];
}

/// CPU milliseconds from a pod that appears to its placement. It goes when it was measured.
double appear(Turns& turns) {
  const std::uint64_t namespace_ = turns.any_namespace();
  const std::string name = "measured-" + std::to_string(turns.next_pod++);
  turns.world.add_pod(namespace_, name);
  const double seconds = turns.world.decision_seconds();
  turns.world.delete_pod(namespace_, name);
  return seconds * 1e3;
}

/// CPU milliseconds from a quota that changes to the namespace's placement.
double change_quota(Turns& turns) {
  const std::uint64_t namespace_ = turns.any_namespace();
  const bool fewer = turns.world.slices_of(namespace_) > PoolWorld::kSlices;
  turns.world.set_quota(namespace_, PoolWorld::kSlices + (fewer ? 0 : 2));
  return turns.world.decision_seconds() * 1e3;
}

// ---- rows ----

/// The cost at one size beside the cost at another.
auto beside(Cost cost, PoolSize (*size)(const Place&), PoolSize (*less)(PoolSize)) {
  return [cost, size, less](const Place& place) {
    const auto whole = std::make_shared<Turns>(size(place));
    const auto part = std::make_shared<Turns>(less(size(place)));
    return Trial{[whole, cost] { return cost(*whole); }, [part, cost] { return cost(*part); }};
  };
}

auto decision(Cost change, std::size_t q, double goal_ms) {
  return [change, q, goal_ms](const Place& place) {
    const std::size_t decisions = place.size == Size::tiny ? 10 : 2000;
    const auto turns = std::make_shared<Turns>(full_size(place));
    return Trial{[turns, decisions, q, change] { return percentile(*turns, decisions, q, change); },
                 [goal_ms] { return goal_ms; }};
  };
}

PoolSize one_tenant(const Place& place) {
  return place.size == Size::tiny ? PoolSize{1, 20, 4, 1} : PoolSize{1, 10'000, 100, 1};
}
PoolSize one_limited_tenant(const Place& place) {
  PoolSize size = one_tenant(place);
  size.limited = true;
  return size;
}
PoolSize tenth_of_the_namespaces(PoolSize size) {
  size.namespaces /= 10;
  return size;
}

/// A pool in which every namespace wants far more slices than are free.
std::shared_ptr<Turns> where_all_want_more(const PoolSize& size) {
  const auto turns = std::make_shared<Turns>(size);
  for (std::uint64_t each = 0; each < size.all_namespaces(); ++each)
    turns->world.set_quota(each, PoolWorld::kSlices + 9'000'000);
  if (turns->world.slices_of(0) != PoolWorld::kSlices) give_up("a namespace got what it wants");
  return turns;
}

Trial prepare_waiting_namespaces(const Place& place) {
  const PoolSize size = one_tenant(place);
  const auto many = where_all_want_more(size);
  const auto few = where_all_want_more(tenth_of_the_namespaces(size));
  return {[many] { return capacity_change(*many); }, [few] { return capacity_change(*few); }};
}

/// A tenth of the pool, in whose first namespace that many pods wait.
std::shared_ptr<Turns> with_waiting(const Place& place, std::uint64_t pods) {
  const auto turns = std::make_shared<Turns>(a_tenth(full_size(place)));
  turns->world.add_pods(0, pods);
  return turns;
}

auto waiting(Cost cost) {
  return [cost](const Place& place) {
    const std::uint64_t pods = place.size == Size::tiny ? 100 : 10'000;
    const auto many = with_waiting(place, pods);
    const auto few = with_waiting(place, pods / 10);
    return Trial{[many, cost] { return cost(*many); }, [few, cost] { return cost(*few); }};
  };
}

/// CPU microseconds for an event of the namespace whose pods wait: one more that waits, and goes.
double event_of_the_waiting(Turns& turns) {
  constexpr int kTurns = 20;
  turns.world.take_seconds();
  for (int i = 0; i < kTurns; ++i) {
    const std::string name = "z-" + std::to_string(turns.next_pod++);
    turns.world.add_pod(0, name);
    turns.world.delete_pod(0, name);
  }
  return turns.world.take_seconds() / (2 * kTurns) * 1e6;
}

double event_of_others(Turns& turns) {
  std::uint64_t events = 0;
  turns.world.take_seconds();
  for (int i = 0; i < 20; ++i)
    events +=
        turns.world.live(1 + turns.random.roll() % (turns.world.size().all_namespaces() - 1), 1);
  return turns.world.take_seconds() / static_cast<double>(events) * 1e6;
}

double bytes_of_pool(const PoolSize& size) {
  return figure_of_a_process([&size] {
    const double before = resident_bytes();
    const PoolWorld world(size);
    return grown_since(before);
  });
}

Trial prepare_pool_memory(const Place& place) {
  const PoolSize size = full_size(place);
  return {[size] {
            PoolSize empty = size;
            empty.pods = 0;
            const double pods = bytes_of_pool(size) - bytes_of_pool(empty);
            return std::max(0.0, pods) / static_cast<double>(size.all_pods());
          },
          [] { return 1024.0; }};
}

Trial prepare_namespace_memory(const Place& place) {
  PoolSize size = full_size(place);
  size.pods = 0;
  return {[size] { return bytes_of_pool(size) / static_cast<double>(size.all_namespaces()); },
          [] { return 8192.0; }};
}

/// The pool from nothing and a day of it: each pod is replaced once, ten at a time; each tenth
/// namespace has another quota; each cluster changes a hundred times.
std::shared_ptr<RocksdbLog> write_day(const Place& place) {
  std::shared_ptr<RocksdbLog> log =
      need(RocksdbLog::open(place.directory / "day", OpenMode::write));
  std::vector<EventDraft> drafts;
  LogTime at;
  const auto append = [&] {
    if (!drafts.empty()) need(log->append(std::move(drafts), at, Epoch{1}, Durability::pending));
    drafts = {};
  };
  const PoolSize size = full_size(place);
  PoolWorld world(size, [&](const Event& event) {
    if (event.log_time != at || drafts.size() >= 1024) append();
    at = event.log_time;
    drafts.push_back({event.source, event.cause, event.fact});
  });
  Random random(9);
  for (std::uint64_t namespace_ = 0; namespace_ < size.all_namespaces(); ++namespace_) {
    world.live(random.roll() % size.all_namespaces(), size.pods);
    if (namespace_ % 10 == 0) world.set_quota(namespace_, PoolWorld::kSlices + 1);
    world.set_node(namespace_ % size.clusters,
                   PoolWorld::kNodeCpus + 1 - static_cast<Amount>(namespace_ / size.clusters % 2));
  }
  append();
  need(log->wait_durable());
  need(log->move_to_tables());
  return log;
}

Trial prepare_day(const Place& place) {
  const auto log = write_day(place);
  return {[log] {
            return cpu_seconds_of(
                [&] { keep(need(state_from(*log, State{}, log->last_seq())).seq.value); });
          },
          [] { return 10.0; }};
}

}  // namespace

void add_pool_benches(Suite& suite) {
  const std::string tenth = "the same at a tenth";
  constexpr auto less = Better::less;
  suite.add({"pool/pod event", tenth, "us", less, 2, beside(pod_event, full_size, a_tenth)});
  suite.add({"pool/namespace decision", tenth, "us", less, 2,
             beside(namespace_decision, full_size, a_tenth)});
  suite.add(
      {"pool/capacity change", tenth, "us", less, 2, beside(capacity_change, full_size, a_tenth)});
  suite.add(
      {"pool/overflow of a cluster", tenth, "us", less, 2, beside(overflow, full_size, a_tenth)});
  const std::string p50 = "Karmada's published P50";
  const std::string p99 = "the goal; Karmada's published P99: 32 ms";
  suite.add({"pool/pod placed, median", p50, "ms", less, 1, decision(appear, 50, 12)});
  suite.add({"pool/pod placed, p99", p99, "ms", less, 1, decision(appear, 99, 1)});
  suite.add({"pool/namespace placed, median", p50, "ms", less, 1, decision(change_quota, 50, 12)});
  suite.add({"pool/namespace placed, p99", p99, "ms", less, 1, decision(change_quota, 99, 5)});
  suite.add({"pool/10k namespaces of one tenant, pod event", "1000 namespaces", "us", less, 2,
             beside(pod_event, one_tenant, tenth_of_the_namespaces)});
  suite.add({"pool/10k namespaces of one tenant, decision", "1000 namespaces", "us", less, 2,
             beside(namespace_decision, one_tenant, tenth_of_the_namespaces)});
  suite.add({"pool/10k namespaces of one tenant at its limit, a quota", "1000 namespaces", "us",
             less, 2, beside(quotas_at_the_limit, one_limited_tenant, tenth_of_the_namespaces)});
  suite.add({"pool/10k namespaces that want slices, capacity change", "1000 namespaces", "us", less,
             4, prepare_waiting_namespaces});
  const std::string few = "1000 waiting pods";
  suite.add(
      {"pool/10k waiting pods, event of others", few, "us", less, 2, waiting(event_of_others)});
  suite.add({"pool/10k waiting pods, event of theirs", few, "us", less, 2,
             waiting(event_of_the_waiting)});
  suite.add(
      {"pool/10k waiting pods, capacity change", few, "us", less, 20, waiting(capacity_change)});
  suite.add({"memory/100k pods", "1 KB a pod", "bytes", less, 1, prepare_pool_memory});
  suite.add({"memory/10k namespaces of tenants", "8 KB a namespace, its placement and its tenant",
             "bytes", less, 1, prepare_namespace_memory});
  suite.add({"pool/refold of a day", "10 s", "CPU s", less, 1, prepare_day});
}

}  // namespace fairlead::bench
