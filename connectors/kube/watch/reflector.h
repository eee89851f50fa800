// Keeps a faithful picture of one kind on one API server. Does no I/O.
//
// A reflector is a state machine. Its inputs are what arrived (an answer, bytes of a stream, an
// end, the time); its outputs are the next request, when to wake it, and the watch facts that
// follow. It lists (streaming where the server can, else in pages), watches from where the list
// ended, resumes after an end of stream, and lists again after 410. An object that vanished between
// two lists is reported as ObjectMissing. It never trusts a stream: duplicates, older versions,
// deletes of unknown objects, cut lines and silence are all handled and counted. A list is trusted:
// where it is older than an event of a stream, the server's store was restored, and the list is the
// truth. The protocol is client-go's; docs/decisions/0014-a-list-is-the-truth.md has the
// differences.
//
// Reflector decides what an input means. What it decides about is apart, each with one job:
// WatchedCollection (what is asked for), RequestCycle (which request is outstanding, until when),
// WatchReader (a stream's bytes), ObjectFacts (objects against what is known of them), SilenceClock
// (stale and lost), ReadingBounds (more than may be read).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/watch/diagnostic_lines.h"
#include "connectors/kube/watch/object_facts.h"
#include "connectors/kube/watch/reading_bounds.h"
#include "connectors/kube/watch/reflector_output.h"
#include "connectors/kube/watch/reflector_settings.h"
#include "connectors/kube/watch/request_cycle.h"
#include "connectors/kube/watch/silence_clock.h"
#include "connectors/kube/watch/watch_reader.h"
#include "connectors/kube/watch/watched_collection.h"
#include "engine/base/time.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// The state machine for one kind. Not thread-safe; its driver owns it. All `now` are of one
/// monotonic clock.
class Reflector {
 public:
  /// `random` returns 64 random bits, for jitter only. `load` is shared with the server's other
  /// reflectors; it outlives them.
  Reflector(Kind kind, ReflectorSettings settings, ServerLoad& load,
            std::function<std::uint64_t()> random);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  /// Starts to count silence: a server that is silent from the start is stale, then lost.
  ReflectorOutput expected(LogTime now);
  /// Discovery found the served version; nullopt: none. After a change of version it lists again.
  ReflectorOutput served(LogTime now, std::optional<std::string> version);
  /// The answer to a page came: HTTP status (0: none, `body` says why) and body. `retry_after`
  /// comes with 429 and 503.
  ReflectorOutput page(LogTime now, int status, std::string_view body,
                       std::optional<Duration> retry_after);
  /// A watch was answered with 200; bytes follow.
  ReflectorOutput opened(LogTime now);
  ReflectorOutput bytes(LogTime now, std::string_view chunk);
  /// The watch is over: refused with a `status` other than 200 (`body` says why), cut (status 0),
  /// or ended by the server (200).
  ReflectorOutput ended(LogTime now, int status, std::string_view body,
                        std::optional<Duration> retry_after);
  ReflectorOutput timer(LogTime now);
  /// The server's address changed: requests nothing before served(), then lists everything.
  ReflectorOutput moved(LogTime now);
  /// As moved(), and until served() the server counts as lost, because its address is not known.
  ReflectorOutput disconnected(LogTime now);
  /// The cause of a failure is gone: ends a wait.
  ReflectorOutput hurry(LogTime now);
  /// Replaces the scope of the watch. Objects of other namespaces are reported missing when the
  /// next list is complete.
  ReflectorOutput confine(LogTime now, WatchScope scope);
  /// Replaces the settings. Where spans of silence become shorter, silence counts from now, and
  /// what was to be asked again within the longer one is asked within the shorter one. Call timer()
  /// afterwards, so that a new bound applies at once.
  void adjust(LogTime now, const ReflectorSettings& settings);

  const ReflectorCounters& counters() const { return counters_; }
  /// Whether the scope has a namespace at all.
  bool wanted() const { return collection_.wanted(); }
  Kind kind() const { return collection_.kind(); }
  /// Whether a list was completed and nothing has been lost since.
  bool synced() const { return synced_; }

 private:
  using Phase = RequestCycle::Phase;
  using Next = RequestCycle::Next;

  void start_list(LogTime now);
  void start_pages(LogTime now);
  void start_watch(LogTime now);
  void resume(LogTime now);
  void located(LogTime now, int status, std::string_view body, std::optional<Duration> retry_after);
  void read_page(LogTime now, int status, std::string_view body,
                 std::optional<Duration> retry_after);
  void finish_list(const std::string& resource_version);
  void act_on(LogTime now, WatchReader::Step step);
  void act_on_failure_event(LogTime now);
  void stream_broken(LogTime now, Next next);
  void overflow(LogTime now, StaleCause cause);
  void failed(LogTime now, int status, std::string_view body, Next next,
              std::optional<Duration> retry_after);
  void refused(LogTime now, int status, std::string_view body);
  void heard(LogTime now);
  ReflectorOutput finish(LogTime now);

  // The parts refer to those before them.
  ReflectorSettings settings_;
  ReflectorOutput out_;
  ReflectorCounters counters_;
  WatchedCollection collection_;
  RequestCycle cycle_;
  ObjectFacts objects_;
  WatchReader reader_;
  SilenceClock silence_;
  ReadingBounds bounds_;
  DiagnosticLines log_;

  bool synced_ = false;
  bool position_doubted_ = false;  // a stream failed or fell silent: the store may be another
};

}  // namespace fairlead
