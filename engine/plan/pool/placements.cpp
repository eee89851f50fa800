#include "engine/plan/pool/placements.h"

#include <utility>
#include <vector>

#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/shares.h"

namespace fairlead {

namespace {

// An apply of annotations. It names all that are ours: one that it leaves out is removed.
PatchIntended annotate(const std::string& tenant, ObjectKey target, const std::string& version,
                       const std::string& uid, const std::string& resource_version,
                       Json annotations) {
  PatchIntended intent = hub_intent(Verb::apply, std::move(target), version, uid, resource_version);
  intent.cluster = tenant_source(tenant);
  intent.force = true;
  const ObjectKey& key = intent.target;
  Json body = object_head(key.kind, version, key.namespace_, key.name, uid, resource_version);
  body["metadata"]["annotations"] = std::move(annotations);
  intent.body = to_text(body);
  return intent;
}

std::optional<std::string> none_if_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Whether no share grows: such a write makes room for others and goes first.
bool only_gives_up(const SliceMap& before, const SliceMap& now) {
  for (const auto& [id, slices] : now) {
    const auto at = before.find(id);
    if (slices > (at == before.end() ? 0 : at->second)) return false;
  }
  return before != now;
}

std::string change_text(const std::optional<std::string>& before,
                        const std::optional<std::string>& now) {
  return before.value_or("none") + " -> " + now.value_or("none");
}

}  // namespace

Proposed emit_tenant_namespace(const State& state, const PoolNamespaceKey& key) {
  const PoolNamespace* const of = find_namespace(state.pool, key);
  if (!of || !takes_part(state.pool.tenants.at(key.first), *of) ||
      !namespace_differs(state.configuration, *of))
    return std::nullopt;
  const auto& seen = *of->seen;
  NamespaceFacts expected = seen.facts;
  const SliceMap slices = placements_of(*of);
  Json annotations = Json::object();
  // An empty map is written only over an annotation that is there.
  if (of->taken_up && !(slices.empty() && !seen.facts.placements)) {
    expected.placements = placements_text(slices);
    annotations[kPlacementsAnnotation] = *expected.placements;
  }
  expected.reason = none_if_empty(value_of(of->reason).written);
  if (expected.reason) annotations[kPoolReasonAnnotation] = *expected.reason;
  PatchIntended intent = annotate(key.first, {Kind::namespace_, "", key.second}, seen.version,
                                  seen.uid, seen.resource_version, std::move(annotations));
  const bool moved = !of->observed || *of->observed != slices;
  // Nothing was decided about a namespace that never held a slice: an annotation that cannot be
  // read is put right all the same.
  const bool decided = !of->rule.empty() && (of->written != slices || of->last_value != slices);
  std::vector<Seq> causes = of->causes;
  causes.push_back(seen.seq);
  if (moved && of->taken_up)
    intent.reason = {decided ? of->rule : std::string(rule::kPoolRestore),
                     {},
                     change_text(seen.facts.placements, expected.placements)};
  else
    intent.reason = {rule::kPoolReason, {}, change_text(seen.facts.reason, expected.reason)};
  intent.reason.because = deciding(std::move(causes));
  intent.expected = std::move(expected);
  const bool shrinks = of->observed && only_gives_up(*of->observed, slices);
  return proposed(state, shrinks ? Rank::shrink : Rank::grow, std::move(intent));
}

Proposed emit_tenant_pod(const State& state, const PoolPodKey& key) {
  const PoolPod* const pod = find_pod(state.pool, key);
  const auto& [tenant, namespace_, name] = key;
  if (!pod || !pod_differs(*pod)) return std::nullopt;
  // The namespace is there: a pod's record is a part of it.
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  if (!takes_part(state.pool.tenants.at(tenant), of) || !is_in_pool(state.configuration, of))
    return std::nullopt;
  const auto& seen = pod->seen;
  PodFacts expected = seen.facts;
  expected.super_cluster = super_cluster_of(*pod);
  expected.reason = none_if_empty(value_of(pod->reason).written);
  Json annotations = Json::object();
  if (expected.super_cluster) annotations[kSuperClusterAnnotation] = *expected.super_cluster;
  if (expected.reason) annotations[kPoolReasonAnnotation] = *expected.reason;
  PatchIntended intent = annotate(tenant, {Kind::pod, namespace_, name}, seen.version, seen.uid,
                                  seen.resource_version, std::move(annotations));
  const bool placed = expected.super_cluster != seen.facts.super_cluster;
  std::vector<Seq> causes = of.causes;
  causes.push_back(seen.seq);
  if (placed && pod->reserved)
    causes.insert(causes.end(), pod->reserved->causes.begin(), pod->reserved->causes.end());
  if (placed)
    intent.reason = {
        rule::kPoolPod, {}, change_text(seen.facts.super_cluster, expected.super_cluster)};
  else
    intent.reason = {rule::kPoolReason, {}, change_text(seen.facts.reason, expected.reason)};
  intent.reason.because = deciding(std::move(causes));
  intent.expected = std::move(expected);
  return proposed(state, Rank::pod, std::move(intent));
}

}  // namespace fairlead
