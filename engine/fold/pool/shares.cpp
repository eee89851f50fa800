#include "engine/fold/pool/shares.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

CpuMemorySum operator+(CpuMemorySum a, const CpuMemorySum& b) {
  return {a.cpu + b.cpu, a.memory + b.memory};
}
CpuMemorySum operator-(CpuMemorySum a, const CpuMemorySum& b) {
  return {a.cpu - b.cpu, a.memory - b.memory};
}
CpuMemorySum times(const CpuMemory& unit, std::int64_t count) {
  return {Int128{unit.cpu} * count, Int128{unit.memory} * count};
}
CpuMemorySum larger(const CpuMemorySum& a, const CpuMemorySum& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}

Int128 sum_in(const std::map<std::string, Int128>& sums, const std::string& resource) {
  const auto at = sums.find(resource);
  return at == sums.end() ? 0 : at->second;
}

CpuMemorySum pods_of(const PoolShare& share) {
  return {sum_in(share.pods, "cpu"), sum_in(share.pods, "memory")};
}

void add_all(std::map<std::string, Int128>& sums, const std::map<std::string, Int128>& more,
             int sign) {
  for (const auto& [resource, amount] : more) {
    const auto at = sums.try_emplace(resource, 0).first;
    at->second += sign * amount;
    if (at->second == 0) sums.erase(at);
  }
}

// What a namespace of a super cluster says that it has there.
CpuMemorySum said_by(const SuperNamespace& of, const std::string& id, std::int64_t slices_max) {
  const auto slice = read_slice(of.seen.facts.slice);
  const auto placements = read_placements(of.seen.facts.placements, slices_max);
  if (!slice || !placements) return {};
  const auto at = placements->find(id);
  return at == placements->end() ? CpuMemorySum{} : times(*slice, at->second);
}

// Whether it was made for this very namespace, and so is not a stranger.
bool is_known(const PoolNamespace* of, const SuperNamespace& made) {
  if (!of || !of->seen || !of->taken_up) return false;
  const std::string& uid = made.seen.facts.tenant_uid;
  return uid.empty() || of->seen->uid.empty() || uid == of->seen->uid;
}

// The sum of what the namespaces that were made for `key` at `id` say that it holds.
CpuMemorySum said_of(PoolReader state, const PoolNamespaceKey& key, const PoolNamespace& of,
                     const std::string& id) {
  CpuMemorySum sum;
  const Pool& pool = state.pool;
  const auto made = pool.made_for.find(key);
  if (made == pool.made_for.end()) return sum;
  for (const auto& each : made->second) {
    const auto member = pool.ids.find(each.first);
    if (member == pool.ids.end() || member->second != id) continue;
    const SuperNamespace& there = pool.super_namespaces.at(each);
    if (is_known(&of, there)) sum = sum + said_by(there, id, state.configuration.pool.slices_max);
  }
  return sum;
}

// The invariant of the sums, for each id: totals.held is the sum of `counted` over all shares
// there, totals.says the sum of `counted_says`, and totals.pods the sum of the pods of shares with
// `pods_counted`. A share remembers what it has added to the sums, so that every sort of change is
// one subtraction and one addition. Only this function writes `held` and `says`; `pods` is written
// here and by change_pods. A share is erased only when nothing in the sums is from it.
//
// note_room() is called where something falls, never where it rises: namespaces that want slices
// and pods that wait are looked at again because of it, and a rise gives them nothing that they
// could not get before. Pods that leave a listed share make room for pods alone (change_pods).
void recount_share(PoolRoom state, const PoolNamespaceKey& key, PoolNamespace& of,
                   const std::string& id) {
  Pool& pool = state.pool;
  PoolShare& share = of.shares[id];
  PoolTotals& totals = pool.totals[id];
  CpuMemorySum says;
  if (!pool.tenants.at(key.first).takes_part) says = said_of(state, key, of, id);
  const CpuMemorySum counted = larger(share.listed ? held_by(of, share) : CpuMemorySum{}, says);
  if (counted.cpu < share.counted.cpu || counted.memory < share.counted.memory ||
      says.cpu < share.counted_says.cpu || says.memory < share.counted_says.memory)
    note_room(pool, id);
  totals.held = totals.held - share.counted + counted;
  totals.says = totals.says - share.counted_says + says;
  share.counted = counted;
  share.counted_says = says;
  if (share.listed != share.pods_counted) {
    add_all(totals.pods, share.pods, share.listed ? 1 : -1);
    share.pods_counted = share.listed;
    share.listed ? void(totals.namespaces.insert(key)) : void(totals.namespaces.erase(key));
    pool.lists_changed = true;
    if (!share.listed && !share.pods.empty()) note_room(pool, id);
  }
  recompute_overflow(pool, id);
  if (!share.listed && share.pod_count == 0 && says == CpuMemorySum{}) of.shares.erase(id);
}

void change_pods(PoolRoom state, const PoolNamespaceKey& key, const PoolPod& pod, int sign) {
  if (pod.cluster.empty() || pod.seen.facts.over) return;
  Pool& pool = state.pool;
  PoolNamespace& of = *find_namespace(pool, key);
  PoolShare& share = of.shares[pod.cluster];
  std::map<std::string, Int128> requests;
  for (const auto& [resource, amount] : pod.seen.facts.requests) requests.emplace(resource, amount);
  add_all(share.pods, requests, sign);
  if (share.pods_counted) add_all(pool.totals[pod.cluster].pods, requests, sign);
  // Pods that leave change only what other pods may get there, not what namespaces may.
  if (sign < 0 && share.pods_counted) pool.roomier.insert(pod.cluster);
  share.pod_count += sign;
  recount_share(state, key, of, std::string(pod.cluster));
}

void note_limited(Pool& pool, const std::string& tenant) {
  if (!pool.tenants.at(tenant).limit.empty()) pool.dirty_limits.insert(tenant);
}

}  // namespace

void note_room(Pool& pool, const std::string& id) {
  pool.room_grew = true;
  pool.roomier.insert(id);
}

void mark_limited_dirty(Pool& pool) {
  for (const std::string& tenant : std::exchange(pool.dirty_limits, {}))
    for (auto at = pool.wanting.lower_bound({tenant, ""});
         at != pool.wanting.end() && at->first == tenant; ++at)
      pool.dirty_namespaces.insert(*at);
}

void set_share(PoolRoom state, const PoolNamespaceKey& key, const std::string& id,
               std::optional<std::int64_t> wanted) {
  Pool& pool = state.pool;
  PoolNamespace& of = *find_namespace(pool, key);
  PoolShare& share = of.shares[id];
  const bool listed = wanted.has_value();
  const std::int64_t slices = wanted.value_or(0);
  if (share.listed == listed && share.slices == slices) {
    // Nothing in the sums is from it. A share that is not listed counts only what super clusters
    // say, which is nothing for a tenant that takes part; and for other tenants only listed shares
    // come here.
    if (!listed && share.pod_count == 0) of.shares.erase(id);
    return;
  }
  const std::int64_t more = slices - share.slices;
  if (more > 0) share.grown = state.now;
  if (more < 0) note_room(pool, id);
  of.slices += more;
  CpuMemorySum& tenant = pool.tenants.at(key.first).slices;
  tenant = tenant + times(of.unit, more);
  if (more != 0) note_limited(pool, key.first);
  share.slices = slices;
  share.listed = listed;
  recount_share(state, key, of, id);
}

void set_unit(PoolRoom state, const PoolNamespaceKey& key, const CpuMemory& unit) {
  Pool& pool = state.pool;
  PoolNamespace& of = *find_namespace(pool, key);
  CpuMemorySum& tenant = pool.tenants.at(key.first).slices;
  tenant = tenant - times(of.unit, of.slices) + times(unit, of.slices);
  of.unit = unit;
  if (of.slices != 0) note_limited(pool, key.first);
  // Collected first: recount_share() may erase a share.
  std::vector<std::string> ids;
  for (const auto& [id, share] : of.shares) ids.push_back(id);
  for (const std::string& id : ids) recount_share(state, key, of, id);
}

void uncount_pod(PoolRoom state, const PoolNamespaceKey& key, const PoolPod& pod) {
  change_pods(state, key, pod, -1);
}
void count_pod(PoolRoom state, const PoolNamespaceKey& key, const PoolPod& pod) {
  change_pods(state, key, pod, 1);
}

void count_super_namespace(PoolRoom state, const std::pair<std::string, std::string>& id) {
  Pool& pool = state.pool;
  SuperNamespace& made = pool.super_namespaces.at(id);
  const auto member = pool.ids.find(id.first);
  if (member == pool.ids.end()) return;
  const NamespaceFacts& facts = made.seen.facts;
  const PoolNamespaceKey key{facts.tenant, facts.tenant_namespace};
  PoolNamespace* const of = find_namespace(pool, key);
  if (is_known(of, made)) return recount_share(state, key, *of, member->second);
  made.counted_at = member->second;
  made.counted = said_by(made, made.counted_at, state.configuration.pool.slices_max);
  PoolTotals& totals = pool.totals[made.counted_at];
  totals.strangers = totals.strangers + made.counted;
  recompute_overflow(pool, made.counted_at);
}

void uncount_super_namespace(PoolRoom state, const std::pair<std::string, std::string>& id) {
  Pool& pool = state.pool;
  SuperNamespace& made = pool.super_namespaces.at(id);
  if (made.counted_at.empty()) return;
  PoolTotals& totals = pool.totals[made.counted_at];
  totals.strangers = totals.strangers - made.counted;
  if (made.counted != CpuMemorySum{}) note_room(pool, made.counted_at);
  recompute_overflow(pool, made.counted_at);
  made.counted_at.clear();
  made.counted = {};
}

void recount_said(PoolRoom state, const PoolNamespaceKey& key) {
  Pool& pool = state.pool;
  if (const auto made = pool.made_for.find(key); made != pool.made_for.end())
    for (const auto& id : made->second) {
      uncount_super_namespace(state, id);
      count_super_namespace(state, id);
    }
  PoolNamespace* const of = find_namespace(pool, key);
  if (!of) return;
  std::vector<std::string> ids;
  for (const auto& [id, share] : of->shares) ids.push_back(id);
  for (const std::string& id : ids) recount_share(state, key, *of, id);
}

void recount_member(PoolRoom state, const std::string& member) {
  Pool& pool = state.pool;
  std::set<PoolNamespaceKey> keys;
  for (auto at = pool.super_namespaces.lower_bound({member, ""});
       at != pool.super_namespaces.end() && at->first.first == member; ++at)
    keys.insert({at->second.seen.facts.tenant, at->second.seen.facts.tenant_namespace});
  for (const PoolNamespaceKey& key : keys) recount_said(state, key);
}

// Only an overflow asks for a round in which namespaces yield (Rounds::end_overflow), so its end
// sets no `overflow_changed`. What ended it makes room for others, and has said so by room_grew.
// One that goes on is reported again: who may yield, and how much, may be another answer now.
void recompute_overflow(Pool& pool, const std::string& id) {
  const auto cluster = pool.clusters.find(id);
  const auto totals = pool.totals.find(id);
  // The reasons of pods with devices tell what they read about a cluster, so they change where
  // there is less, too.
  if (cluster != pool.clusters.end() && !pool.device_pods.empty())
    pool.dirty_devices.insert(cluster->second.cluster);
  if (cluster == pool.clusters.end() || totals == pool.totals.end() || !cluster->second.known) {
    pool.overflowing.erase(id);
    return;
  }
  const CpuMemory accepted = accepted_of(cluster->second);
  const CpuMemorySum held = totals->second.held + totals->second.strangers;
  if (held.cpu > accepted.cpu || held.memory > accepted.memory) {
    pool.overflowing.insert(id);
    pool.overflow_changed = true;
  } else {
    pool.overflowing.erase(id);
  }
}

SliceMap placements_of(const PoolNamespace& of) {
  SliceMap slices;
  for (const auto& [id, share] : of.shares)
    if (share.listed) slices.emplace(id, share.slices);
  return slices;
}

std::int64_t needed_slices(const PoolNamespace& of, const PoolShare& share) {
  const CpuMemorySum pods = pods_of(share);
  const auto slices = [](Int128 amount, Amount unit) {
    return unit <= 0 ? Int128{0} : (amount + unit - 1) / unit;
  };
  return saturate(std::max(slices(pods.cpu, of.unit.cpu), slices(pods.memory, of.unit.memory)));
}

CpuMemorySum others_at(const Pool& pool, const PoolNamespace& of, const std::string& id) {
  CpuMemorySum others;
  if (const auto at = pool.totals.find(id); at != pool.totals.end())
    others = at->second.held + at->second.strangers;
  if (const auto at = of.shares.find(id); at != of.shares.end())
    others = others - at->second.counted;
  return others;
}

std::int64_t room_at(PoolReader state, const PoolNamespace& of, const std::string& id,
                     const CpuMemory& unit) {
  if (standing_of(state, id) != ClusterStanding::open) return 0;
  const CpuMemory accepted = accepted_of(state.pool.clusters.at(id));
  const CpuMemorySum left =
      CpuMemorySum{accepted.cpu, accepted.memory} - others_at(state.pool, of, id);
  if (left.cpu < unit.cpu || left.memory < unit.memory) return 0;
  return saturate(std::min(left.cpu / unit.cpu, left.memory / unit.memory));
}

CpuMemorySum held_by(const PoolNamespace& of, const PoolShare& share) {
  return larger(times(of.unit, share.slices), pods_of(share));
}

CpuMemory accepted_of(const SuperCluster& cluster) {
  const auto amount = [&](const char* resource) {
    const auto at = cluster.accepted.find(resource);
    return at == cluster.accepted.end() ? Amount{0} : at->second;
  };
  return {amount("cpu"), amount("memory")};
}

}  // namespace fairlead
