// A driver of devices on one member: publishes those of each machine as a pool of ResourceSlices.
// Devices break and are repaired, and the driver is upgraded, which publishes a pool anew in two
// parts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/fleet/device_world.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

/// The resource that its devices count as, and the queue that gets them.
inline constexpr const char* kAccelerator = "example.com/accelerator";
inline constexpr const char* kAcceleratorQueue = "accelerators";

class Driver {
 public:
  /// Both outlive it. Each machine has `devices`; 0: there is no driver.
  Driver(model::VirtualTime& time, Server& server, std::int64_t devices);

  void joined(const std::string& node);
  void vanished(const std::string& node);
  /// The number of devices of the node that are not broken.
  std::int64_t healthy(const std::string& node) const;

  /// Breaks a device, or repairs all of the node.
  void change(const std::string& node, std::int64_t device);
  /// Publishes the first of two slices of a new generation, and the other one after `span`.
  void upgrade(const std::string& node, Duration span);
  /// Publishes everything anew, after the API server went back to what it knew once.
  void register_again();

 private:
  struct Pool {
    std::set<std::int64_t> broken;
    std::int64_t generation = 1;
    std::int64_t parts = 1;
    bool updating = false;  ///< the second slice of `generation` is not there yet
  };
  SlicePart part_of(const std::string& node, const Pool& pool, std::int64_t part) const;
  void publish(const std::string& node, const Pool& pool, std::int64_t part);
  void end_upgrade(const std::string& node, std::int64_t generation);
  /// Deletes the node's slices but those of `generation`.
  void remove_others(const std::string& node, std::int64_t generation);

  model::VirtualTime& time_;
  Server& server_;
  const std::int64_t devices_;
  std::map<std::string, Pool> pools_;  ///< by node
};

}  // namespace fairlead::simulation
