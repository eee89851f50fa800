// Finds a tenant's namespace or pod in State.
#pragma once

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

/// Returns the namespace; null if nothing in it was ever observed.
PoolNamespace* find_namespace(Pool& pool, const PoolNamespaceKey& key);
const PoolNamespace* find_namespace(const Pool& pool, const PoolNamespaceKey& key);
/// Returns the pod; null if there is none.
PoolPod* find_pod(Pool& pool, const PoolPodKey& key);
const PoolPod* find_pod(const Pool& pool, const PoolPodKey& key);
inline PoolNamespaceKey namespace_of(const PoolPodKey& key) { return {key.tenant, key.namespace_}; }
/// The key of the Namespace itself, where pods have keys, too.
inline PoolPodKey key_of_namespace(const PoolNamespaceKey& key) {
  return {key.first, key.second, ""};
}

}  // namespace fairlead
