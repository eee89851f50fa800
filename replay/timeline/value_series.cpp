#include "replay/timeline/value_series.h"

namespace fairlead {

namespace {

// The queues whose values may differ from those at the last sample.
std::set<std::string> queues_around(const State& state, const DirtySet& dirty) {
  std::set<std::string> queues = dirty.queues;
  const auto add_claim = [&](const std::string& name) {
    const auto claim = state.claims.find(name);
    if (claim == state.claims.end() || !claim->second.terms) return;
    for (const AssignmentRow& row : claim->second.terms->rows) queues.insert(row.cluster_queue);
  };
  const auto add_cluster = [&](const std::string& name) {
    const auto claims = state.claims_of_cluster.find(name);
    if (claims == state.claims_of_cluster.end()) return;
    for (const std::string& claim : claims->second) add_claim(claim);
  };
  for (const std::string& claim : dirty.claims) add_claim(claim);
  for (const auto* clusters : {&dirty.clusters, &dirty.capacities, &dirty.accepted})
    for (const std::string& cluster : *clusters) add_cluster(cluster);
  queues.insert(state.multikueue.followers.begin(), state.multikueue.followers.end());
  return queues;
}

}  // namespace

Step ValueSeries::step_at(const State& state, Int128 value, StepWriter writer) const {
  return {state.now, seqs_ == StepSeqs::of_log ? state.seq : Seq{}, value, writer};
}

void ValueSeries::sample(const State& state, const DirtySet& dirty,
                         const std::set<std::string>& observed) {
  if (dirty.everything) return sample_everything(state);
  std::set<std::string> queues = queues_around(state, dirty);
  queues.insert(observed.begin(), observed.end());
  for (const std::string& queue : queues) sample_queue(state, queue);
  std::set<std::string> clusters = dirty.clusters;
  clusters.insert(dirty.capacities.begin(), dirty.capacities.end());
  clusters.insert(dirty.accepted.begin(), dirty.accepted.end());
  for (const std::string& cluster : clusters) sample_cluster(state, cluster);
  for (const std::string& placement : dirty.placements) sample_list(state, placement);
}

void ValueSeries::sample_everything(const State& state) {
  for (const auto& [name, queue] : state.queues) sample_queue(state, name);
  for (const auto& [name, claims] : state.claims_of_queue) sample_queue(state, name);
  for (const auto& [name, cluster] : state.clusters) sample_cluster(state, name);
  for (const auto& [name, list] : state.multikueue.lists) sample_list(state, name);
}

void ValueSeries::sample_queue(const State& state, const std::string& queue) {
  std::map<PairName, PairSeries>& pairs = queues_[queue];
  std::set<PairName> there;
  for (const KnownPair& pair : pairs_of_queue(state, queue)) {
    const PairName name{pair.key.flavor, pair.spelled};
    there.insert(name);
    const PairValues values = pair_values(state, pair);
    PairSeries& series = pairs[name];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool nominal = i == static_cast<std::size_t>(PairLine::nominal);
      const auto writer = nominal ? writer_of(state, pair, values[i]) : StepWriter::none;
      series.lines[i].push(step_at(state, values[i], writer));
    }
  }
  for (auto& [name, series] : pairs)
    if (!there.contains(name))
      for (StepSeries& steps : series.lines) steps.push(step_at(state, kNoValue, StepWriter::none));
}

void ValueSeries::sample_cluster(const State& state, const std::string& name) {
  std::map<CapacityKey, CapacitySeries>& values = clusters_[name];
  const auto cluster = state.clusters.find(name);
  const bool there = cluster != state.clusters.end();
  if (there)
    for (const auto& [key, value] : cluster->second.capacity) {
      const CapacityValues now = capacity_values(value);
      for (std::size_t i = 0; i < now.size(); ++i)
        values[key].lines[i].push(step_at(state, now[i], StepWriter::none));
    }
  for (auto& [key, series] : values)
    if (!there || !cluster->second.capacity.contains(key))
      for (StepSeries& steps : series.lines) steps.push(step_at(state, kNoValue, StepWriter::none));
}

void ValueSeries::sample_list(const State& state, const std::string& placement) {
  std::map<std::string, WorkerSeries>& workers = lists_[placement];
  const auto list = state.multikueue.lists.find(placement);
  const bool there = list != state.multikueue.lists.end();
  if (there)
    for (const auto& [name, worker] : list->second.workers) {
      const WorkerValues now = worker_values(list->second, worker);
      WorkerSeries& series = workers[name];
      if (!worker.cluster.empty()) series.cluster = worker.cluster;
      for (std::size_t i = 0; i < now.size(); ++i)
        series.lines[i].push(step_at(state, now[i], StepWriter::none));
    }
  for (auto& [name, series] : workers)
    if (!there || !list->second.workers.contains(name))
      for (StepSeries& steps : series.lines) steps.push(step_at(state, kNoValue, StepWriter::none));
}

}  // namespace fairlead
