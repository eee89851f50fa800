// One process of a hub in virtual time: the code that reads API servers and writes to them, the
// inbox, the loop's rounds and the core, on the caller's thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "connectors/kube/api_server.h"
#include "engine/runtime/hub_loop.h"
#include "engine/runtime/leader.h"
#include "tests/simulation/network.h"

namespace fairlead::simulation {

/// What a process is given by its world. All of it outlives the process.
struct HubWorld {
  model::VirtualTime& time;
  Faults& faults;
  LifeRef life;
  std::map<SourceName, Server*> servers;
  std::function<void(const std::string&)> said;  ///< each line of diagnostics
  std::function<void()> turned;                  ///< after each turn that ended well
};

/// Its destruction is the death of the process: what is under way to it is lost.
class Hub {
 public:
  Hub(const HubWorld& world, std::string name, EventLog& log, Clock& clock);
  ~Hub();

  /// Folds the log and begins to lead. An error ends the process.
  Result<void> begin(const Configuration& configuration);
  /// What the hub's thread does when it wakes, until nothing is left to do now.
  Result<void> settle();
  /// When it wakes if nothing comes, in the world's time.
  LogTime next_due() const;

  const State& state() const { return leader_.state(); }
  HubStats stats() { return leader_.stats(); }

 private:
  struct Connection {
    std::unique_ptr<Network> network;
    std::unique_ptr<ApiServer> server;
  };

  Result<void> turn();
  HubPorts ports();
  void open(const SourceName& name, const Streams& streams, const Configuration& configuration);

  const HubWorld world_;
  const std::string name_;
  Inbox inbox_{kInboxFactsMax};
  HubStatus status_;
  Replica replica_;
  Leader leader_;
  HubLoop loop_;
  std::deque<WatchFact> facts_;  // of one turn of the servers
  std::map<SourceName, Connection> connections_;
};

}  // namespace fairlead::simulation
