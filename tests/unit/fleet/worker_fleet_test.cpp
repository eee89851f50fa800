// The workers' fleet on a model of its own; the test writes the lists that Fairlead would write.
#include "engine/fleet/worker_fleet.h"

#include "tests/unit/fleet/stage.h"

using namespace fairlead;

namespace {

using Names = std::vector<std::string>;

struct WorkerStage {
  WorkerStage() : api(*hub, "test") { REQUIRE(fleet.begin().has_value()); }

  void play_to(Duration at) {
    while (clock.time < kStart + at) {
      clock.time = clock.time + seconds(1);
      fleet.advance(clock.time);
      answer_jobs();
    }
  }
  // As Fairlead does: its own check on a Workload is Ready.
  void answer_jobs() {
    for (const Json& job : api.items(kWorkloads)) {
      Json checks = job.value("/status/admissionChecks"_json_pointer, Json::array());
      bool waits = false;
      for (Json& check : checks)
        if (check["name"] == "best-placement" && check["state"] != "Ready") {
          check["state"] = "Ready";
          waits = true;
        }
      const std::string name = job["metadata"]["name"];
      if (waits)
        REQUIRE(api.merge(kTeamWorkloads + "/" + name + "/status",
                          {{"status", {{"admissionChecks", checks}}}})
                    .has_value());
    }
  }
  void write_list(const Names& clusters) {
    Json names = Json::array();
    for (const std::string& cluster : clusters) {
      names.push_back("best-" + cluster);
      const Json source = {
          {"kubeConfig", {{"location", secret_name(cluster)}, {"locationType", "Secret"}}}};
      (void)api.create(kWorkers, {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                                  {"kind", "MultiKueueCluster"},
                                  {"metadata", {{"name", "best-" + cluster}}},
                                  {"spec", {{"clusterSource", source}}}});
    }
    (void)api.create(kWorkerConfigs, {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                                      {"kind", "MultiKueueConfig"},
                                      {"metadata", {{"name", "best"}}},
                                      {"spec", {{"clusters", names}}}});
    REQUIRE(api.merge(kWorkerConfigs + "/best", {{"spec", {{"clusters", names}}}}).has_value());
    const Json active = condition("Active", "True", "Active", clock.time);
    REQUIRE(api.merge(kAdmissionChecks + "/best-placement/status",
                      {{"status", {{"conditions", Json::array({active})}}}})
                .has_value());
  }
  std::string best() const {
    const auto decision = api.get(kDecisions + "/best-decision-1");
    REQUIRE(decision.has_value());
    return (*decision)["status"]["decisions"][0]["clusterName"];
  }
  std::string runs_on(const std::string& job) const {
    const auto seen = api.get(kTeamWorkloads + "/" + job);
    REQUIRE(seen.has_value());
    return seen->value("/status/clusterName"_json_pointer, "");
  }
  std::string reason(const std::string& path) const {
    const auto seen = api.get(path);
    REQUIRE(seen.has_value());
    return seen->value("/status/conditions/0/reason"_json_pointer, "");
  }
  bool said(const std::string& words) const {
    for (const std::string& line : lines)
      if (line.find(words) != std::string::npos) return true;
    return false;
  }
  static Duration at(WorkerFaultKind kind, std::size_t number = 0) {
    for (const WorkerFault& fault : worker_script_of_round(7, 0))
      if (fault.kind == kind && number-- == 0) return fault.at;
    FAIL("the script has none");
    return {};
  }

  SetClock clock;
  std::unique_ptr<model::SharedModel> hub = serve(clock), east = serve(clock), west = serve(clock);
  Api api;
  Names lines;
  WorkerFleet fleet{*hub,
                    {{"east", east.get()}, {"west", west.get()}},
                    7,
                    kStart,
                    [this](std::string_view who, const std::string& what) {
                      lines.push_back(std::string(who) + " " + what);
                    }};
};

constexpr Duration after(Duration at, Duration more) { return {at.ns + more.ns}; }

}  // namespace

TEST_CASE("two Placements decide at once, and no queue takes work before it has workers") {
  WorkerStage stage;
  stage.play_to(seconds(3));
  CHECK(stage.best() == "east");
  const auto labelled = stage.api.get(kDecisions + "/t4-decision-1");
  REQUIRE(labelled.has_value());
  CHECK((*labelled)["status"]["decisions"].size() == 2);
  CHECK(stage.reason(kQueues + "/training") == "AdmissionCheckInactive");
  CHECK(stage.reason(kAdmissionChecks + "/best-multikueue") == "BadConfig");
  stage.write_list({"east"});
  stage.play_to(seconds(6));
  CHECK(stage.reason(kWorkers + "/best-east") == "Active");
  CHECK(stage.reason(kAdmissionChecks + "/best-multikueue") == "Active");
  CHECK(stage.reason(kQueues + "/training") == "Ready");
}

TEST_CASE("a score flips for one report, then for good; a job that runs is part of it") {
  WorkerStage stage;
  stage.play_to(seconds(3));
  stage.write_list({"east"});
  stage.play_to(minutes(3));
  CHECK(stage.runs_on("train-1") == "best-east");
  const auto score = stage.api.get(score_path("east"));
  CHECK((*score)["status"]["scores"][0]["value"] == 14);
  stage.play_to(after(minutes(4), seconds(2)));
  CHECK(stage.best() == "west");
  stage.play_to(after(minutes(5), seconds(2)));
  CHECK(stage.best() == "east");
  for (std::int64_t minute = 7; minute < 9; ++minute) {
    stage.play_to(after(minutes(minute), seconds(2)));
    CHECK(stage.best() == "west");
  }
}

TEST_CASE("a Secret that is gone makes its cluster inactive and ends no job") {
  WorkerStage stage;
  stage.play_to(seconds(3));
  stage.write_list({"east"});
  stage.play_to(minutes(9));
  stage.write_list({"west", "east"});
  stage.play_to(after(stage.at(WorkerFaultKind::drop_credential), seconds(3)));
  CHECK(stage.runs_on("train-2") == "best-west");
  CHECK(stage.reason(kWorkers + "/best-west") == "BadKubeConfig");
  CHECK(stage.reason(kAdmissionChecks + "/best-multikueue") == "SomeActiveClusters");
  stage.play_to(after(stage.at(WorkerFaultKind::return_credential), seconds(3)));
  CHECK(stage.reason(kWorkers + "/best-west") == "Active");
  CHECK(stage.runs_on("train-2") == "best-west");
  CHECK_FALSE(stage.said("not possible"));
}

TEST_CASE("a job ends after its time, and one whose worker is taken away runs twice") {
  WorkerStage stage;
  stage.play_to(seconds(3));
  stage.write_list({"east"});
  stage.play_to(minutes(9));
  stage.write_list({"west"});
  stage.play_to(after(minutes(9), seconds(10)));
  CHECK(stage.said("job train-1 is evicted and will start again; its old copy on best-east"));
  CHECK(stage.runs_on("train-1") == "best-west");
  stage.play_to(minutes(10));
  const auto score = [&](const char* cluster) {
    return (*stage.api.get(score_path(cluster)))["status"]["scores"][0]["value"]
        .get<std::int64_t>();
  };
  CHECK(score("west") == 10);
  CHECK(score("east") < 16 - 2);  // the old copy, and the other team
  stage.play_to(minutes(26));
  CHECK(stage.said("job train-1 is finished"));
  CHECK(stage.said("job train-2 is finished"));
  CHECK(score("west") == 12);
  CHECK(score("east") == 16);
}

TEST_CASE("a label brings a cluster into the other Placement and out again") {
  WorkerStage stage;
  const auto labelled = [&] {
    const auto decision = stage.api.get(kDecisions + "/t4-decision-1");
    return (*decision)["status"]["decisions"].size();
  };
  stage.play_to(after(stage.at(WorkerFaultKind::add_label), seconds(2)));
  CHECK(labelled() == 3);
  stage.play_to(after(stage.at(WorkerFaultKind::remove_label), seconds(2)));
  CHECK(labelled() == 2);
}

TEST_CASE("a deletion from outside does not stop the workers' fleet") {
  WorkerStage stage;
  REQUIRE(stage.api.remove(kManagedClusters + "/west").has_value());
  REQUIRE(stage.api.remove(kSecrets + "/" + secret_name("west")).has_value());
  stage.play_to(kWorkerRoundLength);
  CHECK(stage.said("not possible"));
}

TEST_CASE("a job that no worker has room for has a copy on each, with what is missing there") {
  WorkerStage stage;
  stage.play_to(seconds(3));
  stage.write_list({"east"});
  stage.play_to(minutes(9));
  stage.write_list({"west", "east"});
  stage.play_to(minutes(12));
  const Json hub = *stage.api.get(kTeamWorkloads + "/wide-1");
  CHECK(is_true(hub, "QuotaReserved"));
  CHECK(hub["status"]["nominatedClusterNames"] == Json{"best-west", "best-east"});
  const auto copy_on = [](model::SharedModel& server, const std::string& name) {
    return Api(server, "test").get(kTeamWorkloads + "/" + name);
  };
  const auto waiting = copy_on(*stage.west, "wide-1");
  REQUIRE(waiting.has_value());
  CHECK((*waiting)["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"] == "multikueue");
  CHECK((*waiting)["status"]["conditions"][0]["reason"] == "WaitingForQuota");
  CHECK((*waiting)["status"]["conditions"][0]["message"] ==
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
        "flavor gpu, 3 more needed");
  CHECK((*copy_on(*stage.east, "wide-1"))["status"]["conditions"][0]["reason"] ==
        "ExceedsMaxQuota");
  CHECK(is_true(*copy_on(*stage.west, "train-2"), "Admitted"));
  const Json used = (*stage.api.get(kQueues + "/training"))["status"];
  CHECK(used["flavorsReservation"][0]["resources"][0]["total"] == "17");
  CHECK(used["flavorsUsage"][0]["resources"][0]["total"] == "6");
  stage.play_to(minutes(16));
  CHECK_FALSE(copy_on(*stage.west, "wide-1").has_value());
  CHECK(stage.said("user wide-1: its user deletes the job"));
}
