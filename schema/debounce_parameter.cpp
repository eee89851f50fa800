#include "schema/debounce_parameter.h"

#include <charconv>
#include <optional>

namespace fairlead {
namespace {

constexpr DebounceParameter window(std::string_view name, Duration DebounceSettings::* field,
                                   ZeroValue zero = ZeroValue::switches_off) {
  return {.name = name, .duration = field, .zero = zero};
}

constexpr DebounceParameter count(std::string_view name, std::int64_t DebounceSettings::* field,
                                  std::int64_t max, ZeroValue zero = ZeroValue::switches_off) {
  return {.name = name, .number = field, .number_max = max, .zero = zero};
}

std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool set_duration(DebounceSettings& settings, const DebounceParameter& parameter,
                  std::string_view value, std::string& why_not) {
  // Go's ParseDuration accepts a bare 0 too.
  const std::optional<Duration> span =
      value == "0" ? std::optional<Duration>(Duration{}) : parse_go_duration(value);
  const bool zero_refused = parameter.zero == ZeroValue::refused;
  if (!span || span->ns < 0 || *span > kDebounceDurationMax || (zero_refused && span->ns == 0)) {
    why_not = std::string("expected a duration such as 15s, 5m or 1h30m") +
              (zero_refused ? ", more than 0s" : ", or 0s to switch it off") + " and at most " +
              to_go_duration(kDebounceDurationMax);
    return false;
  }
  settings.*parameter.duration = *span;
  return true;
}

bool set_number(DebounceSettings& settings, const DebounceParameter& parameter,
                std::string_view value, std::string& why_not) {
  const std::optional<std::int64_t> number = parse_whole_number(value);
  const std::int64_t min = parameter.zero == ZeroValue::refused ? 1 : 0;
  if (!number || *number < min || *number > parameter.number_max) {
    why_not = "expected a whole number from " + std::to_string(min) + " to " +
              std::to_string(parameter.number_max);
    return false;
  }
  settings.*parameter.number = *number;
  return true;
}

}  // namespace

const std::array<DebounceParameter, kDebounceParameterCount> kDebounceParameters{{
    window("ingestCoalesce", &DebounceSettings::ingest_coalesce),
    window("shrinkWindow", &DebounceSettings::shrink_window),
    window("growWindow", &DebounceSettings::grow_window),
    window("firstQuiet", &DebounceSettings::first_quiet),
    window("minGrowInterval", &DebounceSettings::min_grow_interval),
    count("growDeadbandPercent", &DebounceSettings::grow_deadband_percent, 100),
    window("deadbandMaxAge", &DebounceSettings::deadband_max_age),
    count("flapPenalty", &DebounceSettings::flap_penalty, kDebounceNumberMax),
    count("flapSuppress", &DebounceSettings::flap_suppress, kDebounceNumberMax, ZeroValue::refused),
    count("flapReuse", &DebounceSettings::flap_reuse, kDebounceNumberMax, ZeroValue::refused),
    window("flapHalfLife", &DebounceSettings::flap_half_life, ZeroValue::refused),
    window("flapSuppressMax", &DebounceSettings::flap_suppress_max, ZeroValue::refused),
    count("massShrinkPercent", &DebounceSettings::mass_shrink_percent, 100),
    window("massShrinkHold", &DebounceSettings::mass_shrink_hold),
    window("staleAfter", &DebounceSettings::stale_after, ZeroValue::refused),
    window("lostAfter", &DebounceSettings::lost_after, ZeroValue::refused),
    window("writeInterval", &DebounceSettings::write_interval),
}};

const DebounceParameter* find_debounce_parameter(std::string_view name) {
  for (const DebounceParameter& parameter : kDebounceParameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

bool set_debounce_parameter(DebounceSettings& settings, std::string_view name,
                            std::string_view value, std::string& why_not) {
  const DebounceParameter* parameter = find_debounce_parameter(name);
  if (parameter == nullptr) {
    why_not = "expected one of";
    for (const DebounceParameter& known : kDebounceParameters)
      why_not.append(&known == &kDebounceParameters.front() ? " " : ", ").append(known.name);
    return false;
  }
  return parameter->duration != nullptr ? set_duration(settings, *parameter, value, why_not)
                                        : set_number(settings, *parameter, value, why_not);
}

std::string debounce_parameter_text(const DebounceSettings& settings,
                                    const DebounceParameter& parameter) {
  return parameter.duration != nullptr ? to_go_duration(settings.*parameter.duration)
                                       : std::to_string(settings.*parameter.number);
}

}  // namespace fairlead
