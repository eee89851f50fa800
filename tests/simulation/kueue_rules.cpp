#include "tests/simulation/kueue_rules.h"

#include <set>

#include "tests/simulation/checkers/reading.h"

namespace fairlead::simulation {
namespace {

// The bounds of the schema of Kueue 0.19.
constexpr std::size_t kGroupsMax = 16;
constexpr std::size_t kFlavorsMax = 64;

std::string fault_of_quota(const Json& quota, bool in_cohort) {
  const auto nominal = nano_of(quota.value("nominalQuota", Json()));
  if (!nominal || *nominal < 0) return "nominalQuota is no amount";
  for (const char* limit : {"borrowingLimit", "lendingLimit"}) {
    if (!quota.contains(limit) || quota[limit].is_null()) continue;
    const auto amount = nano_of(quota[limit]);
    if (!amount || *amount < 0) return std::string(limit) + " is no amount";
    if (!in_cohort) return std::string(limit) + " without a cohort";
    if (std::string_view(limit) == "lendingLimit" && *amount > *nominal)
      return "lendingLimit is above nominalQuota";
  }
  return {};
}

}  // namespace

std::string fault_of_queue(const Json& queue) {
  const Json& spec = queue.at("spec");
  const bool in_cohort = !spec.value("cohortName", spec.value("cohort", std::string())).empty();
  std::set<std::string> resources, flavors;
  const Json groups = spec.value("resourceGroups", Json::array());
  if (groups.size() > kGroupsMax) return "more than 16 resource groups";
  for (const Json& group : groups) {
    const Json covered = group.value("coveredResources", Json::array());
    const Json of_group = group.value("flavors", Json::array());
    if (covered.empty() || covered.size() > kFlavorsMax) return "coveredResources: 1 to 64";
    if (of_group.empty() || of_group.size() > kFlavorsMax) return "flavors: 1 to 64";
    for (const Json& resource : covered)
      if (!resources.insert(resource).second)
        return "resource " + resource.dump() + " is in two groups";
    for (const Json& flavor : of_group) {
      if (!flavors.insert(flavor.value("name", "")).second)
        return "flavor " + flavor["name"].dump() + " is there twice";
      const Json quotas = flavor.value("resources", Json::array());
      if (quotas.size() != covered.size()) return "not each covered resource has a quota";
      for (std::size_t i = 0; i < quotas.size(); ++i) {
        if (quotas[i].value("name", Json()) != covered[i])
          return "resources are not in the order of coveredResources";
        if (std::string fault = fault_of_quota(quotas[i], in_cohort); !fault.empty())
          return flavor["name"].dump() + " " + covered[i].dump() + ": " + fault;
      }
    }
  }
  return {};
}

}  // namespace fairlead::simulation
