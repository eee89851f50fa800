// The debounce parameters by name.
//
// A parameter is spelled the same in three places: under `debounce:` in the configuration file, in
// `--set debounce.NAME=VALUE`, and in a claim's annotation `fairlead.io/debounce.NAME`. This is the
// only table of those names and their bounds. Pure: the fold uses it for annotations, the
// configuration reader for the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/configuration.h"

namespace fairlead {

/// What 0 means for a parameter.
enum class ZeroValue : std::uint8_t { switches_off, refused };

/// One row: a name, the field it sets, and its bounds. Exactly one of `duration` and `number` is
/// set.
struct DebounceParameter {
  std::string_view name;
  Duration DebounceSettings::* duration = nullptr;
  std::int64_t DebounceSettings::* number = nullptr;
  std::int64_t number_max = 0;
  ZeroValue zero = ZeroValue::switches_off;
};

/// The longest duration of a parameter: ten years. It keeps every sum of a time and a window in
/// range.
inline constexpr Duration kDebounceDurationMax = hours(87600);
/// The largest value of the flap counters; above the penalty's ceiling nothing changes any more.
inline constexpr std::int64_t kDebounceNumberMax = 1'000'000;

inline constexpr std::size_t kDebounceParameterCount = 17;
/// Every parameter, in the order in which the configuration is printed.
extern const std::array<DebounceParameter, kDebounceParameterCount> kDebounceParameters;

/// Returns the row of `name`; nullptr if there is none.
const DebounceParameter* find_debounce_parameter(std::string_view name);

/// Sets the parameter `name` from its text: a duration as Go prints it, or a whole number. If the
/// text is refused it returns false, leaves `settings` unchanged and sets `why_not` to the expected
/// form, without the name: "expected ...".
bool set_debounce_parameter(DebounceSettings& settings, std::string_view name,
                            std::string_view value, std::string& why_not);

/// Returns the value of a parameter as it is written: `15s`, `3000`.
std::string debounce_parameter_text(const DebounceSettings& settings,
                                    const DebounceParameter& parameter);

}  // namespace fairlead
