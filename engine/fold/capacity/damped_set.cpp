#include "engine/fold/capacity/damped_set.h"

#include <utility>

namespace fairlead {

bool begin_values(SetFields& fields, LogTime now) {
  if (!fields.valued) return fields.first_valued >= now;
  if (std::exchange(*fields.valued, true)) return false;
  fields.first_valued = fields.last_changed = now;
  return true;
}

FirstValues first_values_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                            const SetRules& rules) {
  if ((fields.valued && !*fields.valued) || !rules.may_be_first) return FirstValues::wait;
  if (fields.liveness != Liveness::live) return FirstValues::wait;
  const auto unchanged_since = rules.reported ? std::optional(fields.last_changed) : std::nullopt;
  return first_values(fields.first_valued, unchanged_since, now, settings);
}

LogTime first_deadline_of(const SetFields& fields, LogTime now, const DebounceSettings& settings,
                          const SetRules& rules) {
  LogTime next = kForever;
  if (fields.liveness != Liveness::live) return next;
  const auto consider = [&](LogTime when) {
    if (when > now) next = std::min(next, when);
  };
  if (rules.reported) consider(fields.last_changed + settings.first_quiet);
  consider(fields.first_valued + settings.grow_window);
  return next;
}

}  // namespace fairlead
