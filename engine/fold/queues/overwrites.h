// Other writers of a hub queue: how often they overwrite our pairs, and which pairs are left to
// them.
//
// `spec.resourceGroups` is one atomic field, so another writer may change one pair and mean it, or
// write an old list back. Each overwrite is answered by writing the list again, at most
// kOverwritesAnswered times within kOverwriteWindow. One more leaves the pairs that it changed to
// the other writer: they are *contested*. A contested pair is written as observed, and the pairs
// beside it follow the grants as before. It is ours again when it has the value that we wrote last
// or would write now, or when resolve_conflict() says so.
//
// A writer that restores its whole list after each of our writes contests each pair that we change,
// so no pair is fought over for longer than the window allows. Internal to the fold.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

/// Whether the queue's observed list is what our last accepted write, or the unanswered one, left.
bool has_own_list(const WriteTables& writes, const std::string& name, const Queue& queue);

/// Folds an observed list that is not ours. Counts an overwrite that event `seq` shows of the list
/// `before`; what is more than kOverwritesAnswered makes the changed pairs contested.
void count_overwrite(QueueRoom state, const std::string& name, Queue& queue,
                     const std::vector<ResourceGroup>& before, Seq seq);
/// Does the same with the list observed at `version`, where `before` was observed before it.
void note_foreign_list(QueueRoom state, const std::string& name, Queue& queue,
                       const std::vector<ResourceGroup>& before, const std::string& version,
                       Seq seq);
/// Remembers the administrator's limits in the observed list, which is not ours.
void remember_lending(const Configuration& configuration, Queue& queue);
/// Takes the contested pairs back that have our value, or that are not ours any more. Returns
/// whether there was one.
bool end_contests(QueueReader state, const std::string& name, Queue& queue);

}  // namespace fairlead
