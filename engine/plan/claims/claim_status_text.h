// The status of a claim as values and as the text that is sent.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/plan/claims/written_status.h"

namespace fairlead {

/// One condition. Type, status and reason refer to literals, or to texts that outlive it.
struct ClaimCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string message;
  std::string since{};  ///< lastTransitionTime; set where the status is sent
};

/// One status. Rows have their fields in the order of their names.
struct ClaimStatus {
  const StatusContent& content;  ///< the rest of it: grants, overcommitted, observedGeneration
  /// Accepted, flavor, observed, resource, state, usable.
  std::vector<std::array<std::string, 6>> capacity;
  std::map<std::string, std::string> unassigned;  ///< amounts by resource, as the claim spells it
  std::vector<ClaimCondition> conditions;
  std::uint64_t seq = 0;  ///< State::input_seq
};

/// The text of a status and its digest.
struct ClaimStatusText {
  std::string text;  ///< canonical JSON
  Digest digest;     ///< claim_status_digest
};
ClaimStatusText text_of(const ClaimStatus& status);

/// Returns the grants as the claim's facts hold them once the server has the status.
std::vector<ClaimGrant> stored_grants(const StatusContent& content);

/// Returns what read_status would read from a body with this status.
WrittenStatus as_read(const ClaimStatus& status);

}  // namespace fairlead
