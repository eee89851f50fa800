#include "engine/fold/capacity/damped_set.h"

#include <utility>

namespace fairlead {

bool begin_values(SetFields& fields, LogTime now) {
  if (fields.valued && !std::exchange(*fields.valued, true)) {
    fields.first_valued = fields.last_changed = now;
    return true;
  }
  return !fields.known && fields.first_valued >= now;
}

void conclude_changes(CapacityValue& value, std::optional<Amount> before, FallCause falls,
                      LogTime now) {
  const Amount accepted = value.damped.accepted;
  const bool moved = before != accepted;
  if (moved) value.moved = now;
  if (before && accepted < *before) value.fell_by = falls;
  // `pending` is never more than there are causes (remember_change).
  const auto since = value.causes.end() - static_cast<std::ptrdiff_t>(value.pending);
  const bool waits = accepted != value.damped.usable || accepted != value.damped.growing;
  // A move keeps the events that led to it and drops the older ones, which explain former moves.
  // Where nothing moved and nothing waits any more, the pending events came to nothing.
  if (moved && value.pending > 0)
    value.causes.erase(value.causes.begin(), since);
  else if (!moved && !waits)
    value.causes.erase(since, value.causes.end());
  if (!waits) value.pending = 0;
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
