// Plays the OCM work agents of all clusters: applies ManifestWorks and reports back.
//
// A quota may grow on the hub only after its member has it, so without these reports no quota would
// grow. An agent needs kAgentDelay, and that of a silent cluster reports nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/base/time.h"
#include "engine/fleet/api.h"

namespace fairlead {

/// The time from a new ManifestWork to its agent's report.
inline constexpr Duration kAgentDelay = seconds(3);

/// Owned by one thread.
class WorkAgent {
 public:
  explicit WorkAgent(model::SharedModel& hub) : hub_(hub, "work-agent") {}

  /// Finds new works and reports those that are done. `reachable` are the clusters whose agents
  /// run.
  void look(LogTime now, const std::set<std::string>& reachable);

 private:
  struct Applied {
    std::string uid;
    std::int64_t generation = 0;
    friend bool operator==(const Applied&, const Applied&) = default;
  };
  void find_new(LogTime now, const std::set<std::string>& reachable);
  void report(const Json& work, LogTime now);

  Api hub_;
  std::uint64_t seen_ = 0;
  std::set<std::string> reachable_;
  std::map<std::string, Applied> applied_;  ///< by namespace/name
  std::map<std::string, LogTime> due_;      ///< the same
};

/// Returns the `status` that an agent writes to a work that it applied.
Json work_status(const Json& work, LogTime now);

}  // namespace fairlead
