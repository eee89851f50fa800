#include "engine/fold/multikueue/finished_workloads.h"

#include <algorithm>

namespace fairlead {

void note_finished(StateView<MultiKueue, const LogPosition> state, const SourceName& source,
                   const NamespacedName& id, const WorkloadFacts* facts) {
  auto& all = state.multikueue.finished;
  std::optional<LogTime> known;
  if (const auto of = all.find(source); of != all.end())
    if (const auto at = of->second.since.find(id); at != of->second.since.end()) {
      known = at->second;
      of->second.in_order.erase({at->second, id});
      of->second.since.erase(at);
      if (of->second.since.empty()) all.erase(of);
    }
  if (!facts || !facts->finished) return;
  // Not since it finished by the clock of its API server: the hub may hear of that hours later, and
  // has to end then what it made for the Workload.
  const LogTime since = known.value_or(state.now);
  FinishedWorkloads& finished = all[source];
  finished.since[id] = since;
  finished.in_order.emplace(since, id);
  state.multikueue.first_finished = std::min(state.multikueue.first_finished, since);
}

bool is_past(StateView<const Configuration, const LogPosition> state, LogTime finished) {
  return finished.ns <= state.now.ns - state.configuration.workloads.keep_finished.ns;
}

// Nearly every close ends at the first line: only when one is past are all API servers looked at.
std::optional<WorkloadOfSource> next_past(
    StateView<const Configuration, MultiKueue, const LogPosition> state) {
  LogTime& first = state.multikueue.first_finished;
  if (first == kForever || !is_past(state, first)) return std::nullopt;
  first = kForever;
  const SourceName* source = nullptr;
  for (const auto& [name, finished] : state.multikueue.finished) {
    const LogTime since = finished.in_order.begin()->first;
    if (since >= first) continue;
    first = since;
    source = &name;
  }
  if (!source || !is_past(state, first)) return std::nullopt;
  return WorkloadOfSource{*source, state.multikueue.finished.at(*source).in_order.begin()->second};
}

std::optional<NamespacedName> finished_last(StateView<const MultiKueue> state,
                                            const SourceName& source) {
  const auto of = state.multikueue.finished.find(source);
  if (of == state.multikueue.finished.end()) return std::nullopt;
  return of->second.in_order.rbegin()->second;
}

std::size_t count_finished(StateView<const MultiKueue> state, const SourceName& source) {
  const auto of = state.multikueue.finished.find(source);
  return of == state.multikueue.finished.end() ? 0 : of->second.since.size();
}

}  // namespace fairlead
