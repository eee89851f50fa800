#include "engine/plan/claim_life.h"

#include <algorithm>

#include "engine/fold/cluster.h"
#include "engine/plan/claim_release.h"

namespace fairlead {

namespace {

constexpr const char* kClaimVersion = "v1alpha1";

PatchIntended claim_intent(Verb verb, const std::string& name, const Claim* claim) {
  return hub_intent(verb, {Kind::claim, "", name}, kClaimVersion, claim ? claim->uid : "",
                    claim ? claim->resource_version : "");
}

// cpu, memory and devices: extended resources, whose names have a domain that is not Kubernetes'
// own.
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
  intent.reason = {"claims/finalizer", deciding({claim.seq}),
                   "quota must be taken back before the claim may go"};
  ClaimFacts expected = claim.facts;
  expected.finalizers.emplace_back(kClaimFinalizer);
  intent.expected = std::move(expected);
  if (!may_write(state, intent, Direction::lowers)) return std::nullopt;
  return Proposal{Rank::claim_life, std::move(intent)};
}

Proposed release_finalizer(const State& state, const std::string& name, const Claim& claim,
                           QueueWishes& wishes) {
  if (release_bar(state, claim, wishes)) return std::nullopt;
  PatchIntended intent = claim_intent(Verb::patch, name, &claim);
  ClaimFacts expected = claim.facts;
  std::erase(expected.finalizers, kClaimFinalizer);
  Json finalizers = nullptr;
  if (!expected.finalizers.empty()) finalizers = expected.finalizers;
  const Json body{
      {"metadata", {{"finalizers", finalizers}, {"resourceVersion", claim.resource_version}}}};
  intent.body = to_text(body);
  intent.reason = {"claims/release", deciding({claim.seq}), "nothing of its quota is left"};
  intent.expected = std::move(expected);
  if (!may_write(state, intent, Direction::lowers)) return std::nullopt;
  return Proposal{Rank::release, std::move(intent)};
}

}  // namespace

bool has_finalizer(const Claim& claim) {
  const auto& all = claim.facts.finalizers;
  return std::find(all.begin(), all.end(), kClaimFinalizer) != all.end();
}

Proposed emit_new_claim(const State& state, const std::string& cluster_name) {
  if (!state.configuration.create_claims) return std::nullopt;
  const auto at = state.clusters.find(cluster_name);
  if (at == state.clusters.end()) return std::nullopt;
  const Cluster& cluster = at->second;
  if (!cluster.joined() || !cluster.known || cluster.detached || cluster.claim_seen ||
      cluster.lost())
    return std::nullopt;
  const std::string name = cluster_name + "-resource-claim";
  if (state.claims.contains(name)) return std::nullopt;

  std::map<std::string, Int128> totals;
  std::vector<Seq> because{cluster.managed_seq};
  for (const auto& [key, value] : cluster.capacity)
    if (offered_in_claims(key.resource)) {
      totals[key.resource] += value.damped.accepted;
      because.insert(because.end(), value.because.begin(), value.because.end());
    }
  PatchIntended intent = claim_intent(Verb::create, name, nullptr);
  Json body = object_head(Kind::claim, intent.version, "", name, "", "");
  body["metadata"]["finalizers"] = Json::array({kClaimFinalizer});
  ClaimFacts expected;
  expected.created = state.now;
  expected.finalizers.emplace_back(kClaimFinalizer);
  expected.spec.cluster_name = cluster_name;
  Json nominal = Json::object();
  for (const auto& [resource, total] : totals) {
    const std::string text = amount_text(resource, total);
    nominal[resource] = text;
    expected.spec.nominal_resources[resource] = text;
  }
  body["spec"] = {{"clusterName", cluster_name}, {"nominalResources", std::move(nominal)}};
  intent.body = to_text(body);
  intent.reason = {"claims/create", deciding(std::move(because)),
                   cluster_name + " joined and has no claim"};
  intent.expected = std::move(expected);
  if (!may_write(state, intent, Direction::other)) return std::nullopt;
  return Proposal{Rank::claim_life, std::move(intent)};
}

Proposed emit_finalizer(const State& state, const std::string& name, QueueWishes& wishes) {
  const auto at = state.claims.find(name);
  if (at == state.claims.end()) return std::nullopt;
  const Claim& claim = at->second;
  if (!claim.facts.deleting)
    return has_finalizer(claim) ? std::nullopt : add_finalizer(state, name, claim);
  return has_finalizer(claim) ? release_finalizer(state, name, claim, wishes) : std::nullopt;
}

}  // namespace fairlead
