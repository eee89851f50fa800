#include "engine/fold/claims/claim_spec.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "schema/event.h"

namespace fairlead {

namespace {

using Faulty = std::optional<ClaimFault>;

struct Named {
  std::string spelled;
  Amount amount;
};
using NamedAmounts = std::map<std::string, Named>;  // by canonical resource

Faulty malformed(const std::string& field, const std::string& expected, const std::string& found) {
  return ClaimFault{ClaimFaultReason::malformed,
                    field + ": expected " + expected + ", got \"" + found + "\""};
}

// Reads a resource list; alias and canonical name together are a fault, as are negative and
// malformed quantities.
Faulty read_amounts(const std::map<std::string, std::string>& list, const std::string& field,
                    const ResourceAliases& aliases, NamedAmounts& out) {
  for (const auto& [resource, text] : list) {
    const auto quantity = Quantity::parse(text);
    if (!quantity) return malformed(field + "." + resource, "a quantity", text);
    if (quantity->negative())
      return ClaimFault{ClaimFaultReason::negative_quantity,
                        field + "." + resource + ": " + text + " is negative"};
    const std::string& canonical = canonical_resource(aliases, resource);
    const auto [at, added] =
        out.try_emplace(canonical, Named{resource, to_amount(canonical, *quantity)});
    if (!added)
      return ClaimFault{
          ClaimFaultReason::alias_with_canonical_name,
          field + ": " + at->second.spelled + " and " + resource + " both mean " + canonical};
  }
  return std::nullopt;
}

template <class E>
Faulty read_choice(const std::string& text, const std::string& field,
                   const std::vector<std::pair<std::string, E>>& choices, E& out) {
  if (text.empty()) return std::nullopt;
  std::string expected;
  for (const auto& [word, value] : choices) {
    if (text == word) {
      out = value;
      return std::nullopt;
    }
    expected += (expected.empty() ? "" : " or ") + word;
  }
  return malformed(field, expected, text);
}

Faulty read_headroom(const ClaimHeadroom& headroom, const ResourceAliases& aliases,
                     ClaimTerms& terms) {
  if (headroom.percent) {
    terms.headroom_percent.emplace();
    for (const auto& [resource, text] : *headroom.percent) {
      const auto quantity = Quantity::parse(text);
      const Int128 whole = quantity ? quantity->nano() / 1'000'000'000 : -1;
      if (!quantity || whole < 0 || whole > 100 || whole * 1'000'000'000 != quantity->nano())
        return malformed("spec.headroom.percent." + resource, "a whole number from 0 to 100", text);
      (*terms.headroom_percent)[canonical_resource(aliases, resource)] = saturate(whole);
    }
  }
  if (headroom.reserved) {
    NamedAmounts reserved;
    if (auto fault = read_amounts(*headroom.reserved, "spec.headroom.reserved", aliases, reserved))
      return fault;
    terms.headroom_reserved.emplace();
    for (const auto& [resource, named] : reserved)
      (*terms.headroom_reserved)[resource] = named.amount;
  }
  return std::nullopt;
}

Faulty read_assignment(const ClaimAssignment& assignment, const std::string& field,
                       const ResourceAliases& aliases, ClaimTerms& terms) {
  if (assignment.cluster_queue.empty())
    return ClaimFault{ClaimFaultReason::malformed,
                      field + ".clusterQueueName: expected a name, got nothing"};
  if (assignment.flavor.empty())
    return ClaimFault{ClaimFaultReason::malformed, field + ".flavor: expected a name, got nothing"};
  NamedAmounts assigned, minimum;
  if (auto fault = read_amounts(assignment.resources, field + ".resources", aliases, assigned))
    return fault;
  if (auto fault =
          read_amounts(assignment.min_resources, field + ".minResources", aliases, minimum))
    return fault;
  for (const auto& [resource, named] : assigned) {
    if (!terms.nominal.contains(resource))
      return ClaimFault{ClaimFaultReason::not_in_nominal, field + ".resources." + named.spelled +
                                                              ": spec.nominalResources has no " +
                                                              named.spelled};
    const auto least = minimum.find(resource);
    terms.rows.push_back({assignment.cluster_queue, assignment.flavor, resource, named.spelled,
                          named.amount,
                          least == minimum.end() ? 0 : std::min(least->second.amount, named.amount),
                          assignment.priority.value_or(0)});
  }
  return std::nullopt;
}

Faulty read_assignments(const ClaimSpec& spec, const ResourceAliases& aliases, ClaimTerms& terms) {
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < spec.assignments.size(); ++i) {
    const ClaimAssignment& assignment = spec.assignments[i];
    const std::string field = "spec.resourceAssignments[" + std::to_string(i) + "]";
    if (auto fault = read_assignment(assignment, field, aliases, terms)) return fault;
    if (!seen.emplace(assignment.cluster_queue, assignment.flavor).second)
      return ClaimFault{ClaimFaultReason::duplicate_assignment,
                        field + ": (" + assignment.cluster_queue + ", " + assignment.flavor +
                            ") is assigned twice"};
  }
  std::sort(terms.rows.begin(), terms.rows.end(),
            [](const AssignmentRow& a, const AssignmentRow& b) {
              return std::tie(a.cluster_queue, a.flavor, a.resource) <
                     std::tie(b.cluster_queue, b.flavor, b.resource);
            });
  return std::nullopt;
}

Faulty check_sums(const ClaimTerms& terms) {
  std::map<std::string, Int128> sums;
  for (const AssignmentRow& row : terms.rows) sums[row.resource] += row.assigned;
  for (const auto& [resource, sum] : sums) {
    // read_assignment() has refused a resource without a nominal amount.
    const Nominal& nominal = terms.nominal.at(resource);
    if (sum > nominal.amount)
      return ClaimFault{ClaimFaultReason::assignments_exceed_nominal,
                        "spec.resourceAssignments: " + nominal.spelled + " sums to " +
                            amount_text(resource, sum) + ", spec.nominalResources has " +
                            amount_text(resource, nominal.amount)};
  }
  return std::nullopt;
}

}  // namespace

std::string_view text_of(ClaimFaultReason reason) {
  switch (reason) {
    case ClaimFaultReason::malformed: return "Malformed";
    case ClaimFaultReason::negative_quantity: return "NegativeQuantity";
    case ClaimFaultReason::alias_with_canonical_name: return "AliasWithCanonicalName";
    case ClaimFaultReason::not_in_nominal: return "NotInNominal";
    case ClaimFaultReason::duplicate_assignment: return "DuplicateAssignment";
    case ClaimFaultReason::assignments_exceed_nominal: return "AssignmentsExceedNominal";
    case ClaimFaultReason::cluster_name_immutable: return "ClusterNameImmutable";
  }
  return "";
}

const std::string& canonical_resource(const ResourceAliases& aliases, const std::string& resource) {
  const auto alias = aliases.find(resource);
  return alias == aliases.end() ? resource : alias->second;
}

std::variant<ClaimTerms, ClaimFault> understand(const ClaimSpec& spec,
                                                const ResourceAliases& aliases) {
  if (!spec.malformed.empty()) return ClaimFault{ClaimFaultReason::malformed, spec.malformed};
  ClaimTerms terms;
  terms.cluster = spec.cluster_name;
  if (terms.cluster.empty())
    return ClaimFault{ClaimFaultReason::malformed,
                      "spec.clusterName: expected a name, got nothing"};
  // Both are sources of events: events of a member with such a name would count as the hub's or as
  // our own.
  if (terms.cluster == kHub || terms.cluster == kSelf)
    return ClaimFault{ClaimFaultReason::malformed,
                      "spec.clusterName: \"" + terms.cluster + "\" is the name of no member"};
  NamedAmounts nominal;
  Faulty fault = read_amounts(spec.nominal_resources, "spec.nominalResources", aliases, nominal);
  for (const auto& [resource, named] : nominal)
    terms.nominal[resource] = {named.spelled, named.amount};
  if (!fault)
    fault = read_choice<NominalPolicy>(
        spec.nominal_policy, "spec.nominalPolicy",
        {{"Fixed", NominalPolicy::fixed}, {"TrackCapacity", NominalPolicy::track_capacity}},
        terms.nominal_policy);
  if (!fault)
    fault = read_choice<ShrinkPolicy>(
        spec.shrink_policy, "spec.shrinkPolicy",
        {{"Proportional", ShrinkPolicy::proportional}, {"Priority", ShrinkPolicy::priority}},
        terms.shrink_policy);
  if (!fault)
    fault = read_choice<FlavorCapacity>(spec.flavor_capacity, "spec.flavorCapacity",
                                        {{"Auto", FlavorCapacity::automatic},
                                         {"Strict", FlavorCapacity::strict},
                                         {"TotalOnly", FlavorCapacity::total_only}},
                                        terms.flavor_capacity);
  if (!fault) fault = read_headroom(spec.headroom, aliases, terms);
  if (!fault) fault = read_assignments(spec, aliases, terms);
  if (!fault) fault = check_sums(terms);
  if (fault) return *fault;
  return terms;
}

}  // namespace fairlead
