#include "engine/fleet/quota_ledger.h"

#include <catch2/catch.hpp>

#include "engine/fleet/worker_world.h"

using namespace fairlead;

namespace {

Json pair_of(const char* resource, const char* nominal) {
  return {{"name", resource}, {"nominalQuota", nominal}};
}

// Two flavors that share cpu and memory, and a group of its own for GPUs.
Json two_groups() {
  const Json small = {{"name", "small"},
                      {"resources", Json::array({pair_of("cpu", "4"), pair_of("memory", "64Gi")})}};
  const Json large = {
      {"name", "large"},
      {"resources", Json::array({pair_of("cpu", "16"), pair_of("memory", "32Gi")})}};
  const Json shared = {{"coveredResources", Json::array({"cpu", "memory"})},
                       {"flavors", Json::array({small, large})}};
  Json groups = gpu_groups(2);
  groups.insert(groups.begin(), shared);
  return {{"metadata", {{"name", "queue"}}}, {"spec", {{"resourceGroups", groups}}}};
}

Json job(Json requests) {
  return workload_of({"team", "job", "jobs", std::move(requests), 0, minutes(1)}).object;
}

}  // namespace

TEST_CASE("a pod set gets the first flavor of each group in which all of it fits") {
  const QuotaLedger ledger(two_groups());
  const Json assigned = ledger.judge(job({{"cpu", "6"}, {"memory", "8Gi"}, {kGpu, "2"}})).admission;
  const Json& pods = assigned["podSetAssignments"][0];
  CHECK(pods["flavors"] == Json{{"cpu", "large"}, {"memory", "large"}, {kGpu, "gpu"}});
  CHECK(ledger.judge(job({{"cpu", "500m"}})).admission["podSetAssignments"][0]["flavors"] ==
        Json{{"cpu", "small"}});
}

TEST_CASE("every flavor that was tried is named, and what no group covers") {
  const QuotaLedger ledger(two_groups());
  const auto verdict = ledger.judge(job({{"cpu", "20"}, {"example.com/fpga", "1"}}));
  CHECK(verdict.admission.is_null());
  CHECK(verdict.exceeds_max);
  CHECK(verdict.message ==
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor small, "
        "previously considered podsets requests (0) + current podset request (20) > maximum "
        "capacity (4), insufficient quota for cpu in flavor large, previously considered podsets "
        "requests (0) + current podset request (20) > maximum capacity (16), resource "
        "example.com/fpga unavailable in ClusterQueue");
}

TEST_CASE("pod sets of one workload count beside each other") {
  const QuotaLedger ledger(two_groups());
  Json two = job({{kGpu, "1"}});
  two["spec"]["podSets"][0]["count"] = 2;
  two["spec"]["podSets"].push_back(two["spec"]["podSets"][0]);
  two["spec"]["podSets"][1]["name"] = "more";
  const auto verdict = ledger.judge(two);
  CHECK(verdict.message ==
        "couldn't assign flavors to pod set more: insufficient quota for nvidia.com/gpu in flavor "
        "gpu, previously considered podsets requests (2) + current podset request (2) > maximum "
        "capacity (2)");
}

TEST_CASE("what is reserved is used once it is admitted, and free when it is finished") {
  QuotaLedger ledger(two_groups());
  const auto total = [&](const char* list) {
    return ledger.status()[list][2]["resources"][0]["total"].get<std::string>();
  };
  Json one = job({{kGpu, "2"}});
  const auto said = [&](const char* type) {
    one["status"]["conditions"].push_back({{"type", type}, {"status", "True"}});
  };
  ledger.count(one);
  CHECK(ledger.status()["pendingWorkloads"] == 1);
  ledger.forget(one);
  one["status"] = {{"admission", ledger.judge(one).admission}, {"conditions", Json::array()}};
  said("QuotaReserved");
  ledger.count(one);
  CHECK(total("flavorsReservation") == "2");
  CHECK(total("flavorsUsage") == "0");
  CHECK(ledger.judge(job({{kGpu, "1"}})).admission.is_null());
  ledger.forget(one);
  said("Admitted");
  ledger.count(one);
  CHECK(total("flavorsUsage") == "2");
  ledger.forget(one);
  said("Finished");
  ledger.count(one);
  CHECK(total("flavorsReservation") == "0");
}
