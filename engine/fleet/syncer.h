// Plays VirtualCluster's syncer of one super cluster, and the scheduler there.
//
// The syncer reads two annotations that Fairlead writes in tenants. It makes a namespace here for
// each tenant's namespace whose placements list this cluster, also with 0, and removes it, with all
// its pods, kRemovalDelay after they do not any more. A pod that names this cluster runs here,
// while its namespace lists it. What becomes of pods here is written to the tenant: a pod that was
// bound and is gone here is deleted there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/pool_world.h"

namespace fairlead {

/// The time from an id that left the placements to the end of the namespace.
inline constexpr Duration kRemovalDelay = seconds(40);
/// The time for which a node is down until its pods are deleted.
inline constexpr Duration kEvictionDelay = seconds(40);

/// Owned by one thread. The models outlive it.
class Syncer {
 public:
  /// `id` is the super cluster's; `tenants` are the API servers by tenant.
  Syncer(std::string id, model::SharedModel& super,
         const std::map<std::string, model::SharedModel*>& tenants, FleetLogger logger);

  /// Synchronizes, at most once a second. `machines` are those of the super cluster.
  void look(LogTime now, const std::vector<Machine>& machines);
  std::uint64_t writes() const { return writes_; }

 private:
  /// A namespace here, as its tenant wants it.
  struct Wanted {
    std::string tenant;
    std::string name;  ///< of the tenant's namespace
    Json object;       ///< the Namespace here
  };

  bool nothing_changed(LogTime now, const std::vector<Machine>& machines);
  void sync_namespaces(LogTime now);
  void want(const std::string& tenant, const Json& seen);
  void remove_unlisted(LogTime now, const Json& namespace_);
  void evict(LogTime now, const std::vector<Machine>& machines);
  void sync_pods(const std::vector<Machine>& machines);
  void sync_pod(const std::string& tenant, const Json& pod, const std::vector<Machine>& machines);
  void run(const std::string& tenant, const Json& pod, const std::vector<Machine>& machines);
  void remove_orphans();
  /// Returns the node with the most free cpu that has room for `pod`; empty if none has.
  std::string node_for(const Json& pod, const std::vector<Machine>& machines) const;

  const std::string id_;
  const Api super_;
  std::map<std::string, Api> tenants_;
  const FleetLogger logger_;
  std::map<std::string, Wanted> wanted_;     ///< by name of the namespace here
  std::map<std::string, LogTime> unlisted_;  ///< since when a namespace here is not wanted
  std::map<std::string, LogTime> down_;      ///< since when a node is down
  std::uint64_t seen_ = 0;                   ///< the revisions of all servers
  LogTime next_look_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
