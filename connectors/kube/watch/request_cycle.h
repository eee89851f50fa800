// Which request of a reflector is outstanding, until when, and what follows it.
//
// A reflector is always in one phase: without a served version, with one request outstanding, or in
// a pause before the next one. Each phase has a deadline: the end of the pause, or when the request
// has failed by silence. The caller decides what an answer means; what is requested next, how long
// a pause lasts and what the server can do (streaming lists, long pages) is known here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "connectors/kube/watch/reflector_settings.h"
#include "connectors/kube/watch/retry_backoff.h"
#include "connectors/kube/watch/watched_collection.h"
#include "engine/base/time.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it.
class RequestCycle {
 public:
  enum class Phase : std::uint8_t {
    unserved,
    paging,
    streaming_list,
    locating,  ///< asks where the store is, before the watch goes on from where it was; or how many
               ///< objects it has, before they are listed after an overflow
    watching,
    waiting
  };
  /// What a pause leads to.
  enum class Next : std::uint8_t { list, resume };

  /// `random` returns 64 random bits, for jitter only. The references outlive the cycle.
  RequestCycle(const WatchedCollection& collection, const ReflectorSettings& settings,
               std::function<std::uint64_t()> random);

  Phase phase() const { return phase_; }
  /// Whether a stream is outstanding.
  bool streaming() const { return phase_ == Phase::watching || phase_ == Phase::streaming_list; }
  /// What the pause leads to.
  Next next() const { return next_; }
  LogTime deadline() const { return deadline_; }

  /// Each of these begins a phase and returns its request. A list streams where the server can.
  ReflectorRequest list(LogTime now);
  ReflectorRequest first_page(LogTime now);
  ReflectorRequest next_page(LogTime now, const std::string& continue_token);
  ReflectorRequest locate(LogTime now);
  ReflectorRequest watch(LogTime now, const std::string& resource_version);
  /// Nothing is requested until the next list.
  void stop();

  void stream_opened(LogTime now);
  /// The stream sent something: extends the deadline.
  void stream_heard(LogTime now);
  /// The streaming list is complete: the same stream goes on as a watch.
  void list_streamed(LogTime now);
  /// The stream is over. Returns whether it was open for so long that it counts as a success
  /// (lasting_stream.h).
  bool stream_over(LogTime now);

  void pause(LogTime now, Duration span, Next next);
  /// A pause after a failure: grows with each one in a row, and lasts for `at_least`, which the
  /// server asks for. The first of these ends the row of failures before it.
  void back_off(LogTime now, Next next, std::optional<Duration> at_least);
  /// The settings have shorter spans: a stream that is silent and a pause end within those, at a
  /// random moment, since all streams of a hub get new settings at once.
  void ask_sooner(LogTime now);
  /// The pause is over at `then`.
  void end_pause(LogTime then) { deadline_ = then; }
  /// Counts a failure that is retried at once; returns false if the last attempt failed as well:
  /// then it is not counted, and the caller backs off.
  bool first_failure();
  void succeeded() { backoff_.reset(); }

  /// The server cannot stream lists.
  void without_streaming_lists() { streaming_lists_ = false; }
  /// A page was too large. Returns false if there is no smaller one.
  bool smaller_pages();
  /// A list in pages is complete: the next one tries longer pages again, since what was too large
  /// may be gone.
  void list_paged();

  /// Adds up to one half, so that a thousand hubs do not return at the same time.
  Duration jittered(Duration span);

 private:
  std::int64_t stream_seconds();

  const WatchedCollection& collection_;
  const ReflectorSettings& settings_;
  std::function<std::uint64_t()> random_;

  Phase phase_ = Phase::unserved;
  Next next_ = Next::list;
  LogTime deadline_ = kForever;
  LogTime opened_at_ = kForever;  // of the open stream
  bool streaming_lists_ = true;   // until the server says no
  bool asked_to_wait_ = false;    // by the last failure's answer
  std::int64_t page_limit_;
  RetryBackoff backoff_;
};

}  // namespace fairlead
