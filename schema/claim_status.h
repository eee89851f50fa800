// What Fairlead owns of a claim's status, and the digest by which a foreign change of it is seen.
//
// Others may add conditions of their own types, and an older CRD may keep less: neither is in the
// digest.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engine/base/digest.h"

namespace fairlead {

/// The fields of a claim's status beside `conditions`. All of them are ours.
inline constexpr std::array<std::string_view, 6> kClaimStatusFields{
    "observedGeneration", "capacity", "grants", "unassigned", "overcommitted", "seq"};
/// The types of our conditions. A condition of another type belongs to whoever wrote it.
inline constexpr std::array<std::string_view, 8> kClaimConditionTypes{
    "Valid",      "CapacityKnown",     "FullyGranted",      "Damped",
    "Propagated", "OwnershipConflict", "QuotaOrchestrated", "Released"};

/// Digest of what is ours in a claim's status. `field(name)` and `condition(type)` give the
/// canonical JSON of a part; empty where it is absent, null or an empty list or object. Never zero.
template <class Field, class Condition>
Digest claim_status_digest(Field&& field, Condition&& condition) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view part) {
    if (!part.empty()) text.append(name).append("=").append(part).append("\n");
  };
  for (const std::string_view name : kClaimStatusFields) add(name, field(name));
  for (const std::string_view type : kClaimConditionTypes) add(type, condition(type));
  return sha256(text);
}

/// The digest of a status that holds nothing of ours.
inline Digest digest_of_wiped_claim_status() { return sha256(std::string_view()); }

}  // namespace fairlead
