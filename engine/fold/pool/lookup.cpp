#include "engine/fold/pool/lookup.h"

namespace fairlead {

PoolNamespace* find_namespace(Pool& pool, const PoolNamespaceKey& key) {
  const auto tenant = pool.tenants.find(key.first);
  if (tenant == pool.tenants.end()) return nullptr;
  const auto at = tenant->second.namespaces.find(key.second);
  return at == tenant->second.namespaces.end() ? nullptr : &at->second;
}
const PoolNamespace* find_namespace(const Pool& pool, const PoolNamespaceKey& key) {
  const auto tenant = pool.tenants.find(key.first);
  if (tenant == pool.tenants.end()) return nullptr;
  const auto at = tenant->second.namespaces.find(key.second);
  return at == tenant->second.namespaces.end() ? nullptr : &at->second;
}
PoolPod* find_pod(Pool& pool, const PoolPodKey& key) {
  PoolNamespace* const of = find_namespace(pool, namespace_of(key));
  if (!of) return nullptr;
  const auto at = of->pods.find(key.pod);
  return at == of->pods.end() ? nullptr : &at->second;
}
const PoolPod* find_pod(const Pool& pool, const PoolPodKey& key) {
  const PoolNamespace* const of = find_namespace(pool, namespace_of(key));
  if (!of) return nullptr;
  const auto at = of->pods.find(key.pod);
  return at == of->pods.end() ? nullptr : &at->second;
}

}  // namespace fairlead
