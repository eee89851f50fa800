// The windows of MultiKueue membership by name: under `multikueue:` in the configuration, and in an
// AdmissionCheck's annotation fairlead.io/multikueue.<setting>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/state.h"

namespace fairlead {

/// The windows of the configuration.
MembershipWindows configured_windows(const Configuration& configuration);
/// The windows that one check asks for: its annotations over the configuration's. What is wrong
/// with an annotation is added to `ignored`, one line each.
MembershipWindows windows_of(const Configuration& configuration, const AdmissionCheckFacts& check,
                             std::vector<std::string>* ignored = nullptr);
/// One window by its setting's name; nullopt where there is no such setting.
std::optional<Duration> window_named(const MembershipWindows& windows, std::string_view setting);
/// The longer of each.
MembershipWindows longest(const MembershipWindows& a, const MembershipWindows& b);

}  // namespace fairlead
