// What happens in the world without the hub: machines, administrators, a second human. Each actor
// has random numbers of its own, so that a storm with one of them less leaves the others as they
// were.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/fleet/random.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/storm.h"

namespace fairlead::simulation {

class World;

class People {
 public:
  /// `world` outlives it.
  explicit People(World& world);
  /// Nobody does anything from now on. Users withdraw what was not admitted yet.
  void end();
  /// The hub's API server went back: what the administrator wanted last is wanted still.
  void say_again();

 private:
  void change_node(Random& random);
  void drain(Random& random);
  void flap(Random& random);
  void edit_claim(Random& random);
  void edit_queue(Random& random);
  void write_quota(Random& random);
  void set_limit(Random& random);
  void submit(Random& random);
  void change_devices(Random& random);
  void change_workers(const Storm& storm);

  /// Has the administrator want this of an object of the hub.
  void want(const std::string& path, const Json& patch);
  /// Does `work` later, unless it is too late then.
  void later(Duration span, std::function<void()> work);

  World& world_;
  Occasions occasions_;
  std::map<std::string, Json> wanted_;  ///< by path: the last patch
  std::int64_t submitted_ = 0;
};

/// A claim for more than the cluster has, so that each queue gets what there is.
Json claim_of(const std::string& cluster, const Storm& storm);
/// The ClusterQueue that gets the devices.
Json device_queue();

}  // namespace fairlead::simulation
