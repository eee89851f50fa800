// What the world keeps of a run by itself, apart from the engine: the checkers judge by it.
//
// It is written by the world's servers, logs and faults, never by what the hub says of itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/time.h"
#include "engine/base/types.h"
#include "engine/fleet/model/object_store.h"
#include "schema/event.h"

namespace fairlead::simulation {

/// An object that a write changed. `before` is null for a creation, `after` for a deletion.
struct SeenChange {
  std::string resource;  ///< `plural.group`; of the core group `nodes.`
  std::string key;       ///< `namespace/name` or `name`
  model::ObjectRef before, after;
};

/// A write as the server saw it; also one that it refused.
struct SeenWrite {
  std::uint64_t number = 0;  ///< among all of the run, from 1
  LogTime time;              ///< when the server carried it out
  SourceName server;
  /// A replica ("hub-0"), its election ("lease of hub-0"), or the field manager of another writer.
  std::string who;
  std::string method, path, content_type, body;
  std::map<std::string, std::string> query;
  int status = 0;
  /// Whether the writer does not get this answer: it is lost, late, or another one is sent.
  bool answer_lost = false;
  LogTime sent;  ///< of a replica's write: when it was sent,
  Epoch epoch;   ///< and the epoch of the replica's State then; 0 of others
  std::vector<SeenChange> changes;

  bool by_hub() const { return who.starts_with("hub-"); }
  /// Whether it left every object as it was.
  bool changed_nothing() const { return changes.empty(); }
};

/// An event when it became durable in the log of `replica`.
struct SeenEvent {
  LogTime time;  ///< of the world
  std::string replica;
  Event event;
};

/// A fault, when it begins.
struct SeenFault {
  LogTime time;
  std::string kind;   ///< as storm.h names it
  std::string where;  ///< a server or a replica; empty: the world
  std::string what;   ///< for a person
};

/// Amounts per flavor and resource, in the units of a Quantity's whole numbers (cpu: cores).
using Amounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

/// What the machines of a member offer from `time` on: the machines that are there, answer and are
/// not cordoned.
struct SeenCapacity {
  LogTime time;
  std::string cluster;
  Amounts usable;
};

/// What a member's own ClusterQueue admits up to from `time` on, as stored there.
struct SeenAdmission {
  LogTime time;
  std::string cluster, queue;
  Amounts quota;
};

/// Append-only; references into it do not last.
struct Record {
  LogTime began;
  LogTime healed = kForever;  ///< faults end, and what they broke is well again
  LogTime quiet = kForever;   ///< nobody has changed anything since `healed`; all has settled
  std::vector<SeenWrite> writes;
  std::vector<SeenEvent> events;
  std::vector<SeenFault> faults;
  /// By kind of fault: how often it befell the leader among several replicas.
  std::map<std::string, std::int64_t> leaders;
  std::vector<SeenCapacity> capacity;
  std::vector<SeenAdmission> admission;
};

}  // namespace fairlead::simulation
