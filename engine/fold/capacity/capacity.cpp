#include "engine/fold/capacity/capacity.h"

#include <algorithm>
#include <map>
#include <set>

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

bool has(const std::vector<Taint>& taints, const Taint& taint) {
  return std::find(taints.begin(), taints.end(), taint) != taints.end();
}

// A flavor that matches a node, and how specific it is.
struct Match {
  const Flavors::value_type* flavor = nullptr;
  std::size_t labels = 0;
  std::size_t on_node = 0;  // of its nodeTaints
  std::size_t lacking = 0;

  Match() = default;
  Match(const Flavors::value_type& matching, const NodeFacts& node)
      : flavor(&matching), labels(matching.second.node_labels.size()) {
    // A node's PreferNoSchedule taints are not known, for they keep no pod away.
    for (const Taint& taint : matching.second.node_taints)
      if (taint.effect != "PreferNoSchedule") ++(has(node.taints, taint) ? on_node : lacking);
  }
  // Flavors are compared in the order of their names: of equal ones the first stays.
  bool more_specific_than(const Match& other) const {
    if (!other.flavor) return true;
    if (labels != other.labels) return labels > other.labels;
    if (on_node != other.on_node) return on_node > other.on_node;
    return lacking < other.lacking;
  }
};

std::vector<Match> best_matches(const NodeFacts& node, const FlavorTables& flavors) {
  // One walk over the flavors finds the winner of every candidate set. Set 0 has all flavors; the
  // others are in sets_with.
  const CandidateTable& candidates = flavors.candidates;
  std::vector<Match> best(candidates.sets);
  for (const auto& flavor : flavors.by_name) {
    if (!matches(flavor.second, node.labels)) continue;
    const Match match(flavor, node);
    if (match.more_specific_than(best[0])) best[0] = match;
    const auto sets = candidates.sets_with.find(flavor.first);
    if (sets == candidates.sets_with.end()) continue;
    for (const std::uint32_t set : sets->second)
      if (match.more_specific_than(best[set])) best[set] = match;
  }
  return best;
}

}  // namespace

CandidateTable candidates_of(const FlavorUses& uses, const Flavors& flavors,
                             const ResourceAliases& aliases) {
  std::map<std::string, std::set<std::string>> of_resource;
  for (const auto& [spelled, names] : uses)
    for (const std::string& name : names)
      if (flavors.contains(name)) of_resource[canonical_resource(aliases, spelled)].insert(name);
  // Numbered in the order of their content, so that equal uses give equal tables, whatever the
  // order of the events.
  std::map<std::set<std::string>, std::uint32_t> sets;
  for (const auto& [resource, names] : of_resource)
    if (names.size() < flavors.size()) sets.emplace(names, 0);
  CandidateTable table;
  for (auto& [names, number] : sets) {
    number = table.sets++;
    for (const std::string& name : names) table.sets_with[name].push_back(number);
  }
  for (const auto& [resource, names] : of_resource) {
    const auto set = sets.find(names);
    table.set_of.emplace(resource, set == sets.end() ? 0 : set->second);
  }
  return table;
}

std::vector<NodeFlavor> winning_flavors(const NodeFacts& node, const FlavorTables& flavors) {
  std::vector<NodeFlavor> won;
  for (const Match& match : best_matches(node, flavors)) {
    NodeFlavor& flavor = won.emplace_back();
    if (match.flavor) flavor.name = match.flavor->first;
    flavor.eligible = is_eligible(node, flavor.name, flavors.by_name);
  }
  return won;
}

std::string winning_flavor(const NodeFacts& node, const FlavorTables& flavors,
                           std::string_view resource) {
  const Match match = best_matches(node, flavors)[flavors.candidates.of(resource)];
  return match.flavor ? match.flavor->first : std::string();
}

bool taints_may_decide(const std::vector<Taint>& before, const std::vector<Taint>& after,
                       const Flavors& flavors) {
  if (before == after) return false;
  // Which flavor wins depends on the taints that some flavor names. Any other taint only decides
  // whether the node is eligible.
  return std::any_of(flavors.begin(), flavors.end(), [&](const auto& flavor) {
    const auto& taints = flavor.second.node_taints;
    return std::any_of(taints.begin(), taints.end(),
                       [&](const Taint& taint) { return has(before, taint) != has(after, taint); });
  });
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
