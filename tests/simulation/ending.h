// What a run ends with, as one run is compared with another: what the hub owns of every object.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engine/base/json.h"
#include "tests/simulation/incident.h"
#include "tests/simulation/record.h"
#include "tests/simulation/storm.h"

namespace fairlead::simulation {

class World;

/// The queues that others overwrote so often that the hub leaves them as they are
/// (docs/operating.md).
std::set<std::string> left_alone_in(const World& world);

struct Ending {
  /// By server, resource and key: the fields whose manager is the hub, as the API server says.
  /// Without versions, identities, positions in the log, times and Leases, which differ from run to
  /// run. Of ClusterQueues the quotas that claims ask for.
  Json owned = Json::object();
  std::set<std::string> left_alone;  ///< queues
  std::uint64_t writes = 0;          ///< by the hub
};

/// Returns how many writes the hub has sent that reached a server.
std::uint64_t writes_by_hub(const World& world);
Ending ending_of(const World& world);
/// Where two ends differ first; empty: nowhere. Queues that are left alone in one of them do not
/// count.
std::string difference(const Ending& one, const Ending& other);

/// Returns the end of the run with the same workload in which nothing goes wrong. The last one is
/// kept: it is there for all runs around one workload.
const Ending& undisturbed_ending(const Storm& storm, const IncidentRef& incident);

}  // namespace fairlead::simulation
