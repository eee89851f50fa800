#include "connectors/kube/projection/projection_fields.h"

#include "engine/base/made.h"

namespace fairlead::projection {

std::optional<Quantity> quantity(JsonView value) {
  if (!value.is(JsonKind::string) && !value.is(JsonKind::number)) return std::nullopt;
  return Quantity::parse(value.text());
}

namespace {

// Of equal names the last one counts, as everywhere in Kubernetes. `each(emit)` gives all items.
template <class Value, class Each>
PackedMap<Value> packed_unsorted(const Each& each) {
  std::map<std::string, typename PackedMap<Value>::Owned> sorted;
  each([&](std::string_view key, Value value) {
    sorted.insert_or_assign(std::string(key), typename PackedMap<Value>::Owned(value));
  });
  return sorted;
}

}  // namespace

ResourceAmounts amounts(JsonView object) {
  if (!object.is(JsonKind::object)) return {};
  std::vector<std::pair<std::string_view, Amount>> items;
  items.reserve(object.size());
  for (JsonView member : object)
    if (auto amount = quantity(member))
      items.emplace_back(member.key(), to_amount(member.key(), *amount));
  ResourceAmounts map;
  // API servers send members in order, each once: the usual case.
  if (map.assign_sorted(items.size(), [&](std::size_t i) { return items[i]; })) return map;
  return packed_unsorted<Amount>([&](const auto& emit) {
    for (const auto& [key, value] : items) emit(key, value);
  });
}

Labels labels(JsonView object) {
  if (!object.is(JsonKind::object)) return {};
  const auto each = [&](const auto& emit) {
    for (JsonView member : object)
      if (member.is(JsonKind::string)) emit(member.key(), member.text());
  };
  std::size_t count = 0;
  each([&](std::string_view, std::string_view) { ++count; });
  // assign_sorted reads the items in order, so one iterator suffices and nothing is copied aside.
  auto at = object.begin();
  const auto item = [&](std::size_t i) {
    if (i == 0) at = object.begin();
    // `count` members are strings, so there is one before the end.
    while (!(*at).is(JsonKind::string)) ++at;
    const JsonView member = *at;
    ++at;
    return std::pair(member.key(), member.text());
  };
  Labels map;
  if (map.assign_sorted(count, item)) return map;
  return packed_unsorted<std::string_view>(each);
}

std::map<std::string, std::string> strings(JsonView object) {
  std::map<std::string, std::string> out;
  if (!object.is(JsonKind::object)) return out;
  for (JsonView member : object)
    if (member.is(JsonKind::string))
      out.insert_or_assign(std::string(member.key()), std::string(member.text()));
  return out;
}

std::vector<std::string> string_items(JsonView array) {
  std::vector<std::string> out;
  if (!array.is(JsonKind::array)) return out;
  out.reserve(array.size());
  for (JsonView item : array)
    if (item.is(JsonKind::string)) out.emplace_back(item.text());
  return out;
}

namespace {

template <class Wanted>
std::vector<Taint> taints_of(JsonView array, const Wanted& wanted) {
  std::vector<Taint> out;
  if (!array.is(JsonKind::array)) return out;
  for (JsonView item : array) {
    const auto [key, value, effect] = item.members("key", "value", "effect");
    if (key.string().empty() || effect.string().empty() || !wanted(effect.string())) continue;
    if (out.empty()) out.reserve(array.size());
    out.emplace_back(Made([&] {
      return Taint{std::string(key.string()), std::string(value.string()),
                   std::string(effect.string())};
    }));
  }
  make_set(out);
  return out;
}

}  // namespace

std::vector<Taint> taints(JsonView array) {
  return taints_of(array, [](std::string_view) { return true; });
}

std::vector<Taint> repelling_taints(JsonView array) {
  return taints_of(array, [](std::string_view effect) {
    return effect == "NoSchedule" || effect == "NoExecute";
  });
}

std::vector<Toleration> tolerations(JsonView array) {
  std::vector<Toleration> out;
  if (!array.is(JsonKind::array)) return out;
  for (JsonView item : array) {
    const auto [key, op, value, effect] = item.members("key", "operator", "value", "effect");
    out.push_back({std::string(key.string()),
                   std::string(op.string().empty() ? "Equal" : op.string()),
                   std::string(value.string()), std::string(effect.string())});
  }
  return out;
}

ConditionStatus condition_status(std::string_view word) {
  return parse_word<ConditionStatus>(word).value_or(ConditionStatus::absent);
}

ConditionFacts condition(JsonView status, std::string_view type) {
  ConditionFacts out;
  for (JsonView item : status["conditions"]) {
    if (item["type"].string() != type) continue;
    const auto [word, reason, observed] = item.members("status", "reason", "observedGeneration");
    out.status = condition_status(word.string());
    out.reason = reason.string();
    out.observed_generation = observed.integer().value_or(0);
  }
  return out;
}

namespace {

std::optional<SpelledQuantity> spelled_quantity(JsonView value) {
  const auto amount = quantity(value);
  if (!amount) return std::nullopt;
  return SpelledQuantity(*amount, std::string(value.string()));
}

ResourceQuota resource_quota(std::string_view name, JsonView nominal, JsonView borrowing,
                             JsonView lending) {
  return {std::string(name), spelled_quantity(nominal).value_or(SpelledQuantity{}),
          spelled_quantity(borrowing), spelled_quantity(lending)};
}

FlavorQuotas flavor_quotas(std::string_view name, JsonView resources) {
  FlavorQuotas out{std::string(name), {}};
  out.resources.reserve(resources.size());
  for (JsonView row : resources) {
    const auto [resource, nominal, borrowing, lending] =
        row.members("name", "nominalQuota", "borrowingLimit", "lendingLimit");
    if (!resource.string().empty())
      out.resources.emplace_back(
          Made([&] { return resource_quota(resource.string(), nominal, borrowing, lending); }));
  }
  return out;
}

}  // namespace

std::vector<ResourceGroup> resource_groups(JsonView array) {
  std::vector<ResourceGroup> out;
  if (!array.is(JsonKind::array)) return out;
  out.reserve(array.size());
  for (JsonView item : array) {
    const auto [covered, flavors] = item.members("coveredResources", "flavors");
    ResourceGroup& group = out.emplace_back(ResourceGroup{string_items(covered), {}});
    group.flavors.reserve(flavors.size());
    for (JsonView row : flavors) {
      const auto [name, resources] = row.members("name", "resources");
      if (!name.string().empty())
        group.flavors.emplace_back(Made([&] { return flavor_quotas(name.string(), resources); }));
    }
  }
  return out;
}

namespace {

template <std::size_t size>
std::vector<FlavorUsage> amounts_by_flavor(JsonView array, const char (&column)[size]) {
  std::vector<FlavorUsage> out;
  for (JsonView item : array) {
    const auto [flavor, resources] = item.members("name", "resources");
    if (flavor.string().empty()) continue;
    if (out.empty()) out.reserve(resources.size());  // most queues have one flavor
    for (JsonView one : resources) {
      const auto [resource, total] = one.members("name", column);
      const auto amount = quantity(total);
      const std::string_view name = resource.string();
      if (!name.empty() && amount)
        out.push_back({std::string(flavor.string()), std::string(name), to_amount(name, *amount)});
    }
  }
  make_set(out);
  return out;
}

}  // namespace

std::vector<FlavorUsage> flavors_usage(JsonView array) { return amounts_by_flavor(array, "total"); }

std::vector<FlavorUsage> flavors_borrowed(JsonView array) {
  std::vector<FlavorUsage> out = amounts_by_flavor(array, "borrowed");
  std::erase_if(out, [](const FlavorUsage& one) { return one.total == 0; });
  return out;
}

bool deleting(JsonView object) { return object["metadata"]["deletionTimestamp"].given(); }

}  // namespace fairlead::projection
