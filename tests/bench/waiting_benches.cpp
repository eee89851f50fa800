// Workloads that wait for quota: what one of them takes of memory, and what an event of one costs
// beside the same with a tenth of them.
#include <algorithm>
#include <memory>
#include <string>

#include "engine/base/check.h"
#include "engine/fold/evolve.h"
#include "engine/ingest/ingest.h"
#include "tests/bench/benches.h"
#include "tests/bench/resident.h"

namespace fairlead::bench {

namespace {

constexpr std::uint64_t kWaitingMax = 100'000;
constexpr std::uint64_t kWaitingQueues = 100;

std::string padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  text.insert(0, digits - std::min(digits, text.size()), '0');
  return text;
}

/// A Workload that Kueue looked at and found no quota for, made for a Job. Its names are as long as
/// those that Kueue makes; `missing` is what its message says.
ObjectSeen pending_workload(std::uint64_t number, std::uint64_t missing) {
  const std::string team = "team-" + padded(number % kWaitingQueues, 2);
  const std::string job = "train-" + padded(number, 6);
  WorkloadFacts facts;
  facts.priority = static_cast<std::int64_t>(number % 3) * 100;
  facts.created = LogTime{seconds(static_cast<std::int64_t>(number)).ns};
  facts.checks.push_back({"multikueue", "Pending"});
  WorkloadProgress& progress = facts.progress.emplace();
  progress.queue = "gpu-queue";
  progress.requests = {{"cpu", 32'000}, {"memory", 128LL << 30}, {"nvidia.com/gpu", 8}};
  progress.conditions.push_back({"QuotaReserved", ConditionStatus::no, "Pending",
                                 "couldn't assign flavors to pod set main: insufficient unused "
                                 "quota for nvidia.com/gpu in flavor on-demand, " +
                                     std::to_string(missing) + " more needed"});
  progress.quota_since = facts.created;
  progress.owner_kind = "Job";
  progress.owner_name = job;
  ObjectSeen seen;
  seen.key = {Kind::workload, team, "job-" + job + "-" + padded(number * 7919 % 99'991, 5)};
  seen.version = "v1beta2";
  seen.uid = "6f9619ff-8b86-4011-b42d-" + padded(number, 12);
  seen.resource_version = std::to_string(1'000'000 + number);
  seen.generation = 1;
  seen.facts = std::move(facts);
  return seen;
}

/// State, and what reads and folds for it.
class WaitingWorld {
 public:
  explicit WaitingWorld(std::uint64_t workloads) : workloads_(workloads) {
    AdmissionCheckFacts check;
    check.controller_name = "kueue.x-k8s.io/multikueue";
    ObjectSeen seen;
    seen.key = {Kind::admission_check, "", "multikueue"};
    seen.facts = std::move(check);
    offer(std::move(seen));
    for (std::uint64_t i = 0; i < workloads_; ++i) offer(pending_workload(i, 4));
    close();
  }

  /// Kueue looks at the next Workload again, and finds less missing.
  void turn() {
    const std::uint64_t number = turns_ * 7919 % workloads_;
    ObjectSeen seen = pending_workload(number, 5 + turns_++);
    seen.resource_version = std::to_string(2'000'000 + turns_);
    offer(std::move(seen));
    close();
  }
  std::size_t held() const { return state_.multikueue.workloads.size(); }

 private:
  void offer(ObjectSeen seen) {
    auto draft = ingest_.draft(state_, {std::string(kHub), std::move(seen)});
    check(draft.has_value(), "each fact is news");
    Event event;
    event.seq = next(state_.seq);
    event.log_time = state_.now;
    event.source = draft->source;
    event.fact = std::move(draft->fact);
    evolve(state_, event, dirty_);
  }
  void close() {
    run_until(state_, state_.now + milliseconds(1), dirty_);
    dirty_ = {};
  }

  const std::uint64_t workloads_;
  std::uint64_t turns_ = 0;
  State state_;
  DirtySet dirty_;
  Ingest ingest_;
};

std::uint64_t full_waiting(const Place& place) {
  return place.size == Size::tiny ? 1000 : kWaitingMax;
}

/// Bytes of a State with so many pending Workloads.
double bytes_of_waiting(std::uint64_t workloads) {
  return figure_of_a_process([workloads] {
    const double before = resident_bytes();
    State state;
    DirtySet dirty;
    for (std::uint64_t i = 0; i < workloads; ++i) {
      ObjectSeen seen = pending_workload(i, 4);
      Event event;
      event.seq = next(state.seq);
      event.log_time = state.now;
      event.source = std::string(kHub);
      event.fact = ObjectObserved{seen.key,        seen.version, seen.uid, seen.resource_version,
                                  seen.generation, seen.facts,   {}};
      evolve(state, event, dirty);
      if (i % 1000 == 0) {
        run_until(state, state.now + milliseconds(1), dirty);
        dirty = {};
      }
    }
    keep(state.multikueue.workloads.size());
    return grown_since(before);
  });
}

Trial prepare_waiting_memory(const Place& place) {
  const std::uint64_t workloads = full_waiting(place);
  return {[workloads] {
            return std::max(0.0, bytes_of_waiting(workloads) - bytes_of_waiting(workloads / 10)) /
                   static_cast<double>(workloads - workloads / 10);
          },
          [] { return 700.0; }};
}

double waiting_event(WaitingWorld& world) {
  constexpr int kEvents = 200;
  return cpu_seconds_of([&world] {
           for (int i = 0; i < kEvents; ++i) world.turn();
         }) /
         kEvents * 1e6;
}

Trial prepare_waiting_event(const Place& place) {
  const auto all = std::make_shared<WaitingWorld>(full_waiting(place));
  const auto tenth = std::make_shared<WaitingWorld>(full_waiting(place) / 10);
  return {[all] { return waiting_event(*all); }, [tenth] { return waiting_event(*tenth); }};
}

}  // namespace

void add_waiting_benches(Suite& suite) {
  constexpr auto less = Better::less;
  suite.add(
      {"waiting/event at 100k pending Workloads", "at 10k", "us", less, 2, prepare_waiting_event});
  suite.add({"memory/100k pending Workloads", "700 B a Workload", "bytes", less, 1,
             prepare_waiting_memory});
}

}  // namespace fairlead::bench
