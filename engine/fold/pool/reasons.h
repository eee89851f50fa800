// Why something of a namespace or of a pod is missing, as its owner reads it.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// What a reason speaks of. One that speaks of clusters does not count before they are known: else
/// a start would write to every object.
enum class ReasonTopic : std::uint8_t { request, clusters };

/// A reason, empty where nothing is missing.
struct ReasonText {
  std::string text;
  ReasonTopic topic = ReasonTopic::request;
};

/// Sets what is true of the object now. What is to be written follows when it has held for
/// pool.settle; where nothing is missing, at once.
void set_reason(State& state, const PoolPodKey& key, Boxed<PoolReason>& reason, ReasonText now);
/// Clears the present reason of an object that is not decided now; the written one stays.
void clear_reason(Boxed<PoolReason>& reason);
/// Notes the annotation that an object had when it was first seen.
void note_written_reason(Boxed<PoolReason>& reason, const std::optional<std::string>& annotation);

/// Returns the reason of a namespace that takes part.
ReasonText reason_of_namespace(const State& state, const PoolTenant& tenant,
                               const PoolNamespace& of);

/// Finds out whether reasons that speak of clusters count, and lets those that waited begin.
void update_clusters_known(State& state);
/// Returns when that changes by time alone; kForever if never.
LogTime clusters_known_at(const State& state);

}  // namespace fairlead
