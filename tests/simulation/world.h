// A whole world in virtual time, on one thread: a hub's API server, member clusters, people, and
// the processes of the hub. A run is a function of its storm.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/configuration.h"
#include "tests/simulation/checker.h"
#include "tests/simulation/controllers.h"
#include "tests/simulation/disasters.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/hub.h"
#include "tests/simulation/hub_clock.h"
#include "tests/simulation/incident.h"
#include "tests/simulation/kept_log.h"
#include "tests/simulation/member.h"
#include "tests/simulation/people.h"
#include "tests/simulation/role_hub.h"
#include "tests/simulation/storm.h"

namespace fairlead::simulation {

/// Whether checkers watch a run. The one that another is compared with needs none.
enum class Judged : std::uint8_t { yes, no };

class World {
 public:
  /// Called with each line of what happens; may be empty.
  using Lines = std::function<void(const std::string&)>;
  /// `incident` is the workload instead of machines and people of the seed; null: none.
  World(const Storm& storm, Lines lines, Judged judged = Judged::yes, IncidentRef incident = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs to the end, or to the first failure, which it returns.
  std::optional<Failure> run();

  const Storm& storm() const { return storm_; }
  const IncidentRef& incident() const { return incident_; }
  const Configuration& configuration() const { return configuration_; }
  const Record& record() const { return record_; }
  const Checkers& checkers() const { return checkers_; }
  LogTime now() const { return time_.now(); }
  /// Digest of everything that replicas logged.
  Digest digest() const;

  /// The log of a replica, also of one that is dead.
  std::size_t replicas() const { return replicas_.size(); }
  const EventLog& log(std::size_t replica) const;
  /// Null where a replica takes none.
  const SnapshotStore* snapshots(std::size_t replica) const {
    return replicas_[replica].snapshots.get();
  }
  /// Null while the process is dead.
  const State* state(std::size_t replica) const;

  // For the world's own parts.
  model::VirtualTime& time() { return time_; }
  Server& hub_server() { return hub_server_; }
  Controllers& controllers() { return *controllers_; }
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }
  Member& member(std::int64_t at) { return *members_[static_cast<std::size_t>(at)]; }
  Faults& faults() { return faults_; }
  /// The hub's, then the members'.
  std::int64_t servers() const { return members() + 1; }
  const Server& server(std::int64_t at) const {
    return at == 0 ? hub_server_ : members_[static_cast<std::size_t>(at - 1)]->server();
  }
  Server& server(std::int64_t at) { return at == 0 ? hub_server_ : member(at - 1).server(); }
  HubClock& clock(std::int64_t replica) {
    return *replicas_[static_cast<std::size_t>(replica)].clock;
  }
  /// Ends a process; it is started again soon.
  void kill(std::int64_t replica) { life(replica).over = true; }
  void pause(std::int64_t replica, LogTime until);
  Life& life(std::int64_t replica) { return *replicas_[static_cast<std::size_t>(replica)].life; }
  void lose_ring(LogTime until);
  /// Has the servers of the ring go back to what they have now, after `span`.
  void restore_ring(Duration span, std::uint64_t jump);
  /// After a restore of a server: has users repeat what they want of it.
  void say_again(std::int64_t server);

 private:
  struct Replica {
    std::string name;
    std::unique_ptr<KeptLog> log;              ///< of one that is alone
    std::unique_ptr<RocksdbLog> local;         ///< of one of several: its copy
    Seq told;                                  ///< what of the copy was acknowledged
    bool behind = false;                       ///< it begins with the copy of another one's log
    std::unique_ptr<SnapshotStore> snapshots;  ///< null: it takes none
    std::unique_ptr<HubClock> clock;
    LifeRef life;                      ///< of the process
    RoleHub* role_hub = nullptr;       ///< `process`, where there are several
    std::unique_ptr<Process> process;  ///< null: it is dead
  };

  void make_objects();
  void make_replicas();
  void note_admission(const SeenWrite& write);
  void acknowledged(const std::string& replica, const Event& event);
  std::unique_ptr<Process> make_process(Replica& replica, const HubWorld& world);
  void saw_fault(SeenFault fault);
  /// A replica has printed a line, or posted a KubeEvent.
  void heard(const std::string& replica, const std::string& text);
  void start(Replica& replica);
  void end(Replica& replica);
  bool copy_log(Replica& replica);
  void heal();
  void run_to(LogTime end);
  /// The first failure of any checker.
  std::optional<Failure> failure() const;
  void say(std::string_view who, const std::string& what) const;
  Server::Wrote wrote();
  Member::Changed changed();

  const Storm storm_;
  const Lines lines_;
  const IncidentRef incident_;
  mutable model::VirtualTime time_;  // a Clock's now() is not const
  Faults faults_;
  Record record_;
  Checkers checkers_;
  Configuration configuration_;
  Server hub_server_;
  std::vector<std::unique_ptr<Member>> members_;
  MemoryRing ring_;
  RoleWorld roles_{ring_};
  std::filesystem::path directory_;  ///< of copies of a log and of snapshots; empty: none
  std::vector<Replica> replicas_;
  std::unique_ptr<Controllers> controllers_;
  std::unique_ptr<People> people_;  ///< null: there is an incident
  std::unique_ptr<Reenactment> reenactment_;
  std::unique_ptr<Disasters> disasters_;
};

}  // namespace fairlead::simulation
