// The part of State about member clusters: what was sent there, and what is observed there.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/event.h"

namespace fairlead {

/// A ManifestWork of ours as last observed.
struct Work {
  bool present = false;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  ManifestWorkFacts facts;
  Seq seq;

  /// Whether its agent reports Applied and Available for the present generation.
  bool applied_and_available() const;

  friend bool operator==(const Work&, const Work&) = default;
};

/// The BindingPolicy of a cluster as last observed.
struct Policy {
  bool present = false;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  BindingPolicyFacts facts;
  Seq seq;

  friend bool operator==(const Policy&, const Policy&) = default;
};

/// A ClusterQueue of a watched member.
struct MemberQueue {
  std::vector<ResourceGroup> groups;
  std::vector<FlavorUsage> usage;  ///< what runs on it
  Seq seq;
  std::optional<EffectiveQuotas> effective;          ///< what its Kueue uses instead of `groups`
  ConditionStatus active = ConditionStatus::absent;  ///< its condition Active
  std::string reason;                                ///< of that condition
  std::string stop_policy;
  std::string uid;
  std::string cohort;
  std::vector<FlavorUsage> reserved;
  std::vector<FlavorUsage> borrowed;

  friend bool operator==(const MemberQueue&, const MemberQueue&) = default;
};

/// Whether State notes that the member's stream of this kind is silent: answers about who waits
/// and who used what call that time unknown.
constexpr bool has_noted_silence(Kind kind) {
  return kind == Kind::workload || kind == Kind::cluster_queue || kind == Kind::cohort;
}

/// A pair of a queue at a member.
struct MemberPair {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;  ///< canonical

  friend auto operator<=>(const MemberPair&, const MemberPair&) = default;
};

}  // namespace fairlead
