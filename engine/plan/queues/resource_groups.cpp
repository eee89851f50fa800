#include "engine/plan/queues/resource_groups.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/fold/capacity/flavors.h"
#include "engine/fold/queues/queues.h"

namespace fairlead {

namespace {

ResourceQuota zero_quota(const std::string& resource) {
  return {resource, to_quantity(resource, 0), std::nullopt, std::nullopt};
}

bool within_limits(const std::vector<ResourceGroup>& groups) {
  if (groups.size() > kResourceGroupsMax) return false;
  std::size_t flavors = 0, resources = 0;
  for (const ResourceGroup& group : groups) {
    flavors += group.flavors.size();
    resources += group.covered_resources.size();
    if (group.flavors.size() > kGroupFlavorsMax ||
        group.covered_resources.size() > kGroupResourcesMax ||
        group.flavors.size() * group.covered_resources.size() > kGroupPairsMax)
      return false;
  }
  return flavors <= kQueueFlavorsMax && resources <= kQueueResourcesMax;
}

// Makes places for the wanted pairs, flavor by flavor. Undoes a place that would exceed a limit.
class Placing {
 public:
  Placing(StateView<const Configuration, const FlavorTables, const QueueTables> state,
          const std::string& queue, Shape& shape)
      : state_(state),
        aliases_(state.configuration.resource_aliases),
        queue_(queue),
        shape_(shape) {
    const auto at = state.queues.by_name.find(queue);
    may_extend_ = at != state.queues.by_name.end() && at->second.facts.extend_resource_groups;
  }

  void place(const std::string& flavor, const std::map<std::string, Place>& wanted) {
    const auto home = home_of(flavor, wanted);
    if (home.spans) {
      for (const auto& [resource, how] : wanted)
        if (!refuse_first({flavor, resource}))
          withhold({flavor, resource}, GrantReason::flavor_spans_resource_groups);
      return;
    }
    std::optional<std::size_t> group = home.group;
    for (const auto& [resource, how] : wanted) place_pair({flavor, resource}, how, group);
  }

 private:
  struct Home {
    std::optional<std::size_t> group;  // where the flavor is, or where its resources are covered
    bool spans = false;                // a new flavor whose resources are covered by several groups
  };

  Home home_of(const std::string& flavor, const std::map<std::string, Place>& wanted) const {
    // The first group that has it is the only one: Kueue's webhook allows a flavor in one group
    // only, and likewise a resource.
    for (std::size_t i = 0; i < shape_.groups.size(); ++i)
      for (const FlavorQuotas& quotas : shape_.groups[i].flavors)
        if (quotas.name == flavor) return {i, false};
    std::set<std::size_t> covering;
    for (const auto& [resource, how] : wanted)
      if (const auto group = group_covering(resource)) covering.insert(*group);
    if (covering.size() > 1) return {std::nullopt, true};
    return {covering.empty() ? std::nullopt : std::optional(*covering.begin()), false};
  }

  std::optional<std::size_t> group_covering(const std::string& canonical) const {
    for (std::size_t i = 0; i < shape_.groups.size(); ++i)
      for (const std::string& resource : shape_.groups[i].covered_resources)
        if (canonical_resource(aliases_, resource) == canonical) return i;
    return std::nullopt;
  }

  void withhold(const QuotaKey& pair, GrantReason reason) { shape_.withheld[pair] = reason; }

  // Withholds the pair for a reason that does not depend on groups. Returns whether there is one.
  bool refuse_first(const QuotaKey& pair) {
    if (covers_alias_twice(state_, queue_, pair.resource))
      return withhold(pair, GrantReason::ambiguous_resource_alias), true;
    if (!flavor_exists(state_.flavors, pair.flavor))
      return withhold(pair, GrantReason::flavor_not_found), true;
    return false;
  }

  void place_pair(const QuotaKey& pair, Place wanted, std::optional<std::size_t>& home) {
    if (refuse_first(pair)) return;
    const auto covering = group_covering(pair.resource);
    if (covering && home && *covering != *home)
      return withhold(pair, GrantReason::flavor_spans_resource_groups);
    if (!covering && !may_extend_) return withhold(pair, GrantReason::resource_not_covered);
    if (wanted == Place::if_there) return;
    // Whether a place fits is known only once it is made, since a resource lengthens every flavor
    // of its group. So the list is copied, and comes back if the place does not fit.
    std::vector<ResourceGroup> before = shape_.groups;
    const std::size_t group = covering ? *covering : home ? *home : add_group();
    if (!covering) cover(group, pair.resource);
    add_flavor(group, pair.flavor);
    if (within_limits(shape_.groups)) {
      // The flavor's other resources belong into the same group.
      home = group;
    } else {
      shape_.groups = std::move(before);
      withhold(pair, GrantReason::resource_group_limits);
    }
  }

  std::size_t add_group() {
    shape_.groups.emplace_back();
    return shape_.groups.size() - 1;
  }

  // Kueue requires every flavor of a group to list all its covered resources, in their order.
  void cover(std::size_t group, const std::string& resource) {
    shape_.groups[group].covered_resources.push_back(resource);
    // Flavors of other owners get 0 of it, which admits nothing.
    for (FlavorQuotas& flavor : shape_.groups[group].flavors)
      flavor.resources.push_back(zero_quota(resource));
  }

  void add_flavor(std::size_t group, const std::string& name) {
    auto& flavors = shape_.groups[group].flavors;
    if (std::any_of(flavors.begin(), flavors.end(),
                    [&](const FlavorQuotas& flavor) { return flavor.name == name; }))
      return;
    FlavorQuotas flavor{name, {}};
    for (const std::string& resource : shape_.groups[group].covered_resources)
      flavor.resources.push_back(zero_quota(resource));
    flavors.push_back(std::move(flavor));
  }

  StateView<const Configuration, const FlavorTables, const QueueTables> state_;
  const ResourceAliases& aliases_;
  const std::string& queue_;
  Shape& shape_;
  bool may_extend_ = false;
};

}  // namespace

Shape shape_groups(StateView<const Configuration, const FlavorTables, const QueueTables> state,
                   const std::string& queue, const std::map<QuotaKey, Place>& wanted) {
  Shape shape;
  if (const auto at = state.queues.by_name.find(queue); at != state.queues.by_name.end())
    shape.groups = at->second.facts.groups;
  std::map<std::string, std::map<std::string, Place>> by_flavor;
  for (const auto& [pair, how] : wanted) by_flavor[pair.flavor][pair.resource] = how;
  Placing placing(state, queue, shape);
  for (const auto& [flavor, resources] : by_flavor) placing.place(flavor, resources);
  return shape;
}

namespace {

template <class Text>
Json json_with(const std::vector<ResourceGroup>& groups, Text text) {
  Json list = Json::array();
  for (const ResourceGroup& group : groups) {
    Json flavors = Json::array();
    for (const FlavorQuotas& flavor : group.flavors) {
      Json resources = Json::array();
      for (const ResourceQuota& quota : flavor.resources) {
        Json entry{{"name", quota.name}, {"nominalQuota", text(quota.nominal)}};
        if (quota.borrowing_limit) entry["borrowingLimit"] = text(*quota.borrowing_limit);
        if (quota.lending_limit) entry["lendingLimit"] = text(*quota.lending_limit);
        resources.push_back(std::move(entry));
      }
      flavors.push_back({{"name", flavor.name}, {"resources", std::move(resources)}});
    }
    list.push_back(
        {{"coveredResources", group.covered_resources}, {"flavors", std::move(flavors)}});
  }
  return list;
}

}  // namespace

Json groups_json(const std::vector<ResourceGroup>& groups) {
  return json_with(groups, [](const SpelledQuantity& quantity) { return quantity.text(); });
}

Json groups_as_written(const std::vector<ResourceGroup>& groups) {
  return json_with(groups, [](const SpelledQuantity& quantity) { return quantity.as_written(); });
}

}  // namespace fairlead
