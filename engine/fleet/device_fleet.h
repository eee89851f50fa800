// A fleet of one cluster whose GPUs a driver publishes: devices break, a driver is upgraded, nodes
// are drained, and the quota of one ClusterQueue follows.
//
// It plays the driver, the machines, an administrator, users, and Kueue on the hub. Each round has
// every fault once; the seed decides the machines, the devices and the exact times.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/quota_controller.h"
#include "engine/fleet/random.h"
#include "engine/fleet/users.h"

namespace fairlead {

/// The cluster whose devices are published.
inline constexpr std::string_view kDeviceCluster = "gpus";
inline constexpr std::string_view kDeviceQueue = "training";
inline constexpr Duration kDeviceRoundLength = minutes(34);

/// Owned by one thread. The models outlive it.
class DeviceFleet final : public Fleet {
 public:
  /// `servers` has the API server of kDeviceCluster; `start` is the time at which it begins.
  DeviceFleet(model::SharedModel& hub, const std::map<std::string, model::SharedModel*>& servers,
              std::uint64_t seed, LogTime start, FleetLogger logger);

  Result<void> begin() override;
  void advance(LogTime now) override;
  std::uint64_t writes() const override { return writes_ + users_.writes() + kueue_.writes(); }

 private:
  enum class Fault : std::uint8_t {
    break_device,
    repair_device,
    begin_upgrade,
    end_upgrade,
    cordon,
    uncordon
  };
  struct Scheduled {
    Duration at;  // since the fleet began
    Fault fault{};
    std::size_t node = 0;
    std::string text;
  };
  struct Node {
    std::string name;
    std::int64_t generation = 1;
    std::set<std::int64_t> broken;  // devices
    std::vector<std::string> slices;
  };

  void write_round();
  void play(LogTime now);
  Result<void> carry_out(const Scheduled& entry);
  Result<void> publish(Node& node, std::int64_t part, std::int64_t parts);
  Result<void> create(const Api& api, const std::string& collection, const Json& object);
  Result<void> republish(const Node& node);
  Result<void> begin_upgrade(Node& node);
  Result<void> end_upgrade(Node& node);

  const Api admin_, driver_;
  const LogTime start_;
  const FleetLogger logger_;
  Users users_;
  QuotaController kueue_;
  Random random_;
  std::vector<Node> nodes_;
  std::deque<Scheduled> script_;
  std::int64_t round_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
