// The fleets that `fairlead dev --fleet` chooses from: what each needs, and commands to try with
// it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/fleet/fleet.h"
#include "engine/fleet/model/shared_model.h"
#include "schema/configuration.h"

namespace fairlead {

// `name` is one of fleet_names() everywhere.
std::vector<std::string> fleet_names();

/// An API server beside the hub's.
enum class ServerRole : std::uint8_t {
  member,  ///< the hub reads its Nodes: it needs a kubeconfig of it
  tenant,  ///< the hub reads its kubeconfig from a Secret that the fleet makes
};
/// Returns the API servers beside the hub's, by name.
std::map<std::string, ServerRole> fleet_servers(const std::string& name);
/// Returns the defaults of the fleet as settings for `--set`; the user's settings override them.
std::vector<std::string> fleet_settings(const std::string& name);
/// Makes the fleet; `hub` and `servers` outlive it.
std::unique_ptr<Fleet> make_fleet(const std::string& name, model::SharedModel& hub,
                                  const std::map<std::string, model::SharedModel*>& servers,
                                  std::uint64_t seed, LogTime start, FleetLogger logger);

/// The kubeconfigs of a run.
struct FleetPlaces {
  std::string hub;
  std::map<std::string, std::string> others;
  /// What is printed before the commands of kubectl.
  std::string before_kubectl;
};
/// Returns questions about the fleet as `fairlead audit` takes them: what is asked first.
std::vector<std::string> fleet_questions(const std::string& name);

/// Prints an introduction and the beginning of a list of commands, to which the caller adds.
void introduce_fleet(std::ostream& out, const std::string& name, const FleetPlaces& places,
                     const Configuration& configuration);

}  // namespace fairlead
