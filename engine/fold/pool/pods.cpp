#include "engine/fold/pool/pods.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/fold/pool/close.h"
#include "engine/fold/pool/reasons.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

// Whether the pod lacks a cluster, or has one that its namespace does not list or that is gone.
bool lacks_cluster(const State& state, const PoolNamespace& of, const PoolPod& pod) {
  if (pod.cluster.empty()) return true;
  const auto share = of.shares.find(pod.cluster);
  if (share == of.shares.end() || !share->second.listed) return true;
  return standing_of(state, pod.cluster) == ClusterStanding::gone;
}

bool waits(const State& state, const PoolTenant& tenant, const PoolNamespace& of,
           const PoolPod& pod) {
  const PodFacts& facts = pod.seen.facts;
  return takes_part(tenant, of) && is_in_pool(state, of) && !facts.over && !facts.deleting &&
         !facts.bound && !facts.gated && lacks_cluster(state, of, pod);
}

Amount accepted_of(const SuperCluster& cluster, const std::string& resource) {
  const auto at = cluster.accepted.find(resource);
  return at == cluster.accepted.end() ? 0 : at->second;
}

Int128 sum_of(const std::map<std::string, Int128>& sums, const std::string& resource) {
  const auto at = sums.find(resource);
  return at == sums.end() ? 0 : at->second;
}

// What is left of a cluster for pods.
Int128 machine_left(const State& state, const std::string& id, const std::string& resource) {
  Int128 left = accepted_of(state.pool.clusters.at(id), resource);
  const auto at = state.pool.totals.find(id);
  if (at == state.pool.totals.end()) return left;
  const PoolTotals& totals = at->second;
  left -= sum_of(totals.pods, resource);
  if (resource == "cpu") left -= totals.strangers.cpu + totals.says.cpu;
  if (resource == "memory") left -= totals.strangers.memory + totals.says.memory;
  return left;
}

// A cluster where a pod may run, with what its namespace's share has left there.
struct PodPlace {
  std::string id;
  Int128 cpu = 0;
  Int128 memory = 0;
};

PodPlace place_at(const PoolNamespace& of, const std::string& id) {
  const PoolShare& share = of.shares.at(id);
  return {id, Int128{of.unit.cpu} * share.slices - sum_of(share.pods, "cpu"),
          Int128{of.unit.memory} * share.slices - sum_of(share.pods, "memory")};
}

// Returns the first resource of which a place has less than the pod asks for; empty: it fits.
// `left_of` says what the cluster has left.
template <typename LeftOf>
std::string lacking_at(const PodPlace& place, const PodFacts& facts, const LeftOf& left_of) {
  const auto request = [&](const char* resource) {
    const auto at = facts.requests.find(resource);
    return at == facts.requests.end() ? Amount{0} : at->second;
  };
  if (place.cpu < request("cpu")) return "cpu";
  if (place.memory < request("memory")) return "memory";
  for (const auto& [resource, amount] : facts.requests)
    if (left_of(resource) < amount) return resource;
  return "";
}

bool fits(const State& state, const PodPlace& place, const PodFacts& facts) {
  const auto left_of = [&](const std::string& resource) {
    return machine_left(state, place.id, resource);
  };
  return lacking_at(place, facts, left_of).empty();
}

std::string joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ",") + id;
  return text;
}

// Returns the clusters that the namespace's placements list with slices, as they stand in the
// tenant and as decided.
std::vector<std::string> listed_clusters(const PoolNamespace& of) {
  std::vector<std::string> ids;
  if (!of.taken_up || !of.observed) return ids;
  for (const auto& [id, share] : of.shares)
    if (share.listed && share.slices >= 1 && of.observed->contains(id)) ids.push_back(id);
  return ids;
}

// The first resource beside cpu and memory that none of the clusters offers; empty if all do.
std::string unknown_resource(const State& state, const std::vector<PodPlace>& places,
                             const PodFacts& facts) {
  for (const auto& [resource, amount] : facts.requests) {
    if (resource == "cpu" || resource == "memory" || amount == 0) continue;
    const bool offered = std::any_of(places.begin(), places.end(), [&](const PodPlace& place) {
      return accepted_of(state.pool.clusters.at(place.id), resource) > 0;
    });
    if (!offered) return resource;
  }
  return "";
}

std::string requests_text(const PodFacts& facts) {
  std::string text;
  for (const auto& [resource, amount] : facts.requests)
    text += (text.empty() ? "" : ", ") + resource + " " + amount_text(resource, amount);
  return text;
}

// Returns the place of a pod, or why there is none.
std::optional<std::string> choose_place(const State& state, const PoolNamespace& of,
                                        const PodFacts& facts, ReasonText& why_not) {
  if (facts.resource_claims) {
    why_not = {"ResourceClaims", ReasonTopic::request};
    return std::nullopt;
  }
  const std::vector<std::string> listed = listed_clusters(of);
  if (listed.empty()) {
    why_not = {"NamespaceNotPlaced", ReasonTopic::clusters};
    return std::nullopt;
  }
  std::vector<PodPlace> open;
  for (const std::string& id : listed)
    if (standing_of(state, id) == ClusterStanding::open) open.push_back(place_at(of, id));
  if (open.empty()) {
    why_not = {"ClusterUnavailable: " + joined(listed), ReasonTopic::clusters};
    return std::nullopt;
  }
  if (std::string resource = unknown_resource(state, open, facts); !resource.empty()) {
    why_not = {"UnknownResource: " + resource, ReasonTopic::clusters};
    return std::nullopt;
  }
  const bool spread =
      of.seen->facts.policy == "spread" ||
      (of.seen->facts.policy != "pack" && state.configuration.pool.policy == PoolPolicy::spread);
  const PodPlace* best = nullptr;
  for (const PodPlace& place : open) {
    if (!fits(state, place, facts)) continue;
    const auto key = [](const PodPlace& of_one) { return std::tie(of_one.cpu, of_one.memory); };
    if (!best || (spread ? key(place) > key(*best) : key(place) < key(*best))) best = &place;
  }
  if (best) return best->id;
  why_not = {"DoesNotFit: " + requests_text(facts), ReasonTopic::clusters};
  return std::nullopt;
}

}  // namespace

void judge_pod(State& state, const PoolPodKey& key) {
  PoolPod* const pod = find_pod(state.pool, key);
  if (!pod) return;
  const PoolNamespaceKey home = namespace_of(key);
  const PoolTenant& tenant = state.pool.tenants.at(home.first);
  PoolNamespace& of = *find_namespace(state.pool, home);
  const std::string& name = key.pod;
  const bool now = waits(state, tenant, of, *pod);
  if (now && !pod->waits_since) {
    pod->waits_since = state.now;
    of.waiting.emplace(state.now, name);
    state.pool.waiting.insert(home);
  } else if (!now && pod->waits_since) {
    of.waiting.erase({*pod->waits_since, name});
    if (of.waiting.empty()) state.pool.waiting.erase(home);
    pod->waits_since.reset();
  }
  if (!is_in_pool(state, of))
    pod->reason.current.clear();
  else if (!now && takes_part(tenant, of))
    set_reason(state, key, pod->reason, {});
}

bool place_pods(State& state, const std::set<PoolNamespaceKey>& namespaces, DirtySet& dirty) {
  std::vector<std::pair<LogTime, PoolPodKey>> order;
  for (const PoolNamespaceKey& key : namespaces)
    if (const PoolNamespace* of = find_namespace(state.pool, key))
      for (const auto& [since, name] : of->waiting)
        order.emplace_back(since, PoolPodKey{key.first, key.second, name});
  std::sort(order.begin(), order.end());
  bool placed = false;
  for (const auto& [since, key] : order) {
    const PoolNamespaceKey home = namespace_of(key);
    PoolNamespace& of = *find_namespace(state.pool, home);
    PoolPod& pod = of.pods.at(key.pod);
    ReasonText why_not;
    const auto id = choose_place(state, of, pod.seen.facts, why_not);
    if (id) {
      uncount_pod(state, home, pod);
      pod.cluster = *id;
      count_pod(state, home, pod);
      judge_pod(state, key);
      state.pool.open_namespaces.insert(home);
      placed = true;
    } else {
      set_reason(state, key, pod.reason, std::move(why_not));
    }
    close_pod(state, key, dirty);
  }
  return placed;
}

PodRoom room_for_pod(const State& state, const PoolPodKey& key, const std::string& id) {
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  const PoolPod& pod = *find_pod(state.pool, key);
  const PodFacts& facts = pod.seen.facts;
  const auto share = of.shares.find(id);
  const auto own = [&](const std::string& resource) {
    const auto at = facts.requests.find(resource);
    const bool counts = pod.cluster == id && !facts.over && at != facts.requests.end();
    return counts ? Int128{at->second} : Int128{0};
  };
  PodPlace place{id, 0, 0};
  if (share != of.shares.end()) place = place_at(of, id);
  place.cpu += own("cpu");
  place.memory += own("memory");
  PodRoom room{{place.cpu, place.memory}, {{"cpu", 0}, {"memory", 0}}, ""};
  for (const auto& [resource, amount] : facts.requests) room.free.emplace(resource, 0);
  if (state.pool.clusters.contains(id))
    for (auto& [resource, free] : room.free) {
      free = machine_left(state, id, resource);
      // A share that is not listed is in no sum of the cluster.
      if (share != of.shares.end() && share->second.pods_counted) free += own(resource);
    }
  room.lacking =
      lacking_at(place, facts, [&](const std::string& resource) { return room.free.at(resource); });
  return room;
}

}  // namespace fairlead
