// State, and the moment of it that is open: the only place that folds, closes and plans for the
// drivers of the engine.
//
// A moment is all events of one log time. It is open while events of it may follow, and is planned
// when it has closed. The fold closes a moment where log time changes; a later fold of the log must
// close it at the same place. So an engine that closed a moment gives its next event a strictly
// later time (Clocking::strict), unless the log is never folded again (Clocking::shared).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/state.h"
#include "engine/plan/plan.h"

namespace fairlead {

/// The log time of an event after a closed moment.
enum class Clocking : std::uint8_t {
  strict,  ///< later than that moment, by at least 1 ns
  shared,  ///< may be the same: what answers a write at once belongs to its moment
};

/// Owned by one thread.
class Moments {
 public:
  /// Replaces State by what a log folds to. Its last moment may be open.
  void restore(State state);

  /// Folds an event, which opens its moment.
  void appended(const Event& event);
  /// Closes the present moment: State derives what its events changed.
  void close();
  /// Returns what the closed moment asks to be written, and empties dirty() but for what must be
  /// planned again. Nothing may be appended between close() and this.
  std::vector<PatchIntended> planned();
  /// Returns what planning `dirty` alone would write, in the same State.
  std::vector<PatchIntended> planned_alone(DirtySet dirty);
  /// Marks everything as changed.
  void mark_all() { dirty_.everything = true; }

  const State& state() const { return state_; }
  /// As the function of light_copy.h.
  State copy_with_nodes_of(const std::set<std::string>& clusters);
  /// What changed since the last planned().
  const DirtySet& dirty() const { return dirty_; }
  /// An event was folded since the last close(), or State was restored.
  bool open() const { return open_; }
  void reopen() { open_ = true; }
  /// The number of events since the last close().
  std::size_t events() const { return events_; }
  /// The log time of an event that is appended when the clock shows `now`.
  LogTime next_time(LogTime now, Clocking clocking) const;
  /// Moves State out. Only at the end.
  State release_state() { return std::move(state_); }

 private:
  State state_;
  Planner planner_{state_};
  DirtySet dirty_;
  bool open_ = true;
  bool over_ = false;  ///< closed, by close() or by a TimerFired, and nothing came since
  std::size_t events_ = 0;
};

}  // namespace fairlead
