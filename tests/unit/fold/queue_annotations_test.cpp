#include "engine/fold/queues/queue_annotations.h"

#include <catch2/catch.hpp>

namespace fairlead::queue_annotations_test {
namespace {

const ResourceAliases kAliases = {{"gpu", "nvidia.com/gpu"}};

TEST_CASE("base quota: flavors and resources in canonical amounts, numbers as text does") {
  const BaseQuota base =
      read_base_quota(R"({"od":{"cpu":"1500m","gpu":2},"spot":{"memory":"1Ki"}})", kAliases, {});
  CHECK(base.malformed.empty());
  CHECK(base.amounts == std::map<QuotaKey, Amount>{{{"od", "cpu"}, 1500},
                                                   {{"od", "nvidia.com/gpu"}, 2},
                                                   {{"spot", "memory"}, 1024}});
  // An absent annotation is no base, whatever was before.
  CHECK(read_base_quota("", kAliases, base) == BaseQuota{});
}

TEST_CASE("base quota: a malformed annotation keeps the last amounts and says what is wrong") {
  const BaseQuota before{{{{"od", "cpu"}, 1000}}, "an older fault"};
  const auto fault = [&](const std::string& text) {
    const BaseQuota base = read_base_quota(text, kAliases, before);
    CHECK(base.amounts == before.amounts);
    return base.malformed;
  };
  const std::string prefix = "annotation fairlead.io/base-quota: ";
  CHECK(fault("{") == prefix + "expected a JSON object of flavors");
  CHECK(fault("[]") == prefix + "expected a JSON object of flavors");
  CHECK(fault(R"({"od":5})") == prefix + "od: expected an object of resources");
  CHECK(fault(R"({"od":{"cpu":"-1"}})") == prefix + "od.cpu: expected a quantity >= 0, got -1");
  CHECK(fault(R"({"od":{"cpu":null}})") == prefix + "od.cpu: expected a quantity >= 0, got null");
}

TEST_CASE("worker terms: percent and reserve count only where the quota is from the workers") {
  WorkerQuota quota;
  read_worker_terms({"workers", "50", R"({"od":{"gpu":"1"}})"}, kAliases, quota);
  CHECK(quota.asked);
  CHECK(quota.percent == 50);
  CHECK(quota.reserve == std::map<QuotaKey, Amount>{{{"od", "nvidia.com/gpu"}, 1}});
  read_worker_terms({"workers", "", ""}, kAliases, quota);
  CHECK(quota.percent == 100);
  CHECK(quota.reserve.empty());
  // Not asked for: what the others say does not matter.
  read_worker_terms({"", "many", "{"}, kAliases, quota);
  CHECK_FALSE(quota.asked);
  CHECK(quota.malformed.empty());
}

TEST_CASE("worker terms: a malformed one keeps all terms as they were") {
  WorkerQuota quota;
  read_worker_terms({"workers", "50", R"({"od":{"cpu":"1"}})"}, kAliases, quota);
  const WorkerQuota before = quota;
  const auto fault = [&](const WorkerQuotaTerms& terms) {
    quota = before;
    read_worker_terms(terms, kAliases, quota);
    CHECK(quota.asked);
    CHECK(quota.percent == before.percent);
    CHECK(quota.reserve == before.reserve);
    return quota.malformed;
  };
  CHECK(fault({"claims", "50", ""}) ==
        "annotation fairlead.io/quota-from: expected workers, got claims");
  for (const char* percent : {"-1", "1001", "5.5", "50%", " 5", "99999999999999999999"})
    CHECK(fault({"workers", percent, ""}) ==
          "annotation fairlead.io/quota-percent: expected a whole number from 0 to 1000, got " +
              std::string(percent));
  CHECK(fault({"workers", "0", R"({"od":{"cpu":"x"}})"}) ==
        "annotation fairlead.io/quota-reserve: od.cpu: expected a quantity >= 0, got x");
  // The next good ones end the fault.
  read_worker_terms({"workers", "1000", ""}, kAliases, quota);
  CHECK(quota.malformed.empty());
  CHECK(quota.percent == 1000);
}

}  // namespace
}  // namespace fairlead::queue_annotations_test
