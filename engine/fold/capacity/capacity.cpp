#include "engine/fold/capacity/capacity.h"

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

bool matches(const ResourceFlavorFacts& flavor, const Labels& labels) {
  return std::all_of(flavor.node_labels.begin(), flavor.node_labels.end(),
                     [&](const auto& label) { return labels.find(label.first) == label.second; });
}

}  // namespace

const std::string& winning_flavor(const Labels& labels, const Flavors& flavors) {
  static const std::string none;
  const Flavors::value_type* best = nullptr;
  for (const auto& flavor : flavors) {  // by name, so the first of the most specific wins
    if (!matches(flavor.second, labels)) continue;
    if (!best || flavor.second.node_labels.size() > best->second.node_labels.size()) best = &flavor;
  }
  return best ? best->first : none;
}

bool is_eligible(const NodeFacts& node, const std::string& flavor, const Flavors& flavors) {
  if (flavor.empty() || !node.ready || node.unschedulable) return false;
  // at() finds the flavor: each change of the flavors counts all nodes again at once, so no node
  // has the name of one that is not there.
  return node.taints.empty() ||
         std::none_of(node.taints.begin(), node.taints.end(),
                      [&](const Taint& taint) { return keeps_out(taint, flavors.at(flavor)); });
}

bool keeps_out(const Taint& taint, const ResourceFlavorFacts& flavor) {
  return taint.effect != "PreferNoSchedule" && !covers(flavor, taint);
}

bool has_alias(const ResourceAmounts& amounts, const ResourceAliases& aliases) {
  return std::any_of(aliases.begin(), aliases.end(),
                     [&](const auto& alias) { return amounts.contains(alias.first); });
}

std::map<std::string, Amount> canonical_amounts(const ResourceAmounts& amounts,
                                                const ResourceAliases& aliases) {
  std::map<std::string, Amount> canonical;
  for (const auto& [resource, amount] : amounts) {
    Amount& sum = canonical[canonical_resource(aliases, std::string(resource))];
    sum = saturate(Int128{sum} + amount);
  }
  return canonical;
}

CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms) {
  const ResourceAliases& aliases = configuration.resource_aliases;
  CanonicalHeadroom headroom;
  if (terms && terms->headroom_percent) {
    for (const auto& [resource, percent] : *terms->headroom_percent)
      headroom.row_of(resource).percent = percent;
  } else {
    for (const auto& [resource, percent] : configuration.headroom.percent)
      headroom.row_of(canonical_resource(aliases, resource)).percent = percent;
  }
  if (terms && terms->headroom_reserved) {
    for (const auto& [resource, amount] : *terms->headroom_reserved)
      headroom.row_of(resource).reserved = amount;
  } else {
    for (const auto& [resource, text] : configuration.headroom.reserved) {
      // The configuration was checked when it was read; a text that is no quantity reserves
      // nothing.
      const std::string& canonical = canonical_resource(aliases, resource);
      if (const auto quantity = Quantity::parse(text))
        headroom.row_of(canonical).reserved = to_amount(canonical, *quantity);
    }
  }
  return headroom;
}

CanonicalHeadroom::Row& CanonicalHeadroom::row_of(std::string_view resource) {
  for (Row& row : rows)
    if (row.resource == resource) return row;
  return rows.emplace_back(Row{std::string(resource), 0, 0});
}

Amount usable_amount(Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom) {
  const auto row = std::find_if(headroom.rows.begin(), headroom.rows.end(),
                                [&](const auto& each) { return each.resource == resource; });
  if (row == headroom.rows.end()) return saturate(std::max<Int128>(0, offered));
  // A division of 128 bits costs thirty times one of 64. kNarrow * 100 still fits into 64 bits.
  constexpr Int128 kNarrow = INT64_MAX / 100;
  const Int128 share = offered >= 0 && offered <= kNarrow
                           ? static_cast<std::int64_t>(offered) * (100 - row->percent) / 100
                           : offered * (100 - row->percent) / 100;
  return saturate(std::max<Int128>(0, share - row->reserved));
}

}  // namespace fairlead
