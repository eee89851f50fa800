#include "engine/fold/claims/claims.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/base/check.h"
#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/members/kept.h"
#include "engine/fold/queues/dirty_queues.h"
#include "engine/fold/queues/pairs.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

constexpr std::string_view kNewClaimSuffix = "-resource-claim";

const std::string& cluster_of(const Claim& claim) {
  return claim.terms ? claim.terms->cluster : claim.facts.spec.cluster_name;
}

void mark_named_dirty(QueueTables& queues, const Claim& claim) {
  if (!claim.terms) return;
  for (const AssignmentRow& row : claim.terms->rows) mark_queue_dirty(queues, row.cluster_queue);
}

void drop_from_indexes(ClaimRoom state, const std::string& name, const Claim& claim) {
  const auto at = state.claims.of_cluster.find(cluster_of(claim));
  if (at != state.claims.of_cluster.end()) {
    at->second.erase(name);
    if (at->second.empty()) state.claims.of_cluster.erase(at);
  }
  if (!claim.terms) return;
  note_rows(state, *claim.terms, Sign::minus);
  for (const AssignmentRow& row : claim.terms->rows) {
    const auto queue = state.claims.of_queue.find(row.cluster_queue);
    // A claim may have several rows of one queue: the first has removed it.
    if (queue == state.claims.of_queue.end()) continue;
    queue->second.erase(name);
    if (queue->second.empty()) state.claims.of_queue.erase(queue);
  }
}

void add_to_indexes(ClaimRoom state, const std::string& name, const Claim& claim) {
  state.claims.of_cluster[cluster_of(claim)].insert(name);
  if (!claim.terms) return;
  note_rows(state, *claim.terms, Sign::plus);
  for (const AssignmentRow& row : claim.terms->rows)
    state.claims.of_queue[row.cluster_queue].insert(name);
}

void note_named(Cluster& cluster, const ClaimTerms& terms) {
  for (const AssignmentRow& row : terms.rows)
    cluster.member.named[row.cluster_queue].insert(row.flavor);
}

// The oldest claim without a deletionTimestamp wins its cluster (creationTimestamp, then uid).
void choose_winner(ClaimRoom state, const std::string& cluster_name) {
  const auto at = state.claims.of_cluster.find(cluster_name);
  if (at == state.claims.of_cluster.end()) return;
  const Claim* best = nullptr;
  for (const std::string& name : at->second) {
    const Claim& claim = state.claims.by_name.at(name);
    if (claim.facts.deleting) continue;
    if (!best ||
        std::tie(claim.facts.created, claim.uid) < std::tie(best->facts.created, best->uid))
      best = &claim;
  }
  for (const std::string& name : at->second) {
    Claim& claim = state.claims.by_name.at(name);
    if (claim.winner != (&claim == best)) {
      mark_cluster_dirty(state, cluster_name).claim_seq = state.seq;
      for (const Grant& grant : claim.grants)
        note_quota_change(state.queues, grant.row.cluster_queue);
    }
    claim.winner = &claim == best;
    mark_claim_dirty(state.claims, name);
  }
  if (!best || !best->terms) return;
  note_named(mark_cluster_dirty(state, cluster_name), *best->terms);
}

// The only edit is our own write of the nominal list. It is not a decision of an administrator: no
// assignment and no grant follows from it.
bool is_nominal_of_ours(StateView<const WriteTables> state, const std::string& name,
                        const ClaimFacts& before, const ClaimFacts& after) {
  const auto* ours = nominal_of_ours(state, name);
  if (!ours || after.spec.nominal_resources != *ours || before.debounce != after.debounce)
    return false;
  ClaimSpec spec = before.spec;
  spec.nominal_resources = *ours;
  return spec == after.spec;
}

void understand_spec(const Configuration& configuration, Claim& claim, Seq seq) {
  claim.fault.reset();
  claim.warnings.clear();
  auto understood = understand(claim.facts.spec, configuration.resource_aliases);
  if (const auto* terms = std::get_if<ClaimTerms>(&understood)) {
    if (claim.terms && claim.terms->cluster != terms->cluster) {
      claim.fault = ClaimFault{
          ClaimFaultReason::cluster_name_immutable,
          "spec.clusterName: " + claim.terms->cluster + " cannot become " + terms->cluster};
    } else {
      if (!claim.terms || *claim.terms != *terms) claim.terms_seq = seq;
      claim.terms = *terms;
    }
  } else {
    claim.fault = std::get<ClaimFault>(understood);
  }
  DebounceSettings probe;
  std::string why_not;
  for (const auto& [parameter, value] : claim.facts.debounce)
    if (!set_debounce_parameter(probe, parameter, value, why_not))
      claim.warnings.push_back("annotation fairlead.io/debounce." + parameter + " \"" + value +
                               "\": " + why_not);
}

// ---- grants ----

std::vector<Grant> all_zero(const Claim& claim, GrantReason reason) {
  std::vector<Grant> grants;
  for (const AssignmentRow& row : claim.terms->rows) grants.push_back({row, 0, reason});
  return grants;
}

// The grants before the cluster's first accepted value: the last ones, or those in the status, or
// zero. So a start with an empty log takes no quota back before capacity is known.
std::vector<Grant> last_known(const Configuration& configuration, const Claim& claim) {
  std::vector<Grant> grants = all_zero(claim, GrantReason::capacity_unknown);
  for (Grant& grant : grants) {
    const auto had = std::find_if(claim.grants.begin(), claim.grants.end(), [&](const Grant& old) {
      return std::tie(old.row.cluster_queue, old.row.flavor, old.row.resource) ==
             std::tie(grant.row.cluster_queue, grant.row.flavor, grant.row.resource);
    });
    if (had != claim.grants.end()) {
      grant.granted = had->granted;
      continue;
    }
    for (const ClaimGrant& stored : claim.facts.status_grants) {
      if (stored.cluster_queue != grant.row.cluster_queue || stored.flavor != grant.row.flavor)
        continue;
      if (canonical_resource(configuration.resource_aliases, stored.resource) != grant.row.resource)
        continue;
      if (const auto quantity = Quantity::parse(stored.granted); quantity && !quantity->negative())
        grant.granted = to_amount(grant.row.resource, *quantity);
    }
  }
  return grants;
}

// The rows of one resource on their way from assigned to granted.
struct Shares {
  std::vector<std::size_t> rows;  // positions in the claim's grants
  std::vector<Share> shares;
};

void divide_into(std::vector<Grant>& grants, const Shares& shares, Amount bound,
                 const std::string& resource, ShrinkPolicy policy, GrantReason reason) {
  if (fits(shares.shares, bound)) return;
  const Division division = divide(shares.shares, bound, quantum_of(resource), policy);
  for (std::size_t i = 0; i < shares.rows.size(); ++i) {
    Grant& grant = grants[shares.rows[i]];
    if (division.granted[i] < shares.shares[i].assigned)
      grant.reason = division.minimums_above_bound ? GrantReason::minimums_above_capacity : reason;
    grant.granted = division.granted[i];
  }
}

// A claim's grants, and the rows of them whose resource is ambiguous: those get none.
struct Granting {
  std::vector<Grant> grants;
  std::set<std::size_t> ambiguous;
};

Shares shares_where(const Granting& granting, const std::string& resource,
                    const std::string* flavor) {
  const std::vector<Grant>& grants = granting.grants;
  Shares shares;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    const AssignmentRow& row = grants[i].row;
    if (row.resource != resource || (flavor && row.flavor != *flavor) ||
        granting.ambiguous.contains(i))
      continue;
    shares.rows.push_back(i);
    shares.shares.push_back({row.cluster_queue, row.flavor, grants[i].granted,
                             std::min(row.minimum, grants[i].granted), row.priority});
  }
  return shares;
}

Amount accepted_of(const Cluster& cluster, const std::string& flavor, const std::string& resource) {
  const auto at = cluster.capacity.find({flavor, resource});
  return at == cluster.capacity.end() ? 0 : at->second.damped.accepted;
}

void grant_resource(const Cluster& cluster, const ClaimTerms& terms, const std::string& resource,
                    Granting& granting, std::vector<GrantSteps>* steps) {
  std::vector<Grant>& grants = granting.grants;
  std::set<std::string_view> flavors;
  for (const Grant& grant : grants)
    if (grant.row.resource == resource) flavors.insert(grant.row.flavor);
  // The flavors' bounds come first: the amount that a bound cuts off a row is left of the total for
  // the others.
  for (const std::string_view name : flavors)
    if (const std::string flavor(name); flavor_bound_applies(
            {cluster.totals_accepted, cluster.mapped}, terms, {flavor, resource})) {
      const Amount bound = accepted_of(cluster, flavor, resource);
      const Shares shares = shares_where(granting, resource, &flavor);
      divide_into(grants, shares, bound, resource, terms.shrink_policy,
                  GrantReason::flavor_capacity);
      if (steps)
        for (const std::size_t row : shares.rows) (*steps)[row].flavor_bound = bound;
    }
  const Shares shares = shares_where(granting, resource, nullptr);
  const Amount total = saturate(accepted_total(cluster, resource));
  if (steps)
    for (const std::size_t row : shares.rows) {
      (*steps)[row].after_flavor = grants[row].granted;
      (*steps)[row].total_bound = total;
    }
  divide_into(grants, shares, total, resource, terms.shrink_policy, GrantReason::cluster_capacity);
}

// What a row may have before capacity bounds it: its assignment, or its share of a larger cluster.
Amount wanted(const Cluster& cluster, const ClaimTerms& terms, const AssignmentRow& row) {
  if (terms.nominal_policy == NominalPolicy::fixed) return row.assigned;
  const Int128 nominal = terms.nominal.at(row.resource).amount;
  const Int128 total = accepted_total(cluster, row.resource);
  if (nominal == 0 || total <= nominal) return row.assigned;
  const Amount quantum = quantum_of(row.resource);
  // A sum over flavors may exceed 64 bits; saturated, its product with an amount fits 128.
  return saturate(Int128{row.assigned} * saturate(total) / nominal / quantum * quantum);
}

// `steps`, if it is not null, has one entry a row.
std::vector<Grant> derive_grants(ClaimReader state, const Cluster& cluster, const Claim& claim,
                                 std::vector<GrantSteps>* steps) {
  Granting granting;
  std::vector<Grant>& grants = granting.grants;
  grants.reserve(claim.terms->rows.size());
  std::set<std::string> resources;
  for (const AssignmentRow& row : claim.terms->rows) {
    const bool ambiguous = covers_alias_twice(state, row.cluster_queue, row.resource);
    grants.push_back({row, ambiguous ? 0 : wanted(cluster, *claim.terms, row),
                      ambiguous ? GrantReason::ambiguous_resource_alias : GrantReason::in_full});
    if (ambiguous) granting.ambiguous.insert(grants.size() - 1);
    resources.insert(row.resource);
    if (steps) (*steps)[grants.size() - 1].wanted = grants.back().granted;
  }
  for (const std::string& resource : resources)
    grant_resource(cluster, *claim.terms, resource, granting, steps);
  return std::move(granting.grants);
}

bool detached(const NameMap<Cluster>& clusters, const Claim& claim) {
  const auto at = clusters.find(claim.terms->cluster);
  return at != clusters.end() && at->second.presence.detached;
}

// Null where its capacity is not known.
const Cluster* known_cluster(const NameMap<Cluster>& clusters, const Claim& claim) {
  const auto at = clusters.find(claim.terms->cluster);
  return at != clusters.end() && at->second.known ? &at->second : nullptr;
}

std::vector<Grant> grants_of(ClaimReader state, const Claim& claim) {
  if (!claim.winner)
    return all_zero(claim, claim.facts.deleting ? GrantReason::claim_deleted
                                                : GrantReason::cluster_already_claimed);
  if (detached(state.clusters, claim)) return all_zero(claim, GrantReason::cluster_detached);
  const Cluster* cluster = known_cluster(state.clusters, claim);
  return cluster ? derive_grants(state, *cluster, claim, nullptr)
                 : last_known(state.configuration, claim);
}

// Nothing but the claim's status changed, and no write of the claim itself awaits this observation.
bool shows_only_status(const WriteTables& writes, const Claim& claim, const ObjectObserved& seen) {
  const ClaimFacts& facts = std::get<ClaimFacts>(seen.facts);
  if (!claim.known || facts.deleting || claim.facts.deleting ||
      claim.facts.finalizers != facts.finalizers || claim.uid != seen.uid)
    return false;
  const WriteState* write = write_of(writes, seen.key);
  return !write || (!write->outstanding && !write->awaits() && !write->refusal);
}

// Derives `known` and the grants. Returns whether they changed. A claim of a detached cluster, and
// one that is being deleted, counts as known: that it gets nothing is certain, so its quota is
// taken back. An unknown capacity takes nothing back (last_known).
bool derive(ClaimReader state, Claim& claim) {
  if (!claim.terms) {
    const bool changed = !claim.known || !claim.grants.empty();
    claim.known = true;
    claim.grants.clear();
    return changed;
  }
  const bool known = detached(state.clusters, claim) || known_cluster(state.clusters, claim) ||
                     claim.facts.deleting;
  std::vector<Grant> grants = grants_of(state, claim);
  if (known == claim.known && grants == claim.grants) return false;
  claim.known = known;
  claim.grants = std::move(grants);
  return true;
}

void recompute_claim(ClaimRoom state, const std::string& name, DirtySet& dirty) {
  Claim& claim = state.claims.by_name.at(name);
  // A memo is lost where State is copied or read from a snapshot. It reads `all` then: too much is
  // derived, never too little.
  const ClaimPart part = std::exchange(*claim.dirty, ClaimPart::all);
  const bool derives = part != ClaimPart::status;
#ifndef NDEBUG
  if (!derives && claim.terms)
    check(grants_of(state, claim) == claim.grants, "only the status was dirty");
#endif
  const bool changed = derives && derive(state, claim);
  if (changed || part != ClaimPart::grants) dirty.claims.insert(name);
  if (!changed && part != ClaimPart::all) return;
  dirty.clusters.insert(cluster_of(claim));
  if (changed) bound_taken_over(state, cluster_of(claim));
  if (!claim.terms) return;
  for (const AssignmentRow& row : claim.terms->rows)
    changed ? requote(state.queues, row.cluster_queue)
            : requote_unchanged(state.queues, row.cluster_queue);
}

}  // namespace

bool flavor_bound_applies(const FlavorsAccepted& accepted, const ClaimTerms& terms,
                          const CapacityKey& pair) {
  if (accepted.totals || terms.flavor_capacity == FlavorCapacity::total_only) return false;
  return terms.flavor_capacity == FlavorCapacity::strict || accepted.mapped.contains(pair);
}

std::vector<GrantSteps> grant_steps(ClaimReader state, const Cluster& cluster, const Claim& claim) {
  std::vector<GrantSteps> steps(claim.terms ? claim.terms->rows.size() : 0);
  if (claim.terms) derive_grants(state, cluster, claim, &steps);
  return steps;
}

std::vector<const std::string*> queues_granted(const Claim& claim) {
  std::vector<const std::string*> queues;
  queues.reserve(claim.grants.size());
  for (const Grant& grant : claim.grants) queues.push_back(&grant.row.cluster_queue);
  std::sort(queues.begin(), queues.end(),
            [](const std::string* a, const std::string* b) { return *a < *b; });
  queues.erase(std::unique(queues.begin(), queues.end(),
                           [](const std::string* a, const std::string* b) { return *a == *b; }),
               queues.end());
  return queues;
}

void observe_claim(ClaimRoom state, const ObjectObserved& seen, Seq seq) {
  const std::string& name = seen.key.name;
  const auto at = state.claims.by_name.find(name);
  if (at != state.claims.by_name.end() && !seen.uid.empty() && !at->second.uid.empty() &&
      at->second.uid != seen.uid)
    forget_claim(state, name);  // another uid: deleted and created again between observations
  Claim& claim = state.claims.by_name[name];
  const bool is_new = claim.seq == Seq{};
  const ClaimFacts& facts = std::get<ClaimFacts>(seen.facts);
  const bool edited =
      is_new || claim.facts.spec != facts.spec || claim.facts.debounce != facts.debounce;
  const bool deleted = facts.deleting && (is_new || !claim.facts.deleting);
  // An edit is a decision: falls count at once, and an OwnershipConflict ends.
  const bool decided = !edited || is_new || !is_nominal_of_ours(state, name, claim.facts, facts);
  const bool was_in_force = claim.winner;
  const std::string before = is_new ? std::string() : cluster_of(claim);
  // Before the record is overwritten: it compares what was known with what is seen.
  const bool only_status = shows_only_status(state.writes, claim, seen);
  if (!seen.uid.empty()) claim.uid = seen.uid;
  claim.resource_version = seen.resource_version;
  claim.generation = seen.generation;
  claim.seq = seq;
  if (!edited && !deleted && claim.facts.created == facts.created) {
    claim.facts = facts;
    only_status ? mark_claim_status_dirty(state.claims, name)
                : mark_claim_dirty(state.claims, name);
    return;
  }
  ++*state.claims.terms_changes;
  if (!is_new) {
    mark_cluster_claims_dirty(state.claims, before);
    drop_from_indexes(state, name, claim);
    mark_named_dirty(state.queues, claim);
  }
  if (is_new || claim.facts.spec != facts.spec) claim.edited_seq = seq;
  claim.facts = facts;
  if (edited) understand_spec(state.configuration, claim, seq);
  add_to_indexes(state, name, claim);
  const std::string& cluster_name = cluster_of(claim);
  Cluster& cluster = mark_cluster_dirty(state, cluster_name);
  cluster.presence.claim_seen = true;
  if (was_in_force && decided) cluster.observation.at_once_all = true;
  choose_winner(state, cluster_name);
  // A claim that was never valid has no terms that keep its cluster: an edit may name another one.
  if (!before.empty() && before != cluster_name) choose_winner(state, before);
  if (claim.terms && decided)
    for (const AssignmentRow& row : claim.terms->rows)
      resolve_conflict(state.queues, row.cluster_queue);
  release_gone_flavors(state);
}

void forget_claim(ClaimRoom state, const std::string& name) {
  const auto at = state.claims.by_name.find(name);
  if (at == state.claims.by_name.end()) return;
  ++*state.claims.terms_changes;
  const std::string cluster_name = cluster_of(at->second);
  drop_from_indexes(state, name, at->second);
  if (at->second.terms)
    for (const AssignmentRow& row : at->second.terms->rows) {
      mark_queue_dirty(state.queues, row.cluster_queue);
      resolve_conflict(state.queues, row.cluster_queue);
    }
  if (at->second.winner) {
    Cluster& cluster = mark_cluster_dirty(state, cluster_name);
    cluster.observation.at_once_all = true;
    cluster.claim_seq = state.seq;
  }
  state.claims.by_name.erase(at);
  // recompute_claims() looks every name there up with at().
  state.claims.dirty.erase(name);
  choose_winner(state, cluster_name);
  if (!winning_claim(state.claims, cluster_name)) bound_taken_over(state, cluster_name);
  release_gone_flavors(state);
}

std::string new_claim_name(const std::string& cluster) {
  return cluster + std::string(kNewClaimSuffix);
}

std::string cluster_of_new_claim(const std::string& name) {
  return name.ends_with(kNewClaimSuffix) ? name.substr(0, name.size() - kNewClaimSuffix.size())
                                         : "";
}

void reparse_claims(ClaimRoom state) {
  for (auto& [name, claim] : state.claims.by_name) {
    drop_from_indexes(state, name, claim);
    understand_spec(state.configuration, claim, claim.seq);
    add_to_indexes(state, name, claim);
    mark_claim_dirty(state.claims, name);
    // It may have become valid by the configuration.
    if (claim.winner && claim.terms) note_named(state.clusters[cluster_of(claim)], *claim.terms);
  }
  // What asked for terms since the configuration changed got the former ones.
  ++*state.claims.terms_changes;
  release_gone_flavors(state);
}

void recompute_claims(ClaimRoom state, DirtySet& dirty) {
  for (const std::string& name : std::exchange(state.claims.dirty, {}))
    recompute_claim(state, name, dirty);
}

}  // namespace fairlead
