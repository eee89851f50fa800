// The MultiKueue path in the counterfactual: lists, MultiKueueClusters, conditions and nominations
// are Fairlead's; where Workloads run is history's.
#include <algorithm>

#include "engine/fold/multikueue/names.h"
#include "replay/whatif/imagined_world.h"

namespace fairlead {

namespace {

template <class Map>
const typename Map::mapped_type* find(const Map& map, const typename Map::key_type& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Gives the object the identity that it has in the counterfactual.
template <class F>
void stand_as(ObjectSeen& seen, const Sighted<F>& is) {
  if (is_made_uid(is.uid)) {
    seen.uid = is.uid;
    seen.generation = is.generation;
  }
}

// Applies the names that another writer added or removed to ours.
std::vector<std::string> merge_names(const std::vector<std::string>& base,
                                     const std::vector<std::string>& theirs,
                                     const std::vector<std::string>& ours) {
  std::vector<std::string> merged;
  for (const std::string& name : ours)
    if (!contains(base, name) || contains(theirs, name)) merged.push_back(name);
  for (const std::string& name : theirs)
    if (!contains(base, name) && !contains(merged, name)) merged.push_back(name);
  return merged;
}

bool imagine_config(ObjectSeen& seen, const State& history, const State& imagined) {
  auto& facts = std::get<MultiKueueConfigFacts>(seen.facts);
  const auto* was = find(history.multikueue.configs, seen.key.name);
  const auto* is = find(imagined.multikueue.configs, seen.key.name);
  if (!is) return facts.mark.ours() ? !was && !write_under_way(history, seen.key) : true;
  stand_as(seen, *is);
  const WorkerList* list = find(history.multikueue.lists, seen.key.name);
  const bool echo = list && facts.clusters == list->written;
  if (!was || echo || facts.clusters == was->facts.clusters)
    facts.clusters = is->facts.clusters;
  else
    facts.clusters = merge_names(was->facts.clusters, facts.clusters, is->facts.clusters);
  if (!was || echo || facts.mark == was->facts.mark) facts.mark = is->facts.mark;
  return true;
}

bool imagine_cluster(ObjectSeen& seen, const State& history, const State& imagined) {
  auto& facts = std::get<MultiKueueClusterFacts>(seen.facts);
  const auto* was = find(history.multikueue.clusters, seen.key.name);
  const auto* is = find(imagined.multikueue.clusters, seen.key.name);
  if (!is) return facts.mark.ours() ? !was && !write_under_way(history, seen.key) : true;
  stand_as(seen, *is);
  const bool edited = was && !write_under_way(history, seen.key);
  if (!edited || facts.mark == was->facts.mark) facts.mark = is->facts.mark;
  if (!edited ||
      (facts.secret == was->facts.secret && facts.cluster_profile == was->facts.cluster_profile)) {
    facts.secret = is->facts.secret;
    facts.cluster_profile = is->facts.cluster_profile;
  }
  return true;
}

bool has_addon_finalizer(const AdmissionCheckFacts& facts) {
  return contains(facts.finalizers, std::string(kAddonFinalizer));
}

void imagine_check(ObjectSeen& seen, const State& history, const State& imagined) {
  auto& facts = std::get<AdmissionCheckFacts>(seen.facts);
  const CheckRecord* is = find(imagined.multikueue.checks, seen.key.name);
  if (!is) return;
  const AdmissionCheckFacts& stands = is->seen.facts;
  if (facts.controller_name == kPlacementController) {
    facts.active = stands.active;
    facts.all_clusters_used = stands.all_clusters_used;
    facts.dispatcher_ready = stands.dispatcher_ready;
  }
  // History has released the finalizer; the counterfactual has not yet.
  if (write_under_way(history, seen.key) && has_addon_finalizer(stands) &&
      !has_addon_finalizer(facts))
    facts.finalizers = stands.finalizers;
}

// A check in another state than Ready, or removed nominations, are Kueue's doing and kept. The rest
// is ours.
void imagine_workload(ObjectSeen& seen, const State& history, const State& imagined) {
  auto& facts = std::get<WorkloadFacts>(seen.facts);
  const NamespacedName id{seen.key.namespace_, seen.key.name};
  const WorkloadRecord* was = find(history.multikueue.workloads, id);
  const WorkloadRecord* is = find(imagined.multikueue.workloads, id);
  if (!was || !is) return;
  const auto state_in = [](const WorkloadFacts& of, const std::string& name) -> const std::string* {
    for (const WorkloadCheck& check : of.checks)
      if (check.name == name) return &check.state;
    return nullptr;
  };
  for (WorkloadCheck& check : facts.checks) {
    const CheckRecord* record = find(imagined.multikueue.checks, check.name);
    const std::string* before = state_in(was->seen.facts, check.name);
    const std::string* here = state_in(is->seen.facts, check.name);
    if (record && record->ours && before && here &&
        (check.state == *before || check.state == "Ready"))
      check.state = *here;
  }
  const bool kept = facts.nominated_clusters == was->seen.facts.nominated_clusters;
  if (kept || !facts.nominated_clusters.empty())
    facts.nominated_clusters = is->seen.facts.nominated_clusters;
}

}  // namespace

bool write_under_way(const State& history, const ObjectKey& key) {
  const WriteState* write = find(history.writes, WriteKey{std::string(kHub), key, false});
  return write && (write->outstanding || write->awaits());
}

bool imagine_of_multikueue(ObjectSeen& seen, const State& history, const State& imagined) {
  if (seen.key.kind == Kind::multikueue_config) return imagine_config(seen, history, imagined);
  if (seen.key.kind == Kind::multikueue_cluster) return imagine_cluster(seen, history, imagined);
  if (seen.key.kind == Kind::admission_check) imagine_check(seen, history, imagined);
  if (seen.key.kind == Kind::workload) imagine_workload(seen, history, imagined);
  return true;
}

bool imagine_gone_of_multikueue(const ObjectKey& key, const State& history, const State& imagined) {
  if (key.kind == Kind::multikueue_config || key.kind == Kind::multikueue_cluster)
    return !write_under_way(history, key);
  const CheckRecord* check =
      key.kind == Kind::admission_check ? find(imagined.multikueue.checks, key.name) : nullptr;
  // The counterfactual removes it when it releases the add-on's finalizer.
  return !check || !check->seen.facts.deleting || !has_addon_finalizer(check->seen.facts);
}

}  // namespace fairlead
