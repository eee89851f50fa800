// A fleet whose machines come, go, flap and fail, which moves quotas. It plays clusters, work
// agents and an administrator by the script of script.h, users, and Kueue on the hub.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/quota_controller.h"
#include "engine/fleet/script.h"
#include "engine/fleet/users.h"
#include "engine/fleet/work_agent.h"
#include "engine/fleet/world.h"

namespace fairlead {

/// Owned by one thread. The models outlive it.
class MachineFleet final : public Fleet {
 public:
  /// `members` are the API servers of the clusters whose Nodes are watched directly, by name;
  /// `start` is the time at which it begins.
  MachineFleet(model::SharedModel& hub, const std::map<std::string, model::SharedModel*>& members,
               std::uint64_t seed, LogTime start, FleetLogger logger);

  Result<void> begin() override;
  void advance(LogTime now) override;
  std::uint64_t writes() const override { return writes_ + users_.writes() + kueue_.writes(); }

 private:
  struct Member {
    ClusterLayout layout;
    std::vector<Machine> machines;
    bool joined = false;
    bool silent = false;
    bool reported = false;  ///< its ManagedCluster has the current machines
  };

  void refill();
  void play(const ScheduledFault& fault, LogTime now);
  Result<void> carry_out(const ScheduledFault& fault, LogTime now);
  Result<void> change_machines(const ScheduledFault& fault, LogTime now);
  Result<void> join(Member& member, LogTime now);
  Result<void> leave(Member& member);
  Result<void> assign(const std::string& cluster);
  Result<void> edit_claim(const ScheduledFault& fault);
  Result<void> overwrite_queue(std::int64_t cpu);
  Result<void> report_machines(Member& member, LogTime now);
  Result<void> report_cluster(Member& member, LogTime now);
  void report_everything(LogTime now);
  Result<void> create(const Api& api, const WorldObject& wanted);
  Result<void> merge(const Api& api, const std::string& path, const Json& patch);
  Member* find(const std::string& cluster);

  const Api agents_, admin_;
  std::map<std::string, Api> members_api_;
  WorkAgent work_agent_;
  const std::uint64_t seed_;
  const LogTime start_;
  const FleetLogger logger_;
  Users users_;
  QuotaController kueue_;

  std::map<std::string, Member> members_;
  std::deque<ScheduledFault> script_;
  std::int64_t round_ = 0;
  std::int64_t pods_ = 0;
  LogTime next_report_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
