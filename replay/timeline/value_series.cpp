#include "replay/timeline/value_series.h"

#include <algorithm>
#include <utility>

#include "engine/fold/pool/shares.h"

namespace fairlead {

namespace {

// The queues of which any value may differ from that at the last sample. Of others only what their
// clusters offer may.
std::set<std::string> queues_around(const State& state, const DirtySet& dirty) {
  std::set<std::string> queues = dirty.queues;
  const auto add_claim = [&](const std::string& name) {
    const auto claim = state.claims.by_name.find(name);
    if (claim == state.claims.by_name.end() || !claim->second.terms) return;
    for (const AssignmentRow& row : claim->second.terms->rows) queues.insert(row.cluster_queue);
  };
  const auto add_cluster = [&](const std::string& name) {
    const auto claims = state.claims.of_cluster.find(name);
    if (claims == state.claims.of_cluster.end()) return;
    for (const std::string& claim : claims->second) add_claim(claim);
  };
  for (const std::string& claim : dirty.claims) add_claim(claim);
  for (const std::string& cluster : dirty.clusters) add_cluster(cluster);
  if (!dirty.clusters.empty() || !dirty.capacities.empty() || !dirty.accepted.empty() ||
      !dirty.placements.empty() || !dirty.workers.empty() || !dirty.checks.empty())
    queues.insert(state.multikueue.followers.begin(), state.multikueue.followers.end());
  return queues;
}

}  // namespace

void ObservedNames::note(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* gone = std::get_if<ObjectGone>(&event.fact);
  const ObjectKey* const key = seen ? &seen->key : gone ? &gone->key : nullptr;
  if (key == nullptr) return;
  if (is_tenant(event.source))
    namespaces.insert({std::string(tenant_of(event.source)),
                       key->kind == Kind::namespace_ ? key->name : key->namespace_});
  else if (event.source == kHub && key->kind == Kind::cluster_queue)
    queues.insert(key->name);
  else if (event.source == kHub && key->kind == Kind::virtual_cluster)
    tenants = true;
  else if (key->kind == Kind::namespace_ || key->kind == Kind::config_map)
    members.insert(event.source);  // what a Node's change moves is in the dirty set
}

void ValueSeries::push(StepSeries& series, const State& state, Int128 value, StepWriter writer) {
  const std::size_t before = series.steps().size();
  const Seq seq = seqs_ == StepSeqs::of_log ? state.seq : Seq{};
  series.push({state.now, seq, value, writer}, contents_.most);
  contents_.steps += series.steps().size() - before;
}

// Allows each series half as many steps, until a quarter of the room is free.
void ValueSeries::reduce() {
  const auto every = [this](const auto& visit) {
    const auto all = [&visit](auto& named) {
      for (auto& [name, parts] : named)
        for (auto& [part, series] : parts)
          for (StepSeries& steps : series.lines) visit(steps);
    };
    all(contents_.queues);
    all(contents_.clusters);
    all(contents_.lists);
    all(contents_.namespaces);
    all(contents_.super_clusters);
    all(contents_.tenants);
  };
  // Ends, because each pass halves `most`, down to its least.
  while (contents_.steps > steps_max_ / 4 * 3 && contents_.most > kStepsOfEachMin) {
    contents_.most = std::max<std::uint64_t>(contents_.most / 2, kStepsOfEachMin);
    contents_.steps = 0;
    every([this](StepSeries& series) {
      series.reduce(contents_.most);
      contents_.steps += series.steps().size();
    });
  }
}

void ValueSeries::sample(const State& state, const DirtySet& dirty, const ObservedNames& observed) {
  if (dirty.everything) {
    sample_everything(state);
  } else {
    std::set<std::string> queues = queues_around(state, dirty);
    queues.insert(observed.queues.begin(), observed.queues.end());
    for (const std::string& queue : queues) sample_queue(state, queue);
    for (const auto* changed : {&dirty.capacities, &dirty.accepted})
      for (const std::string& cluster : *changed) sample_capacity(state, cluster, queues);
    std::set<std::string> clusters = dirty.clusters;
    clusters.insert(dirty.capacities.begin(), dirty.capacities.end());
    clusters.insert(dirty.accepted.begin(), dirty.accepted.end());
    for (const std::string& cluster : clusters) sample_cluster(state, cluster);
    for (const std::string& placement : dirty.placements) sample_list(state, placement);
    sample_pool(state, dirty, observed);
  }
  if (contents_.steps > steps_max_) reduce();
}

// What is no longer there gets a step without a value.
void ValueSeries::sample_everything(const State& state) {
  const auto names_of = [](auto& names, const auto&... maps) {
    const auto add = [&names](const auto& map) {
      for (const auto& [name, value] : map) names.insert(std::string(name));
    };
    (add(maps), ...);
  };
  std::set<std::string> queues, clusters, lists;
  names_of(queues, contents_.queues, state.queues.by_name, state.claims.of_queue);
  names_of(clusters, contents_.clusters, state.clusters);
  names_of(lists, contents_.lists, state.multikueue.lists);
  sample_whole_pool(state);
  for (const std::string& name : queues) sample_queue(state, name);
  for (const std::string& name : clusters) sample_cluster(state, name);
  for (const std::string& name : lists) sample_list(state, name);
}

void ValueSeries::sample_queue(const State& state, const std::string& queue) {
  std::map<PairName, PairSeries>& pairs = contents_.queues[queue];
  std::map<QuotaKey, SumOfParts>& sums = sums_[queue];
  sums.clear();
  std::set<PairName> there;
  for (const KnownPair& pair : pairs_of_queue(state, queue)) {
    const PairName name{pair.key.flavor, pair.spelled};
    there.insert(name);
    SumOfParts& sum = sums[pair.key];
    const PairValues values = pair_values(state, pair, sum.parts);
    sum.name = name;
    for (std::size_t i = 0; i < sum.sum.size(); ++i)
      sum.sum.at(i) = values.at(static_cast<std::size_t>(kCapacityOfPair.at(i)));
    PairSeries& series = pairs[name];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool nominal = i == static_cast<std::size_t>(PairLine::nominal);
      const auto writer = nominal ? writer_of(state, pair, values[i]) : StepWriter::none;
      push(series.lines[i], state, values[i], writer);
    }
  }
  for (auto& [name, series] : pairs)
    if (!there.contains(name))
      for (StepSeries& steps : series.lines) push(steps, state, kNoValue);
}

// The lines of capacity of the pairs that the cluster is a part of, but for queues of `done`.
void ValueSeries::sample_capacity(const State& state, const std::string& cluster,
                                  const std::set<std::string>& done) {
  const auto at = state.clusters.find(cluster);
  const auto claims = state.claims.of_cluster.find(cluster);
  if (at == state.clusters.end() || claims == state.claims.of_cluster.end()) return;
  for (const std::string& name : claims->second) {
    const auto claim = state.claims.by_name.find(name);
    if (claim == state.claims.by_name.end() || !claim->second.terms) continue;
    for (const AssignmentRow& row : claim->second.terms->rows)
      if (!done.contains(row.cluster_queue)) sample_part(state, cluster, at->second, row);
  }
}

void ValueSeries::sample_part(const State& state, const std::string& name, const Cluster& cluster,
                              const AssignmentRow& row) {
  const auto queue = sums_.find(row.cluster_queue);
  if (queue == sums_.end()) return;
  const auto pair = queue->second.find({row.flavor, row.resource});
  if (pair == queue->second.end()) return;
  SumOfParts& sum = pair->second;
  const auto part = sum.parts.find(name);
  if (part == sum.parts.end()) return;
  const CapacityValues now = capacity_of_row(cluster, row);
  if (now == part->second) return;
  const CapacityValues before = std::exchange(part->second, now);
  PairSeries& series = contents_.queues[row.cluster_queue][sum.name];
  for (std::size_t i = 0; i < now.size(); ++i) {
    // Two values move the sum by their difference. One that came or went may change whether there
    // is a sum at all, so it is added up again.
    if (now.at(i) != kNoValue && before.at(i) != kNoValue) {
      sum.sum.at(i) += now.at(i) - before.at(i);
    } else {
      sum.sum.at(i) = kNoValue;
      for (const auto& [cluster_name, values] : sum.parts) add_to(sum.sum.at(i), values.at(i));
    }
    push(series.lines.at(static_cast<std::size_t>(kCapacityOfPair.at(i))), state, sum.sum.at(i));
  }
}

void ValueSeries::sample_cluster(const State& state, const std::string& name) {
  std::map<CapacityKey, CapacitySeries>& values = contents_.clusters[name];
  const auto cluster = state.clusters.find(name);
  const bool there = cluster != state.clusters.end();
  if (there)
    for (const auto& [key, value] : cluster->second.capacity) {
      const CapacityValues now = capacity_values(value);
      for (std::size_t i = 0; i < now.size(); ++i) push(values[key].lines[i], state, now[i]);
    }
  for (auto& [key, series] : values)
    if (!there || !cluster->second.capacity.contains(key))
      for (StepSeries& steps : series.lines) push(steps, state, kNoValue);
}

void ValueSeries::sample_list(const State& state, const std::string& placement) {
  std::map<std::string, WorkerSeries>& workers = contents_.lists[placement];
  const auto list = state.multikueue.lists.find(placement);
  const bool there = list != state.multikueue.lists.end();
  if (there)
    for (const auto& [name, worker] : list->second.workers) {
      const WorkerValues now = worker_values(list->second, worker);
      WorkerSeries& series = workers[name];
      if (!worker.cluster.empty()) series.cluster = worker.cluster;
      for (std::size_t i = 0; i < now.size(); ++i) push(series.lines[i], state, now[i]);
    }
  for (auto& [name, series] : workers)
    if (!there || !list->second.workers.contains(name))
      for (StepSeries& steps : series.lines) push(steps, state, kNoValue);
}

// Of the pool, what the moment may have moved: namespaces with a decision or an event, the clusters
// where they have slices or pods, and members with an event.
void ValueSeries::sample_pool(const State& state, const DirtySet& dirty,
                              const ObservedNames& observed) {
  if (state.pool.tenants.empty() && state.pool.clusters.empty() && contents_.tenants.empty())
    return;
  if (observed.tenants) return sample_whole_pool(state);
  std::set<PoolNamespaceKey> namespaces = dirty.pool_namespaces;
  namespaces.insert(observed.namespaces.begin(), observed.namespaces.end());
  for (const PoolPodKey& pod : dirty.pool_pods) namespaces.insert({pod.tenant, pod.namespace_});
  std::set<std::string> offers, tenants;
  for (const PoolNamespaceKey& key : namespaces) {
    sample_namespace(state, key);
    tenants.insert(key.first);
    for (const auto& [id, series] : contents_.namespaces[namespace_text(key)])
      if (!id.empty()) offers.insert(id);
  }
  for (const auto* members : {&observed.members, &dirty.clusters, &dirty.capacities})
    for (const std::string& member : *members)
      if (const auto id = state.pool.ids.find(member); id != state.pool.ids.end())
        offers.insert(id->second);
  for (const std::string& id : offers) sample_super_cluster(state, id);
  for (const std::string& name : tenants) sample_tenant(state, name);
}

// Adds a step of each part; of one that is no longer there one without a value. `writer` wrote the
// first line.
template <class Series, class Values>
void ValueSeries::push_all(std::map<std::string, Series>& parts, const State& state,
                           const std::map<std::string, Values>& now, StepWriter writer) {
  for (const auto& [part, values] : now)
    for (std::size_t i = 0; i < values.size(); ++i)
      push(parts[part].lines.at(i), state, values.at(i), i == 0 ? writer : StepWriter::none);
  for (auto& [part, series] : parts)
    if (!now.contains(part))
      for (StepSeries& steps : series.lines) push(steps, state, kNoValue);
}

void ValueSeries::sample_namespace(const State& state, const PoolNamespaceKey& key) {
  std::map<std::string, ShareSeries>& parts = contents_.namespaces[namespace_text(key)];
  const PoolNamespace* const of = find_namespace(state.pool, key);
  const auto now = of ? share_values(state, *of) : std::map<std::string, ShareValues>();
  push_all(parts, state, now, of ? writer_of_placements(*of) : StepWriter::none);
}

void ValueSeries::sample_super_cluster(const State& state, const std::string& id) {
  push_all(contents_.super_clusters[id], state, offer_values(state, id));
}

void ValueSeries::sample_namespaces_of(const State& state, const std::string& tenant) {
  std::set<PoolNamespaceKey> keys;
  if (const auto at = state.pool.tenants.find(tenant); at != state.pool.tenants.end())
    for (const auto& [name, of] : at->second.namespaces) keys.insert({tenant, name});
  const std::string prefix = tenant + "/";
  for (auto at = contents_.namespaces.lower_bound(prefix);
       at != contents_.namespaces.end() && at->first.starts_with(prefix); ++at)
    keys.insert({tenant, at->first.substr(prefix.size())});
  for (const PoolNamespaceKey& key : keys) sample_namespace(state, key);
}

void ValueSeries::sample_whole_pool(const State& state) {
  std::set<std::string> offers, tenants;
  for (const auto& [id, cluster] : state.pool.clusters) offers.insert(id);
  for (const auto& [id, totals] : state.pool.totals) offers.insert(id);
  for (const auto& [id, series] : contents_.super_clusters) offers.insert(id);
  for (const auto& [name, tenant] : state.pool.tenants) tenants.insert(name);
  for (const auto& [name, series] : contents_.tenants) tenants.insert(name);
  for (const std::string& id : offers) sample_super_cluster(state, id);
  for (const std::string& name : tenants) {
    sample_tenant(state, name);
    sample_namespaces_of(state, name);
  }
}

void ValueSeries::sample_tenant(const State& state, const std::string& name) {
  const auto tenant = state.pool.tenants.find(name);
  const bool there = tenant != state.pool.tenants.end();
  push_all(contents_.tenants[name], state,
           there ? tenant_values(tenant->second) : std::map<std::string, TenantValues>());
}

}  // namespace fairlead
