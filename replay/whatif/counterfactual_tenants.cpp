#include "replay/whatif/counterfactual_tenants.h"

#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/shares.h"

namespace fairlead {

namespace {

void translate_tenant_namespace(NamespaceFacts& facts, const PoolNamespace& was,
                                const PoolNamespace* is, std::int64_t slices_max) {
  const NamespaceFacts* const here = is && is->seen ? &is->seen->facts : nullptr;
  if (was.written && read_placements(facts.placements, slices_max) == was.written)
    facts.placements = here ? here->placements : std::nullopt;
  if (facts.reason.value_or("") == value_of(was.reason).written)
    facts.reason = here ? here->reason : std::nullopt;
}

void translate_tenant_pod(PodFacts& facts, const PoolPod& was, const PoolPod* is) {
  if (facts.super_cluster == super_cluster_of(was))
    facts.super_cluster = is ? is->seen.facts.super_cluster : std::nullopt;
  if (facts.reason.value_or("") == value_of(was.reason).written)
    facts.reason = is ? is->seen.facts.reason : std::nullopt;
}

}  // namespace

void translate_tenant(ObjectSeen& seen, const SourceName& source, const State& history,
                      const State& counterfactual) {
  const std::string tenant(tenant_of(source));
  if (auto* facts = std::get_if<NamespaceFacts>(&seen.facts)) {
    const PoolNamespaceKey key{tenant, seen.key.name};
    const PoolNamespace* const was = find_namespace(history.pool, key);
    if (was && was->seen)
      translate_tenant_namespace(*facts, *was, find_namespace(counterfactual.pool, key),
                                 history.configuration.pool.slices_max);
  }
  if (auto* facts = std::get_if<PodFacts>(&seen.facts)) {
    const PoolPodKey key{tenant, seen.key.namespace_, seen.key.name};
    if (const PoolPod* const was = find_pod(history.pool, key))
      translate_tenant_pod(*facts, *was, find_pod(counterfactual.pool, key));
  }
}

}  // namespace fairlead
