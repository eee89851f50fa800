#include "replay/timeline/foreign_writes.h"

#include <string>

#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/shares.h"

namespace fairlead {

namespace {

bool changed_quotas(const State& before, const ObjectKey& key, const ClusterQueueFacts& facts) {
  const auto queue = before.queues.by_name.find(key.name);
  if (queue == before.queues.by_name.end() || !queue->second.present) return false;
  const Queue& known = queue->second;
  if (facts.groups == known.facts.groups || known.written_groups == facts.groups) return false;
  const auto write = before.writes.by_key.find(WriteKey{std::string(kHub), key, false});
  if (write == before.writes.by_key.end() || !write->second.outstanding) return true;
  const auto& expected = write->second.outstanding->intent.expected;
  const auto* sent = expected ? std::get_if<ClusterQueueFacts>(&*expected) : nullptr;
  return sent == nullptr || sent->groups != facts.groups;
}

// Values compare as maps, so that order and spelling do not matter; what cannot be read compares as
// a text.
bool changed_placements(const State& before, const PoolNamespaceKey& key,
                        const NamespaceFacts& facts) {
  const PoolNamespace* known = find_namespace(before.pool, key);
  if (known == nullptr || !known->seen) return false;
  const auto& old = known->seen->facts.placements;
  if (facts.placements == old) return false;
  const auto value = read_placements(facts.placements, INT64_MAX);
  return !value || (value != read_placements(old, INT64_MAX) && value != known->written);
}

bool moved_pod(const State& before, const PoolPodKey& key, const PodFacts& facts) {
  const PoolPod* known = find_pod(before.pool, key);
  return known != nullptr && facts.super_cluster != known->seen.facts.super_cluster &&
         facts.super_cluster.value_or("") != known->cluster;
}

}  // namespace

bool is_foreign_write(const State& before, const SourceName& source, const ObjectObserved& seen) {
  if (source == kHub) {
    const auto* queue = std::get_if<ClusterQueueFacts>(&seen.facts);
    return queue != nullptr && changed_quotas(before, seen.key, *queue);
  }
  if (!is_tenant(source)) return false;
  const std::string tenant(tenant_of(source));
  if (const auto* facts = std::get_if<NamespaceFacts>(&seen.facts))
    return changed_placements(before, {tenant, seen.key.name}, *facts);
  if (const auto* facts = std::get_if<PodFacts>(&seen.facts))
    return moved_pod(before, {tenant, seen.key.namespace_, seen.key.name}, *facts);
  return false;
}

}  // namespace fairlead
