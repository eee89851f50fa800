// What an exported log says of the world, as the workload of a run: `fairlead-sim --from-bundle`.
//
// A log keeps of an object what Fairlead reads. Out of that an object is made that Fairlead reads
// as the same; where there is none, because its kind is not one of those below, it is left out and
// counted. What the hub of the incident wrote is left out, too: the hub of the run decides anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/log/event_log.h"
#include "schema/event.h"

namespace fairlead::simulation {

class Server;
class World;

/// A change of one object by another writer than the hub.
struct IncidentStep {
  Duration at;  ///< since the first event
  SourceName server;
  ObjectKey key;
  std::string version;
  Json patch;  ///< a merge patch of what was there before; null: a deletion
  Json whole;  ///< what is there then; null: the hub made the object, and the step waits for it
};

struct Incident {
  std::vector<std::string> members;
  Configuration configuration;
  std::vector<IncidentStep> steps;               ///< in the order of the log
  std::map<std::string, std::int64_t> left_out;  ///< observations, by the name of their kind
  Duration span;

  /// A line for a person.
  std::string summary() const;
};
using IncidentRef = std::shared_ptr<const Incident>;

/// Reads the log's events from the first kept one.
Result<IncidentRef> incident_of(const ReadableLog& log);
/// The same of an export (`fairlead log export`).
Result<IncidentRef> read_incident(const std::filesystem::path& bundle);

/// Has an incident happen in a world. What is there at the first moment is there at once.
class Reenactment {
 public:
  /// `world` outlives it.
  Reenactment(World& world, IncidentRef incident);
  /// Nothing happens any more.
  void end() { *ended_ = true; }
  /// A server went back: its objects are again as they should be.
  void say_again(const SourceName& server);

 private:
  using Place = std::tuple<SourceName, std::string>;  // a server and the path of an object
  void happen(const IncidentStep& step);
  void put(const Place& place, const Json& patch, const Json& whole);
  void remove(const Place& place);
  Server* server_called(const SourceName& name);

  World& world_;
  const IncidentRef incident_;
  const std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
  /// What each object is to be, and a patch that makes it so.
  struct Wanted {
    Json whole;  ///< null: the hub makes it
    Json patch;
  };
  std::map<Place, Wanted> objects_;
  std::set<Place> deleted_;
};

}  // namespace fairlead::simulation
