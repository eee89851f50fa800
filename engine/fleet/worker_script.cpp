#include "engine/fleet/worker_script.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/fleet/random.h"

namespace fairlead {
namespace {

// Faults keep this distance from a report of the scores, so that every seed has the same number
// of flips.
constexpr Duration kAfterReport = seconds(10);
constexpr std::int64_t kSpreadSeconds = 20;

std::string gpus_in_words(std::int64_t gpus) {
  return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
}

// Writes the script of one round.
class WorkerScriptWriter {
 public:
  WorkerScriptWriter(std::uint64_t seed, std::int64_t round)
      : random_(seed * 1'000'003 + static_cast<std::uint64_t>(round)),
        begin_{round * kWorkerRoundLength.ns},
        round_(round) {}

  std::vector<WorkerFault> write();

 private:
  void jobs();
  void job_without_worker();
  void passing_flip();
  void lasting_flip();
  void blinking_credentials();
  void moving_label();

  /// Returns a time within the minute of the round that begins at `at`.
  Duration about(Duration at) {
    return {at.ns + kAfterReport.ns + seconds(random_.below(kSpreadSeconds)).ns};
  }
  void add(Duration at, WorkerFault fault) {
    fault.at = {begin_.ns + at.ns};
    out_.push_back(std::move(fault));
  }
  void submit(Duration at, std::int64_t number, std::int64_t gpus, Duration length) {
    add(about(at), {{},
                    WorkerFaultKind::submit,
                    "train-" + std::to_string(2 * round_ + number),
                    gpus,
                    length,
                    "a job of " + gpus_in_words(gpus) + " for " + to_go_duration(length) +
                        " in the queue training"});
  }

  Random random_;
  const Duration begin_;
  const std::int64_t round_;
  std::vector<WorkerFault> out_;
};

constexpr Duration later(Duration a, Duration b) { return {a.ns + b.ns}; }

// The first job starts on east and still runs when east leaves; the second starts on west. Their
// GPUs lower their clusters' scores, so they are part of the flips.
void WorkerScriptWriter::jobs() {
  submit(minutes(1), 1, 2, later(minutes(15), seconds(random_.below(30))));
  submit(minutes(10), 2, 4, later(minutes(14), seconds(random_.below(30))));
}

// No worker has room for it: on west the second job runs, on east the other team. It is gone before
// either ends, so that it moves no score.
void WorkerScriptWriter::job_without_worker() {
  const std::string name = "wide-" + std::to_string(1 + round_);
  add(about(minutes(11)), {{},
                           WorkerFaultKind::submit,
                           name,
                           11,
                           minutes(5),
                           "a job of 11 GPUs in the queue training"});
  add(about(minutes(15)),
      {{}, WorkerFaultKind::withdraw, name, 0, {}, "its user deletes the job: no worker took it"});
}

// One report of the scores has it, the next one does not.
void WorkerScriptWriter::passing_flip() {
  const std::int64_t gpus = 3 + random_.below(4);
  const Duration at = about(minutes(3));
  add(at, {{},
           WorkerFaultKind::occupy_gpus,
           "east",
           gpus,
           {},
           "notebooks take " + gpus_in_words(gpus) + " for a minute"});
  add(later(at, kScoreInterval),
      {{}, WorkerFaultKind::free_gpus, "east", gpus, {}, "the notebooks are closed"});
}

void WorkerScriptWriter::lasting_flip() {
  const std::int64_t gpus = 9 + random_.below(4);
  add(about(minutes(6)), {{},
                          WorkerFaultKind::occupy_gpus,
                          "east",
                          gpus,
                          {},
                          "another team takes " + gpus_in_words(gpus) + " for a long time"});
  add(about(minutes(18)), {{},
                           WorkerFaultKind::free_gpus,
                           "east",
                           gpus,
                           {},
                           "the other team leaves " + gpus_in_words(gpus)});
}

void WorkerScriptWriter::blinking_credentials() {
  const Duration first = about(minutes(12)), second = about(minutes(23));
  add(first, {{},
              WorkerFaultKind::drop_credential,
              "west",
              0,
              {},
              "kubectl delete secret: its kubeconfig is being replaced"});
  add(later(first, seconds(45 + random_.below(45))), {{},
                                                      WorkerFaultKind::return_credential,
                                                      "west",
                                                      0,
                                                      {},
                                                      "kubectl create secret: the new one"});
  add(second, {{},
               WorkerFaultKind::drop_credential,
               "north",
               0,
               {},
               "its ClusterProfile names no access provider any more"});
  add(later(second, seconds(60 + random_.below(60))),
      {{},
       WorkerFaultKind::return_credential,
       "north",
       0,
       {},
       "its ClusterProfile names its access provider again"});
}

void WorkerScriptWriter::moving_label() {
  const std::string label = "accelerator=nvidia-tesla-t4";
  add(about(minutes(14)),
      {{}, WorkerFaultKind::add_label, "west", 0, {}, "kubectl label managedcluster: " + label});
  add(about(minutes(20)), {{},
                           WorkerFaultKind::remove_label,
                           "west",
                           0,
                           {},
                           "kubectl label managedcluster: accelerator- (takes the label away)"});
}

std::vector<WorkerFault> WorkerScriptWriter::write() {
  jobs();
  passing_flip();
  lasting_flip();
  blinking_credentials();
  moving_label();
  job_without_worker();
  // An unstable sort suffices: no two faults have the same time, because each has a minute of
  // its own or follows another by a minute or more.
  std::sort(out_.begin(), out_.end(),
            [](const WorkerFault& a, const WorkerFault& b) { return a.at < b.at; });
  return std::move(out_);
}

}  // namespace

std::string_view actor_of(WorkerFaultKind kind) {
  switch (kind) {
    case WorkerFaultKind::submit:
    case WorkerFaultKind::withdraw: return "user";
    case WorkerFaultKind::occupy_gpus:
    case WorkerFaultKind::free_gpus: return "fleet";
    case WorkerFaultKind::drop_credential:
    case WorkerFaultKind::return_credential:
    case WorkerFaultKind::add_label:
    case WorkerFaultKind::remove_label: break;
  }
  return "admin";
}

std::vector<WorkerFault> worker_script_of_round(std::uint64_t seed, std::int64_t round) {
  check(round >= 0, "rounds are counted from 0");
  return WorkerScriptWriter(seed, round).write();
}

}  // namespace fairlead
