#include "connectors/kube/watch/silence_clock.h"

#include <utility>

namespace fairlead {

void SilenceClock::expect(LogTime now) {
  last_heard_ = now;
  expected_ = true;
}

bool SilenceClock::end() {
  const bool was_silent = stale_ || lost_;
  stale_ = lost_ = false;
  return was_silent;
}

void SilenceClock::make_stale(LogTime now) {
  // Silence counts from now, so that the kind is lost after the usual time, and not at once.
  last_heard_ = now;
  stale_ = true;
  lost_ = false;
}

bool SilenceClock::make_lost() {
  stale_ = true;
  return !std::exchange(lost_, true);
}

void SilenceClock::judge(LogTime now, const ReflectorSettings& settings, ReportedFacts& facts,
                         DiagnosticLines& log) {
  const auto report = [&](Duration span, bool& reported, auto fact) {
    if (!expected_ || reported || now < last_heard_ + span) return;
    reported = true;
    facts.emplace_back(fact);
    log.add("nothing heard for " + to_go_duration(span));
  };
  report(settings.stale_after, stale_, StreamStale{kind_});
  report(settings.lost_after, lost_, StreamLost{kind_});
}

LogTime SilenceClock::next(const ReflectorSettings& settings) const {
  if (!expected_ || (stale_ && lost_)) return kForever;
  return last_heard_ + (stale_ ? settings.lost_after : settings.stale_after);
}

}  // namespace fairlead
