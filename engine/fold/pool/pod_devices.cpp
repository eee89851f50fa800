#include "engine/fold/pool/pod_devices.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/json.h"
#include "engine/fold/devices/device_question.h"
#include "engine/fold/devices/reservation.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"
#include "schema/event_json_devices.h"

namespace fairlead {

namespace {

const std::string& member_of(const State& state, const std::string& id) {
  return state.pool.clusters.at(id).cluster;
}

// ---- claims that pods name ----

// The namespaces of a member that were made for the tenant's.
std::vector<std::string> spaces_at(const Pool& pool, const PoolNamespaceKey& home,
                                   const std::string& member) {
  std::vector<std::string> names;
  const auto made = pool.made_for.find(home);
  if (made == pool.made_for.end()) return names;
  for (auto at = made->second.lower_bound({member, ""});
       at != made->second.end() && at->first == member; ++at)
    names.push_back(at->second);
  return names;
}

// The claim of the member that a syncer made of the tenant's claim, if it is allocated.
const ResourceClaimFacts* allocated_at(const State& state, const PoolNamespaceKey& home,
                                       const std::string& member, const std::string& claim) {
  const auto& claims = state.clusters.at(member).devices.claims;
  for (const std::string& space : spaces_at(state.pool, home, member))
    if (const ResourceClaimFacts* facts = facts_in(claims, {space, claim});
        facts && facts->allocation)
      return facts;
  return nullptr;
}

// Calls `use` with the pods of the namespace that have a reservation at the member.
template <class Use>
void for_reserved(const Pool& pool, const PoolNamespaceKey& home, const std::string& member,
                  const Use& use) {
  const auto on = pool.reserved_on.find(member);
  if (on == pool.reserved_on.end()) return;
  for (auto at = on->second.lower_bound({home.first, home.second, ""});
       at != on->second.end() && namespace_of(*at) == home; ++at)
    use(*at, *find_pod(pool, *at));
}

const PodClaim* named_entry(const PodDeviceFacts& pod, const std::string& entry) {
  for (const PodClaim& each : pod.claims)
    if (each.name == entry && !each.claim.empty()) return &each;
  return nullptr;
}

// What pods other than `key` have reserved at the member for claims that they name.
using NamedReservations = std::map<std::string, std::vector<DeviceId>>;
NamedReservations reserved_for_names(const State& state, const PoolPodKey& key,
                                     const std::string& member) {
  NamedReservations reserved;
  for_reserved(state.pool, namespace_of(key), member,
               [&](const PoolPodKey& other, const PoolPod& pod) {
                 if (other == key || !pod.seen.facts.devices) return;
                 for (const FitPod& solved : pod.reserved->pods)
                   for (const FitClaim& claim : solved.claims)
                     if (const PodClaim* entry = named_entry(*pod.seen.facts.devices, claim.entry))
                       for (const FitDevice& device : claim.devices)
                         reserved[entry->claim].push_back(device.device);
               });
  return reserved;
}

// The super clusters where a claim that the pod names is allocated or reserved, with the first
// entry of such a claim. A cluster that is gone keeps nobody.
std::map<std::string, std::string> pins_of(const State& state, const PoolPodKey& key,
                                           const PodDeviceFacts& pod) {
  std::map<std::string, std::string> pins;
  if (!names_a_claim(pod)) return pins;
  for (const auto& [id, cluster] : state.pool.clusters) {
    if (standing_of(state, id) == ClusterStanding::gone) continue;
    const NamedReservations reserved = reserved_for_names(state, key, cluster.cluster);
    for (const PodClaim& entry : pod.claims)
      if (!entry.claim.empty() &&
          (reserved.contains(entry.claim) ||
           allocated_at(state, namespace_of(key), cluster.cluster, entry.claim)))
        pins.emplace(id, entry.name);
  }
  return pins;
}

// ---- the question ----

// The claims that the pod names: the tenant's, allocated where the member's of that name is.
struct NamedClaims {
  std::map<std::string, ResourceClaimFacts> facts;
  NamedReservations reserved;
};

std::shared_ptr<const NamedClaims> named_claims(const State& state, const PoolPodKey& key,
                                                const PodDeviceFacts& pod,
                                                const std::string& member) {
  auto named = std::make_shared<NamedClaims>();
  if (!names_a_claim(pod)) return named;
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  for (const PodClaim& entry : pod.claims) {
    const ResourceClaimFacts* own =
        entry.claim.empty() ? nullptr : facts_in(of.claims, entry.claim);
    if (!own) continue;
    ResourceClaimFacts& facts = named->facts[entry.claim] = *own;
    const ResourceClaimFacts* there = allocated_at(state, namespace_of(key), member, entry.claim);
    facts.allocation = there ? there->allocation : std::nullopt;
    facts.reserved_for = there ? there->reserved_for : std::vector<ClaimConsumer>();
  }
  named->reserved = reserved_for_names(state, key, member);
  return named;
}

// The question of one pod that asks as `pod`. It refers to `state` and `pod`.
FitQuestion question_of_pod(const State& state, const PoolPodKey& key, const PodDeviceFacts& pod,
                            const std::string& member) {
  const Cluster& cluster = state.clusters.at(member);
  std::set<std::string> extended;
  for (const auto& [resource, amount] : pod.extended)
    if (gives_devices(cluster, resource)) extended.insert(resource);
  FitQuestion question = question_at(state, member, {{key.pod, 1, &pod}}, std::move(extended));
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  question.template_of = [&of](const std::string& name) { return facts_in(of.templates, name); };
  question.claim_of = [named = named_claims(state, key, pod, member)](
                          const std::string& name) -> std::optional<NamedClaim> {
    const auto at = named->facts.find(name);
    if (at == named->facts.end()) return std::nullopt;
    const auto others = named->reserved.find(name);
    return NamedClaim{&at->second, others == named->reserved.end() ? nullptr : &others->second};
  };
  return question;
}

// Which state of its templates the pod asks by.
std::string templates_text(const State& state, const PoolPodKey& key, const PoolPod& pod) {
  std::string text;
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  for (const PodClaim& entry : pod.seen.facts.devices->claims) {
    const auto made = of.templates.find(entry.template_);
    text += made == of.templates.end() ? " -" : " " + std::to_string(made->second.seq.value);
  }
  return text;
}

// What keeps a pod from a cluster whatever its devices are; no reason if nothing does.
PodDevicesAnswer obstacle_at(const Cluster& cluster, const std::string& id,
                             const std::map<std::string, std::string>& pins) {
  if (!is_reachable(cluster)) return {"NotReachable", "", {}};
  for (const auto& [other, entry] : pins)
    if (other != id) return {pins.size() > 1 ? "ConflictingPins" : "Pinned", entry, {}};
  return {};
}

PodDevicesAnswer answer_of(const FitAnswer& fit) {
  if (!fit.refusal) return {"", "", fit};
  return {std::string(text(fit.refusal->reason)), fit.refusal->detail, fit};
}

// ---- what a moment does to reservations ----

void forget_due(State& state, const PoolPodKey& key, const DeviceReservation& reservation) {
  state.pool.device_due.erase({reservation.since + state.configuration.dra.place_timeout, key});
}

// The claims of the member that Pods use which were made for the tenant's pod.
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

// Takes out of the reservation what the allocated claim gives the pod. Returns whether it had it.
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
void keep_rest(State& state, SearchIndex& index, const PoolPodKey& key, PoolPod& pod) {
  const auto& pods = pod.reserved->pods;
  if (std::all_of(pods.begin(), pods.end(),
                  [](const FitPod& solved) { return solved.claims.empty(); }))
    release_devices(state, key, pod);
  else
    index.reserve(key, *pod.reserved);
}

// Claims that Pods of its had before the decision count as any later ones.
void take_over_claims(State& state, const PoolPodKey& key, PoolPod& pod) {
  SearchIndex& index = search_index(state, pod.reserved->cluster);
  const auto& claims = state.clusters.at(pod.reserved->cluster).devices.claims;
  bool changed = false;
  for (const NamespacedName& id : claims_made_for(index, pod))
    if (const ResourceClaimFacts* claim = facts_in(claims, id); claim && claim->allocation)
      changed |= give_up(index, id, *claim, pod);
  if (changed) keep_rest(state, index, key, pod);
}

void replace_by_claim(State& state, const std::string& member, const NamespacedName& id) {
  const ResourceClaimFacts* claim = facts_in(state.clusters.at(member).devices.claims, id);
  const auto space = state.pool.super_namespaces.find({member, id.first});
  if (!claim || !claim->allocation || space == state.pool.super_namespaces.end()) return;
  const NamespaceFacts& of = space->second.seen.facts;
  SearchIndex& index = search_index(state, member);
  std::vector<PoolPodKey> keys;
  for_reserved(state.pool, {of.tenant, of.tenant_namespace}, member,
               [&](const PoolPodKey& key, const PoolPod&) { keys.push_back(key); });
  for (const PoolPodKey& key : keys) {
    PoolPod& pod = *find_pod(state.pool, key);
    if (give_up(index, id, *claim, pod)) keep_rest(state, index, key, pod);
  }
}

// Lets claims that are new in the moment, or whose Pods are, take the place of what was reserved.
void replace_by_claims(State& state, const std::string& member) {
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

void mend_devices(State& state, const std::string& member, const PoolPodKey& key, PoolPod& pod) {
  DeviceReservation& reservation = *pod.reserved;
  SearchIndex& index = search_index(state, member);
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
void repair_devices(State& state, const std::string& member, Repair which) {
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

// Asks as if the pod had nothing reserved there.
template <class Ask>
auto ask_beside(const State& state, const PoolPodKey& key, const std::string& member,
                const Ask& ask) {
  const PoolPod& pod = *find_pod(state.pool, key);
  const std::shared_ptr<SearchIndex> index = borrow_index(state, member);
  const bool own = pod.reserved && pod.reserved->cluster == member;
  if (own) index->release(key);
  auto answer = ask(index->devices, question_of_pod(state, key, *pod.seen.facts.devices, member));
  if (own) index->reserve(key, *pod.reserved);
  return answer;
}

}  // namespace

bool gives_devices(const Cluster& cluster, const std::string& resource) {
  if (resource.find('/') == std::string::npos) return false;
  if (resource.starts_with(kImplicitName)) return true;
  const auto& classes = cluster.devices.classes;
  return std::any_of(classes.begin(), classes.end(), [&](const auto& entry) {
    return entry.second.facts.extended_resource == resource;
  });
}

bool asks_for_devices(const Cluster& cluster, const PodFacts& pod) {
  if (!pod.devices) return false;
  const auto& extended = pod.devices->extended;
  return !pod.devices->claims.empty() ||
         std::any_of(extended.begin(), extended.end(),
                     [&](const auto& asked) { return gives_devices(cluster, asked.first); });
}

std::string asks_of_pod(const PoolPodKey& key, PoolPod& pod) {
  const PodDeviceFacts& devices = *pod.seen.facts.devices;
  if (names_a_claim(devices)) return {};
  if (pod.asks->empty())
    *pod.asks = to_text(Json::array({key.tenant, key.namespace_, json_of(devices)}));
  return *pod.asks;
}

PodDevices::PodDevices(State& state, const PoolPodKey& key, PoolPod& pod)
    : state_(state), key_(key), pod_(pod) {
  if (pod.seen.facts.devices) pins_ = pins_of(state, key, *pod.seen.facts.devices);
}

PodDevicesAnswer PodDevices::at(const std::string& id) {
  const std::string& member = member_of(state_, id);
  const Cluster& cluster = state_.clusters.at(member);
  if (!asks_for_devices(cluster, pod_.seen.facts)) return {};
  if (PodDevicesAnswer obstacle = obstacle_at(cluster, id, pins_); !obstacle.reason.empty())
    return obstacle;
  SearchIndex& index = search_index(state_, member);
  std::string asks = asks_of_pod(key_, pod_);
  if (!asks.empty()) asks += templates_text(state_, key_, pod_);
  const auto known = asks.empty() ? index.answers.end() : index.answers.find(asks);
  if (known != index.answers.end()) return answer_of(known->second.fit);
  FitAnswer found =
      fit(index.devices, question_of_pod(state_, key_, *pod_.seen.facts.devices, member));
  index.steps += found.steps;
  if (asks.empty()) return answer_of(found);
  return answer_of(
      index.answers.emplace(asks, SearchAnswer{std::move(found), std::nullopt}).first->second.fit);
}

void reserve_devices(State& state, const PoolPodKey& key, PoolPod& pod, const std::string& id,
                     std::vector<FitPod> pods) {
  release_devices(state, key, pod);
  std::erase_if(pods, [](const FitPod& solved) { return solved.claims.empty(); });
  if (pods.empty()) return;
  DeviceReservation& made = pod.reserved.emplace();
  made.worker = id;
  made.cluster = member_of(state, id);
  made.pods = std::move(pods);
  made.since = state.now;
  made.because = state.clusters.at(made.cluster).search.changes.because;
  remember(made.because, pod.seen.seq);
  state.pool.reserved_on[made.cluster].insert(key);
  const Duration timeout = state.configuration.dra.place_timeout;
  if (timeout.ns > 0) state.pool.device_due.insert({made.since + timeout, key});
  search_index(state, made.cluster).reserve(key, made);
  note_reserved(state, made.cluster);
  take_over_claims(state, key, pod);
}

void release_devices(State& state, const PoolPodKey& key, PoolPod& pod) {
  if (!pod.reserved) return;
  const std::string cluster = pod.reserved->cluster;
  forget_due(state, key, *pod.reserved);
  pod.reserved.reset();
  const auto on = state.pool.reserved_on.find(cluster);
  on->second.erase(key);
  if (on->second.empty()) state.pool.reserved_on.erase(on);
  if (const auto& index = *state.clusters.at(cluster).search.index) index->release(key);
  note_freed(state, cluster);
}

namespace {

// Another configuration may have another dra.placeTimeout.
void redate_reservations(State& state) {
  Pool& pool = state.pool;
  pool.device_due.clear();
  const Duration timeout = state.configuration.dra.place_timeout;
  if (timeout.ns == 0) return;
  for (const auto& [member, keys] : pool.reserved_on)
    for (const PoolPodKey& key : keys)
      pool.device_due.insert({find_pod(pool, key)->reserved->since + timeout, key});
}

void drop_due(State& state) {
  auto& due = state.pool.device_due;
  while (!due.empty() && due.begin()->first <= state.now) {
    const PoolPodKey key = due.begin()->second;
    release_devices(state, key, *find_pod(state.pool, key));
  }
}

}  // namespace

void close_pod_reservations(State& state) {
  if (!places_by_devices(state.configuration)) return;
  if (state.pool.all_open) redate_reservations(state);
  drop_due(state);
  for (const std::string& member : state.searches.open) replace_by_claims(state, member);
  for (const std::string& member : std::set<std::string>(state.pool.freed_devices))
    repair_devices(state, member, Repair::touched);
}

std::set<PoolNamespaceKey> open_device_pods(State& state) {
  std::set<PoolNamespaceKey> opened;
  Pool& pool = state.pool;
  for (const std::string& member : std::exchange(pool.freed_devices, {}))
    repair_devices(state, member, Repair::broken);
  std::vector<std::string> ids;
  for (const std::string& member : std::exchange(pool.open_devices, {}))
    if (const auto id = pool.ids.find(member); id != pool.ids.end()) ids.push_back(id->second);
  if (ids.empty()) return opened;
  for (const PoolPodKey& key : pool.device_pods) {
    PoolNamespace& of = *find_namespace(pool, namespace_of(key));
    const bool listed = std::any_of(ids.begin(), ids.end(),
                                    [&](const std::string& id) { return of.shares.contains(id); });
    if (!listed) continue;
    of.look->fresh.insert(key.pod);
    opened.insert(namespace_of(key));
  }
  return opened;
}

PodDevicesAnswer devices_for(const State& state, const PoolPodKey& key, const std::string& id) {
  const std::string& member = member_of(state, id);
  const Cluster& cluster = state.clusters.at(member);
  const PodFacts& pod = find_pod(state.pool, key)->seen.facts;
  if (!asks_for_devices(cluster, pod)) return {};
  PodDevicesAnswer obstacle = obstacle_at(cluster, id, pins_of(state, key, *pod.devices));
  if (!obstacle.reason.empty()) return obstacle;
  return answer_of(ask_beside(state, key, member, fit));
}

std::optional<std::int64_t> devices_left(const State& state, const PoolPodKey& key,
                                         const std::string& id) {
  if (!asks_for_devices(state.clusters.at(member_of(state, id)),
                        find_pod(state.pool, key)->seen.facts))
    return std::nullopt;
  return ask_beside(state, key, member_of(state, id),
                    [](ClusterDeviceIndex& devices, const FitQuestion& question) {
                      const FitAnswer answer = fit(devices, question);
                      return answer.refusal
                                 ? std::nullopt
                                 : std::optional(free_devices_after(devices, question, answer));
                    });
}

std::vector<JudgedRequest> judged_devices(const State& state, const PoolPodKey& key,
                                          const std::string& id) {
  if (!asks_for_devices(state.clusters.at(member_of(state, id)),
                        find_pod(state.pool, key)->seen.facts))
    return {};
  return ask_beside(state, key, member_of(state, id), judge_devices);
}

}  // namespace fairlead
