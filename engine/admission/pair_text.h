// Pairs and amounts in the messages of rules. Internal to engine/admission.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/admission/admission_view.h"

namespace fairlead {

/// Returns "cpu of (queue q, flavor od)".
inline std::string pair_text(std::string_view queue, std::string_view flavor,
                             std::string_view spelled) {
  std::string text(spelled);
  text.append(" of (queue ").append(queue).append(", flavor ").append(flavor).append(")");
  return text;
}

/// Returns what runs on the pairs of the claim that is in force for `cluster`: "3 cpu of (queue q,
/// flavor od)", at most three of them and how many more; empty if nothing is known to run.
std::string usage_text(const AdmissionView& view, const ClaimEntry& claim);

}  // namespace fairlead
