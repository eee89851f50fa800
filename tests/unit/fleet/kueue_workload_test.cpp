#include "engine/fleet/kueue_workload.h"

#include <catch2/catch.hpp>

#include "engine/fleet/worker_world.h"

using namespace fairlead;

namespace {

constexpr LogTime kNow{1'767'225'600'000'000'000};

KueueView view_of() {
  KueueView view;
  view.queues["team-ml/training"] = {{"place", "mk"}, "mk", {"p-east", "p-west"}, true, "training"};
  view.ledgers.emplace("training", QuotaLedger({{"metadata", {{"name", "training"}}},
                                                {"spec", {{"resourceGroups", gpu_groups(64)}}}}));
  view.workers["p-east"] = {"east", true, 4};
  view.workers["p-west"] = {"west", true, 12};
  return view;
}

// A Workload, and what it becomes when every step is taken that can be.
struct Life {
  Json workload = training_job("job", 3, minutes(5)).object;
  KueueView view = view_of();

  std::optional<KueueStep> step(CopyState copy = CopyState::running) {
    auto next = next_step(workload, view, copy, kNow);
    if (!next) return std::nullopt;
    if (!workload.contains("status")) workload["status"] = Json::object();
    workload["status"].merge_patch(next->status);
    return next;
  }
  void answer(const char* state) { workload["status"]["admissionChecks"][0]["state"] = state; }
  const Json& status() const { return workload["status"]; }
};

}  // namespace

TEST_CASE("a job gets quota, waits for the other check, is offered to all, and one takes it") {
  Life life;
  REQUIRE(life.step());
  CHECK(is_true(life.workload, "QuotaReserved"));
  CHECK(life.status()["admission"]["clusterQueue"] == "training");
  CHECK(life.status()["admission"]["podSetAssignments"][0]["resourceUsage"][kGpu] == "3");
  CHECK(life.status()["admissionChecks"][0]["name"] == "place");
  CHECK(life.status()["admissionChecks"][1]["state"] == "Pending");
  CHECK_FALSE(life.step());
  life.answer("Ready");
  REQUIRE(life.step());
  CHECK(life.status()["nominatedClusterNames"] == Json{"p-east", "p-west"});
  const auto started = life.step();
  REQUIRE(started);
  CHECK(started->starts_on == "p-west");
  CHECK(life.status()["clusterName"] == "p-west");
  CHECK_FALSE(life.status().contains("nominatedClusterNames"));
  CHECK(life.status()["admissionChecks"][1]["state"] == "Ready");
  CHECK(is_true(life.workload, "Admitted"));
  CHECK_FALSE(life.step());
  REQUIRE(life.step(CopyState::ended));
  CHECK(is_true(life.workload, "Finished"));
  CHECK_FALSE(life.step(CopyState::ended));
}

TEST_CASE("no quota while a check of the queue is not Active") {
  Life life;
  life.view.queues["team-ml/training"].active = false;
  REQUIRE(life.step());
  CHECK_FALSE(is_true(life.workload, "QuotaReserved"));
  CHECK(life.status()["conditions"][0]["reason"] == "Inadmissible");
  CHECK(life.status()["conditions"][0]["message"] == "ClusterQueue training is inactive");
  CHECK_FALSE(life.step());  // it says so already
}

TEST_CASE("a job that does not fit beside others says what is missing") {
  Life life;
  Json other = training_job("other", 62, minutes(5)).object;
  other["status"] = {
      {"admission", life.view.ledgers.at("training").judge(other).admission},
      {"conditions", Json::array({condition("QuotaReserved", "True", "QuotaReserved", kNow)})}};
  life.view.ledgers.at("training").count(other);
  REQUIRE(life.step());
  CHECK(life.status()["conditions"][0]["reason"] == "Pending");
  CHECK(life.status()["conditions"][0]["message"] ==
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
        "flavor gpu, 1 more needed");
  CHECK(life.status()["resourceRequests"][0]["resources"][kGpu] == "3");
  life.view.ledgers.at("training").forget(other);
  REQUIRE(life.step());
  CHECK(is_true(life.workload, "QuotaReserved"));
  CHECK_FALSE(life.status().contains("resourceRequests"));
}

TEST_CASE("a job waits where no connected worker has enough GPUs") {
  Life life;
  life.step();
  life.answer("Ready");
  life.step();
  life.view.workers["p-west"].connected = false;
  life.view.workers["p-east"].free_gpus = 2;
  CHECK_FALSE(life.step());
  life.view.workers["p-east"].free_gpus = 3;
  REQUIRE(life.step());
  CHECK(life.status()["clusterName"] == "p-east");
}

TEST_CASE("a job whose worker leaves the list is evicted and begins anew elsewhere") {
  Life life;
  life.step();
  life.answer("Ready");
  life.step();
  life.step();
  life.view.queues["team-ml/training"].workers = {"p-east"};
  REQUIRE(life.step());
  CHECK(life.status()["admissionChecks"][1]["state"] == "Retry");
  CHECK(life.status()["clusterName"] == "p-west");
  REQUIRE(life.step());
  CHECK(is_true(life.workload, "Evicted"));
  CHECK_FALSE(is_true(life.workload, "QuotaReserved"));
  CHECK_FALSE(life.status().contains("clusterName"));
  CHECK_FALSE(life.status().contains("admission"));
  CHECK(life.status()["admissionChecks"][0]["state"] == "Pending");
  REQUIRE(life.step());
  CHECK(is_true(life.workload, "QuotaReserved"));
  CHECK_FALSE(is_true(life.workload, "Evicted"));
  life.answer("Ready");
  life.step();
  REQUIRE(life.step());
  CHECK(life.status()["clusterName"] == "p-east");
}

TEST_CASE("a lost connection is no reason to evict") {
  Life life;
  life.step();
  life.answer("Ready");
  life.step();
  life.step();
  life.view.workers.clear();
  CHECK_FALSE(life.step());
}

TEST_CASE("a job of another queue is left alone") {
  Life life;
  life.workload["spec"]["queueName"] = "unknown";
  CHECK_FALSE(life.step());
}

TEST_CASE("what a job asks for is read as it was written") {
  const Json job = training_job("job", 3, minutes(5)).object;
  CHECK(gpus_of(job) == 3);
  CHECK(length_of(job) == minutes(5));
  const Json bare = {{"metadata", {{"name", "x"}}}, {"spec", Json::object()}};
  CHECK(gpus_of(bare) == 0);
  CHECK(length_of(bare) == minutes(10));
}
