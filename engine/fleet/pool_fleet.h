// A fleet of tenants that share super clusters, which moves slices and pods.
//
// It plays VirtualCluster (the tenants on the hub, the syncers), the clusters, the tenants'
// controllers and people by the script of pool_script.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/pool_script.h"
#include "engine/fleet/pool_world.h"
#include "engine/fleet/syncer.h"
#include "engine/fleet/tenant_apps.h"

namespace fairlead {

/// Owned by one thread. The models outlive it.
class PoolFleet final : public Fleet {
 public:
  /// `servers` are those of all tenants and super clusters, by name; `start` is the time at which
  /// it begins.
  PoolFleet(model::SharedModel& hub, const std::map<std::string, model::SharedModel*>& servers,
            std::uint64_t seed, LogTime start, FleetLogger logger);

  Result<void> begin() override;
  void advance(LogTime now) override;
  std::uint64_t writes() const override;
  std::vector<std::string> settings() const override;

 private:
  struct Super {
    Api api;
    std::vector<Machine> machines;
    std::unique_ptr<Syncer> syncer;
    bool silent = false;
  };

  Result<void> begin_tenant(const std::string& tenant);
  Result<void> begin_cluster(const std::string& name, const Super& super);
  Result<void> carry_out(const PoolFault& fault, LogTime now);
  Result<void> change_cluster(const PoolFault& fault, LogTime now);
  Result<void> change_machine(Super& super, const PoolFault& fault, LogTime now);
  Result<void> change_app(const PoolFault& fault);
  Result<void> create(const Api& api, const std::vector<WorldObject>& wanted);
  Result<void> merge(const Api& api, const std::string& path, const Json& patch);

  const Api admin_;
  const std::uint64_t seed_;
  const LogTime start_;
  const FleetLogger logger_;
  std::map<std::string, model::SharedModel*> tenant_servers_;
  TenantApps apps_;
  std::map<std::string, Super> supers_;
  std::set<std::string> draining_;  ///< super clusters

  std::deque<PoolFault> script_;
  std::int64_t round_ = 0;
  std::uint64_t writes_ = 0;
};

/// Returns `pool.clusters` as a setting: all members, of which those in `draining` are drained.
std::string pool_clusters_setting(const std::set<std::string>& draining);

}  // namespace fairlead
