#include "engine/fleet/worker_script.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/fleet/worker_world.h"

using namespace fairlead;

namespace {

std::vector<WorkerHappening> worker_rounds(std::uint64_t seed, std::int64_t count) {
  std::vector<WorkerHappening> all;
  for (std::int64_t round = 0; round < count; ++round)
    for (WorkerHappening& happening : worker_script_of_round(seed, round))
      all.push_back(std::move(happening));
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
    const std::vector<WorkerHappening> script = worker_rounds(seed, 3);
    CHECK(std::is_sorted(
        script.begin(), script.end(),
        [](const WorkerHappening& a, const WorkerHappening& b) { return a.at < b.at; }));
    CHECK(script.back().at < Duration{3 * kWorkerRoundLength.ns});
    for (const WorkerHappening& happening : script) {
      if (happening.deed != WorkerDeed::take_gpus && happening.deed != WorkerDeed::free_gpus)
        continue;
      const std::int64_t after = happening.at.ns % kScoreInterval.ns;
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
    for (const WorkerHappening& happening : worker_script_of_round(seed, 1)) {
      CHECK_FALSE(happening.text.empty());
      switch (happening.deed) {
        case WorkerDeed::submit: CHECK(jobs.insert(happening.subject).second); break;
        case WorkerDeed::take_gpus: taken[happening.subject] += happening.gpus; break;
        case WorkerDeed::free_gpus: taken[happening.subject] -= happening.gpus; break;
        case WorkerDeed::drop_credential: CHECK(without.insert(happening.subject).second); break;
        case WorkerDeed::return_credential: CHECK(without.erase(happening.subject) == 1); break;
        case WorkerDeed::add_label: CHECK(labelled.insert(happening.subject).second); break;
        case WorkerDeed::remove_label: CHECK(labelled.erase(happening.subject) == 1); break;
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

TEST_CASE("workers: everything that happens is told by whom") {
  CHECK(actor_of(WorkerDeed::submit) == "user");
  CHECK(actor_of(WorkerDeed::take_gpus) == "fleet");
  CHECK(actor_of(WorkerDeed::drop_credential) == "admin");
  CHECK(actor_of(WorkerDeed::remove_label) == "admin");
}
