// Why something of a namespace or of a pod is missing, as its owner reads it.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// What a reason is about. A reason about clusters does not count before they are known; otherwise
/// a start would write to every object.
enum class ReasonTopic : std::uint8_t { request, clusters };

/// A reason, empty where nothing is missing.
struct ReasonText {
  std::string text;
  ReasonTopic topic = ReasonTopic::request;
};

/// Sets what the object lacks now. What is to be written follows when that has held for
/// pool.settle, or at once where nothing is lacking.
void set_reason(PoolRoom state, const PoolPodKey& key, Boxed<PoolReason>& reason, ReasonText now);
/// Clears the current reason of an object about which nothing is decided now; the written one
/// stays.
void clear_reason(Boxed<PoolReason>& reason);
/// Notes the annotation that an object had when it was first seen.
void note_written_reason(Boxed<PoolReason>& reason, const std::optional<std::string>& annotation);

/// Returns the reason of a namespace that takes part.
ReasonText reason_of_namespace(PoolReader state, const PoolTenant& tenant, const PoolNamespace& of);

/// Finds out whether reasons about clusters count yet, and if so marks the objects that may have
/// such a reason.
void update_clusters_known(PoolRoom state);
/// Returns when they begin to count by time alone; kForever if never.
LogTime clusters_known_at(PoolReader state);

}  // namespace fairlead
