// Turns logged intents into requests, and answers into outcomes. Does no I/O and reads no clock.
//
// The applier holds the waiting writes and those under way. It sends one write of an object at a
// time (the object and its status count separately), at most `inflight_max` to one API server, and
// shrinks before all others. It sends a throttled write again after the time that the server asked
// for. Every other answer becomes an event, and the fold decides what follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/apply/patch_sink.h"
#include "engine/fold/deadlines.h"
#include "schema/event.h"

namespace fairlead {

/// A write that was throttled this often becomes rejected for an outage, after which the fold backs
/// off for longer.
inline constexpr std::int64_t kThrottledMax = 8;
/// The longest wait for which a server can ask at a time.
inline constexpr Duration kRetryAfterMax = minutes(1);
/// The length to which a logged reason is cut.
inline constexpr std::size_t kOutcomeReasonBytesMax = 1024;

/// Used by the thread that owns State. All `now` are log time.
class Applier {
 public:
  /// `inflight_max` (at least 1) bounds the writes under way to each API server.
  explicit Applier(std::int64_t inflight_max);
  void set_inflight_max(std::int64_t inflight_max);

  /// Enqueues the write of a logged PatchIntended. It replaces an older write of the same object
  /// that is still waiting, whose outcome (rejected) is returned for the log.
  std::optional<EventDraft> enqueue(const Event& intent);
  /// Dequeues the writes to send now, in this order. The caller passes one answer for each to
  /// answered().
  std::vector<WriteRequest> requests(LogTime now);
  /// Returns the outcome to log; nullopt if the write will be sent again or is not under way.
  std::optional<EventDraft> answered(const WriteAnswer& answer, LogTime now);
  /// Returns when requests() will have a write that now waits for time; kForever if none does.
  /// Answers can make others ready earlier.
  LogTime next_due() const;
  /// Drops all writes and returns their outcomes (unknown, with the reason `why`).
  std::vector<EventDraft> give_up(std::string_view why);

  std::size_t waiting() const;
  std::size_t under_way() const { return under_way_.size(); }

 private:
  struct Write {
    WriteRequest request;
    std::int64_t throttled = 0;  ///< number of throttled answers
  };
  /// The order of waiting writes: what lowers quota first, then by seq (PatchIntended).
  using Place = std::pair<Direction, Seq>;
  struct Lane {
    std::map<Place, Write> waiting;
    std::map<WriteKey, Place> place_of;  ///< of the waiting writes
    std::set<WriteKey> busy;             ///< with a write under way
    std::optional<LogTime> opens;        ///< closed until then, after a throttled write
  };

  std::size_t inflight_max_;
  std::map<std::string, Lane> lanes_;  ///< by API server
  std::map<Seq, std::pair<Place, Write>> under_way_;
};

}  // namespace fairlead
