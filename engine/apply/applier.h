// Logged intents in, requests out; answers in, outcomes out. Does no I/O and knows no clock.
//
// The applier keeps what is waiting and what is under way. It sends one write of an object at a
// time (the object and its status count apart), at most `inflight_max` to one API server, shrinks
// before everything else, and sends a throttled write again after the time that the server asked
// for. Every other answer becomes an event: what follows from it is the fold's business.
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

namespace fairlead {

/// A write that was throttled this often is given up as rejected: the fold backs off for longer.
inline constexpr std::int64_t kThrottledMax = 8;
/// No server makes us wait longer than this at a time.
inline constexpr Duration kRetryAfterMax = minutes(1);
/// No longer reason is logged.
inline constexpr std::size_t kOutcomeReasonBytesMax = 1024;

/// Belongs to the thread that owns State. All `now` are log time.
class Applier {
 public:
  /// `inflight_max` (at least 1) bounds the writes under way to each API server.
  explicit Applier(std::int64_t inflight_max);
  void set_inflight_max(std::int64_t inflight_max);

  /// Takes a logged PatchIntended to be sent. An older write of the same object that was not sent
  /// yet never will be: its outcome is returned, to be logged.
  std::optional<EventDraft> take(const Event& intent);
  /// What must be sent now, in this order. Each request is answered by one answered().
  std::vector<WriteRequest> requests(LogTime now);
  /// The outcome to log; nullopt if the write is going to be sent again, or if nobody asked for it.
  std::optional<EventDraft> answered(const WriteAnswer& answer, LogTime now);
  /// When requests() has something that it has not now, unless an answer comes first; kForever if
  /// nothing waits for time.
  LogTime next_due() const;
  /// Forgets everything; the outcomes (unknown) of what had no answer.
  std::vector<EventDraft> give_up(std::string_view why);

  std::size_t waiting() const;
  std::size_t under_way() const { return under_way_.size(); }

 private:
  struct Write {
    WriteRequest request;
    std::int64_t throttled = 0;  ///< how often
  };
  /// Shrinks first, then as they were logged.
  using Place = std::pair<bool, Seq>;
  struct Lane {
    std::map<Place, Write> waiting;
    std::map<WriteKey, Place> place_of;  ///< of what waits
    std::set<WriteKey> busy;             ///< under way
    std::optional<LogTime> opens;        ///< closed until then, after a throttled write
  };

  std::size_t inflight_max_;
  std::map<std::string, Lane> lanes_;  ///< by API server
  std::map<Seq, std::pair<Place, Write>> under_way_;
};

}  // namespace fairlead
