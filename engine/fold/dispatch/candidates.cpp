#include "engine/fold/dispatch/candidates.h"

#include <algorithm>
#include <tuple>

#include "engine/fold/devices/search_index.h"
#include "engine/fold/fleet_claims/bookings.h"

namespace fairlead {

namespace {

// The clusters to ask, with their place in the list.
struct Place {
  const std::string* worker;
  const std::string* cluster;
  std::size_t number;
};

std::vector<Place> places_in(const WorkerList& list, const Choices& among) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < list.names.size(); ++i) {
    const std::string& name = list.names[i];
    const auto worker = list.workers.find(name);
    if (name == among.but || worker == list.workers.end()) continue;
    if (among.clusters && !among.clusters->contains(worker->second.cluster)) continue;
    places.push_back({&name, &worker->second.cluster, i});
  }
  return places;
}

}  // namespace

Obstacle obstacle_of(const NameMap<Cluster>& clusters, const WorkerList& list,
                     const std::string& worker, const DeviceDispatch& devices) {
  const auto known = list.workers.find(worker);
  if (known == list.workers.end() || !known->second.selected) return Obstacle::leaving;
  return obstacle_at(clusters, known->second.cluster, worker, devices);
}

Obstacle obstacle_at(const NameMap<Cluster>& clusters, const std::string& name,
                     const std::string& worker, const DeviceDispatch& devices) {
  const auto cluster = clusters.find(name);
  if (cluster == clusters.end() || !is_watched(cluster->second)) return Obstacle::not_watched;
  if (!is_reachable(cluster->second)) return Obstacle::not_reachable;
  return devices.spent.contains(worker) ? Obstacle::spent : Obstacle::none;
}

const ExtendedNames& Chooser::names_of(const WorkerList& list) {
  const auto [at, added] = names_.try_emplace(&list);
  if (added) at->second = extended_names(state_.clusters, list);
  return at->second;
}

// An answer is kept in the index of the cluster, by what was asked: Workloads that ask alike get
// the same one while nothing there has changed. A Workload with bookings of its own asks in an
// index without these, so its answer is for it alone and is not kept.
Chooser::Asked Chooser::ask(const NamespacedName& id, WorkloadRecord& record,
                            const WorkerList& list, const std::string& cluster) {
  const auto seen = record.seen.read();
  const WorkloadFacts& facts = seen->facts;
  const ExtendedNames& names = names_of(list);
  SearchIndex& index = search_index(state_, cluster);
  const bool by_room = state_.configuration.dra.policy != DraPolicy::order;
  const bool booked = has_bookings(state_, id, facts);
  const std::string asks =
      booked ? std::string() : asks_of(id, facts, names, *record.edit_devices().asks);
  const auto known = asks.empty() ? index.answers.end() : index.answers.find(asks);
  if (known != index.answers.end()) return {known->second.fit, known->second.free};
  const FitQuestion question = question_of(state_, cluster, id, pod_sets_of(facts), names);
  const OwnBookings own(state_, index, cluster, id, facts);
  SearchAnswer answer{fit(index.devices, question), std::nullopt};
  index.steps += answer.fit.steps;
  if (by_room && !answer.fit.refusal)
    answer.free = free_devices_after(index.devices, question, answer.fit);
  const auto free = answer.free;
  if (!asks.empty())
    return {index.answers.emplace(asks, std::move(answer)).first->second.fit, free};
  // The caller reads the answer before it asks the next cluster.
  uncached_ = std::move(answer.fit);
  return {uncached_, free};
}

Chooser::Value Chooser::value_of(const Asked& asked, std::size_t place) const {
  const std::int64_t free = asked.free.value_or(0);
  const bool packs = state_.configuration.dra.policy == DraPolicy::pack;
  return {asked.fit.alternatives, packs ? free : -free, place};
}

std::optional<Destination> Chooser::best(const NamespacedName& id, WorkloadRecord& record,
                                         const WorkerList& list, const Choices& among) {
  const DraPolicy policy = state_.configuration.dra.policy;
  std::optional<Value> least;
  Destination best;
  for (const Place& place : places_in(list, among)) {
    if (obstacle_of(state_.clusters, list, *place.worker, record.devices()) != Obstacle::none)
      continue;
    const Asked asked = ask(id, record, list, *place.cluster);
    if (asked.fit.refusal) continue;
    const Value value = value_of(asked, place.number);
    if (least && *least <= value) continue;
    least = value;
    best = {*place.worker, *place.cluster, asked.fit.pods};
    // No later cluster is better: alternatives count first, and then the place in the list.
    if (policy == DraPolicy::order && asked.fit.alternatives == 0) break;
  }
  return least ? std::optional(std::move(best)) : std::nullopt;
}

std::vector<Destination> Chooser::ranked(const NamespacedName& id, WorkloadRecord& record,
                                         const WorkerList& list, const std::string& but) {
  std::map<Value, Destination> ranked;
  for (const Place& place : places_in(list, {nullptr, but})) {
    if (obstacle_of(state_.clusters, list, *place.worker, record.devices()) != Obstacle::none)
      continue;
    const Asked asked = ask(id, record, list, *place.cluster);
    if (asked.fit.refusal) continue;
    ranked.emplace(value_of(asked, place.number),
                   Destination{*place.worker, *place.cluster, asked.fit.pods});
  }
  std::vector<Destination> all;
  for (auto& [value, destination] : ranked) all.push_back(std::move(destination));
  return all;
}

std::optional<Destination> Chooser::only(const NamespacedName& id, WorkloadRecord& record,
                                         const WorkerList& list, const std::string& worker) {
  if (std::find(list.names.begin(), list.names.end(), worker) == list.names.end())
    return std::nullopt;
  const auto known = list.workers.find(worker);
  if (known == list.workers.end()) return std::nullopt;
  const std::string& cluster = known->second.cluster;
  if (obstacle_at(state_.clusters, cluster, worker, record.devices()) != Obstacle::none)
    return std::nullopt;
  const Asked asked = ask(id, record, list, cluster);
  if (asked.fit.refusal) return std::nullopt;
  return Destination{worker, cluster, asked.fit.pods};
}

}  // namespace fairlead
