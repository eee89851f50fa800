// A fleet whose jobs need what exists once: a site licence, which a driver gives to one cluster at
// a time, and a GPU that is booked ahead.
//
// It plays the driver, OCM's placement controller, Kueue's manager, users and an administrator.
// Jobs wait for the licence, take it one after the other, and it follows a job whose cluster is
// lost.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/kueue_controller.h"
#include "engine/fleet/licence_driver.h"
#include "engine/fleet/placement_controller.h"
#include "engine/fleet/random.h"

namespace fairlead {

inline constexpr Duration kLicenceRoundLength = minutes(26);

/// Returns the clusters in name order; each has an API server of its own.
std::vector<std::string> licence_clusters();

/// Owned by one thread. The models outlive it.
class LicenceFleet final : public Fleet {
 public:
  /// `servers` has the API servers of licence_clusters(); `start` is the time at which it begins.
  LicenceFleet(model::SharedModel& hub, const std::map<std::string, model::SharedModel*>& servers,
               std::uint64_t seed, LogTime start, FleetLogger logger);

  Result<void> begin() override;
  void advance(LogTime now) override;
  std::uint64_t writes() const override {
    return writes_ + placement_.writes() + kueue_.writes() + driver_.writes();
  }

 private:
  enum class Fault : std::uint8_t {
    submit,
    book,
    occupy_gpus,
    free_gpus,
    go_silent,
    come_back,
    end_booking,
    renew
  };
  struct Scheduled {
    Duration at;  // since the fleet began
    Fault fault{};
    std::string subject;
    Duration length;  // of submit: how long the job runs
    std::string text;
  };

  void write_round();
  Result<void> carry_out(const Scheduled& entry, LogTime now);
  Result<void> join(const std::string& cluster, const Api& api);
  Result<void> create(const Api& api, const std::string& collection, const Json& object);
  Result<void> merge(const Api& api, const std::string& path, const Json& patch);
  Result<void> remove(const std::string& path);
  /// OCM hears of the cluster, or not any more.
  enum class Agent : std::uint8_t { heard, silent };
  Result<void> set_agent(const std::string& cluster, Agent agent, LogTime now);

  const Api admin_;
  std::map<std::string, Api> clusters_;
  const LogTime start_;
  const FleetLogger logger_;
  Random random_;
  PlacementController placement_;
  KueueController kueue_;
  LicenceDriver driver_;
  std::map<std::string, std::int64_t> gpus_;  // of each cluster, without those of foreign pods
  std::deque<Scheduled> script_;
  std::int64_t round_ = 0;
  std::int64_t jobs_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
