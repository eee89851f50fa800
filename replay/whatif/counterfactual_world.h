// Translates history's facts into the facts of a counterfactual. Internal to what-if.
//
// In history our own writes came back as observations, and others edited objects that carried our
// values. Where the counterfactual writes something else, neither may be replayed as it was.
#pragma once

#include <optional>
#include <vector>

#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Returns the watch fact that the counterfactual receives for `event` of history; nullopt: none.
/// `history` is history's state just before the event, `counterfactual` the counterfactual's.
///
/// ClusterQueues: an administrator's change, as a three-way merge against what history held or had
/// written itself. Claims: the author's spec, with the finalizer and status of the counterfactual;
/// a claim that Fairlead made is left out until another writer edits it. ManifestWorks: only usage
/// feedback. MultiKueueConfigs and MultiKueueClusters: the changes of other writers, over our own
/// write. AdmissionChecks: our conditions of the counterfactual. Workloads: our checks and
/// nominations likewise; they run where they ran in history, because where other nominations would
/// have placed them is not known. Fleet claims: their drivers' allocations and answers, over the
/// reservations and questions of the counterfactual; a claim that Fairlead made is left out until
/// the counterfactual makes it.
std::optional<WatchFact> translate(const Event& event, const State& history,
                                   const State& counterfactual);

/// The part of translate for kinds of the MultiKueue path; leaves others as they are. Returns false
/// if there is no fact to deliver.
bool translate_of_multikueue(ObjectSeen& seen, const State& history, const State& counterfactual);
/// Whether the counterfactual observes that an object of the MultiKueue path is gone.
bool translate_gone_of_multikueue(const ObjectKey& key, const State& history,
                                  const State& counterfactual);
/// Whether history's hub has written the object and the watch has not reported that write yet.
bool write_under_way(const State& history, const ObjectKey& key);
/// Whether a VirtualHub made the object.
bool is_made_uid(const std::string& uid);

/// Returns `theirs` with everything that equals `base` replaced by `ours`: a three-way merge that
/// applies the changes from `base` to `theirs` to `ours`.
std::vector<ResourceGroup> merge_lists(const std::vector<ResourceGroup>& base,
                                       const std::vector<ResourceGroup>& theirs,
                                       const std::vector<ResourceGroup>& ours);

}  // namespace fairlead
