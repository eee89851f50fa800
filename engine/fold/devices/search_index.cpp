#include "engine/fold/devices/search_index.h"

#include <algorithm>
#include <utility>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/pool/lookup.h"
#include "engine/fold/pool/pool_state.h"

namespace fairlead {

namespace {

std::string user_of(const NamespacedName& id) { return id.first + "/" + id.second; }
// No namespace has a colon in its name.
std::string booker_of(const NamespacedName& claim) { return "booking:" + user_of(claim); }
std::string user_of(const PoolPodKey& pod) {
  return pod.tenant + "/" + pod.namespace_ + "/" + pod.pod;
}

std::set<std::string> pods_of(const ResourceClaimFacts& claim) {
  std::set<std::string> uids(claim.pod_owners.begin(), claim.pod_owners.end());
  for (const ClaimConsumer& consumer : claim.reserved_for)
    if (consumer.api_group.empty() && consumer.resource == "pods") uids.insert(consumer.uid);
  return uids;
}

// What an allocation uses, by the slices as they are now.
std::vector<DeviceUse> uses_now(const ClaimAllocation& allocation, SearchIndex& index) {
  return pin_uses(allocation, [&](const DeviceId& id) { return index.devices.published(id); });
}

bool costs_are_known(const std::vector<DeviceUse>& uses) {
  return std::none_of(uses.begin(), uses.end(),
                      [](const DeviceUse& use) { return use.cost == UseCost::unknown; });
}

// Brings objects of the index to what State holds of them now.
class IndexUpdate {
 public:
  IndexUpdate(const Cluster& cluster, SearchIndex& index) : cluster_(cluster), index_(index) {}

  void slice(const std::string& name) const {
    if (const SliceRecord* record = cluster_.devices.slices.find(name))
      index_.devices.set_slice(name, *record->facts);
    else
      index_.devices.erase_slice(name);
  }
  void node(const std::string& name) const {
    if (const NodeRecord* record = cluster_.reports.nodes.find(name))
      index_.devices.set_node(name, record->facts);
    else
      index_.devices.erase_node(name);
  }
  void device_class(const std::string& name) const {
    if (const auto* facts = facts_in(cluster_.devices.classes, name))
      index_.devices.set_class(name, *facts);
    else
      index_.devices.erase_class(name);
  }
  void rule(const std::string& name) const {
    if (const auto* facts = facts_in(cluster_.devices.rules, name))
      index_.devices.set_taint_rule(name, *facts);
    else
      index_.devices.erase_taint_rule(name);
  }
  void uses(const NamespacedName& id) const {
    index_.set_uses(id, known_uses(cluster_, index_, id));
  }
  void links_of_claim(const NamespacedName& id) const {
    const ResourceClaimFacts* facts = facts_in(cluster_.devices.claims, id);
    std::set<std::string> now = facts ? pods_of(*facts) : std::set<std::string>();
    const auto known = index_.pods_of_claim.find(id);
    if (known != index_.pods_of_claim.end()) {
      for (const std::string& uid : known->second) unlink(uid, id);
      index_.pods_of_claim.erase(known);
    }
    for (const std::string& uid : now) index_.claims_of_pod[uid].insert(id);
    if (!now.empty()) index_.pods_of_claim.emplace(id, std::move(now));
  }
  void pod(const NamespacedName& id) const {
    if (const auto known = index_.uids.find(id); known != index_.uids.end()) {
      index_.pods.erase(known->second);
      index_.uids.erase(known);
    }
    if (const auto known = index_.tenant_uids.find(id); known != index_.tenant_uids.end()) {
      index_.pods_of_tenants.erase({known->second, id});
      index_.tenant_uids.erase(known);
    }
    const auto at = cluster_.devices.pods.find(id);
    if (at == cluster_.devices.pods.end()) return;
    index_.pods[at->second.uid] = id;
    index_.uids[id] = at->second.uid;
    const std::string& tenant_uid = at->second.origin.tenant_uid;
    if (tenant_uid.empty()) return;
    index_.tenant_uids[id] = tenant_uid;
    index_.pods_of_tenants.insert({tenant_uid, id});
  }

 private:
  void unlink(const std::string& uid, const NamespacedName& claim) const {
    // Both directions are changed together (links_of_claim), so the entry is there.
    const auto at = index_.claims_of_pod.find(uid);
    at->second.erase(claim);
    if (at->second.empty()) index_.claims_of_pod.erase(at);
  }

  const Cluster& cluster_;
  SearchIndex& index_;
};

// An index that is kept must be, at the end of each recompute_search, what this gives: a State that
// was read from a snapshot has no index, and both must find the same devices. update_changed() and
// pin() bring the objects that events changed; a rule that changes a booking or a reservation
// writes it into a kept index itself (book, unbook, reserve, release). The configuration is no
// input: a change of it only makes `answers` stale, as DeviceChanges::all says.
std::shared_ptr<SearchIndex> derive(SearchReader state, const std::string& name) {
  auto index = std::make_shared<SearchIndex>();
  const Cluster& cluster = state.clusters.at(name);
  const IndexUpdate update(cluster, *index);
  for (const auto* entry : cluster.devices.slices.sorted()) update.slice(entry->first);
  for (const auto* entry : cluster.reports.nodes.sorted()) update.node(entry->first);
  for (const auto& [id, record] : cluster.devices.classes) update.device_class(id);
  for (const auto& [id, record] : cluster.devices.rules) update.rule(id);
  for (const auto& [id, record] : cluster.devices.claims) {
    update.links_of_claim(id);
    if (record.facts.allocation) update.uses(id);
  }
  for (const auto& [id, pod] : cluster.devices.pods) update.pod(id);
  if (const auto booked = state.fleet.booked_on.find(name); booked != state.fleet.booked_on.end())
    for (const NamespacedName& id : booked->second)
      index->book(id, state.fleet.claims.at(id).booking->devices);
  const auto workloads = state.dispatch.reserved_on.find(name);
  if (workloads != state.dispatch.reserved_on.end())
    for (const NamespacedName& id : workloads->second)
      index->reserve(id, *state.multikueue.workloads.at(id).devices().reservation);
  const auto pods = state.pool.reserved_on.find(name);
  if (pods != state.pool.reserved_on.end())
    for (const PoolPodKey& key : pods->second)
      index->reserve(key, *find_pod(state.pool, key)->reserved);
  return index;
}

// All that derive() takes from State::clusters, but for the uses of claims, which pin() sets: each
// set of DeviceChanges is one loop there. Every answer that was remembered may be another now.
void update_changed(const Cluster& cluster, SearchIndex& index) {
  const IndexUpdate update(cluster, index);
  const DeviceChanges& changes = cluster.search.changes;
  for (const std::string& name : changes.slices) update.slice(name);
  for (const std::string& name : changes.nodes) update.node(name);
  for (const std::string& name : changes.classes) update.device_class(name);
  for (const std::string& name : changes.rules) update.rule(name);
  for (const NamespacedName& id : changes.claims) update.links_of_claim(id);
  for (const NamespacedName& id : changes.pods) update.pod(id);
  index.answers.clear();
}

// Pins the allocated claims of `ids` that are not pinned, and forgets those that are not allocated.
// A device that is not published may still be listed: until that is known its cost is not pinned.
void pin(SearchRoom state, const std::string& name, const std::set<NamespacedName>& ids) {
  Cluster& cluster = state.clusters.at(name);
  DeviceSearch& search = cluster.search;
  for (const NamespacedName& id : ids) {
    const ResourceClaimFacts* claim = facts_in(cluster.devices.claims, id);
    // `ids` has the unpinned ones as a copy (recompute_search), so they may be erased here.
    search.unpinned.erase(id);
    if (!claim || !claim->allocation) {
      search.pins.erase(id);
    } else if (!search.pins.contains(id)) {
      std::vector<DeviceUse> uses = uses_now(*claim->allocation, search_index(state, name));
      if (search.slices_listed || costs_are_known(uses))
        search.pins.emplace(id, std::move(uses));
      else
        search.unpinned.insert(id);
    }
    if (*search.index) IndexUpdate(cluster, **search.index).uses(id);
  }
}

void mark_all_clusters_dirty(StateView<Clusters, DeviceSearches, const LogPosition> state) {
  for (auto& [name, cluster] : state.clusters) {
    if (!is_watched(cluster)) continue;
    cluster.search.changes.all = cluster.search.changes.heard = true;
    remember(cluster.search.changes.causes, state.seq);
    state.searches.dirty_clusters.insert(name);
  }
}

// The index is updated before claims are pinned: a pin takes the cost of a device from the slices
// as they are now, and stays although they change later. set_uses() leaves `answers` as they are;
// update_changed() has cleared them, and nothing is asked before the pins are there.
void recompute_search(SearchRoom state, const std::string& name) {
  Cluster& cluster = state.clusters.at(name);
  DeviceSearch& search = cluster.search;
  std::set<NamespacedName> claims = search.changes.claims;
  if (search.changes.all)
    for (const auto& [id, record] : cluster.devices.claims) claims.insert(id);
  claims.insert(search.unpinned.begin(), search.unpinned.end());
  if (*search.index) update_changed(cluster, **search.index);
  pin(state, name, claims);
  const auto before = search.unreachable_since;
  if (is_reachable(cluster))
    search.unreachable_since.reset();
  else if (!search.unreachable_since)
    search.unreachable_since = state.now;
  search.changes.turned = before != search.unreachable_since;
}

void end_search(Cluster& cluster) {
  const bool listed = cluster.search.slices_listed;
  cluster.search = {};
  // A complete list of slices need not be an event while their stream is live: nothing else would
  // set this again.
  cluster.search.slices_listed = listed;
}

void reserve_as(SearchIndex& index, const std::string& consumer,
                const DeviceReservation& reservation) {
  FitAnswer answer;
  answer.pods = reservation.pods;
  index.devices.set_reservation(consumer, reservation_of(answer), plugin_uses_of(reservation.pods));
  index.answers.clear();
}

void release_of(SearchIndex& index, const std::string& consumer) {
  index.devices.set_reservation(consumer, {});
  index.answers.clear();
}

}  // namespace

void SearchIndex::reserve(const NamespacedName& workload, const DeviceReservation& reservation) {
  reserve_as(*this, user_of(workload), reservation);
}

void SearchIndex::release(const NamespacedName& workload) { release_of(*this, user_of(workload)); }

void SearchIndex::reserve(const PoolPodKey& pod, const DeviceReservation& reservation) {
  reserve_as(*this, user_of(pod), reservation);
}

void SearchIndex::release(const PoolPodKey& pod) { release_of(*this, user_of(pod)); }

void SearchIndex::book(const NamespacedName& claim, const std::vector<FitDevice>& booked) {
  FitAnswer answer;
  answer.pods = {{0, "", {{"", booked}}}};
  devices.set_reservation(booker_of(claim), reservation_of(answer));
  answers.clear();
}

void SearchIndex::unbook(const NamespacedName& claim) {
  devices.set_reservation(booker_of(claim), {});
  answers.clear();
}

void SearchIndex::set_uses(const NamespacedName& claim, std::vector<DeviceUse> uses) {
  devices.set_uses(user_of(claim), std::move(uses));
}

bool dispatches_by_devices(const Configuration& configuration) {
  const DraSettings& dra = configuration.dra;
  return (dra.dispatch || dra.fleet_claims) && configuration.multikueue.dispatcher;
}

bool places_by_devices(const Configuration& configuration) {
  return !configuration.pool.clusters.empty();
}

bool searches_devices(const Configuration& configuration) {
  return dispatches_by_devices(configuration) || places_by_devices(configuration);
}

DeviceChanges* note_change(SearchMarks state, const std::string& name, Cluster& cluster, Seq seq) {
  if (!searches_devices(state.configuration)) return nullptr;
  state.searches.dirty_clusters.insert(name);
  cluster.search.changes.heard = true;
  remember(cluster.search.changes.causes, seq);
  return &cluster.search.changes;
}

void note_stream(SearchMarks state, const std::string& name) {
  if (searches_devices(state.configuration)) state.searches.dirty_clusters.insert(name);
}

void note_freed(SearchRoom state, const std::string& name) {
  if (dispatches_by_devices(state.configuration)) state.dispatch.dirty_clusters.insert(name);
  if (!places_by_devices(state.configuration)) return;
  state.pool.dirty_devices.insert(name);
  state.pool.freed_devices.insert(name);
}

void note_freed(SearchRoom state, const std::string& name, const std::vector<FitDevice>& devices) {
  note_freed(state, name);
  state.searches.dirty_clusters.insert(name);  // whose changes end with the moment
  std::set<DevicePoolKey>& pools = state.clusters.at(name).search.changes.pools;
  for (const FitDevice& each : devices) pools.insert({each.device.driver, each.device.pool});
}

void note_freed(SearchRoom state, const std::string& name, const std::vector<FitPod>& pods) {
  note_freed(state, name, std::vector<FitDevice>());
  for (const FitPod& pod : pods)
    for (const FitClaim& claim : pod.claims) note_freed(state, name, claim.devices);
}

void note_reserved(SearchRoom state, const std::string& name) {
  if (places_by_devices(state.configuration) && !state.pool.device_pods.empty())
    state.pool.dirty_devices.insert(name);
}

SearchIndex& search_index(SearchRoom state, const std::string& cluster) {
  std::shared_ptr<SearchIndex>& kept = *state.clusters.at(cluster).search.index;
  if (!kept) kept = derive(state, cluster);
  return *kept;
}

std::shared_ptr<SearchIndex> borrow_index(SearchReader state, const std::string& cluster) {
  const std::shared_ptr<SearchIndex>& kept = *state.clusters.at(cluster).search.index;
  return kept ? kept : derive(state, cluster);
}

void recompute_searches(SearchRoom state) {
  DeviceSearches& all = state.searches;
  if (!searches_devices(state.configuration)) {
    if (all.on)
      for (auto& [name, cluster] : state.clusters) end_search(cluster);
    all = {};
    return;
  }
  all.on = true;
  if (std::exchange(all.all_dirty, false)) mark_all_clusters_dirty(state);
  for (const std::string& name : all.dirty_clusters) {
    recompute_search(state, name);
    note_freed(state, name);
  }
}

void end_changes(StateView<Clusters, DeviceSearches> state) {
  for (const std::string& name : std::exchange(state.searches.dirty_clusters, {}))
    state.clusters.at(name).search.changes = {};
}

std::vector<DeviceUse> known_uses(const Cluster& cluster, SearchIndex& index,
                                  const NamespacedName& claim) {
  if (const auto pin = cluster.search.pins.find(claim); pin != cluster.search.pins.end())
    return pin->second;
  const ResourceClaimFacts* facts = facts_in(cluster.devices.claims, claim);
  if (!facts || !facts->allocation) return {};
  return uses_now(*facts->allocation, index);
}

bool is_watched(const Cluster& cluster) { return cluster.pool.member; }

bool is_reachable(const Cluster& cluster) {
  const auto nodes = static_cast<std::size_t>(CapacitySource::nodes);
  return cluster.reports.liveness[nodes] == Liveness::live &&
         cluster.device_capacity.stream == Liveness::live;
}

}  // namespace fairlead
