#include "engine/fold/capacity/damping.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/fold/capacity/damping_layers.h"

namespace fairlead {

namespace {

// round(65536 * 2^(-i/64)): the part of a penalty that is left after i steps of 1/64 half-life.
constexpr std::array<std::int64_t, 64> kDecayQ16{
    65536, 64830, 64132, 63441, 62757, 62081, 61413, 60751, 60097, 59449, 58809, 58176, 57549,
    56929, 56316, 55709, 55109, 54515, 53928, 53347, 52773, 52204, 51642, 51085, 50535, 49991,
    49452, 48920, 48393, 47871, 47356, 46846, 46341, 45842, 45348, 44859, 44376, 43898, 43425,
    42958, 42495, 42037, 41584, 41136, 40693, 40255, 39821, 39392, 38968, 38548, 38133, 37722,
    37316, 36914, 36516, 36123, 35734, 35349, 34968, 34591, 34219, 33850, 33486, 33125};
constexpr std::int64_t kStepsPerHalfLife = 64;

std::int64_t decayed(std::int64_t penalty, std::int64_t steps) {
  const std::int64_t halvings = steps / kStepsPerHalfLife;
  if (halvings >= 63) return 0;
  // kFlapPenaltyMax times 65536 is far below 2^63.
  return ((penalty * kDecayQ16[static_cast<std::size_t>(steps % kStepsPerHalfLife)]) >> 16) >>
         halvings;
}

}  // namespace

void SlidingExtreme::push(LogTime at, Amount value) {
  if (!steps_.empty()) {
    if (steps_.back().value == value) return;
    steps_.back().end = at;
  }
  // A window that contains an older step contains the newer one too: a dominated step is never the
  // extreme again.
  while (!steps_.empty() && dominates(value, steps_.back().value)) steps_.pop_back();
  steps_.push_back({value, kForever});
}

void SlidingExtreme::restart(LogTime at, Amount value) {
  steps_.clear();
  push(at, value);
}

Amount SlidingExtreme::over(LogTime now, Duration window) {
  if (steps_.empty()) return 0;
  // At now - window == end the function has already left the step, because it is right-continuous.
  auto seen = steps_.begin();
  while (seen + 1 != steps_.end() && seen->end + window <= now) ++seen;
  if (seen != steps_.begin()) steps_.erase(steps_.begin(), seen);
  return steps_.front().value;
}

std::vector<SlidingExtreme::Step>::const_iterator SlidingExtreme::first_beyond(Amount bound) const {
  return std::partition_point(steps_.begin(), steps_.end(), [&](const Step& step) {
    return which_ == Extreme::greatest ? step.value >= bound : step.value <= bound;
  });
}

LogTime SlidingExtreme::passes(Amount bound, Duration window) const {
  // Dominated steps are dropped, so the values are monotonic: the extreme passes `bound` when the
  // last step within it has left the window.
  const auto first = first_beyond(bound);
  if (first == steps_.end()) return kForever;
  return first == steps_.begin() ? LogTime{} : std::prev(first)->end + window;
}

LogTime SlidingExtreme::changes_beyond(Amount bound, LogTime now, Duration window) const {
  for (auto at = first_beyond(bound); at != steps_.end() && at->end != kForever; ++at)
    if (at->end + window > now) return at->end + window;
  return kForever;
}

void DampedValue::observe(LogTime at, Amount usable_now, Amount growing_now) {
  usable = usable_now;
  growing = growing_now;
  high.push(at, usable);
  low.push(at, growing);
}

FirstValues first_values(LogTime began, std::optional<LogTime> unchanged_since, LogTime now,
                         const DebounceSettings& settings) {
  const bool quiet = unchanged_since && *unchanged_since + settings.first_quiet <= now;
  if (quiet || settings.grow_window.ns == 0) return FirstValues::present;
  return began + settings.grow_window <= now ? FirstValues::least_of_window : FirstValues::wait;
}

void DampedValue::accept_first(FirstValues which, LogTime now, const DebounceSettings& settings) {
  accepted = which == FirstValues::present ? growing : low.over(now, settings.grow_window);
}

void DampedValue::begin_anew(LogTime now) {
  gap_since.reset();
  held_by = GrowthBar::none;  // from now on the grow window holds it
  // The window begins with at most `accepted`, so growth needs a whole window from `now`.
  low.restart(LogTime{0}, std::min(accepted, growing));
  low.push(now, growing);
}

void DampedValue::move_to(LogTime now, Amount value) {
  std::erase_if(left, [this](const FormerValue& former) { return former.value == accepted; });
  if (left.size() == kLeftMax) left.erase(left.begin());
  left.push_back({accepted, now});
  accepted = value;
}

std::optional<LogTime> DampedValue::left_at(Amount value) const {
  for (const FormerValue& former : left)
    if (former.value == value) return former.until;
  return std::nullopt;
}

// `target_before` is the target of the step before, or less if it has fallen since.
GrowthCause DampedValue::cause_of_growth(LogTime now, const DebounceSettings& settings,
                                         Amount target_before, Amount target) const {
  if (held_by == GrowthBar::frozen) return GrowthCause::mass_shrink_hold;
  if (target > target_before) return GrowthCause::grow_window;
  switch (held_by) {
    case GrowthBar::min_grow_interval: return GrowthCause::min_grow_interval;
    case GrowthBar::deadband:
      return gap_since && *gap_since + settings.deadband_max_age <= now
                 ? GrowthCause::deadband_max_age
                 : GrowthCause::deadband;
    case GrowthBar::frozen:
    case GrowthBar::none: break;
  }
  return GrowthCause::grow_window;
}

bool DampedValue::step(LogTime now, const DebounceSettings& settings, Amount quantum, Fall fall,
                       Growth growth) {
  // Falls come first: nothing that bars growth may delay one.
  const Amount shrink_target =
      fall == Fall::at_once ? usable : high.over(now, settings.shrink_window);
  const bool shrinks = accepted > shrink_target;
  if (shrinks) move_to(now, shrink_target);
  // Read before over(), which drops the steps that have left the window.
  const Amount target_before = low.empty() ? 0 : low.steps().front().value;
  const Amount grow_target = low.over(now, settings.grow_window);
  if (grow_target <= accepted) {
    gap_since.reset();
    held_by = GrowthBar::none;
    return shrinks;
  }
  if (!gap_since) gap_since = now;
  const GrowthBar bar = growth_bar({*this, now, settings, quantum, grow_target, {growth, {}, {}}});
  // A value that has just fallen does not grow in the same moment.
  if (shrinks || bar != GrowthBar::none) {
    held_by = bar;
    return shrinks;
  }
  grew_by = cause_of_growth(now, settings, target_before, grow_target);
  held_by = GrowthBar::none;
  // Later than deadband_max_age none of them lets a growth pass (the layer "deadband").
  left.erase(left.begin(), std::find_if(left.begin(), left.end(), [&](const FormerValue& former) {
               return former.until + settings.deadband_max_age > now;
             }));
  move_to(now, grow_target);
  last_grow = now;
  gap_since.reset();
  return true;
}

LogTime DampedValue::next_deadline(LogTime now, const DebounceSettings& settings) const {
  return next_layer_deadline({*this, now, settings, 0, 0, {}});
}

std::int64_t FlapPenalty::at_time(LogTime now, const DebounceSettings& settings) const {
  const Int128 passed = Int128{(now - at).ns} * kStepsPerHalfLife / settings.flap_half_life.ns;
  return decayed(penalty, saturate(passed));
}

bool FlapPenalty::add(LogTime now, const DebounceSettings& settings) {
  penalty = std::min(at_time(now, settings) + settings.flap_penalty, kFlapPenaltyMax);
  at = now;
  if (suppressed_since || penalty <= settings.flap_suppress) return false;
  suppressed_since = now;
  return true;
}

LogTime FlapPenalty::release_time(const DebounceSettings& settings) const {
  if (!suppressed_since) return kForever;
  // Binary search for the fewest steps after which the penalty is below reuse: decayed() never
  // rises with the steps and is 0 after 63 half-lives.
  std::int64_t steps = 0;
  for (std::int64_t stride = 64 * kStepsPerHalfLife; stride > 0; stride /= 2)
    if (decayed(penalty, steps + stride - 1) >= settings.flap_reuse) steps += stride;
  const Int128 wait =
      (Int128{settings.flap_half_life.ns} * steps + kStepsPerHalfLife - 1) / kStepsPerHalfLife;
  return std::min(at + Duration{saturate(wait)}, *suppressed_since + settings.flap_suppress_max);
}

void FlapPenalty::release(LogTime now, const DebounceSettings& settings) {
  // flapSuppressMax may end it above reuse: it goes on as if it had decayed below reuse.
  penalty = std::min(at_time(now, settings), settings.flap_reuse - 1);
  at = now;
  suppressed_since.reset();
}

}  // namespace fairlead
