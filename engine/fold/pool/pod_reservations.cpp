#include "engine/fold/pool/pod_reservations.h"

#include <algorithm>
#include <utility>

#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_question.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/devices/reservation.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/pool/pod_devices.h"
#include "engine/fold/pool/pool_state.h"

namespace fairlead {

namespace {

void forget_due(PoolRoom state, const PoolPodKey& key, const DeviceReservation& reservation) {
  state.pool.device_due.erase({reservation.since + state.configuration.dra.place_timeout, key});
}

// The claims that the member's copies of the tenant's pod use.
std::set<NamespacedName> claims_made_for(const SearchIndex& index, const PoolPod& pod) {
  std::set<NamespacedName> own;
  for (auto at = index.pods_of_tenants.lower_bound({pod.seen.uid, {}});
       at != index.pods_of_tenants.end() && at->first == pod.seen.uid; ++at) {
    const auto claims = index.claims_of_pod.find(index.uids.at(at->second));
    if (claims != index.claims_of_pod.end())
      own.insert(claims->second.begin(), claims->second.end());
  }
  return own;
}

// Whether a Pod that owns or uses the claim was made for the tenant's pod.
bool is_made_for(const SearchIndex& index, const NamespacedName& claim, const PoolPod& pod) {
  const auto uids = index.pods_of_claim.find(claim);
  if (uids == index.pods_of_claim.end()) return false;
  return std::any_of(uids->second.begin(), uids->second.end(), [&](const std::string& uid) {
    const auto known = index.pods.find(uid);
    if (known == index.pods.end()) return false;
    const auto tenant = index.tenant_uids.find(known->second);
    return tenant != index.tenant_uids.end() && tenant->second == pod.seen.uid;
  });
}

// Takes out of the reservation what the allocated claim gives the pod. Returns whether there was
// any.
bool give_up(const SearchIndex& index, const NamespacedName& id, const ResourceClaimFacts& claim,
             PoolPod& pod) {
  const PodDeviceFacts& asks = *pod.seen.facts.devices;
  const bool named = claim.pod_claim.empty() && !claim.extended;
  if (!named && !is_made_for(index, id, pod)) return false;
  std::size_t taken = 0;
  for (FitPod& solved : pod.reserved->pods)
    taken += std::erase_if(solved.claims, [&](const FitClaim& reserved) {
      if (!named) return is_of(asks, reserved, claim);
      const PodClaim* entry = named_entry(asks, reserved.entry);
      return entry && entry->claim == id.second;
    });
  return taken > 0;
}

// Keeps what is left of the reservation.
void keep_rest(PoolRoom state, SearchIndex& index, const PoolPodKey& key, PoolPod& pod) {
  const auto& pods = pod.reserved->pods;
  if (std::all_of(pods.begin(), pods.end(),
                  [](const FitPod& solved) { return solved.claims.empty(); }))
    release_devices(state, key, pod);
  else
    index.reserve(key, *pod.reserved);
}

// Claims that the pod's copies there had before the decision count like later ones.
void take_over_claims(PoolRoom state, const PoolPodKey& key, PoolPod& pod) {
  SearchIndex& index = search_index(state, pod.reserved->cluster);
  const auto& claims = state.clusters.at(pod.reserved->cluster).devices.claims;
  bool changed = false;
  for (const NamespacedName& id : claims_made_for(index, pod))
    if (const ResourceClaimFacts* claim = facts_in(claims, id); claim && claim->allocation)
      changed |= give_up(index, id, *claim, pod);
  if (changed) keep_rest(state, index, key, pod);
}

void replace_by_claim(PoolRoom state, const std::string& member, const NamespacedName& id) {
  const ResourceClaimFacts* claim = facts_in(state.clusters.at(member).devices.claims, id);
  const auto space = state.pool.super_namespaces.find({member, id.first});
  if (!claim || !claim->allocation || space == state.pool.super_namespaces.end()) return;
  const NamespaceFacts& of = space->second.seen.facts;
  SearchIndex& index = search_index(state, member);
  // Collected first: keep_rest() may release a reservation, which changes the set that is walked.
  std::vector<PoolPodKey> keys;
  for_reserved(state.pool, {of.tenant, of.tenant_namespace}, member,
               [&](const PoolPodKey& key, const PoolPod&) { keys.push_back(key); });
  for (const PoolPodKey& key : keys) {
    PoolPod& pod = *find_pod(state.pool, key);
    if (give_up(index, id, *claim, pod)) keep_rest(state, index, key, pod);
  }
}

// Lets claims that are new in the moment, or whose Pods are, replace what was reserved.
void replace_by_claims(PoolRoom state, const std::string& member) {
  if (!state.pool.reserved_on.contains(member)) return;
  const DeviceChanges& changes = state.clusters.at(member).search.changes;
  std::set<NamespacedName> claims = changes.claims;
  const SearchIndex& index = search_index(state, member);
  for (const NamespacedName& pod : changes.pods) {
    const auto uid = index.uids.find(pod);
    if (uid == index.uids.end()) continue;
    const auto of = index.claims_of_pod.find(uid->second);
    if (of != index.claims_of_pod.end()) claims.insert(of->second.begin(), of->second.end());
  }
  for (const NamespacedName& claim : claims) replace_by_claim(state, member, claim);
}

// What the pod asks for that no claim has taken over yet.
PodDeviceFacts rest_of(const PoolPod& pod) {
  PodDeviceFacts rest = *pod.seen.facts.devices;
  const auto is_left = [&](const std::string& entry) {
    return std::any_of(pod.reserved->pods.begin(), pod.reserved->pods.end(), [&](const FitPod& of) {
      return std::any_of(of.claims.begin(), of.claims.end(),
                         [&](const FitClaim& claim) { return claim.entry == entry; });
    });
  };
  std::erase_if(rest.claims,
                [&](const PodClaim& entry) { return entry.claim.empty() && !is_left(entry.name); });
  std::erase_if(rest.extended, [&](const auto& asked) { return !is_left(asked.first); });
  return rest;
}

void mend_devices(PoolRoom state, const std::string& member, const PoolPodKey& key, PoolPod& pod) {
  DeviceReservation& reservation = *pod.reserved;
  SearchIndex& index = search_index(state, member);
  // The reservation must not be an obstacle to itself. It is put back in any case, so that the
  // devices of a broken one are given to no other pod.
  index.release(key);
  const PodDeviceFacts rest = rest_of(pod);
  auto pods =
      solve_again(state.clusters.at(member), index, question_of_pod(state, key, rest, member),
                  reservation.pods, claims_made_for(index, pod));
  if (pods)
    reservation.broken_since.reset();
  else if (!reservation.broken_since)
    reservation.broken_since = state.now;
  if (pods) reservation.pods = *std::move(pods);
  index.reserve(key, reservation);
}

enum class Repair : std::uint8_t { touched, broken };

// Solves reservations again; the older one gets the last device.
void repair_devices(PoolRoom state, const std::string& member, Repair which) {
  const auto on = state.pool.reserved_on.find(member);
  if (on == state.pool.reserved_on.end()) return;
  const DeviceChanges& changes = state.clusters.at(member).search.changes;
  std::set<std::pair<LogTime, PoolPodKey>> order;
  for (const PoolPodKey& key : on->second) {
    const PoolPod& pod = *find_pod(state.pool, key);
    const bool broken = pod.reserved->broken_since.has_value();
    const bool moved = changes.all || !changes.classes.empty() ||
                       touches(changes, pod.reserved->pods) ||
                       (!changes.claims.empty() && names_a_claim(*pod.seen.facts.devices));
    if (broken || (which == Repair::touched && moved)) order.emplace(pod.reserved->since, key);
  }
  for (const auto& [since, key] : order)
    mend_devices(state, member, key, *find_pod(state.pool, key));
}

// Another configuration may have another dra.placeTimeout.
void redate_reservations(PoolRoom state) {
  Pool& pool = state.pool;
  pool.device_due.clear();
  const Duration timeout = state.configuration.dra.place_timeout;
  if (timeout.ns == 0) return;
  for (const auto& [member, keys] : pool.reserved_on)
    for (const PoolPodKey& key : keys)
      pool.device_due.insert({find_pod(pool, key)->reserved->since + timeout, key});
}

void drop_due(PoolRoom state) {
  auto& due = state.pool.device_due;
  while (!due.empty() && due.begin()->first <= state.now) {
    const PoolPodKey key = due.begin()->second;
    due.erase(due.begin());
    release_devices(state, key, *find_pod(state.pool, key));
  }
}

}  // namespace

void reserve_devices(PoolRoom state, const PoolPodKey& key, PoolPod& pod, const std::string& id,
                     std::vector<FitPod> pods) {
  release_devices(state, key, pod);
  std::erase_if(pods, [](const FitPod& solved) { return solved.claims.empty(); });
  if (pods.empty()) return;
  DeviceReservation& made = pod.reserved.emplace();
  made.worker = id;
  made.cluster = state.pool.clusters.at(id).cluster;
  made.pods = std::move(pods);
  made.since = state.now;
  made.causes = state.clusters.at(made.cluster).search.changes.causes;
  remember(made.causes, pod.seen.seq);
  state.pool.reserved_on[made.cluster].insert(key);
  const Duration timeout = state.configuration.dra.place_timeout;
  if (timeout.ns > 0) state.pool.device_due.insert({made.since + timeout, key});
  search_index(state, made.cluster).reserve(key, made);
  note_reserved(state, made.cluster);
  take_over_claims(state, key, pod);
}

void release_devices(PoolRoom state, const PoolPodKey& key, PoolPod& pod) {
  if (!pod.reserved) return;
  const std::string cluster = pod.reserved->cluster;
  forget_due(state, key, *pod.reserved);
  pod.reserved.reset();
  const auto on = state.pool.reserved_on.find(cluster);
  on->second.erase(key);
  if (on->second.empty()) state.pool.reserved_on.erase(on);
  // An index that is not kept will be derived from records that no longer have the reservation.
  if (const auto& index = *state.clusters.at(cluster).search.index) index->release(key);
  note_freed(state, cluster);
}

void recompute_pod_reservations(PoolRoom state) {
  if (!places_by_devices(state.configuration)) return;
  if (state.pool.all_dirty) redate_reservations(state);
  drop_due(state);
  for (const std::string& member : state.searches.dirty_clusters) replace_by_claims(state, member);
  for (const std::string& member : std::set<std::string>(state.pool.freed_devices))
    repair_devices(state, member, Repair::touched);
}

std::set<PoolNamespaceKey> mark_device_pods_dirty(PoolRoom state) {
  std::set<PoolNamespaceKey> marked;
  Pool& pool = state.pool;
  for (const std::string& member : std::exchange(pool.freed_devices, {}))
    repair_devices(state, member, Repair::broken);
  std::vector<std::string> ids;
  for (const std::string& member : std::exchange(pool.dirty_devices, {}))
    if (const auto id = pool.ids.find(member); id != pool.ids.end()) ids.push_back(id->second);
  if (ids.empty()) return marked;
  for (const PoolPodKey& key : pool.device_pods) {
    PoolNamespace& of = *find_namespace(pool, namespace_of(key));
    // A claim that the pod names may pin it to any cluster.
    const bool concerned = names_a_claim(*of.pods.at(key.pod).seen.facts.devices) ||
                           std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
                             return of.shares.contains(id);
                           });
    if (!concerned) continue;
    of.look->fresh.insert(key.pod);
    marked.insert(namespace_of(key));
  }
  return marked;
}

}  // namespace fairlead
