#include "engine/fold/pool/membership.h"

#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/shares.h"

namespace fairlead {

bool takes_part(const PoolTenant& tenant, const PoolNamespace& of) {
  return tenant.takes_part && of.seen && !of.seen->facts.deleting;
}

bool is_in_pool(const Configuration& configuration, const PoolNamespace& of) {
  return quota_of(of, configuration.pool.quotas).any();
}

bool namespace_differs(const Configuration& configuration, const PoolNamespace& of) {
  const bool in_pool = is_in_pool(configuration, of);
  if (!of.taken_up && !in_pool) return false;
  if (value_of(of.reason).written != of.seen->facts.reason.value_or("")) return true;
  if (!of.taken_up) return false;
  return !of.observed || *of.observed != placements_of(of);
}

std::optional<std::string> super_cluster_of(const PoolPod& pod) {
  return pod.cluster.empty() ? pod.seen.facts.super_cluster : pod.cluster;
}

bool pod_differs(const PoolPod& pod) {
  const PodFacts& facts = pod.seen.facts;
  if (facts.bound || facts.over || facts.deleting) return false;
  return super_cluster_of(pod) != facts.super_cluster ||
         value_of(pod.reason).written != facts.reason.value_or("");
}

}  // namespace fairlead
