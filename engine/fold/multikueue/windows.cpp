#include "engine/fold/multikueue/windows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

struct Window {
  std::string_view name;
  Duration MembershipWindows::* field;
};

constexpr std::array<Window, 5> kWindows{{
    {"settle", &MembershipWindows::settle},
    {"moveWindow", &MembershipWindows::move_window},
    {"drainTimeout", &MembershipWindows::drain_timeout},
    {"emptyGrace", &MembershipWindows::empty_grace},
    {"credentialGrace", &MembershipWindows::credential_grace},
}};

const Window* find_window(std::string_view name) {
  const auto* window = std::find_if(kWindows.begin(), kWindows.end(),
                                    [&](const Window& one) { return one.name == name; });
  return window == kWindows.end() ? nullptr : window;
}

}  // namespace

std::optional<Duration> window_named(const MembershipWindows& windows, std::string_view setting) {
  const Window* window = find_window(setting);
  return window ? std::optional(windows.*window->field) : std::nullopt;
}

MembershipWindows configured_windows(const Configuration& configuration) {
  const MultiKueueSettings& set = configuration.multikueue;
  return {set.settle, set.move_window, set.drain_timeout, set.empty_grace, set.credential_grace};
}

MembershipWindows windows_of(const Configuration& configuration, const AdmissionCheckFacts& check,
                             std::vector<std::string>* ignored) {
  MembershipWindows windows = configured_windows(configuration);
  const auto ignore = [&](const std::string& setting, const std::string& value,
                          std::string_view expected) {
    if (ignored)
      ignored->push_back("annotation fairlead.io/multikueue." + setting + ": \"" + value +
                         "\" is ignored, " + std::string(expected));
  };
  for (const auto& [setting, value] : check.settings) {
    const Window* window = find_window(setting);
    if (window == nullptr) {
      ignore(setting, value, "there is no such setting");
      continue;
    }
    const auto span = value == "0" ? std::optional(Duration{}) : parse_go_duration(value);
    if (span && span->ns >= 0 && *span <= kDebounceDurationMax)
      windows.*window->field = *span;
    else
      ignore(setting, value, "expected a duration such as 2s, 120s or 1h");
  }
  return windows;
}

MembershipWindows longest(const MembershipWindows& a, const MembershipWindows& b) {
  MembershipWindows out;
  for (const Window& window : kWindows)
    out.*window.field = std::max(a.*window.field, b.*window.field);
  return out;
}

}  // namespace fairlead
