// Folds the facts of the MultiKueue path. Internal to the fold.
//
// An observation updates records and marks what must be evaluated; nothing is decided until the
// moment closes (close.h).
#pragma once

#include <optional>
#include <string>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The observe functions fold one object of the hub.
void observe_placement(StateView<MultiKueue> state, const NamespacedName& id,
                       Seen<PlacementFacts> seen, Seq seq);
void observe_decision(StateView<MultiKueue> state, const NamespacedName& id,
                      Seen<PlacementDecisionFacts> seen, Seq seq);
void observe_score(MultiKueueRoom state, const NamespacedName& id,
                   Seen<AddOnPlacementScoreFacts> seen, Seq seq);
void observe_profile_of_kueue(MultiKueueRoom state, const NamespacedName& id,
                              Seen<ClusterProfileFacts> seen);
void observe_secret(MultiKueueRoom state, const NamespacedName& id, Seen<SecretFacts> seen);
void observe_config(StateView<MultiKueue> state, const std::string& name,
                    Seen<MultiKueueConfigFacts> seen, Seq seq);
void observe_worker(StateView<MultiKueue> state, const std::string& name,
                    Seen<MultiKueueClusterFacts> seen, Seq seq);
void observe_check(StateView<MultiKueue> state, const std::string& name,
                   Seen<AdmissionCheckFacts> seen, Seq seq);
void observe_workload(MultiKueueRoom state, const NamespacedName& id, Seen<WorkloadFacts> seen,
                      Seq seq);
void observe_crd(StateView<MultiKueue, WriteTables> state, const std::string& name,
                 Seen<CustomResourceDefinitionFacts> seen);
void observe_admission_policy(MultiKueueRoom state, const std::string& name,
                              Seen<MutatingAdmissionPolicyFacts> seen, Seq seq);

/// Folds that a kind of this path can be read again. Does nothing if it could be read before.
void observe_readable(MultiKueue& multikueue, Kind kind, Seq seq);
/// Folds that a kind of this path cannot be read any more. Does nothing if that is known.
void observe_unreadable(MultiKueue& multikueue, Kind kind, Seq seq);

/// Marks the worker list of a Placement, which is evaluated when the present moment closes.
void mark_list_dirty(MultiKueue& multikueue, const std::string& placement, Seq seq = {});
/// Marks what depends on our write of an object of this path, because the write was answered or may
/// be tried again.
void mark_multikueue_dirty(MultiKueue& multikueue, const ObjectKey& object);
/// Folds an intent for an object of this path: remembers the list or the source that it writes.
void expect_multikueue(MultiKueue& multikueue, const PatchIntended& intent);

}  // namespace fairlead
