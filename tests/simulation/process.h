// One process of the hub in virtual time, on the caller's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "connectors/kube/api_server.h"
#include "engine/runtime/hub_loop.h"
#include "tests/simulation/network.h"

namespace fairlead::simulation {

/// What a process is given by its world. All of it outlives the process.
struct HubWorld {
  model::VirtualTime& time;
  Faults& faults;
  LifeRef life;
  std::map<SourceName, Server*> servers;
  SnapshotStore* snapshots;                      ///< null: it takes none
  std::function<void(const std::string&)> said;  ///< each line of diagnostics, each KubeEvent
  std::function<void()> turned;                  ///< after each turn that ended well
};

/// Its destruction is the death of the process: what is under way to it is lost.
class Process {
 public:
  virtual ~Process() = default;
  /// Begins. An error ends the process.
  virtual Result<void> begin(const Configuration& configuration) = 0;
  /// What the hub's thread does when it wakes, until nothing is left to do now.
  virtual Result<void> settle() = 0;
  /// When it wakes if nothing comes, in the world's time.
  virtual LogTime next_due() const = 0;
  virtual const State& state() const = 0;
};

/// The connections of a process to the API servers of its world, and what came by them.
class Connections {
 public:
  /// `name` is the process's; `epoch` returns the one of its State.
  Connections(const HubWorld& world, std::string name, std::function<Epoch()> epoch);
  ~Connections();

  /// The ports of a loop whose connections these are, on the world's time.
  HubPorts ports();
  /// Ends all of them.
  void end();
  /// What the loop gets next: of the inbox, and facts that came.
  Inbox::Content content(Inbox& inbox);
  bool pending(const Inbox& inbox) const { return !facts_.empty() || inbox.depth() > 0; }
  /// A way to a server that is no connection of a Watch; the server sees `who`.
  std::unique_ptr<Network> way_to(const SourceName& server, const std::string& who);

 private:
  struct Connection {
    std::unique_ptr<Network> network;
    std::unique_ptr<ApiServer> server;
  };
  void open(const SourceName& name, const Streams& streams, const Configuration& configuration);

  const HubWorld world_;
  const std::string name_;
  const std::function<Epoch()> epoch_;
  std::deque<WatchFact> facts_;  // of one turn of the servers
  std::map<SourceName, Connection> connections_;
};

}  // namespace fairlead::simulation
