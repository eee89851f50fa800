// Two times of an event: since when what it says was so, and when the hub knew.
//
// A log time says when the hub knew. Since when it was so the log holds of few facts: the time of a
// writer in the managedFields of a ClusterQueue or Cohort, and the creation of a claim or Workload.
// (Conditions are kept without their times.) Of what was seen first after a silence it was so at
// some time after the last word of its source, and a write of ours is made between its intent and
// its answer. Of everything else the log has its own time alone: its stream was live, and a
// silence longer than staleAfter would be in the log. Nothing is guessed.
//
// A hub lists everything when it starts, and does not log the end of each list. So an object's
// first record within staleAfter of the start may be of the list, while one that comes later, or a
// second one, is of the stream: without a list there would be a silence by then.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/audit/event_changes.h"
#include "replay/audit/last_word.h"

namespace fairlead {

/// Reads the signs of each source once.
class EventTimes {
 public:
  /// Both outlive it.
  EventTimes(EventLookup& lookup, EventChanges& changes) : lookup_(lookup), changes_(changes) {}

  /// Returns the Times (ui/answers.d.ts) of an event. Null for an event that is about no object,
  /// for a write without an accepting answer, and where the log cannot be read.
  Json json_of(const Event* event);

 private:
  /// From this event on the stream is live, or not.
  struct Turn {
    EventPlace place;
    bool live = false;
    std::optional<EventPlace> start{};  ///< where a hub started last, if that made it not live
    /// The last word before it, once that was asked for; null: it cannot be read.
    std::optional<std::optional<LogTime>> heard{};
  };
  using Turns = std::vector<Turn>;  // live and not live in turn

  Json of_object(const Event& event);
  std::optional<Json> said(const Event& event, const Event* before) const;
  Json unseen(const Event& event, Kind kind, const Event* before);
  Turns& turns_of(const SourceName& source, Kind kind);
  void end_start(Turns& turns, LogTime until) const;
  std::optional<LogTime> find_last_word(const Turn& turn, const SourceName& source, Kind kind);

  EventLookup& lookup_;
  EventChanges& changes_;
  std::map<std::pair<SourceName, Kind>, Turns> turns_;
};

}  // namespace fairlead
