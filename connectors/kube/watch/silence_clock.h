// For how long one kind has not been heard of, and whether that makes its observations stale or
// its server lost.
#pragma once

#include "connectors/kube/watch/diagnostic_lines.h"
#include "connectors/kube/watch/reflector_output.h"
#include "connectors/kube/watch/reflector_settings.h"
#include "engine/base/time.h"
#include "schema/kind.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it.
class SilenceClock {
 public:
  explicit SilenceClock(Kind kind) : kind_(kind) {}

  bool expected() const { return expected_; }
  /// Silence means something, and begins at `now`.
  void expect(LogTime now);
  /// Silence means nothing.
  void ignore() { expected_ = false; }

  void hear(LogTime now) { last_heard_ = now; }
  /// Silence counts from `now`; what it is reported as stays.
  void restart(LogTime now) { last_heard_ = now; }
  /// The observations are current again. Returns whether they were stale or lost.
  bool end();
  /// Counts as stale from now on, whatever is heard, until end().
  void make_stale(LogTime now);
  /// Counts as lost. Returns false if it did before.
  bool make_lost();

  /// Reports each bound that silence has reached, once.
  void judge(LogTime now, const ReflectorSettings& settings, ReportedFacts& facts,
             DiagnosticLines& log);
  /// When to judge next; kForever: not by itself.
  LogTime next(const ReflectorSettings& settings) const;

 private:
  Kind kind_;
  LogTime last_heard_;
  bool expected_ = false;
  bool stale_ = false, lost_ = false;
};

}  // namespace fairlead
