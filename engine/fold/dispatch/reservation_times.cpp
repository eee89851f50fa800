#include "engine/fold/dispatch/reservation_times.h"

#include <algorithm>
#include <string>

#include "engine/fold/cluster_state.h"

namespace fairlead {

static std::optional<LogTime> unreachable_since(DispatchReader state, const std::string& cluster) {
  return state.clusters.at(cluster).search.unreachable_since;
}

bool is_over(LogTime since, Duration span, LogTime now) {
  return span.ns > 0 && since + span <= now;
}

bool is_listed(const DeviceReservation& reservation, const WorkerList& list) {
  const auto worker = list.workers.find(reservation.worker);
  return worker != list.workers.end() && worker->second.cluster == reservation.cluster &&
         std::find(list.names.begin(), list.names.end(), reservation.worker) != list.names.end();
}

bool is_restless(DispatchReader state, const DeviceReservation& of, const WorkerList& list) {
  if (!is_listed(of, list)) return true;
  const Worker& worker = list.workers.at(of.worker);
  const Duration window = list.windows.move_window;
  const auto lasts = [&](std::optional<LogTime> since) {
    return since && *since + window <= state.now;
  };
  return is_over(of.since, state.configuration.dra.admit_timeout, state.now) ||
         lasts(of.broken_since) || lasts(unreachable_since(state, of.cluster)) ||
         (!worker.selected && lasts(worker.since));
}

std::optional<LogTime> due_of(DispatchReader state, const std::optional<DeviceReservation>& of,
                              const WorkerList* list) {
  if (!of) return std::nullopt;
  const DraSettings& dra = state.configuration.dra;
  std::optional<LogTime> due;
  const auto at = [&](std::optional<LogTime> since, Duration span) {
    if (since && *since + span > state.now) due = std::min(due.value_or(kForever), *since + span);
  };
  if (of->placed_since) {
    if (dra.place_timeout.ns > 0 && !of->pods.empty()) at(of->placed_since, dra.place_timeout);
    return due;
  }
  if (dra.admit_timeout.ns > 0) at(of->since, dra.admit_timeout);
  if (!list) return due;
  at(of->broken_since, list->windows.move_window);
  at(unreachable_since(state, of->cluster), list->windows.move_window);
  return due;
}

}  // namespace fairlead
