// History's facts as another world would have seen them. Internal to what-if.
//
// In history our own writes came back, and others edited objects that carried our values. In a
// world where we wrote something else, neither may be replayed as it was.
#pragma once

#include <optional>
#include <vector>

#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// What the imagined world is told where history has `event`; nullopt: nothing. `history` is the
/// state just before the event, `imagined` the other world's.
///
/// ClusterQueues: what an administrator changed, a three-way merge against what stood in history or
/// was our own write. Claims: the author's spec, our finalizer and status as they stand in the
/// other world; a claim that we made ourselves is left out until somebody edits it. ManifestWorks:
/// only usage feedback. MultiKueueConfigs and MultiKueueClusters: what somebody else changed, over
/// our own write. AdmissionChecks: our conditions as they stand in the other world. Workloads: our
/// checks and nominations likewise; where they run is history's, so what other nominations would
/// have led to is not known.
std::optional<WatchFact> imagine(const Event& event, const State& history, const State& imagined);

/// The part of imagine for kinds of the MultiKueue path; others are left as they are. False if
/// there is nothing to be told.
bool imagine_of_multikueue(ObjectSeen& seen, const State& history, const State& imagined);
/// Whether the other world is told that an object of this path is gone.
bool imagine_gone_of_multikueue(const ObjectKey& key, const State& history, const State& imagined);
/// History's hub wrote the object, and the watch has not shown it yet.
bool write_under_way(const State& history, const ObjectKey& key);
/// The object was made by a VirtualHub.
bool is_made_uid(const std::string& uid);

/// `theirs` with everything that it has in common with `base` taken from `ours`: the changes that
/// led from `base` to `theirs`, laid over `ours`.
std::vector<ResourceGroup> merge_lists(const std::vector<ResourceGroup>& base,
                                       const std::vector<ResourceGroup>& theirs,
                                       const std::vector<ResourceGroup>& ours);

}  // namespace fairlead
