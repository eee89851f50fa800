// The part of a claim's status that Fairlead owns, and its digest, by which a change that another
// writer makes of that part is detected.
//
// Conditions of other types, which other writers may add, are not in the digest. Neither are fields
// that are absent, because an older CRD may drop some.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engine/base/digest.h"

namespace fairlead {

/// The fields of a claim's status beside `conditions`. All of them are ours.
inline constexpr std::array<std::string_view, 6> kClaimStatusFields{
    "observedGeneration", "capacity", "grants", "unassigned", "overcommitted", "seq"};
/// The types of our conditions. A condition of another type belongs to its writer.
inline constexpr std::array<std::string_view, 9> kClaimConditionTypes{
    "Valid",       "CapacityKnown",     "FullyGranted",      "Damped",
    "Propagated",  "OwnershipConflict", "QuotaOrchestrated", "Released",
    "DevicesKnown"};

/// Returns the digest of our part of a claim's status; never zero. `field(name)` and
/// `condition(type)` return the canonical JSON of a part, empty where it is absent, null or an
/// empty list or object.
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

/// Returns the digest of a status that holds nothing of ours.
inline Digest digest_of_wiped_claim_status() { return sha256(std::string_view()); }

}  // namespace fairlead
