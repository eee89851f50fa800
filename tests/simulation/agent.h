// OCM's work agent of one member: applies its ManifestWorks there, and reports what became of them.
//
// It is what makes a quota of the hub one of the member: it applies each manifest by server-side
// apply as `work-agent`, deletes what a work no longer has (unless the work says that it is to
// stay), and its report has the usage that the member's queues have.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/simulation/server.h"

namespace fairlead::simulation {

class Agent {
 public:
  /// All outlive it.
  Agent(model::VirtualTime& time, Server& hub, Server& member)
      : time_(time), hub_(hub), member_(member) {}

  /// Looks soon if the write, of the hub or of the member, concerns it.
  void saw(const SeenWrite& write);

 private:
  void look_soon();
  void look();
  void carry_out(const Json& work);
  /// Applies a manifest; true if the member has it then.
  bool apply(const Json& manifest);
  /// Deletes objects at the member that `work` had and does not have any more.
  void remove_others(const std::string& work, const std::set<std::string>& now);
  Json report(const Json& work, const std::set<std::size_t>& failed);
  /// Has the report say what the member's queue uses.
  void report_usage(const Json& manifest, Json& status);

  model::VirtualTime& time_;
  Server& hub_;
  Server& member_;
  std::map<std::string, std::set<std::string>> applied_;  ///< paths at the member, by work
  std::map<std::string, std::set<std::string>> orphans_;  ///< of them: what stays without its work
  std::unique_ptr<Transport::Timer> next_;
};

}  // namespace fairlead::simulation
