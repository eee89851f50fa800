#include "engine/fold/pool/demand.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {

constexpr Amount kGi = Amount{1} << 30;

PoolNamespace with_quotas(std::vector<ResourceQuotaFacts> quotas) {
  PoolNamespace of;
  for (ResourceQuotaFacts& facts : quotas) {
    Observed<ResourceQuotaFacts> seen;
    seen.facts = std::move(facts);
    of.quotas["q" + std::to_string(of.quotas.size())] = std::move(seen);
  }
  return of;
}

SliceDemand demand(Amount cpu, Amount memory, const CpuMemory& unit, std::int64_t has = 0) {
  return demand_of({cpu, memory}, unit, has, 100);
}

}  // namespace

TEST_CASE("the quota of a dimension is the least of its names, and the least of all quotas") {
  const PoolNamespace of = with_quotas({{{{"cpu", 8000}, {"requests.cpu", 6000}}, false},
                                        {{{"cpu", 9000}, {"memory", kGi}}, false},
                                        {{{"cpu", 1}, {"memory", 1}}, true}});
  const NamespaceQuota least = quota_of(of, PoolQuotas::min);
  CHECK(least.cpu == 6000);
  CHECK(least.memory == kGi);
  CHECK(quota_of(of, PoolQuotas::max).cpu == 9000);
  CHECK_FALSE(quota_of(with_quotas({{{{"cpu", 1}}, true}}), PoolQuotas::min).any());
}

TEST_CASE("slices are what the larger dimension needs, rounded up") {
  const CpuMemory unit{2000, 4 * kGi};
  CHECK(demand(12'000, 24 * kGi, unit).slices == 6);
  CHECK(demand(12'001, 24 * kGi, unit).slices == 7);
  CHECK(demand(2000, 9 * kGi, unit).slices == 3);
  CHECK(demand(2000, 9 * kGi, unit).reason.empty());
}

TEST_CASE("what cannot be cut has a reason and no slices, or as many as there are") {
  const CpuMemory unit{2000, 4 * kGi};
  CHECK(demand_of({}, unit, 3, 100).slices == 0);
  CHECK(demand_of({}, unit, 3, 100).reason.empty());
  CHECK(demand_of({std::nullopt, kGi}, unit, 3, 100).reason == "NoQuota: cpu");
  CHECK(demand_of({1000, std::nullopt}, unit, 3, 100).reason == "NoQuota: memory");
  CHECK(demand(1999, kGi, unit).reason == "SliceAboveQuota: cpu");
  CHECK(demand(2000, kGi, unit).reason == "SliceAboveQuota: memory");
  const SliceDemand many = demand(202'000, 4 * kGi, unit, 7);
  CHECK(many.reason == "TooManySlices: 101");
  CHECK(many.slices == 7);
  CHECK(many.fixed);
}

TEST_CASE("a tenant's limit counts what its other namespaces have") {
  PoolTenant tenant;
  PoolNamespace of;
  of.unit = {1000, kGi};
  of.slices = 2;
  tenant.slices = {5000, 5 * kGi};  // 2 of them are its own
  CHECK(allowed_slices(tenant, of, of.unit) == INT64_MAX);
  tenant.limit = {{"cpu", 7500}, {"memory", 4 * kGi}};
  CHECK(allowed_slices(tenant, of, of.unit) == 1);
  CHECK(passed_limit(tenant, of, of.unit, 1).empty());
  CHECK(passed_limit(tenant, of, of.unit, 2) == "memory");
  CHECK(passed_limit(tenant, of, of.unit, 5) == "cpu");
  tenant.limit = {{"cpu", 1000}};
  CHECK(allowed_slices(tenant, of, of.unit) == 0);
}

TEST_CASE("the quota and the slice of each dimension, and what comes of them") {
  struct Row {
    Amount cpu, memory;
    CpuMemory unit;
    std::int64_t slices;
    const char* reason;
  };
  const CpuMemory slice{2000, 4 * kGi};
  const Row rows[] = {
      {2000, 4 * kGi, slice, 1, ""},
      {2001, 4 * kGi, slice, 2, ""},
      {2000, 4 * kGi + 1, slice, 2, ""},
      {200'000, 4 * kGi, slice, 100, ""},
      {0, 0, slice, 0, "SliceAboveQuota: cpu"},
      {1999, 3 * kGi, slice, 0, "SliceAboveQuota: cpu"},
      {2000, 4 * kGi - 1, slice, 0, "SliceAboveQuota: memory"},
      {200'001, 4 * kGi, slice, 7, "TooManySlices: 101"},
      {INT64_MAX, INT64_MAX, {1, 1}, 7, "TooManySlices: 9223372036854775807"},
      {INT64_MAX, INT64_MAX, {INT64_MAX, INT64_MAX}, 1, ""},
  };
  for (const Row& row : rows) {
    INFO(row.cpu << " " << row.memory);
    const SliceDemand got = demand(row.cpu, row.memory, row.unit, 7);
    CHECK(got.slices == row.slices);
    CHECK(got.reason == row.reason);
    CHECK(got.fixed == std::string(row.reason).starts_with("TooMany"));
  }
}

TEST_CASE("a dimension may be named by another quota than the other") {
  const PoolNamespace of = with_quotas({{{{"requests.cpu", 4000}}, false},
                                        {{{"memory", kGi}, {"requests.memory", 2 * kGi}}, false}});
  for (const PoolQuotas which : {PoolQuotas::min, PoolQuotas::max}) {
    CHECK(quota_of(of, which).cpu == 4000);
    CHECK(quota_of(of, which).memory == kGi);  // within one quota the smaller name counts
  }
  CHECK_FALSE(quota_of(with_quotas({}), PoolQuotas::min).any());
  CHECK_FALSE(quota_of(with_quotas({{{}, false}}), PoolQuotas::min).any());
  CHECK(quota_of(with_quotas({{{{"cpu", 0}}, false}}), PoolQuotas::min).any());
}

TEST_CASE("a limit that others fill leaves nothing, and sums do not overflow") {
  PoolTenant tenant;
  PoolNamespace of;
  of.unit = {1000, kGi};
  tenant.limit = {{"cpu", 3000}};
  tenant.slices = {4000, 4 * kGi};
  CHECK(allowed_slices(tenant, of, of.unit) == 0);
  of.slices = 2;  // of the 4000m
  CHECK(allowed_slices(tenant, of, of.unit) == 1);
  CHECK(allowed_slices(tenant, of, {400, kGi}) == 2);
  CHECK(passed_limit(tenant, of, {400, kGi}, 2).empty());
  CHECK(passed_limit(tenant, of, {400, kGi}, 3) == "cpu");
  tenant.limit = {{"memory", 0}};
  CHECK(passed_limit(tenant, of, of.unit, INT64_MAX) == "memory");
  CHECK(allowed_slices(tenant, of, of.unit) == 0);
  tenant.limit.clear();
  CHECK(passed_limit(tenant, of, {INT64_MAX, INT64_MAX}, INT64_MAX).empty());
}
