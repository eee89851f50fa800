// A fleet whose clusters become and stop being MultiKueue workers, which moves worker lists.
//
// It plays OCM's placement controller, Kueue's manager and Kueue on the workers, the agents that
// report scores, users and an administrator by the script of worker_script.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/kueue_controller.h"
#include "engine/fleet/placement_controller.h"
#include "engine/fleet/quota_controller.h"
#include "engine/fleet/worker_script.h"
#include "engine/fleet/worker_world.h"

namespace fairlead {

/// Owned by one thread. The models outlive it.
class WorkerFleet final : public Fleet {
 public:
  /// `servers` are the API servers of worker_clusters(), by name: copies of Workloads are on those
  /// that are given. `start` is the time at which it begins.
  WorkerFleet(model::SharedModel& hub, const std::map<std::string, model::SharedModel*>& servers,
              std::uint64_t seed, LogTime start, FleetLogger logger);

  Result<void> begin() override;
  void advance(LogTime now) override;
  std::uint64_t writes() const override;

 private:
  /// The API server of a worker, and Kueue there.
  struct Side {
    Api admin;
    QuotaController kueue;
  };
  struct Member {
    WorkerCluster cluster;
    std::int64_t taken = 0;  ///< GPUs that foreign pods occupy
  };

  Result<void> carry_out(const WorkerFault& fault);
  Result<void> change_credential(const WorkerCluster& cluster, WorkerFaultKind kind);
  Result<void> join(const WorkerCluster& cluster);
  Result<void> begin_side(const WorkerCluster& cluster, const Api& api);
  Result<void> shift_gpus(Member& member, std::int64_t gpus);
  void report_scores(LogTime now);
  std::map<std::string, std::int64_t> gpus() const;
  Result<void> create(const WorldObject& wanted);
  Result<void> merge(const std::string& path, const Json& patch);

  const Api admin_;
  const std::uint64_t seed_;
  const LogTime start_;
  const FleetLogger logger_;
  PlacementController placement_;
  KueueController kueue_;

  std::map<std::string, Member> members_;
  std::map<std::string, Side> sides_;
  std::deque<WorkerFault> script_;
  std::int64_t round_ = 0;
  LogTime next_report_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
