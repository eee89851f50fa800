#include "engine/fold/multikueue/list_names.h"

#include <algorithm>
#include <map>

#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/observe_multikueue.h"

namespace fairlead {

namespace {

RunningCopies copies_on(MultiKueueReader state, const std::string& placement,
                        const std::string& worker) {
  RunningCopies copies;
  const auto on = state.multikueue.workloads_on.find(worker);
  if (on == state.multikueue.workloads_on.end()) return copies;
  for (const NamespacedName& id : on->second)
    if (const auto seen = state.multikueue.workloads.at(id).seen.read();
        holds(state, placement, seen->facts))
      copies.workloads[id] = seen->uid;
  return copies;
}

// Updates `claimed`, which has the Placements that use a name, and marks the others that share it.
void claim_name(MultiKueue& multikueue, const std::string& name, const std::string& placement,
                bool wanted) {
  auto& claimed = multikueue.claimed;
  const auto at = claimed.find(name);
  if ((at != claimed.end() && at->second.contains(placement)) == wanted) return;
  std::set<std::string>& users = claimed[name];
  if (wanted)
    users.insert(placement);
  else
    users.erase(placement);
  // The user that is first by name has it (left_out_by_name): another set of users may have another
  // first.
  for (const std::string& other : users)
    if (other != placement) mark_list_dirty(multikueue, other);
  if (users.empty()) claimed.erase(name);
}

// Returns the cluster of a listed name that was never decided in this log: by its MultiKueueCluster
// if that is ours or to be adopted; else empty.
std::string cluster_behind(MultiKueueReader state, const std::string& placement,
                           const std::string& name) {
  const auto current = state.multikueue.clusters.find(name);
  const auto cluster = cluster_of_worker(state.configuration, placement, name);
  if (!cluster || current == state.multikueue.clusters.end()) return "";
  const OwnerMark& mark = current->second.facts.mark;
  const bool ours = mark == worker_mark(state.configuration, placement, *cluster) ||
                    (!mark.ours() && adopts(state, placement));
  return ours ? *cluster : "";
}

}  // namespace

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> names_in_config(MultiKueueReader state, const std::string& placement) {
  if (!is_own_config(state, placement)) return {};
  return state.multikueue.configs.at(placement).facts.clusters;
}

void assign_names(MultiKueueRoom state, const std::string& placement, WorkerList& list) {
  std::vector<std::string> names = names_in_config(state, placement);
  if (names == list.names) return;
  for (const std::string& name : list.names) {
    if (contains(names, name)) continue;
    if (RunningCopies copies = copies_on(state, placement, name); !copies.workloads.empty()) {
      RunningCopies& running = list.running[name];
      running.workloads.merge(copies.workloads);
      running.over_since.reset();
      running.seq = state.seq;
    }
    const auto worker = list.workers.find(name);
    // A list that is not the one of our last write was written by another writer.
    if (worker != list.workers.end()) worker->second.taken_out = names != list.written;
  }
  list.names = std::move(names);
}

std::set<std::string> decided_by(MultiKueueReader state, const std::string& placement) {
  std::set<std::string> clusters;
  const auto shards = state.multikueue.decisions_of.find(placement);
  if (shards == state.multikueue.decisions_of.end()) return clusters;
  for (const NamespacedName& id : shards->second) {
    if (id.first != state.configuration.kueue_namespace) continue;
    const auto& named = state.multikueue.decisions.at(id).facts.clusters;
    clusters.insert(named.begin(), named.end());
  }
  return clusters;
}

void refresh_names(MultiKueueRoom state, const std::string& placement, WorkerList& list) {
  std::map<std::string, std::string> clusters;  // by worker name
  for (const std::string& name : list.names) clusters[name];
  for (const std::string& cluster : list.decided)
    clusters[worker_name(state.configuration, placement, cluster)] = cluster;
  for (auto at = list.workers.begin(); at != list.workers.end();) {
    if (clusters.contains(at->first)) {
      ++at;
      continue;
    }
    claim_name(state.multikueue, at->first, placement, false);
    state.multikueue.dirty_workers.insert(at->first);
    at = list.workers.erase(at);
  }
  for (const auto& [name, cluster] : clusters) {
    Worker& worker = list.workers[name];
    worker.decided = !cluster.empty();
    if (worker.decided) worker.cluster = cluster;
    if (worker.cluster.empty()) worker.cluster = cluster_behind(state, placement, name);
    claim_name(state.multikueue, name, placement, list.use != ListUse::none);
  }
}

LeftOut left_out_by_name(MultiKueueReader state, const std::string& placement,
                         const std::string& name) {
  if (!is_dns_subdomain(name)) return LeftOut::name_invalid;
  const auto current = state.multikueue.clusters.find(name);
  if (current != state.multikueue.clusters.end() && !current->second.facts.mark.ours() &&
      !adopts(state, placement))
    return LeftOut::name_taken;
  if (state.configuration.multikueue.profile == NamingProfile::cluster)
    return LeftOut::no;  // names are shared
  const auto users = state.multikueue.claimed.find(name);
  const bool first = users == state.multikueue.claimed.end() || users->second.empty() ||
                     *users->second.begin() >= placement;
  return first ? LeftOut::no : LeftOut::name_taken;
}

}  // namespace fairlead
