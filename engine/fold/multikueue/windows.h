// The windows of MultiKueue membership by name: under `multikueue:` in the configuration, and in an
// AdmissionCheck's annotation fairlead.io/multikueue.<setting>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

/// Returns the windows of the configuration.
MembershipWindows configured_windows(const Configuration& configuration);
/// Returns the windows that one check asks for: the configuration's, overridden by its annotations.
/// Adds one line to `ignored`, which may be null, for each invalid annotation.
MembershipWindows windows_of(const Configuration& configuration, const AdmissionCheckFacts& check,
                             std::vector<std::string>* ignored = nullptr);
/// Returns one window by its setting's name; nullopt if there is no such setting.
std::optional<Duration> window_named(const MembershipWindows& windows, std::string_view setting);
/// Returns the longer one of each window.
MembershipWindows longest(const MembershipWindows& a, const MembershipWindows& b);

}  // namespace fairlead
