#include "engine/plan/claims/claim_life.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/claim_release.h"

namespace fairlead {

namespace {

constexpr const char* kClaimVersion = "v1alpha1";

PatchIntended claim_intent(Verb verb, const std::string& name, const Claim* claim) {
  return hub_intent(verb, {Kind::claim, "", name}, kClaimVersion, claim ? claim->uid : "",
                    claim ? claim->resource_version : "");
}

// Claims offer cpu, memory and extended resources (devices), whose names have a domain that is not
// Kubernetes' own.
bool offered_in_claims(const std::string& resource) {
  if (resource == "cpu" || resource == "memory") return true;
  const auto slash = resource.find('/');
  if (slash == std::string::npos) return false;
  const std::string domain = resource.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

Proposed add_finalizer(const State& state, const std::string& name, const Claim& claim) {
  PatchIntended intent = claim_intent(Verb::apply, name, &claim);
  Json body = object_head(Kind::claim, intent.version, "", name, claim.uid, claim.resource_version);
  body["metadata"]["finalizers"] = Json::array({kClaimFinalizer});
  intent.body = to_text(body);
  intent.reason = {rule::kClaimsFinalizer, deciding({claim.seq}),
                   "quota must be taken back before the claim may go"};
  ClaimFacts expected = claim.facts;
  expected.finalizers.emplace_back(kClaimFinalizer);
  intent.expected = std::move(expected);
  // Like a write that lowers quota, the finalizer does not wait for the write interval.
  return proposed(state, Rank::claim_life, std::move(intent), Pacing::at_once);
}

Proposed release_finalizer(const State& state, const std::string& name, const Claim& claim,
                           QueueWishes& wishes) {
  if (release_bar(state, claim, wishes)) return std::nullopt;
  PatchIntended intent = claim_intent(Verb::patch, name, &claim);
  ClaimFacts expected = claim.facts;
  std::erase(expected.finalizers, kClaimFinalizer);
  // A merge patch (RFC 7386) replaces a list as a whole, and null removes the field. The version
  // refuses the patch if another controller has added a finalizer meanwhile.
  Json finalizers = nullptr;
  if (!expected.finalizers.empty()) finalizers = expected.finalizers;
  const Json body{
      {"metadata", {{"finalizers", finalizers}, {"resourceVersion", claim.resource_version}}}};
  intent.body = to_text(body);
  intent.reason = {rule::kClaimsRelease, deciding({claim.seq}), "nothing of its quota is left"};
  intent.expected = std::move(expected);
  return proposed(state, Rank::release, std::move(intent), Pacing::at_once);
}

// Returns the cluster if it is joined and its accepted capacity may be written into a claim; else
// null.
const Cluster* offering_cluster(const State& state, const std::string& name) {
  const auto at = state.clusters.find(name);
  if (!state.configuration.create_claims || at == state.clusters.end()) return nullptr;
  const Cluster& cluster = at->second;
  const bool offers =
      cluster.joined() && cluster.known && !cluster.presence.detached && !cluster.lost();
  return offers ? &cluster : nullptr;
}

// The amount as a person would write it: whole cpus, and memory in whole Mi, or in whole Gi where
// that leaves out less than a fiftieth. Rounded down, for it is a ceiling. Less than one is left as
// it is.
std::string ceiling_text(const std::string& resource, Int128 amount) {
  const Int128 quantum = quantum_of(resource);
  const Int128 gibi = Int128{1} << 30;
  if (quantum == gibi / 1024 && amount >= 50 * gibi)
    amount -= amount % gibi;
  else if (amount >= quantum)
    amount -= amount % quantum;
  return amount_text(resource, amount);
}

// What a claim that we create names of a cluster: accepted values above zero, summed over flavors.
struct Offer {
  std::map<std::string, std::string> nominal;  // by canonical resource
  std::vector<Seq> causes;
};

Offer offer_of(const Cluster& cluster) {
  Offer offer{{}, {cluster.presence.managed_seq}};
  // Wider than Amount, because a sum over flavors may exceed 64 bits.
  std::map<std::string, Int128> totals;
  for (const auto& [key, value] : cluster.capacity)
    if (offered_in_claims(key.resource)) {
      totals[key.resource] += value.damped.accepted;
      offer.causes.insert(offer.causes.end(), value.causes.begin(), value.causes.end());
    }
  for (const auto& [resource, total] : totals)
    if (total > 0) offer.nominal[resource] = ceiling_text(resource, total);
  return offer;
}

// Whether the cluster offers a resource above zero that `named` does not have.
bool offers_more(const Cluster& cluster, const std::map<std::string, Nominal>& named) {
  return std::any_of(cluster.capacity.begin(), cluster.capacity.end(), [&](const auto& entry) {
    const auto& [key, value] = entry;
    return value.damped.accepted > 0 && !named.contains(key.resource) &&
           offered_in_claims(key.resource);
  });
}

// Returns the claim in force if its nominal list is the one that we wrote last, unchanged by other
// writers.
std::pair<std::string, const Claim*> claim_with_our_list(const State& state,
                                                         const std::string& cluster) {
  const auto claims = state.claims.of_cluster.find(cluster);
  if (claims == state.claims.of_cluster.end()) return {};
  for (const std::string& name : claims->second) {
    const Claim& claim = state.claims.by_name.at(name);
    if (!claim.winner) continue;
    const auto* ours = nominal_of_ours(state, name);
    const bool untouched = ours && *ours == claim.facts.spec.nominal_resources;
    if (untouched && claim.terms && !claim.fault && has_finalizer(claim)) return {name, &claim};
  }
  return {};
}

}  // namespace

bool has_finalizer(const Claim& claim) {
  const auto& all = claim.facts.finalizers;
  return std::find(all.begin(), all.end(), kClaimFinalizer) != all.end();
}

Proposed emit_new_claim(const State& state, const std::string& cluster_name) {
  const Cluster* cluster = offering_cluster(state, cluster_name);
  if (!cluster || cluster->presence.claim_seen) return std::nullopt;
  const std::string name = new_claim_name(cluster_name);
  // That claim is for another cluster. A create would be refused for as long as it exists, and for
  // ever where the name is too long.
  if (state.claims.by_name.contains(name) || !is_dns_subdomain(name)) return std::nullopt;
  const Offer offer = offer_of(*cluster);
  if (offer.nominal.empty()) return std::nullopt;

  PatchIntended intent = claim_intent(Verb::create, name, nullptr);
  Json body = object_head(Kind::claim, intent.version, "", name, "", "");
  body["metadata"]["finalizers"] = Json::array({kClaimFinalizer});
  body["spec"] = {{"clusterName", cluster_name}, {"nominalResources", offer.nominal}};
  ClaimFacts expected;
  expected.created = state.now;
  expected.finalizers.emplace_back(kClaimFinalizer);
  expected.spec.cluster_name = cluster_name;
  expected.spec.nominal_resources = offer.nominal;
  intent.body = to_text(body);
  intent.reason = {rule::kClaimsCreate, deciding(offer.causes),
                   cluster_name + " joined and has no claim"};
  intent.expected = std::move(expected);
  return proposed(state, Rank::claim_life, std::move(intent));
}

Proposed emit_grown_nominal(const State& state, const std::string& cluster_name) {
  const Cluster* cluster = offering_cluster(state, cluster_name);
  const auto [name, claim] = claim_with_our_list(state, cluster_name);
  if (!cluster || !claim || !offers_more(*cluster, claim->terms->nominal)) return std::nullopt;
  const Offer offer = offer_of(*cluster);
  ClaimFacts expected = claim->facts;
  Json added = Json::object();
  std::string text;
  for (const auto& [resource, amount] : offer.nominal) {
    if (claim->terms->nominal.contains(resource)) continue;
    added[resource] = amount;
    expected.spec.nominal_resources[resource] = amount;
    text += (text.empty() ? "" : "; ") + resource + " " + amount;
  }
  PatchIntended intent = claim_intent(Verb::patch, name, claim);
  // Adds keys and touches no other; the version refuses it after an edit
  // (docs/decisions/0007-a-nominal-list-gains-resources.md).
  const Json body{{"metadata", {{"resourceVersion", claim->resource_version}}},
                  {"spec", {{"nominalResources", std::move(added)}}}};
  intent.body = to_text(body);
  intent.expected = std::move(expected);
  intent.reason = {rule::kClaimsNominal, deciding(offer.causes),
                   cluster_name + " offers what its claim does not name: " + text};
  return proposed(state, Rank::claim_life, std::move(intent));
}

Proposed emit_finalizer(const State& state, const std::string& name, QueueWishes& wishes) {
  const auto at = state.claims.by_name.find(name);
  if (at == state.claims.by_name.end()) return std::nullopt;
  const Claim& claim = at->second;
  if (!claim.facts.deleting)
    return has_finalizer(claim) ? std::nullopt : add_finalizer(state, name, claim);
  return has_finalizer(claim) ? release_finalizer(state, name, claim, wishes) : std::nullopt;
}

}  // namespace fairlead
