// Kueue on one API server: admits the Workloads of ClusterQueues without AdmissionChecks by the
// documented rules, and keeps the status of those queues. (Queues with checks:
// engine/fleet/kueue_controller.h.)
//
// A Workload gets the first flavors of its queue's groups in which all that it asks for fits beside
// what others reserve, within the nominal quota: nothing is borrowed, because no cohort of the
// world has two queues, and nothing is preempted. Under StrictFIFO a Workload that does not fit
// keeps back those behind it. It is finished when its length has passed since its admission.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "tests/simulation/next_look.h"
#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Kueue {
 public:
  /// Both outlive it.
  Kueue(model::VirtualTime& time, Server& server) : time_(time), server_(server) {}

  /// Looks soon if the write concerns it.
  void saw(const SeenWrite& write);

 private:
  using Pair = std::pair<std::string, std::string>;  ///< flavor, resource
  struct Flavor {
    std::string name;
    std::map<std::string, Amount> nominal;  ///< by resource
  };
  struct Queue {
    std::vector<std::vector<Flavor>> groups;
    Json status;  ///< as it is stored
    bool strict = false, blocked = false;
    std::map<Pair, Amount> used;
    std::int64_t admitted = 0, pending = 0;
  };

  void look();
  void read_queues();
  /// Has the Workload go on. Returns when something is due for it; kForever: nothing.
  LogTime attend(const Json& workload);
  LogTime attend_admitted(const Json& workload, const std::string& path);
  bool admit(const Json& workload, const std::string& path, Queue& queue, const std::string& name);
  void write_status(const std::string& name, const Queue& queue);

  model::VirtualTime& time_;
  Server& server_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, std::string> locals_;  ///< `namespace/name` -> ClusterQueue
  NextLook next_look_{time_, [this] { look(); }};
};

}  // namespace fairlead::simulation
