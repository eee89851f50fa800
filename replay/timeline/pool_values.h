// What the audit page draws of the super cluster pool, at one moment: a namespace's slices and pods
// at each super cluster, what a super cluster offers and what is held of it, and what a tenant has.
//
// The numbers are the same as in `audit why --namespace`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/state.h"
#include "replay/timeline/step_series.h"

namespace fairlead {

/// The lines of a namespace at one super cluster, in counts of slices and pods.
enum class ShareLine : std::uint8_t {
  placed,    ///< as its annotation says, whoever wrote it
  decided,   ///< as Fairlead decided
  pods,      ///< that carry the id and are not over
  expected,  ///< how many slices it should have; of the namespace itself alone
  waiting,   ///< pods without a cluster; of the namespace itself alone
};
inline constexpr std::array<std::string_view, 5> kShareLines{"placed", "decided", "pods",
                                                             "expected", "waiting"};
/// The lines of a resource of a super cluster.
enum class OfferLine : std::uint8_t {
  accepted,  ///< what the pool may use of it; null: no value yet
  held,      ///< by slices, pods and strangers; of other resources than cpu and memory by pods
};
inline constexpr std::array<std::string_view, 2> kOfferLines{"accepted", "held"};
/// The lines of a tenant, of cpu and of memory.
enum class TenantLine : std::uint8_t { slices, limit };
inline constexpr std::array<std::string_view, 2> kTenantLines{"slices", "limit"};

using ShareValues = std::array<Int128, kShareLines.size()>;    ///< kNoValue: null
using OfferValues = std::array<Int128, kOfferLines.size()>;    ///< kNoValue: null
using TenantValues = std::array<Int128, kTenantLines.size()>;  ///< kNoValue: null

/// Returns the values of a namespace by super cluster id and, under "", its own: the sums.
std::map<std::string, ShareValues> share_values(const State& state, const PoolNamespace& of);
/// Returns who set the current placements: `fairlead` if our last write has them.
StepWriter writer_of_placements(const PoolNamespace& of);
/// Returns the values of a super cluster by canonical resource.
std::map<std::string, OfferValues> offer_values(const State& state, const std::string& id);
/// Returns the values of a tenant by resource: cpu and memory.
std::map<std::string, TenantValues> tenant_values(const PoolTenant& tenant);

/// TENANT/NAME, as the audit is asked for it.
std::string namespace_text(const PoolNamespaceKey& key);

/// What a namespace lacks, the worst first: "not connected" (its tenant), "no room" (it has fewer
/// slices than it should), "pods wait", "not written", "write refused", "write unanswered", or its
/// reason's first word; "steady" if none of these.
std::vector<std::string> states_of_namespace(const State& state, const PoolNamespaceKey& key);
/// How many of its pods have no cluster and wait for one.
std::size_t pods_that_wait(const PoolNamespace& of);

}  // namespace fairlead
