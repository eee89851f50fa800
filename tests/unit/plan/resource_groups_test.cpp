#include "engine/plan/queues/resource_groups.h"

#include <catch2/catch.hpp>

namespace fairlead::resource_groups_test {
namespace {

using Wanted = std::map<QuotaKey, Place>;

ResourceQuota quota(const std::string& resource, Amount amount) {
  return {resource, to_quantity(resource, amount), {}, {}};
}

// A queue q with cpu of od in one group and gpus of the flavor a100 in another.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];

  Hub() {
    state.configuration.resource_aliases.clear();
    for (const char* flavor : {"od", "spot", "a100", "tpu"}) state.flavors.by_name[flavor] = {};
    queue.present = true;
    queue.facts.groups = {{{"cpu"}, {{"od", {quota("cpu", 2000)}}}},
                          {{"gpu"}, {{"a100", {quota("gpu", 4)}}}}};
  }
  Shape shape(const Wanted& wanted) const { return shape_groups(state, "q", wanted); }
  std::string withheld(const QuotaKey& pair) const {
    const Shape shape = this->shape({{pair, Place::made}});
    CHECK(shape.groups == queue.facts.groups);  // what has no place changes nothing
    const auto reason = shape.withheld.find(pair);
    return reason == shape.withheld.end() ? "" : std::string(text_of(reason->second));
  }
};

TEST_CASE("resource groups: what is there stays as it is, and its values with it") {
  Hub hub;
  const Shape shape = hub.shape({{{"od", "cpu"}, Place::made}});
  CHECK(shape.groups == hub.queue.facts.groups);
  CHECK(shape.withheld.empty());
  CHECK(hub.shape({}).groups == hub.queue.facts.groups);
}

TEST_CASE("resource groups: a new flavor is last in the group that covers its resources, at 0") {
  Hub hub;
  const Shape shape = hub.shape({{{"tpu", "cpu"}, Place::made}, {{"spot", "cpu"}, Place::made}});
  CHECK(shape.withheld.empty());
  CHECK(shape.groups[0].flavors == std::vector<FlavorQuotas>{{"od", {quota("cpu", 2000)}},
                                                             {"spot", {quota("cpu", 0)}},
                                                             {"tpu", {quota("cpu", 0)}}});
  CHECK(shape.groups[1] == hub.queue.facts.groups[1]);
}

TEST_CASE("resource groups: a pair that need not be there makes no place, and is not withheld") {
  Hub hub;
  const Shape shape = hub.shape({{{"spot", "cpu"}, Place::if_there}});
  CHECK(shape.groups == hub.queue.facts.groups);
  CHECK(shape.withheld.empty());
}

TEST_CASE("resource groups: an alias is covered by its name") {
  Hub hub;
  CHECK(hub.withheld({"a100", "nvidia.com/gpu"}) == "ResourceNotCovered");
  hub.state.configuration.resource_aliases = {{"gpu", "nvidia.com/gpu"}};
  const Shape shape = hub.shape({{{"a100", "nvidia.com/gpu"}, Place::made}});
  CHECK(shape.withheld.empty());
  CHECK(shape.groups == hub.queue.facts.groups);
}

TEST_CASE("resource groups: why a pair has no place") {
  Hub hub;
  CHECK(hub.withheld({"od", "memory"}) == "ResourceNotCovered");
  CHECK(hub.withheld({"none", "cpu"}) == "FlavorNotFound");
  CHECK(hub.withheld({"od", "gpu"}) == "FlavorSpansResourceGroups");
  hub.state.flavors.gone = {"spot"};
  CHECK(hub.withheld({"spot", "cpu"}) == "FlavorNotFound");
  hub.queue.facts.groups[1].covered_resources.push_back("cpu");
  CHECK(hub.withheld({"od", "cpu"}) == "AmbiguousResourceAlias");
}

TEST_CASE(
    "resource groups: a new flavor whose resources lie in two groups has no place in either") {
  Hub hub;
  const Shape shape = hub.shape({{{"spot", "cpu"}, Place::made}, {{"spot", "gpu"}, Place::made}});
  CHECK(shape.groups == hub.queue.facts.groups);
  CHECK(shape.withheld == std::map<QuotaKey, GrantReason>{
                              {{"spot", "cpu"}, GrantReason::flavor_spans_resource_groups},
                              {{"spot", "gpu"}, GrantReason::flavor_spans_resource_groups}});
}

TEST_CASE("resource groups: with the annotation a resource is added to the flavor's group") {
  Hub hub;
  hub.queue.facts.extend_resource_groups = true;
  const Shape shape = hub.shape({{{"od", "memory"}, Place::made}});
  REQUIRE(shape.groups.size() == 2);
  CHECK(shape.groups[0].covered_resources == std::vector<std::string>{"cpu", "memory"});
  CHECK(shape.groups[0].flavors[0].resources ==
        std::vector<ResourceQuota>{quota("cpu", 2000), quota("memory", 0)});
  // Nothing of the new flavor is covered: a group of its own.
  const Shape own = hub.shape({{{"tpu", "google.com/tpu"}, Place::made}});
  REQUIRE(own.groups.size() == 3);
  CHECK(own.groups[2] ==
        ResourceGroup{{"google.com/tpu"}, {{"tpu", {quota("google.com/tpu", 0)}}}});
}

TEST_CASE("resource groups: a place beyond Kueue's limits is given up, the others stay") {
  Hub hub;
  auto& flavors = hub.queue.facts.groups[0].flavors;
  while (flavors.size() < kGroupFlavorsMax - 1)
    flavors.push_back({"f" + std::to_string(flavors.size()), {quota("cpu", 0)}});
  const Shape shape = hub.shape({{{"spot", "cpu"}, Place::made}, {{"tpu", "cpu"}, Place::made}});
  CHECK(shape.groups[0].flavors.size() == kGroupFlavorsMax);
  CHECK(shape.groups[0].flavors.back().name == "spot");
  CHECK(shape.withheld ==
        std::map<QuotaKey, GrantReason>{{{"tpu", "cpu"}, GrantReason::resource_group_limits}});
  // Groups are limited, too.
  hub.queue.facts.extend_resource_groups = true;
  hub.queue.facts.groups.resize(kResourceGroupsMax);
  CHECK(hub.withheld({"tpu", "google.com/tpu"}) == "ResourceGroupLimits");
}

TEST_CASE("resource groups: a queue that is not there has an empty list") {
  Hub hub;
  const Shape shape = shape_groups(hub.state, "none", {{{"od", "cpu"}, Place::made}});
  CHECK(shape.groups.empty());
  CHECK(shape.withheld ==
        std::map<QuotaKey, GrantReason>{{{"od", "cpu"}, GrantReason::resource_not_covered}});
}

TEST_CASE("resource groups: as JSON a limit that is not set is absent") {
  std::vector<ResourceGroup> groups = {{{"cpu"}, {{"od", {quota("cpu", 1500)}}}}};
  groups[0].flavors[0].resources[0].lending_limit = *Quantity::parse("0");
  CHECK(groups_json(groups) == Json::parse(R"([{"coveredResources": ["cpu"], "flavors": [
    {"name": "od", "resources": [
      {"name": "cpu", "nominalQuota": "1500m", "lendingLimit": "0"}]}]}])"));
  CHECK(groups_json({}) == Json::array());
}

}  // namespace
}  // namespace fairlead::resource_groups_test
