#include "engine/fleet/worker_script.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/fleet/worker_world.h"

using namespace fairlead;

namespace {

std::vector<WorkerFault> worker_rounds(std::uint64_t seed, std::int64_t count) {
  std::vector<WorkerFault> all;
  for (std::int64_t round = 0; round < count; ++round)
    for (WorkerFault& fault : worker_script_of_round(seed, round)) all.push_back(std::move(fault));
  return all;
}

}  // namespace

TEST_CASE("workers: the same seed plays the same script, another one another") {
  CHECK(worker_rounds(7, 3) == worker_rounds(7, 3));
  CHECK(worker_rounds(7, 1) != worker_rounds(8, 1));
  CHECK(worker_script_of_round(7, 0) != worker_script_of_round(7, 1));
}

TEST_CASE("workers: a round keeps its time and its order, and nothing is near a report of scores") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<WorkerFault> script = worker_rounds(seed, 3);
    CHECK(std::is_sorted(script.begin(), script.end(),
                         [](const WorkerFault& a, const WorkerFault& b) { return a.at < b.at; }));
    CHECK(script.back().at < Duration{3 * kWorkerRoundLength.ns});
    for (const WorkerFault& fault : script) {
      if (fault.kind != WorkerFaultKind::occupy_gpus && fault.kind != WorkerFaultKind::free_gpus)
        continue;
      const std::int64_t after = fault.at.ns % kScoreInterval.ns;
      CHECK(after >= seconds(10).ns);
      CHECK(after < seconds(30).ns);
    }
  }
}

TEST_CASE("workers: what is taken is given back within its round, and only what there is") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::map<std::string, std::int64_t> taken;
    std::set<std::string> without, labelled;
    std::set<std::string> jobs;
    for (const WorkerFault& fault : worker_script_of_round(seed, 1)) {
      CHECK_FALSE(fault.text.empty());
      switch (fault.kind) {
        case WorkerFaultKind::submit: CHECK(jobs.insert(fault.subject).second); break;
        case WorkerFaultKind::withdraw: CHECK(jobs.erase(fault.subject) == 1); break;
        case WorkerFaultKind::occupy_gpus: taken[fault.subject] += fault.gpus; break;
        case WorkerFaultKind::free_gpus: taken[fault.subject] -= fault.gpus; break;
        case WorkerFaultKind::drop_credential: CHECK(without.insert(fault.subject).second); break;
        case WorkerFaultKind::return_credential: CHECK(without.erase(fault.subject) == 1); break;
        case WorkerFaultKind::add_label: CHECK(labelled.insert(fault.subject).second); break;
        case WorkerFaultKind::remove_label: CHECK(labelled.erase(fault.subject) == 1); break;
      }
      for (const WorkerCluster& cluster : worker_clusters())
        CHECK(taken[cluster.name] <= cluster.gpus);
    }
    CHECK(jobs == std::set<std::string>{"train-3", "train-4"});
    CHECK(taken["east"] == 0);
    CHECK(without.empty());
    CHECK(labelled.empty());
  }
}

TEST_CASE("workers: everything that happens is reported by whom") {
  CHECK(actor_of(WorkerFaultKind::submit) == "user");
  CHECK(actor_of(WorkerFaultKind::occupy_gpus) == "fleet");
  CHECK(actor_of(WorkerFaultKind::drop_credential) == "admin");
  CHECK(actor_of(WorkerFaultKind::remove_label) == "admin");
}
