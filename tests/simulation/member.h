// A member cluster: an API server and machines, which people and failures change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/fleet/random.h"
#include "engine/fleet/world.h"
#include "tests/simulation/driver.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Member {
 public:
  using Changed = std::function<void(SeenCapacity)>;
  /// `time` outlives it. `changed` is called when what the machines offer has changed.
  Member(model::VirtualTime& time, std::string name, const Storm& storm, std::int64_t number,
         Server::Wrote wrote, Changed changed);

  const std::string& name() const { return server_.name(); }
  Server& server() { return server_; }
  const Server& server() const { return server_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(machines_.size()); }
  Machine& machine(std::int64_t at) { return machines_[static_cast<std::size_t>(at)]; }
  Amounts usable() const;
  /// A device of a machine breaks, or all of it are repaired.
  void change_devices(std::int64_t at, std::int64_t device);
  Driver& driver() { return driver_; }

  /// Writes the Node of a machine as it is now.
  void write(std::int64_t at);
  void join();
  /// The Node is deleted, and the machine with it.
  void vanish(std::int64_t at);
  /// Has the API server know the machines as they are, after it went back to what it knew once.
  void register_again();

 private:
  void beat();
  void report();

  model::VirtualTime& time_;
  Server server_;
  Driver driver_;
  const Changed changed_;
  std::vector<Machine> machines_;
  std::int64_t joined_ = 0;  // ever
  std::unique_ptr<Transport::Timer> heartbeat_;
};

}  // namespace fairlead::simulation
