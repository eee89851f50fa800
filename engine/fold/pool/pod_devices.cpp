#include "engine/fold/pool/pod_devices.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/base/json.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/device_question.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/pool/pod_reservations.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

const std::string& member_of(const Pool& pool, const std::string& id) {
  return pool.clusters.at(id).cluster;
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
const ResourceClaimFacts* allocated_at(PoolReader state, const PoolNamespaceKey& home,
                                       const std::string& member, const std::string& claim) {
  const auto& claims = state.clusters.at(member).devices.claims;
  for (const std::string& space : spaces_at(state.pool, home, member))
    if (const ResourceClaimFacts* facts = facts_in(claims, {space, claim});
        facts && facts->allocation)
      return facts;
  return nullptr;
}

// What pods of the namespace other than `key` have reserved at the member for claims that they
// name.
using NamedReservations = std::map<std::string, std::vector<DeviceId>>;
NamedReservations reserved_for_names(const Pool& pool, const PoolPodKey& key,
                                     const std::string& member) {
  NamedReservations reserved;
  for_reserved(pool, namespace_of(key), member, [&](const PoolPodKey& other, const PoolPod& pod) {
    if (other == key || !pod.seen.facts.devices) return;
    for (const FitPod& solved : pod.reserved->pods)
      for (const FitClaim& claim : solved.claims)
        if (const PodClaim* entry = named_entry(*pod.seen.facts.devices, claim.entry))
          for (const FitDevice& device : claim.devices)
            reserved[entry->claim].push_back(device.device);
  });
  return reserved;
}

// The ids of the super clusters where a claim that the pod names is allocated or reserved, each
// with the first entry of the pod that names such a claim. Clusters that are gone are left out.
std::map<std::string, std::string> pins_of(PoolReader state, const PoolPodKey& key,
                                           const PodDeviceFacts& pod) {
  std::map<std::string, std::string> pins;
  if (!names_a_claim(pod)) return pins;
  for (const auto& [id, cluster] : state.pool.clusters) {
    if (standing_of(state, id) == ClusterStanding::gone) continue;
    const NamedReservations reserved = reserved_for_names(state.pool, key, cluster.cluster);
    for (const PodClaim& entry : pod.claims)
      if (!entry.claim.empty() &&
          (reserved.contains(entry.claim) ||
           allocated_at(state, namespace_of(key), cluster.cluster, entry.claim)))
        pins.emplace(id, entry.name);
  }
  return pins;
}

// ---- the question ----

// The claims that the pod names: the tenant's specs, with the allocation of the member's claim of
// that name.
struct NamedClaims {
  std::map<std::string, ResourceClaimFacts> facts;
  NamedReservations reserved;
};

std::shared_ptr<const NamedClaims> named_claims(PoolReader state, const PoolPodKey& key,
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
  named->reserved = reserved_for_names(state.pool, key, member);
  return named;
}

// The versions of the templates that the pod uses, as seqs: a changed template changes the answer.
std::string templates_text(const Pool& pool, const PoolPodKey& key, const PoolPod& pod) {
  std::string text;
  const PoolNamespace& of = *find_namespace(pool, namespace_of(key));
  for (const PodClaim& entry : pod.seen.facts.devices->claims) {
    const auto made = of.templates.find(entry.template_);
    text += made == of.templates.end() ? " -" : " " + std::to_string(made->second.seq.value);
  }
  return text;
}

// What keeps a pod from a cluster, whatever its devices are; an empty reason if nothing does.
PodDevicesAnswer obstacle_at(const Cluster& cluster, const std::string& id,
                             const std::map<std::string, std::string>& pins) {
  if (!is_reachable(cluster)) return {"NotReachable", "", {}};
  for (const auto& [other, entry] : pins)
    if (other != id) return {pins.size() > 1 ? "ConflictingPins" : "Pinned", entry, {}};
  return {};
}

PodDevicesAnswer answer_of(const FitAnswer& fit) {
  if (!fit.refusal) return {"", "", fit};
  return {std::string(text_of(fit.refusal->reason)), fit.refusal->detail, fit};
}

// Asks as if the pod had nothing reserved there.
template <class Ask>
auto ask_beside(PoolReader state, const PoolPodKey& key, const std::string& member,
                const Ask& ask) {
  const PoolPod& pod = *find_pod(state.pool, key);
  // A kept index is changed for the question and set back after it, even under a const State: one
  // thread owns both.
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

const PodClaim* named_entry(const PodDeviceFacts& pod, const std::string& entry) {
  for (const PodClaim& each : pod.claims)
    if (each.name == entry && !each.claim.empty()) return &each;
  return nullptr;
}

FitQuestion question_of_pod(PoolReader state, const PoolPodKey& key, const PodDeviceFacts& pod,
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

std::string asks_of_pod(const PoolPodKey& key, PoolPod& pod) {
  const PodDeviceFacts& devices = *pod.seen.facts.devices;
  if (names_a_claim(devices)) return {};
  // Workloads remember answers in the same index. Their texts have a number as third element
  // (asks_of), these an object, so neither can be mistaken for the other.
  if (!*pod.asks) *pod.asks = to_text(Json::array({key.tenant, key.namespace_, to_json(devices)}));
  return **pod.asks;
}

PodDevices::PodDevices(PoolRoom state, const PoolPodKey& key, PoolPod& pod)
    : state_(state), key_(key), pod_(pod) {
  if (pod.seen.facts.devices) pins_ = pins_of(state, key, *pod.seen.facts.devices);
}

PodDevicesAnswer PodDevices::at(const std::string& id) {
  const std::string& member = member_of(state_.pool, id);
  const Cluster& cluster = state_.clusters.at(member);
  if (!asks_for_devices(cluster, pod_.seen.facts)) return {};
  if (PodDevicesAnswer obstacle = obstacle_at(cluster, id, pins_); !obstacle.reason.empty())
    return obstacle;
  SearchIndex& index = search_index(state_, member);
  if (pod_.reserved && pod_.reserved->cluster == member) {  // the super cluster has another id now
    const FitAnswer found = ask_beside(state_, key_, member, fit);
    index.steps += found.steps;
    return answer_of(found);
  }
  std::string asks = asks_of_pod(key_, pod_);
  if (!asks.empty()) asks += templates_text(state_.pool, key_, pod_);
  const auto known = asks.empty() ? index.answers.end() : index.answers.find(asks);
  if (known != index.answers.end()) return answer_of(known->second.fit);
  FitAnswer found =
      fit(index.devices, question_of_pod(state_, key_, *pod_.seen.facts.devices, member));
  index.steps += found.steps;
  if (asks.empty()) return answer_of(found);
  return answer_of(
      index.answers.emplace(asks, SearchAnswer{std::move(found), std::nullopt}).first->second.fit);
}

PodDevicesAnswer devices_for(PoolReader state, const PoolPodKey& key, const std::string& id) {
  const std::string& member = member_of(state.pool, id);
  const Cluster& cluster = state.clusters.at(member);
  const PodFacts& pod = find_pod(state.pool, key)->seen.facts;
  if (!asks_for_devices(cluster, pod)) return {};
  PodDevicesAnswer obstacle = obstacle_at(cluster, id, pins_of(state, key, *pod.devices));
  if (!obstacle.reason.empty()) return obstacle;
  return answer_of(ask_beside(state, key, member, fit));
}

std::optional<std::int64_t> devices_left(PoolReader state, const PoolPodKey& key,
                                         const std::string& id) {
  if (!asks_for_devices(state.clusters.at(member_of(state.pool, id)),
                        find_pod(state.pool, key)->seen.facts))
    return std::nullopt;
  return ask_beside(state, key, member_of(state.pool, id),
                    [](ClusterDeviceIndex& devices, const FitQuestion& question) {
                      const FitAnswer answer = fit(devices, question);
                      return answer.refusal
                                 ? std::nullopt
                                 : std::optional(free_devices_after(devices, question, answer));
                    });
}

std::vector<RequestObstacles> obstacles_of(PoolReader state, const PoolPodKey& key,
                                           const std::string& id) {
  if (!asks_for_devices(state.clusters.at(member_of(state.pool, id)),
                        find_pod(state.pool, key)->seen.facts))
    return {};
  return ask_beside(state, key, member_of(state.pool, id), find_obstacles);
}

}  // namespace fairlead
