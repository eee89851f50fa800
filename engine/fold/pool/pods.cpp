#include "engine/fold/pool/pods.h"

#include <algorithm>
#include <list>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "engine/fold/cluster_state.h"
#include "engine/fold/condition_message.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pod_devices.h"
#include "engine/fold/pool/pod_reservations.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/reasons.h"
#include "engine/fold/pool/sending.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

// Whether the pod lacks a cluster, or has one that its namespace does not list or that is gone.
bool lacks_cluster(PoolReader state, const PoolNamespace& of, const PoolPod& pod) {
  if (pod.cluster.empty()) return true;
  const auto share = of.shares.find(pod.cluster);
  if (share == of.shares.end() || !share->second.listed) return true;
  return standing_of(state, pod.cluster) == ClusterStanding::gone;
}

bool waits(PoolReader state, const PoolTenant& tenant, const PoolNamespace& of,
           const PoolPod& pod) {
  const PodFacts& facts = pod.seen.facts;
  return takes_part(tenant, of) && is_in_pool(state.configuration, of) && !facts.over &&
         !facts.deleting && !facts.bound && !facts.gated && lacks_cluster(state, of, pod);
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
Int128 machine_left(const Pool& pool, const std::string& id, const std::string& resource) {
  Int128 left = accepted_of(pool.clusters.at(id), resource);
  const auto at = pool.totals.find(id);
  if (at == pool.totals.end()) return left;
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

// Whether the search for devices, and not the amounts of the nodes, decides about a resource.
bool is_device_at(PoolReader state, const std::string& id, const std::string& resource) {
  const auto at = state.pool.clusters.find(id);
  return at != state.pool.clusters.end() &&
         gives_devices(state.clusters.at(at->second.cluster), resource);
}

// Whether one of the cluster's nodes could hold the pod if nothing else ran there, devices left
// aside. The sum of the nodes may be enough where no node is.
bool has_node_for(PoolReader state, const std::string& id, const PodFacts& facts) {
  const auto at = state.pool.clusters.find(id);
  if (at == state.pool.clusters.end() || !at->second.nodes) return true;
  const auto holds = [&](const NodeSize& size) {
    return std::all_of(facts.requests.begin(), facts.requests.end(), [&](const auto& request) {
      const std::string resource(request.first);
      return amount_in(size, resource) >= request.second || is_device_at(state, id, resource);
    });
  };
  return std::any_of(at->second.nodes->begin(), at->second.nodes->end(), holds);
}

// Returns the first resource of which a place has less than the pod asks for, devices left aside;
// kNoNodeHolds where only a node is missing; empty: it fits. `left_of` returns what the cluster has
// left of a resource.
template <typename LeftOf>
std::string lacking_at(PoolReader state, const PodPlace& place, const PodFacts& facts,
                       const LeftOf& left_of) {
  const auto request = [&](const char* resource) {
    return facts.requests.find(resource).value_or(0);
  };
  if (place.cpu < request("cpu")) return "cpu";
  if (place.memory < request("memory")) return "memory";
  for (const auto& [name, amount] : facts.requests)
    if (const std::string resource(name);
        left_of(resource) < amount && !is_device_at(state, place.id, resource))
      return resource;
  return has_node_for(state, place.id, facts) ? "" : kNoNodeHolds;
}

bool fits(PoolReader state, const PodPlace& place, const PodFacts& facts) {
  const auto left_of = [&](const std::string& resource) {
    return machine_left(state.pool, place.id, resource);
  };
  return lacking_at(state, place, facts, left_of).empty();
}

std::string joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ",") + id;
  return text;
}

// Returns the clusters that the namespace's placements list with slices, as observed in the
// tenant and as decided.
std::vector<std::string> listed_clusters(const PoolNamespace& of) {
  std::vector<std::string> ids;
  if (!of.taken_up || !of.observed) return ids;
  for (const auto& [id, share] : of.shares)
    if (share.listed && share.slices >= 1 && of.observed->contains(id)) ids.push_back(id);
  return ids;
}

// The first resource beside cpu and memory that none of the clusters offers; empty if all do.
std::string unknown_resource(PoolReader state, const std::vector<PodPlace>& places,
                             const PodFacts& facts) {
  for (const auto& [name, amount] : facts.requests) {
    const std::string resource(name);
    if (resource == "cpu" || resource == "memory" || amount == 0) continue;
    const bool offered = std::any_of(places.begin(), places.end(), [&](const PodPlace& place) {
      return accepted_of(state.pool.clusters.at(place.id), resource) > 0 ||
             is_device_at(state, place.id, resource);
    });
    if (!offered) return resource;
  }
  return "";
}

std::string requests_text(const PodFacts& facts) {
  std::string text;
  for (const auto& [resource, amount] : facts.requests)
    text +=
        (text.empty() ? "" : ", ") + std::string(resource) + " " + amount_text(resource, amount);
  return text;
}

PodRoom room_for_pods(const Pool& pool, const PoolNamespace& of, const std::string& id) {
  const PodPlace place = place_at(of, id);
  const SuperCluster& cluster = pool.clusters.at(id);
  PodRoom room{id, place.cpu, place.memory, {}, cluster.nodes_seq, cluster.nodes_grew};
  for (const auto& [resource, amount] : cluster.accepted)
    if (amount > 0) room.machine.emplace_back(resource, machine_left(pool, id, resource));
  return room;
}

// Everything that choose_place reads about the namespace and its clusters, except the policy, which
// only chooses among places.
PodLook look_of(PoolReader state, const PoolNamespace& of) {
  PodLook look;
  look.done = true;
  look.listed = listed_clusters(of);
  for (const std::string& id : look.listed)
    if (standing_of(state, id) == ClusterStanding::open)
      look.open.push_back(room_for_pods(state.pool, of, id));
  return look;
}

// Whether `now` has no more of anything than `before`, which is of the same cluster.
bool has_no_more(const PodRoom& now, const PodRoom& before) {
  return now.id == before.id && now.cpu <= before.cpu && now.memory <= before.memory &&
         now.nodes_grew == before.nodes_grew &&
         std::equal(now.machine.begin(), now.machine.end(), before.machine.begin(),
                    before.machine.end(), [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second <= b.second;
                    });
}

// Whether there is exactly what there was at the last look.
bool has_the_same(PoolReader state, const PoolNamespace& of) {
  const PodLook now = look_of(state, of);
  return of.look->done && now.listed == of.look->listed && now.open == of.look->open;
}

// Whether pods that found no place at the last look may find one now, or have another reason.
bool is_worth_a_look(PoolReader state, const PoolNamespace& of) {
  if (!of.look->done) return true;
  const PodLook now = look_of(state, of);
  return now.listed != of.look->listed ||
         !std::equal(now.open.begin(), now.open.end(), of.look->open.begin(), of.look->open.end(),
                     has_no_more);
}

// Where a pod goes, with the devices that it is to get there.
struct ChosenPlace {
  std::string id;
  std::vector<FitPod> devices;
};

// Returns the best of the places that have room for the pod: the one where it gets its devices by
// the first alternatives, then as the policy says. If there is none, `why_not` has what each place
// lacks.
std::optional<ChosenPlace> choose_devices(PoolRoom state, const PoolPodKey& key, PoolNamespace& of,
                                          const std::vector<const PodPlace*>& places,
                                          ReasonText& why_not) {
  const bool spread = policy_of(state.configuration.pool, of.seen->facts) == PoolPolicy::spread;
  PodDevices devices(state, key, of.pods.at(key.pod));
  const auto order = [spread](std::int64_t alternatives, const PodPlace& place) {
    return spread ? std::tuple(alternatives, -place.cpu, -place.memory)
                  : std::tuple(alternatives, place.cpu, place.memory);
  };
  const PodPlace* best = nullptr;
  FitAnswer found;
  std::string refusals;
  for (const PodPlace* place : places) {
    PodDevicesAnswer answer = devices.at(place->id);
    if (!answer.reason.empty()) {
      refusals += (refusals.empty() ? "" : "; ") + place->id + ": " + answer.reason +
                  (answer.detail.empty() ? "" : " " + answer.detail);
      continue;
    }
    if (best && order(answer.fit.alternatives, *place) >= order(found.alternatives, *best))
      continue;
    best = place;
    found = std::move(answer.fit);
  }
  if (best) return ChosenPlace{best->id, std::move(found.pods)};
  refusals.insert(0, "Devices: ");
  bound_message(refusals);
  why_not = {std::move(refusals), ReasonTopic::clusters};
  return std::nullopt;
}

// Returns the place of a pod, or why there is none.
std::optional<ChosenPlace> choose_place(PoolRoom state, const PoolPodKey& key, PoolNamespace& of,
                                        ReasonText& why_not) {
  const PodFacts& facts = of.pods.at(key.pod).seen.facts;
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
  std::vector<const PodPlace*> places;
  for (const PodPlace& place : open)
    if (fits(state, place, facts)) places.push_back(&place);
  if (!places.empty()) return choose_devices(state, key, of, places, why_not);
  why_not = {"DoesNotFit: " + requests_text(facts), ReasonTopic::clusters};
  return std::nullopt;
}

}  // namespace

void update_waiting_pod(PoolRoom state, const PoolPodKey& key) {
  PoolPod* const pod = find_pod(state.pool, key);
  if (!pod) return;
  const PoolNamespaceKey home = namespace_of(key);
  const PoolTenant& tenant = state.pool.tenants.at(home.first);
  PoolNamespace& of = *find_namespace(state.pool, home);
  const std::string& name = key.pod;
  const bool now = waits(state, tenant, of, *pod);
  if (now) of.look->fresh.insert(name);
  if (now && pod->seen.facts.devices)
    state.pool.device_pods.insert(key);
  else
    state.pool.device_pods.erase(key);
  if (now && !pod->waits_since) {
    pod->waits_since = state.now;
    of.waiting.emplace(state.now, name);
    state.pool.waiting.insert(home);
  } else if (!now && pod->waits_since) {
    of.waiting.erase({*pod->waits_since, name});
    if (of.waiting.empty()) state.pool.waiting.erase(home);
    pod->waits_since.reset();
  }
  if (!is_in_pool(state.configuration, of))
    clear_reason(pod->reason);
  else if (!now && takes_part(tenant, of))
    set_reason(state, key, pod->reason, {});
}

namespace {

// The pods of one namespace that are looked at, first come first.
class Line {
 public:
  Line(PoolReader state, const PoolNamespaceKey& key, PoolNamespace& of)
      : key_(key), of_(of), all_(!of.waiting.empty() && is_worth_a_look(state, of)) {
    for (const std::string& name : of.look->fresh)
      if (const auto at = of.pods.find(name); at != of.pods.end() && at->second.waits_since)
        fresh_.emplace(*at->second.waits_since, name);
    if (all_) return;
    // The reasons of pods with devices also change where there is less of something.
    const auto& pods = state.pool.device_pods;
    auto at = pods.lower_bound({key.first, key.second, ""});
    if (at == pods.end() || namespace_of(*at) != key || has_the_same(state, of)) return;
    for (; at != pods.end() && namespace_of(*at) == key; ++at)
      fresh_.emplace(*of.pods.at(at->pod).waits_since, at->pod);
  }

  /// Goes to the next pod. Returns false if there is none.
  bool advance() {
    const auto& pods = all_ ? of_.waiting : fresh_;
    const auto next = head_ ? pods.upper_bound(*head_) : pods.begin();
    if (next == pods.end()) return false;
    head_ = *next;
    return true;
  }
  /// Its pod was placed, which may have used up the room that made the others worth a look.
  void note_placed(PoolReader state) { all_ = all_ && is_worth_a_look(state, of_); }
  /// Ends the look.
  void end(PoolReader state) { *of_.look = of_.waiting.empty() ? PodLook{} : look_of(state, of_); }

  PoolNamespace& of() const { return of_; }
  PoolPodKey pod() const { return {key_.first, key_.second, head_->second}; }
  /// The line whose pod has waited longer goes first.
  bool is_behind(const Line& other) const {
    return std::tie(head_->first, key_, head_->second) >
           std::tie(other.head_->first, other.key_, other.head_->second);
  }

 private:
  const PoolNamespaceKey& key_;
  PoolNamespace& of_;
  bool all_;
  std::set<std::pair<LogTime, std::string>> fresh_;
  std::optional<std::pair<LogTime, std::string>> head_;
};

// Places pods, and remembers what was refused: until one is placed, pods of a namespace that are
// alike get the same answer.
class Placing {
 public:
  explicit Placing(PoolRoom state) : state_(state) {}

  // Returns why the pod has no place; nullopt if it has one now.
  std::optional<ReasonText> place(const PoolPodKey& key, PoolNamespace& of) {
    PoolPod& pod = of.pods.at(key.pod);
    const std::string alike = alike_text(key, pod);
    // A pod that is asked for by itself has the empty text, under which nothing is remembered.
    if (const auto known = refused_.find(alike); known != refused_.end()) return known->second;
    ReasonText why_not;
    auto place = choose_place(state_, key, of, why_not);
    if (!place) {
      if (!alike.empty()) refused_.emplace(alike, why_not);
      return why_not;
    }
    const PoolNamespaceKey home = namespace_of(key);
    // Taken out of the sums of its former cluster, before it gets another.
    uncount_pod(state_, home, pod);
    pod.cluster = place->id;
    count_pod(state_, home, pod);
    reserve_devices(state_, key, pod, place->id, std::move(place->devices));
    update_waiting_pod(state_, key);
    state_.pool.dirty_namespaces.insert(home);
    refused_.clear();
    return std::nullopt;
  }

 private:
  // Empty for a pod that is asked for by itself.
  static std::string alike_text(const PoolPodKey& key, PoolPod& pod) {
    std::string text = pod.seen.facts.devices ? asks_of_pod(key, pod) : std::string();
    if (text.empty()) return text;
    for (const auto& [resource, amount] : pod.seen.facts.requests)
      text += " " + std::string(resource) + "=" + std::to_string(amount);
    return text;
  }

  PoolRoom state_;
  std::map<std::string, ReasonText> refused_;
};

}  // namespace

// Pods of all namespaces are placed in the order in which they began to wait. Each line is in that
// order, so the next pod is the first of some line. A pod that finds no place does not end its
// line: the next one may be smaller.
bool place_pods(PoolRoom state, const std::set<PoolNamespaceKey>& namespaces, DirtySet& dirty,
                PodRefusals& refusals) {
  // A list, because the queue below has pointers to its lines. A line moves on only while it is out
  // of the queue, so that the queue stays in order.
  std::list<Line> lines;
  const auto behind = [](const Line* a, const Line* b) { return a->is_behind(*b); };
  std::priority_queue<Line*, std::vector<Line*>, decltype(behind)> order(behind);
  const auto queue = [&](Line& line) {
    if (line.advance()) order.push(&line);
  };
  for (const PoolNamespaceKey& key : namespaces)
    if (PoolNamespace* of = find_namespace(state.pool, key))
      queue(lines.emplace_back(state, key, *of));
  Placing placing(state);
  bool placed = false;
  while (!order.empty()) {
    Line& line = *order.top();
    order.pop();
    const PoolPodKey key = line.pod();
    if (auto why_not = placing.place(key, line.of())) {
      refusals[key] = *std::move(why_not);
    } else {
      refusals.erase(key);
      placed = true;
      line.note_placed(state);
      recompute_pod(state, key, dirty);
    }
    queue(line);
  }
  for (Line& line : lines) line.end(state);
  return placed;
}

void set_refusals(PoolRoom state, const PodRefusals& refusals, DirtySet& dirty) {
  for (const auto& [key, why_not] : refusals) {
    PoolPod* const pod = find_pod(state.pool, key);
    // A later round of the moment may have ended its wait.
    if (!pod || !pod->waits_since) continue;
    set_reason(state, key, pod->reason, why_not);
    recompute_pod(state, key, dirty);
  }
}

PodFit fit_of_pod(PoolReader state, const PoolPodKey& key, const std::string& id) {
  const PoolNamespace& of = *find_namespace(state.pool, namespace_of(key));
  const PoolPod& pod = *find_pod(state.pool, key);
  const PodFacts& facts = pod.seen.facts;
  const auto share = of.shares.find(id);
  const auto own = [&](const std::string& resource) {
    const bool counts = pod.cluster == id && !facts.over;
    return counts ? Int128{facts.requests.find(resource).value_or(0)} : Int128{0};
  };
  PodPlace place{id, 0, 0};
  if (share != of.shares.end()) place = place_at(of, id);
  place.cpu += own("cpu");
  place.memory += own("memory");
  PodFit fit{{place.cpu, place.memory}, {{"cpu", 0}, {"memory", 0}}, ""};
  // An extended resource that a class maps to devices is left out: the search for devices, not the
  // nodes' amounts, says what is free.
  for (const auto& [name, amount] : facts.requests)
    if (const std::string resource(name); !is_device_at(state, id, resource))
      fit.free.emplace(resource, 0);
  if (state.pool.clusters.contains(id))
    for (auto& [resource, free] : fit.free) {
      free = machine_left(state.pool, id, resource);
      // A share that is not listed is in no sum of the cluster.
      if (share != of.shares.end() && share->second.pods_counted) free += own(resource);
    }
  fit.lacking = lacking_at(state, place, facts, [&](const std::string& resource) {
    const auto free = fit.free.find(resource);
    return free == fit.free.end() ? Int128{0} : free->second;
  });
  return fit;
}

}  // namespace fairlead
