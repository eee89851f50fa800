#include "engine/fold/capacity.h"

#include <algorithm>

namespace fairlead {

namespace {

// Source: k8s.io/api core/v1 Toleration.ToleratesTaint.
bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return !toleration.key.empty() && toleration.value == taint.value;
}

bool covers(const ResourceFlavorFacts& flavor, const Taint& taint) {
  return std::find(flavor.node_taints.begin(), flavor.node_taints.end(), taint) !=
             flavor.node_taints.end() ||
         std::any_of(flavor.tolerations.begin(), flavor.tolerations.end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

bool matches(const ResourceFlavorFacts& flavor, const NodeFacts& node) {
  return std::all_of(flavor.node_labels.begin(), flavor.node_labels.end(), [&](const auto& label) {
    const auto at = node.labels.find(label.first);
    return at != node.labels.end() && at->second == label.second;
  });
}

}  // namespace

CountedNode classify(const NodeFacts& node,
                     const std::map<std::string, ResourceFlavorFacts>& flavors) {
  const std::pair<const std::string, ResourceFlavorFacts>* best = nullptr;
  for (const auto& flavor : flavors) {  // by name, so the first of the most specific wins
    if (!matches(flavor.second, node)) continue;
    if (!best || flavor.second.node_labels.size() > best->second.node_labels.size()) best = &flavor;
  }
  if (!best) return {};
  const bool untainted =
      std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
        return taint.effect == "PreferNoSchedule" || covers(best->second, taint);
      });
  return {best->first, node.ready && !node.unschedulable && untainted};
}

std::map<std::string, Amount> canonical_amounts(const ResourceAmounts& amounts,
                                                const ResourceAliases& aliases) {
  std::map<std::string, Amount> canonical;
  for (const auto& [resource, amount] : amounts) {
    Amount& sum = canonical[canonical_resource(aliases, resource)];
    sum = saturate(Int128{sum} + amount);
  }
  return canonical;
}

CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms) {
  const ResourceAliases& aliases = configuration.resource_aliases;
  CanonicalHeadroom headroom;
  if (terms && terms->headroom_percent) {
    headroom.percent = *terms->headroom_percent;
  } else {
    for (const auto& [resource, percent] : configuration.headroom.percent)
      headroom.percent[canonical_resource(aliases, resource)] = percent;
  }
  if (terms && terms->headroom_reserved) {
    headroom.reserved = *terms->headroom_reserved;
  } else {
    for (const auto& [resource, text] : configuration.headroom.reserved) {
      const std::string& canonical = canonical_resource(aliases, resource);
      if (const auto quantity = Quantity::parse(text))
        headroom.reserved[canonical] = to_amount(canonical, *quantity);
    }
  }
  return headroom;
}

Amount usable_amount(Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom) {
  const auto percent = headroom.percent.find(resource);
  const auto reserved = headroom.reserved.find(resource);
  const Int128 share =
      offered * (100 - (percent == headroom.percent.end() ? 0 : percent->second)) / 100;
  const Int128 left = share - (reserved == headroom.reserved.end() ? 0 : reserved->second);
  return saturate(std::max<Int128>(0, left));
}

}  // namespace fairlead
