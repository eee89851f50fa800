// The record of who waits: what an event costs where many Workloads are pending.
#include <memory>
#include <string>

#include "replay/waiting/wait_recorder.h"
#include "tests/bench/benches.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

constexpr std::uint64_t kQueues = 100;
constexpr std::uint64_t kCohorts = 10;
constexpr std::uint64_t kShapes = 64;

Event event_of(std::uint64_t number, const ObjectKey& key, Facts facts) {
  ObjectObserved seen;
  seen.key = key;
  seen.version = "v1beta2";
  seen.uid = key.namespace_ + "/" + key.name;
  seen.facts = std::move(facts);
  return {Seq{number + 1},
          LogTime{} + milliseconds(static_cast<std::int64_t>(number)),
          Epoch{1},
          SourceName(kHub),
          {},
          std::move(seen)};
}

std::string queue_name(std::uint64_t number) { return "queue-" + std::to_string(number % kQueues); }

// A queue with 400 GPUs in a cohort of ten; what is reserved of them changes with each number.
Event queue_event(std::uint64_t number, std::uint64_t queue) {
  ClusterQueueFacts facts;
  facts.cohort = "cohort-" + std::to_string(queue % kCohorts);
  ResourceQuota gpus, cpus;
  gpus.name = "nvidia.com/gpu";
  gpus.nominal = *Quantity::parse("400");
  cpus.name = "cpu";
  cpus.nominal = *Quantity::parse("4000");
  facts.groups = {{{"cpu", "nvidia.com/gpu"}, {{"a100", {cpus, gpus}}}}};
  const auto used = static_cast<Amount>(336 + Random(number).roll() % 64);
  facts.reserved = {{"a100", "cpu", used * 8000}, {"a100", "nvidia.com/gpu", used}};
  return event_of(number, {Kind::cluster_queue, "", queue_name(queue)}, std::move(facts));
}

// One of 64 shapes of Workloads, waiting for quota.
Event workload_event(std::uint64_t number) {
  WorkloadFacts facts;
  facts.created = LogTime{} + milliseconds(static_cast<std::int64_t>(number));
  WorkloadProgress progress;
  progress.queue = queue_name(number);
  const auto asked = static_cast<Amount>(1 + Random(number).roll() % kShapes);
  progress.requests =
      std::map<std::string, Amount>{{"cpu", asked * 8000}, {"nvidia.com/gpu", asked}};
  progress.conditions = {{"QuotaReserved", ConditionStatus::no, "WaitingForQuota",
                          "couldn't assign flavors to pod set main"}};
  progress.quota_since = facts.created;
  facts.progress = std::move(progress);
  return event_of(number, {Kind::workload, "team", "job-" + std::to_string(number)},
                  std::move(facts));
}

struct PendingRecord {
  WaitRecorder record{WaitScope{}};
  std::uint64_t events = 0;

  void take(const Event& event) {
    record.observe(event, event.log_time);
    ++events;
  }
};

std::shared_ptr<PendingRecord> with_pending(std::uint64_t count) {
  auto pending = std::make_shared<PendingRecord>();
  for (std::uint64_t queue = 0; queue < kQueues; ++queue)
    pending->take(queue_event(pending->events, queue));
  for (std::uint64_t queue = 0; queue < kQueues; ++queue)
    pending->take(event_of(pending->events, {Kind::local_queue, "team", queue_name(queue)},
                           LocalQueueFacts{queue_name(queue), "", {}}));
  for (std::uint64_t i = 0; i < count; ++i) pending->take(workload_event(pending->events));
  return pending;
}

// Microseconds of an event: nine changes of a queue's reservations, then a Workload that says why
// it waits.
double event_time(PendingRecord& pending, std::uint64_t events) {
  std::vector<Event> made;
  for (std::uint64_t i = 0; i < events; ++i)
    made.push_back(i % 10 == 9 ? workload_event(pending.events + i)
                               : queue_event(pending.events + i, i));
  return 1e6 / static_cast<double>(events) * cpu_seconds_of([&] {
           for (const Event& event : made) pending.take(event);
         });
}

Trial prepare_event(const Place& place) {
  const std::uint64_t many = place.size == Size::tiny ? 1'000 : 100'000;
  const std::uint64_t events = place.size == Size::tiny ? 1'000 : 100'000;
  const auto measured = with_pending(many);
  const auto bound = with_pending(many / 10);
  return {[measured, events] { return event_time(*measured, events); },
          [bound, events] { return event_time(*bound, events); }};
}

}  // namespace

void add_wait_record_benches(Suite& suite) {
  suite.add({"waiting/event, 100,000 pending", "of 10,000", "us", Better::less, 2, prepare_event});
}

}  // namespace fairlead::bench
