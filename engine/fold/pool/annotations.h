// The annotations that tenants, the syncers of VirtualCluster and Fairlead exchange.
//
// They come from tenants, who may write anything. A value that cannot be read does not count as an
// error: each caller has a default for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

inline constexpr char kPlacementsAnnotation[] = "scheduler.virtualcluster.io/placements";
inline constexpr char kSuperClusterAnnotation[] = "scheduler.virtualcluster.io/superCluster";
inline constexpr char kPoolReasonAnnotation[] = "fairlead.io/pool-reason";

/// Returns whether `text` can be the id of a super cluster: 1 to 253 of A-Z a-z 0-9 . _ -.
bool is_super_cluster_id(std::string_view text);

/// Reads the slice annotation: a JSON object of the two strings cpu and memory, both above 0.
/// Absent: VirtualCluster's default, 2 cpu and 4Gi. nullopt: it cannot be read.
std::optional<CpuMemory> read_slice(const std::optional<std::string>& text);

/// Reads the placements annotation: a JSON object of whole numbers, not negative, by id. Absent: an
/// empty map. nullopt: it cannot be read, or its sum is above `slices_max`.
std::optional<SliceMap> read_placements(const std::optional<std::string>& text,
                                        std::int64_t slices_max);
/// Returns the canonical text of that annotation.
std::string placements_text(const SliceMap& slices);

/// Returns the policy that a namespace asks for itself; nullopt: none, or a text that is no policy.
std::optional<PoolPolicy> own_policy_of(const NamespaceFacts& of);
/// Returns the policy in force for it.
PoolPolicy policy_of(const PoolSettings& settings, const NamespaceFacts& of);

/// Reads a tenant's limit: a JSON object of quantities of cpu, memory, both or none. nullopt: it
/// cannot be read.
std::optional<std::map<std::string, Amount>> read_limit(const std::string& text);

}  // namespace fairlead
