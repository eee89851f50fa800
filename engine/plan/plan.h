// The plan: what should be written now.
//
// plan() compares what should be with what was seen, for the objects that were touched, and returns
// the writes in the order in which they must go out: shrinks, then finalizers and new claims, then
// members, then growths, then statuses, then releases. It changes nothing: an intent takes effect
// in State only when the log has it.
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

/// The clusters whose quota work is among `proposals`.
std::set<std::string> members_written(const std::vector<Proposal>& proposals);
/// A member that feeds the queue is being written, or is one of `members`, which are about to be:
/// growing now would mean writing the queue twice.
bool member_is_on_its_way(const State& state, const std::string& queue,
                          const std::set<std::string>& members);

/// The writes for what `touched` names, which is emptied but for claims whose status waits for the
/// outcome of writes of this round. The result depends on `state` and `touched` alone, and planning
/// everything gives the same intents for those objects.
std::vector<PatchIntended> plan(const State& state, Touched& touched);

/// Plans round after round on one state, as plan() does, but derives again only what follows from
/// what was touched: the time of a round is in proportion to that, however much there is. Not
/// thread safe; the state must outlive it.
class Planner {
 public:
  explicit Planner(const State& state);
  ~Planner();
  /// As plan(). `touched` names at least what changed since the round before.
  std::vector<PatchIntended> plan(Touched& touched);

 private:
  const State& state_;
  const std::unique_ptr<QueueWishes> wishes_;  ///< with what they are made of
};

}  // namespace fairlead
