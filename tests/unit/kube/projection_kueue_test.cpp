#include <catch2/catch.hpp>
#include <map>

#include "connectors/kube/projection/projection.h"
#include "tests/unit/kube/seen.h"

using namespace fairlead;

namespace {

template <class F>
F facts_in(std::string_view text) {
  return std::get<F>(seen(text).facts);
}

}  // namespace

TEST_CASE("who owns what decides a quota: the managers of its fields, in order") {
  const auto writers = [](const std::string& kind, const std::string& entries) {
    return seen(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":")" + kind +
                R"(","metadata":{"name":"q","managedFields":)" + entries + "}}")
        .writers;
  };
  const std::string owned = R"("fieldsV1":{"f:spec":{"f:cohortName":{},"f:resourceGroups":{}}})";
  const std::string entries =
      R"([{"manager":"argocd","operation":"Apply","time":"2026-01-01T00:00:00Z",)" + owned +
      R"(},{"manager":"kubectl-label","operation":"Update","fieldsV1":{"f:metadata":{"f:labels":{}}}},
         {"manager":"kueue","operation":"Update","subresource":"status","time":"2026-01-01T00:00:02Z",
          "fieldsV1":{"f:status":{"f:effectiveQuotas":{"f:resourceGroups":{}}}}},
         {"manager":"kubectl-edit","operation":"Update","subresource":"scale",
          "fieldsV1":{"f:spec":{"f:resourceGroups":{"k:{\"x\":1}":{"f:flavors":{}}}}}},
         {"manager":"odd","operation":"Merge",)" +
      owned + R"(},{"operation":"Update",)" + owned + "}]";
  const std::uint32_t groups = bit_of(SpecField::resource_groups);
  const std::uint32_t both = groups | bit_of(SpecField::cohort);
  CHECK(writers("ClusterQueue", entries) ==
        std::vector<FieldWriter>{{"argocd", "Apply", "", "2026-01-01T00:00:00Z", both},
                                 {"kubectl-edit", "Update", "scale", "", groups},
                                 {"", "Update", "", "", both}});
  const auto fields_of = [&](const std::string& kind, const std::string& fields) {
    const auto found =
        writers(kind, R"([{"manager":"m","operation":"Update","fieldsV1":)" + fields + "}]");
    return found.empty() ? 0 : found.front().fields;
  };
  for (const auto& [name, field] : std::map<std::string, SpecField>{
           {"cohort", SpecField::cohort},
           {"cohortName", SpecField::cohort},
           {"fairSharing", SpecField::weight},
           {"stopPolicy", SpecField::stop_policy},
           {"admissionChecks", SpecField::admission_checks},
           {"admissionChecksStrategy", SpecField::admission_checks},
           {"queueingStrategy", SpecField::queueing_strategy},
           {"preemption", SpecField::preemption},
           {"namespaceSelector", SpecField::namespace_selector},
           {"flavorFungibility", SpecField::flavor_fungibility},
           {"admissionScope", SpecField::admission_scope},
           {"concurrentAdmissionPolicy", SpecField::concurrent_admission}})
    CHECK(fields_of("ClusterQueue", R"({"f:spec":{"f:)" + name + R"(":{}}})") == bit_of(field));
  CHECK(fields_of("Cohort", R"({"f:spec":{"f:parentName":{}}})") == bit_of(SpecField::parent));
  for (const SpecField field :
       {SpecField::base_quota, SpecField::extend_resource_groups, SpecField::quota_from,
        SpecField::quota_percent, SpecField::quota_reserve})
    CHECK(fields_of("ClusterQueue", R"({"f:metadata":{"f:annotations":{"f:)" +
                                        std::string(text_of(field)) + R"(":{}}}})") ==
          bit_of(field));
  CHECK(writers("LocalQueue", entries).empty());
  for (const char* malformed : {"null", "7", "[]", "[7]", "{}", R"([{"manager":"m"}])"})
    CHECK(writers("ClusterQueue", malformed).empty());
}

TEST_CASE("weights, and the quotas of a Cohort, in both versions") {
  const std::string groups =
      R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
         {"name":"cpu","nominalQuota":6,"borrowingLimit":"4","lendingLimit":"1500m"}]}]}])";
  for (const std::string version : {"v1beta1", "v1beta2"}) {
    const std::string head = R"({"apiVersion":"kueue.x-k8s.io/)" + version + R"(","kind":)";
    const auto cohort =
        facts_in<CohortFacts>(head + R"("Cohort","metadata":{"name":"c"},"spec":{)" + groups +
                              R"(,"fairSharing":{"weight":"750m"}}})");
    REQUIRE(cohort.terms);
    CHECK(cohort.terms->weight == Quantity::parse("750m"));
    REQUIRE(cohort.terms->groups.size() == 1);
    const ResourceQuota& cpu = cohort.terms->groups[0].flavors[0].resources[0];
    CHECK(cpu.nominal.text() == "6");
    CHECK(cpu.borrowing_limit->text() == "4");
    CHECK(cpu.lending_limit->text() == "1500m");

    const std::string queue = head + R"("ClusterQueue","metadata":{"name":"q"},"spec":{)";
    const std::string borrow = version == "v1beta1" ? "Borrow" : "MayStopSearch";
    const auto terms = facts_in<ClusterQueueFacts>(
        queue + R"("fairSharing":{"weight":2},"flavorFungibility":{"whenCanBorrow":")" + borrow +
        R"("},"admissionScope":{"admissionMode":"NoAdmissionFairSharing"}}})");
    REQUIRE(terms.sharing);
    CHECK(terms.sharing->weight == Quantity::parse("2"));
    CHECK(terms.sharing->flavor_fungibility == R"({"whenCanBorrow":"MayStopSearch"})");
    CHECK(terms.sharing->admission_scope == R"({"admissionMode":"NoAdmissionFairSharing"})");
    // Absent is known: only a record that is older than the field is not.
    CHECK(facts_in<ClusterQueueFacts>(queue + "}}").sharing == SharingTerms{});
    CHECK_FALSE(facts_in<ClusterQueueFacts>(queue + R"("fairSharing":{}}})").sharing->weight);
  }
}
