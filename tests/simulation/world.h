// A whole world in virtual time, on one thread: a hub's API server, member clusters, people, and
// the processes of the hub. A run is a function of its storm.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/configuration.h"
#include "tests/simulation/checker.h"
#include "tests/simulation/hub.h"
#include "tests/simulation/kept_log.h"
#include "tests/simulation/member.h"
#include "tests/simulation/people.h"
#include "tests/simulation/storm.h"

namespace fairlead::simulation {

class World {
 public:
  /// Called with each line of what happens; may be empty.
  using Lines = std::function<void(const std::string&)>;
  World(const Storm& storm, Lines lines);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs to the end, or to the first failure, which it returns.
  std::optional<Failure> run();

  const Storm& storm() const { return storm_; }
  const Configuration& configuration() const { return configuration_; }
  const Record& record() const { return record_; }
  LogTime now() const { return time_.now(); }
  /// Digest of everything that replicas logged.
  Digest digest() const;

  /// The log of a replica, also of one that is dead.
  std::size_t replicas() const { return replicas_.size(); }
  const KeptLog& log(std::size_t replica) const { return *replicas_[replica].log; }
  /// Null while the process is dead.
  const State* state(std::size_t replica) const;

  // For the world's own parts.
  model::VirtualTime& time() { return time_; }
  Server& hub_server() { return hub_server_; }
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }
  Member& member(std::int64_t at) { return *members_[static_cast<std::size_t>(at)]; }
  /// Records a fault that begins.
  void fault(SeenFault fault);

 private:
  struct Replica {
    std::string name;
    std::unique_ptr<KeptLog> log;
    std::unique_ptr<Hub> hub;  ///< null: the process is dead
  };

  void make_objects();
  void start(Replica& replica);
  void run_to(LogTime end);
  /// The first failure of any checker.
  std::optional<Failure> failure() const;
  void say(std::string_view who, const std::string& what) const;
  Server::Wrote wrote();
  Member::Changed changed();

  const Storm storm_;
  const Lines lines_;
  mutable model::VirtualTime time_;  // a Clock is read by a function that may change it
  Record record_;
  Checkers checkers_;
  Configuration configuration_;
  Server hub_server_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Replica> replicas_;
  std::unique_ptr<People> people_;
};

}  // namespace fairlead::simulation
