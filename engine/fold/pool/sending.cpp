#include "engine/fold/pool/sending.h"

#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

bool may_send(PoolRoom state, const WriteKeyView& view, const PoolPodKey& key) {
  const WriteState* const write = find_write(state.writes, view);
  if (!write) return true;
  if (write->outstanding || write->awaits()) return false;
  if (write->refusal && state.now < write->refusal->retry_at) return false;
  if (!write->last_write) return true;
  const LogTime next = *write->last_write + write_interval(state, view);
  if (next <= state.now) return true;
  state.pool.due.insert({next, key});
  return false;
}

void recompute_pod(PoolRoom state, const PoolPodKey& key, DirtySet& dirty) {
  const PoolPod* const pod = find_pod(state.pool, key);
  if (!pod || !pod_differs(*pod)) return;
  const auto& [tenant, namespace_, name] = key;
  const PoolNamespace& of = *find_namespace(state.pool, {tenant, namespace_});
  if (!takes_part(state.pool.tenants.at(tenant), of) || !is_in_pool(state.configuration, of))
    return;
  const SourceName source = tenant_source(tenant);
  may_send(state, {source, Kind::pod, namespace_, name, false}, key);
  dirty.pool_pods.insert(key);
}

}  // namespace fairlead
