// The rules about ClusterResourceClaims.
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/admission/pair_text.h"
#include "engine/admission/rules.h"
#include "engine/fold/claims/claims.h"

namespace fairlead {

namespace {

constexpr const char* kAssignments = "spec.resourceAssignments";

// The cluster of a new, valid spec, if its capacity is known.
const ClusterEntry* known_cluster_of(const Question& question) {
  if (!question.terms()) return nullptr;
  const ClusterEntry* cluster = question.view.clusters.find(question.terms()->cluster);
  return cluster && cluster->known ? cluster : nullptr;
}

Int128 total_accepted(const ClusterEntry& cluster, const std::string& resource) {
  Int128 total = 0;
  for (const auto& [key, amount] : cluster.accepted)
    if (key.resource == resource) total += amount;
  return total;
}

std::string_view policy_text(ShrinkPolicy policy) {
  switch (policy) {
    case ShrinkPolicy::proportional: return "Proportional";
    case ShrinkPolicy::priority: return "Priority";
  }
  return "";
}

// What a spec assigns of one resource.
struct Assigned {
  std::string spelled;
  Int128 total = 0;
  std::map<std::string, Int128> by_flavor;
};

std::map<std::string, Assigned> assigned_by(const ClaimTerms& terms) {
  std::map<std::string, Assigned> resources;
  for (const AssignmentRow& row : terms.rows) {
    Assigned& assigned = resources[row.resource];
    assigned.spelled = row.spelled;
    assigned.total += row.assigned;
    assigned.by_flavor[row.flavor] += row.assigned;
  }
  return resources;
}

// The position behind the field that a fault of a spec names first: "spec.x: what".
std::size_t end_of_field(const std::string& message) {
  const std::size_t colon = message.find(": ");
  return message.starts_with("spec") && colon != std::string::npos ? colon : 0;
}

using RowKey = std::tuple<std::string, std::string, std::string>;

std::map<RowKey, Amount> amounts_of(const ClaimTerms& terms) {
  std::map<RowKey, Amount> amounts;
  for (const AssignmentRow& row : terms.rows)
    amounts[{row.cluster_queue, row.flavor, row.resource}] = row.assigned;
  return amounts;
}

void add_name(std::string& names, const std::string& name) {
  names += (names.empty() ? "" : ", ") + name;
}

}  // namespace

std::string usage_text(const AdmissionView& view, const ClaimEntry& claim) {
  std::string text;
  std::size_t used = 0;
  if (!claim.winner || !claim.terms) return text;
  for (const AssignmentRow& row : claim.terms->rows) {
    const auto usage = usage_of(view, claim.cluster, row.cluster_queue, {row.flavor, row.resource});
    if (usage.value_or(0) <= 0 || ++used > FirstNames::kNamed) continue;
    add_name(text, amount_text(row.resource, *usage) + " " +
                       pair_text(row.cluster_queue, row.flavor, row.spelled));
  }
  if (used > FirstNames::kNamed)
    text += " and of " + std::to_string(used - FirstNames::kNamed) + " more";
  return text;
}

Objections claim_invalid(const Question& question) {
  const auto* fault =
      question.understood ? std::get_if<ClaimFault>(&*question.understood) : nullptr;
  if (!fault) return {};
  const bool twice = fault->reason == ClaimFaultReason::duplicate_assignment ||
                     fault->reason == ClaimFaultReason::alias_with_canonical_name;
  const std::size_t field = end_of_field(fault->message);
  return {{fault->message.substr(0, field), twice ? CauseType::duplicate : CauseType::invalid,
           fault->message.substr(field == 0 ? 0 : field + 2)}};
}

Objections cluster_taken(const Question& question) {
  const AdmissionRequest& request = question.request;
  // An update cannot bring this about: the CRD makes clusterName immutable.
  if (request.operation != AdmissionOperation::create || !question.understood) return {};
  const std::string& name = std::get<ClaimFacts>(request.object->facts).spec.cluster_name;
  const ClusterEntry* cluster = question.view.clusters.find(name);
  if (!cluster || cluster->claim.empty() || cluster->claim == request.key.name) return {};
  return {{"spec.clusterName", CauseType::duplicate,
           "ClusterResourceClaim " + cluster->claim + " has the cluster " + name +
               ": a younger claim is granted nothing"}};
}

Objections over_capacity(const Question& question) {
  const ClusterEntry* cluster = known_cluster_of(question);
  if (!cluster) return {};
  const ClaimTerms& terms = *question.terms();
  Objections objections;
  const auto compare = [&](const std::string& resource, const std::string& what, Int128 sum,
                           Int128 accepted) {
    if (sum <= accepted) return false;
    objections.push_back({kAssignments, CauseType::invalid,
                          what + " sums to " + amount_text(resource, sum) + ", the cluster has " +
                              amount_text(resource, accepted) +
                              ": the grants will be shared by the shrink policy " +
                              std::string(policy_text(terms.shrink_policy))});
    return true;
  };
  for (const auto& [resource, assigned] : assigned_by(terms)) {
    compare(resource, assigned.spelled, assigned.total, total_accepted(*cluster, resource));
    for (const auto& [flavor, sum] : assigned.by_flavor) {
      if (!flavor_bound_applies({cluster->totals_accepted, cluster->mapped}, terms,
                                {flavor, resource}))
        continue;
      const auto accepted = cluster->accepted.find({flavor, resource});
      compare(resource, assigned.spelled + " of flavor " + flavor, sum,
              accepted == cluster->accepted.end() ? 0 : accepted->second);
    }
  }
  return objections;
}

Objections nominal_above_capacity(const Question& question) {
  const ClusterEntry* cluster = known_cluster_of(question);
  if (!cluster) return {};
  Objections objections;
  for (const auto& [resource, nominal] : question.terms()->nominal) {
    const Int128 accepted = total_accepted(*cluster, resource);
    if (nominal.amount > accepted)
      objections.push_back({"spec.nominalResources." + nominal.spelled, CauseType::invalid,
                            amount_text(resource, nominal.amount) + " is above the " +
                                amount_text(resource, accepted) + " that the cluster has"});
  }
  return objections;
}

Objections unknown_target(const Question& question) {
  if (!question.terms()) return {};
  std::set<std::string> queues, flavors;
  for (const AssignmentRow& row : question.terms()->rows) {
    const QueueEntry* queue = question.view.queues.find(row.cluster_queue);
    if (!queue || !queue->present) queues.insert(row.cluster_queue);
    const FlavorEntry* flavor = question.view.flavors.find(row.flavor);
    if (!flavor || !flavor->present) flavors.insert(row.flavor);
  }
  std::string missing;
  for (const auto& [kind, names] :
       {std::pair("ClusterQueue ", &queues), std::pair("ResourceFlavor ", &flavors)}) {
    std::string list;
    for (const std::string& name : *names) add_name(list, name);
    if (!list.empty()) missing += (missing.empty() ? "" : "; ") + std::string(kind) + list;
  }
  if (missing.empty()) return {};
  return {{kAssignments, CauseType::invalid,
           "not there yet, what is assigned waits for it: " + missing}};
}

Objections below_usage(const Question& question) {
  if (!question.terms() || question.request.operation != AdmissionOperation::update) return {};
  const ClaimEntry* stored = question.view.claims.find(question.request.key.name);
  if (!stored || !stored->terms || !stored->winner) return {};
  const std::map<RowKey, Amount> now = amounts_of(*question.terms());
  Objections objections;
  for (const AssignmentRow& row : stored->terms->rows) {
    const auto kept = now.find({row.cluster_queue, row.flavor, row.resource});
    const Amount assigned = kept == now.end() ? 0 : kept->second;
    const auto usage =
        usage_of(question.view, stored->cluster, row.cluster_queue, {row.flavor, row.resource});
    // An unknown usage ends here, as 0: no assignment is below that. So it has a value further on.
    if (assigned >= row.assigned || assigned >= usage.value_or(0)) continue;
    objections.push_back({kAssignments, CauseType::invalid,
                          pair_text(row.cluster_queue, row.flavor, row.spelled) + " falls from " +
                              amount_text(row.resource, row.assigned) + " to " +
                              amount_text(row.resource, assigned) + ", " +
                              amount_text(row.resource, *usage) +
                              " is in use: Kueue evicts no running workload"});
  }
  return objections;
}

Objections claim_in_use(const Question& question) {
  const AdmissionRequest& request = question.request;
  if (request.key.kind != Kind::claim || request.operation != AdmissionOperation::remove) return {};
  const ClaimEntry* claim = question.view.claims.find(request.key.name);
  const std::string used = claim ? usage_text(question.view, *claim) : "";
  if (used.empty()) return {};
  return {{"", CauseType::forbidden,
           "in use: " + used +
               "; the hub will take the quota back, and Kueue evicts no running workload"}};
}

}  // namespace fairlead
