// Kueue on a model of its own: who gets quota, who waits and with which words.
#include "engine/fleet/quota_controller.h"

#include "engine/fleet/worker_world.h"
#include "engine/fleet/workload_status.h"
#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

struct QueueStage {
  QueueStage() : api(*server, "test") {
    Json queue = {{"apiVersion", kKueue},
                  {"kind", "ClusterQueue"},
                  {"metadata", {{"name", "training"}}},
                  {"spec",
                   {{"namespaceSelector", Json::object()},
                    {"preemption", {{"withinClusterQueue", "LowerPriority"}}},
                    {"resourceGroups", gpu_groups(8)}}}};
    REQUIRE(api.create(kNamespaces, namespace_object("team-ml").object).has_value());
    REQUIRE(api.create(kQueues, queue).has_value());
    const WorldObject local = local_queue("team-ml", "training");
    REQUIRE(api.create(local.collection, local.object).has_value());
  }

  void submit(const std::string& name, int gpus, int priority = 0) {
    const WorldObject made = workload_of(
        {"team-ml", name, "training", {{kGpu, std::to_string(gpus)}}, priority, minutes(5)});
    REQUIRE(api.create(made.collection, made.object).has_value());
  }
  void pass(Duration time) {
    for (std::int64_t left = time.ns; left > 0; left -= seconds(1).ns) {
      clock.time = clock.time + seconds(1);
      kueue.look(clock.time);
    }
  }
  void set_quota(int gpus) {
    REQUIRE(api.merge(kQueues + "/training", {{"spec", {{"resourceGroups", gpu_groups(gpus)}}}})
                .has_value());
  }
  Json job(const std::string& name) const { return *api.get(kTeamWorkloads + "/" + name); }
  Json condition_of(const std::string& name, const std::string& type) const {
    const Json at = job(name);
    for (const Json& one : at["status"]["conditions"])
      if (one["type"] == type) return one;
    return {};
  }
  Json queue_status() const { return (*api.get(kQueues + "/training"))["status"]; }

  SetClock clock;
  std::unique_ptr<model::SharedModel> server = serve(clock);
  Api api;
  QuotaController kueue{*server, [](std::string_view, const std::string&) {}};
};

std::string needs(int gpus) {
  return "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
         "flavor gpu, " +
         std::to_string(gpus) + " more needed";
}

}  // namespace

TEST_CASE("a job runs, another waits for what is missing, and gets it when the first has ended") {
  QueueStage stage;
  stage.submit("first", 6);
  stage.submit("second", 5);
  stage.pass(seconds(1));
  CHECK(is_true(stage.job("first"), "Admitted"));
  CHECK(stage.job("first")["status"]["admission"]["podSetAssignments"][0] ==
        Json{{"name", "main"},
             {"count", 1},
             {"flavors", {{kGpu, "gpu"}}},
             {"resourceUsage", {{kGpu, "6"}}}});
  CHECK(stage.condition_of("second", "QuotaReserved")["reason"] == "Pending");
  CHECK(stage.condition_of("second", "QuotaReserved")["message"] == needs(3));
  const Json status = stage.queue_status();
  CHECK(status["pendingWorkloads"] == 1);
  CHECK(status["admittedWorkloads"] == 1);
  CHECK(status["flavorsUsage"][0]["resources"][0]["total"] == "6");
  CHECK(status["flavorsReservation"] == status["flavorsUsage"]);
  stage.pass(minutes(5));
  CHECK(is_true(stage.job("first"), "Finished"));
  CHECK(is_true(stage.job("second"), "Admitted"));
  CHECK(stage.queue_status()["flavorsUsage"][0]["resources"][0]["total"] == "5");
  CHECK(stage.queue_status()["pendingWorkloads"] == 0);
}

TEST_CASE("a quota that is cut changes the words of who waits, and not the time of the condition") {
  QueueStage stage;
  stage.submit("first", 6);
  stage.submit("second", 4);
  stage.pass(seconds(1));
  const Json before = stage.condition_of("second", "QuotaReserved");
  CHECK(before["message"] == needs(2));
  stage.set_quota(3);
  stage.pass(seconds(2));
  const Json after = stage.condition_of("second", "QuotaReserved");
  CHECK(after["message"] ==
        "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor "
        "gpu, previously considered podsets requests (0) + current podset request (4) > maximum "
        "capacity (3)");
  CHECK(after["lastTransitionTime"] == before["lastTransitionTime"]);
  CHECK(is_true(stage.job("first"), "Admitted"));  // Kueue evicts nobody for a quota
  const std::uint64_t writes = stage.kueue.writes();
  stage.pass(seconds(30));
  CHECK(stage.kueue.writes() == writes);
}

TEST_CASE("a job of higher priority evicts the youngest of the lowest, which then waits") {
  QueueStage stage;
  stage.submit("low", 4);
  stage.submit("middle", 4, 10);
  stage.pass(seconds(1));
  stage.submit("high", 3, 100);
  stage.pass(seconds(1));
  CHECK(stage.condition_of("low", "Evicted")["reason"] == "Preempted");
  CHECK(is_true(stage.job("low"), "QuotaReserved"));  // until its job has stopped
  CHECK(stage.condition_of("high", "QuotaReserved")["message"] ==
        needs(3) + ". Pending the preemption of 1 workload(s)");
  stage.pass(seconds(1));
  CHECK(is_true(stage.job("high"), "Admitted"));
  CHECK(is_true(stage.job("middle"), "Admitted"));
  CHECK_FALSE(stage.job("low")["status"].contains("admission"));
  CHECK(stage.condition_of("low", "Admitted")["reason"] == "NoReservation");
  CHECK(is_true(stage.job("low"), "Requeued"));
  CHECK(stage.condition_of("low", "QuotaReserved")["message"] == needs(3));
  stage.pass(minutes(6));
  CHECK(stage.condition_of("low", "Evicted")["status"] == "False");
  CHECK(is_true(stage.job("low"), "Admitted"));
}

TEST_CASE("a stopped queue admits nothing") {
  QueueStage stage;
  REQUIRE(stage.api.merge(kQueues + "/training", {{"spec", {{"stopPolicy", "Hold"}}}}).has_value());
  stage.submit("job", 1);
  stage.pass(seconds(1));
  CHECK(stage.condition_of("job", "QuotaReserved")["reason"] == "Inadmissible");
  REQUIRE(stage.api.merge(kQueues + "/training", {{"spec", {{"stopPolicy", "None"}}}}).has_value());
  stage.pass(seconds(1));
  CHECK(is_true(stage.job("job"), "Admitted"));
}
