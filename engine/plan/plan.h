// The plan: what should be written now.
//
// plan() compares desired with observed objects, for those in the dirty set, and returns the
// writes in the order in which they must be sent: what lowers quota, then finalizers and new
// claims, then members, then growths, then MultiKueue workers and worker lists, then statuses, then
// releases (Direction, Rank). It does not change State: an intent has an effect there only when the
// log has it.
//
// To add a kind of desired object: write an emitter (a function State -> PatchIntended or nothing),
// call it here.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"
#include "engine/plan/emit.h"

namespace fairlead {

class QueueWishes;

/// Returns the clusters whose quota work is among `proposals`.
std::set<std::string> members_written(const std::vector<PatchIntended>& proposals);
/// Whether a member that feeds the queue is being written, or is one of `members`, which are about
/// to be. Growing the queue now would mean writing it twice.
bool member_is_on_its_way(const State& state, const std::string& queue,
                          const std::set<std::string>& members);

/// Returns the writes for the objects in `dirty`, and empties it except for claims whose status
/// waits for the outcome of writes of this round. The result depends on `state` and `dirty`
/// alone, and planning everything gives the same intents for those objects. While
/// Configuration::record is in force there are none.
std::vector<PatchIntended> plan(const State& state, DirtySet& dirty);

/// Plans round after round on one State, as plan() does, but derives again only what follows from
/// the dirty set: the time of a round is in proportion to that, not to the size of State
/// (docs/decisions/0025-planning-follows-what-changed.md). Not thread safe; `state` must outlive
/// it.
class Planner {
 public:
  explicit Planner(const State& state);
  ~Planner();
  /// Does what plan() does. `dirty` must contain all that changed since the round before.
  std::vector<PatchIntended> plan(DirtySet& dirty);

 private:
  const State& state_;
  const std::unique_ptr<QueueWishes> wishes_;  ///< and the hub quotas that they are made of
};

}  // namespace fairlead
