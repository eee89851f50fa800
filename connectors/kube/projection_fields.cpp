#include "connectors/kube/projection_fields.h"

namespace fairlead::projection {

std::optional<Quantity> quantity(JsonView value) {
  if (!value.is(JsonKind::string) && !value.is(JsonKind::number)) return std::nullopt;
  return Quantity::parse(value.text());
}

namespace {

// Of equal names the last one counts, as everywhere in Kubernetes. `each(take)` gives all items.
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
  return packed_unsorted<Amount>([&](const auto& take) {
    for (const auto& [key, value] : items) take(key, value);
  });
}

Labels labels(JsonView object) {
  if (!object.is(JsonKind::object)) return {};
  const auto each = [&](const auto& take) {
    for (JsonView member : object)
      if (member.is(JsonKind::string)) take(member.key(), member.text());
  };
  std::size_t count = 0;
  each([&](std::string_view, std::string_view) { ++count; });
  // They are asked for in order, so nothing is put aside.
  auto at = object.begin();
  const auto item = [&](std::size_t i) {
    if (i == 0) at = object.begin();
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
    const std::string_view key = item["key"].string(), effect = item["effect"].string();
    if (key.empty() || effect.empty() || !wanted(effect)) continue;
    if (out.empty()) out.reserve(array.size());
    out.push_back({std::string(key), std::string(item["value"].string()), std::string(effect)});
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

ConditionStatus condition_status(std::string_view word) {
  if (word == "True") return ConditionStatus::yes;
  if (word == "False") return ConditionStatus::no;
  if (word == "Unknown") return ConditionStatus::unknown;
  return ConditionStatus::absent;
}

ConditionFacts condition(JsonView status, std::string_view type) {
  ConditionFacts out;
  for (JsonView item : status["conditions"]) {
    if (item["type"].string() != type) continue;
    out.status = condition_status(item["status"].string());
    out.reason = item["reason"].string();
    out.observed_generation = item["observedGeneration"].integer().value_or(0);
  }
  return out;
}

namespace {

void add_quota(std::vector<ResourceQuota>& quotas, JsonView resource) {
  const std::string_view name = resource["name"].string();
  if (name.empty()) return;
  ResourceQuota& out = quotas.emplace_back();
  out.name = name;
  out.nominal = quantity(resource["nominalQuota"]).value_or(Quantity{});
  out.borrowing_limit = quantity(resource["borrowingLimit"]);
  out.lending_limit = quantity(resource["lendingLimit"]);
}

}  // namespace

std::vector<ResourceGroup> resource_groups(JsonView array) {
  std::vector<ResourceGroup> out;
  if (!array.is(JsonKind::array)) return out;
  out.reserve(array.size());
  for (JsonView item : array) {
    ResourceGroup& group = out.emplace_back();
    group.covered_resources = string_items(item["coveredResources"]);
    JsonView rows = item["flavors"];
    group.flavors.reserve(rows.size());
    for (JsonView row : rows) {
      const std::string_view name = row["name"].string();
      if (name.empty()) continue;
      FlavorQuotas& flavor = group.flavors.emplace_back();
      flavor.name = name;
      JsonView resources = row["resources"];
      flavor.resources.reserve(resources.size());
      for (JsonView resource : resources) add_quota(flavor.resources, resource);
    }
  }
  return out;
}

std::vector<FlavorUsage> flavors_usage(JsonView array) {
  std::vector<FlavorUsage> out;
  for (JsonView flavor : array)
    for (JsonView resource : flavor["resources"]) {
      const std::string_view name = resource["name"].string();
      auto total = quantity(resource["total"]);
      if (name.empty() || flavor["name"].string().empty() || !total) continue;
      out.push_back(
          {std::string(flavor["name"].string()), std::string(name), to_amount(name, *total)});
    }
  make_set(out);
  return out;
}

bool deleting(JsonView object) { return object["metadata"]["deletionTimestamp"].given(); }

}  // namespace fairlead::projection
