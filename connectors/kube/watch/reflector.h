// Keeps a faithful picture of one kind on one API server. Does no I/O.
//
// A reflector is a state machine. Its inputs are what arrived (an answer, bytes of a stream, an
// end, the time); its outputs are the next request, when to wake it, and the watch facts that
// follow. It lists (streaming where the server can, else in pages), watches from where the list
// ended, resumes after an end of stream, and lists again after 410. An object that vanished between
// two lists is reported as ObjectMissing. It never trusts a stream: duplicates, older versions,
// deletes of unknown objects, cut lines and silence are all handled and counted. A list is trusted:
// where it is older than an event of a stream, the server's store was restored, and the list is the
// truth. The protocol is that of client-go; docs/decisions/0014-a-list-is-the-truth.md has the
// differences.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/change_budget.h"
#include "connectors/kube/watch/known_objects.h"
#include "connectors/kube/watch/retry_backoff.h"
#include "connectors/kube/watch/watch_decoder.h"
#include "engine/base/time.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Timeouts and bounds of a reflector.
struct ReflectorSettings {
  std::int64_t page_limit = 500;  ///< objects a page; quartered when a page is too large
  Duration backoff_first = milliseconds(800);
  Duration backoff_max = seconds(30);
  Duration request_timeout = seconds(60);   ///< for one page
  Duration list_silence_max = seconds(30);  ///< of a streaming list before pages are tried instead
  Duration watch_silence_max =
      seconds(120);  ///< before a silent stream is broken (servers send bookmarks each minute)
  Duration watch_length = seconds(300);  ///< asked of the server; up to twice that, at random
  Duration stale_after = seconds(300);
  Duration lost_after = seconds(900);
  std::size_t nodes_max = 0;  ///< beyond so many Nodes reading stops for a while; 0: no bound
  /// Beyond so many changes of Nodes (change_budget.h) a stream is closed for a while; 0: no bound.
  std::int64_t changes_per_minute = 0;
};

/// Bounds a server's Retry-After by half of staleAfter, so that one answer does not make the
/// observations stale.
Duration bounded_retry_after(Duration asked, const ReflectorSettings& settings);
/// " (Retry-After 1h0m0s)"; empty if the server asks for no wait.
std::string retry_after_text(std::optional<Duration> asked);

/// How much of each object is asked for.
enum class ObjectPart : std::uint8_t {
  whole,
  metadata,  ///< as meta.k8s.io/v1 PartialObjectMetadata
};

/// The namespaces in which a kind is watched, and what of it there.
struct WatchScope {
  enum class Breadth : std::uint8_t {
    everywhere,
    one_namespace,
    everywhere_if_allowed,  ///< else in the one namespace
    nowhere,                ///< nothing is asked for, and silence means nothing
  };
  Breadth breadth = Breadth::everywhere;
  std::string namespace_;        ///< the one
  std::string label_selector{};  ///< empty: all objects
  ObjectPart part = ObjectPart::whole;

  friend bool operator==(const WatchScope&, const WatchScope&) = default;
};

/// Counters since the start, for metrics.
struct ReflectorCounters {
  std::uint64_t lists = 0;  ///< completed
  std::uint64_t pages = 0;
  std::uint64_t watches = 0;  ///< streams that were opened
  std::uint64_t relists = 0;  ///< lists forced by 410 or a broken stream
  std::uint64_t events = 0;   ///< ADDED, MODIFIED and DELETED
  std::uint64_t bookmarks = 0;
  std::uint64_t duplicates = 0;  ///< a version that was known already
  std::uint64_t unchanged = 0;   ///< lines that change no field that is read
  std::uint64_t older = 0;       ///< a version lower than the known one of the same uid
  std::uint64_t unknown_deletes = 0;
  std::uint64_t malformed = 0;  ///< lines and objects that could not be read, cut lines too
  std::uint64_t refused = 0;    ///< of those, objects that no API server would have accepted
  std::uint64_t errors = 0;     ///< failed requests and ERROR events
  std::uint64_t silences = 0;   ///< streams broken for silence
  std::uint64_t overflows = 0;  ///< times that Nodes, or their changes, exceeded the bounds
};

/// A request to make. At most one is outstanding; a new one, or `cancel`, replaces it.
struct ReflectorRequest {
  enum class Kind : std::uint8_t { page, watch };
  Kind kind = Kind::page;
  std::string target;       ///< path and query
  std::string_view accept;  ///< the value of that header; a constant
};

/// The output of one input. Do in order: cancel, facts, request; then wake at `wake`.
struct ReflectorOutput {
  bool cancel = false;  ///< drop the outstanding request: its answer no longer matters
  std::vector<decltype(WatchFact::said)> facts;
  std::optional<ReflectorRequest> request;
  LogTime wake = kForever;  ///< call timer() then (on the clock of the inputs), unless another
                            ///< output says otherwise
  bool rediscover = false;  ///< the kind was not found: ask again which versions are served
  std::vector<std::string> diagnostics;  ///< a line each for an operator; no tokens, no objects
};

/// The state machine for one kind. Not thread-safe; its driver owns it. All `now` are of one
/// monotonic clock.
class Reflector {
 public:
  /// `random` returns 64 random bits, for jitter only.
  Reflector(Kind kind, ReflectorSettings settings, std::function<std::uint64_t()> random);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  /// Starts to count silence: a server that is silent from the start is stale, then lost.
  ReflectorOutput expected(LogTime now);
  /// Discovery found the served version; nullopt: none. After a change of version it lists again.
  ReflectorOutput served(LogTime now, std::optional<std::string> version);
  /// The answer to a page came: HTTP status (0: none, `body` says why) and body. `retry_after` is
  /// that of 429 and 503.
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
  /// Replaces the settings; an outstanding request keeps its deadline. Call timer() afterwards, so
  /// that a new bound applies at once.
  void adjust(const ReflectorSettings& settings);

  const ReflectorCounters& counters() const { return counters_; }
  /// Whether the scope has a namespace at all.
  bool wanted() const { return scope_.breadth != WatchScope::Breadth::nowhere; }
  Kind kind() const { return kind_; }
  /// Whether a list was completed and nothing has been lost since.
  bool synced() const { return synced_; }

 private:
  enum class Phase : std::uint8_t {
    unserved,
    paging,
    streaming_list,
    locating,  ///< asks where the store is, before the watch goes on from where it was; or how many
               ///< objects it has, before they are listed after an overflow
    watching,
    waiting
  };
  enum class Next : std::uint8_t { list, resume };  // what a wait leads to

  // The transitions of one state machine. There are many because the protocol has many answers;
  // each needs the phase, the position and the output, so that a class of its own would need all of
  // them too. What needs less is apart: KnownObjects, RetryBackoff, ChangeBudget, WatchDecoder.
  void start_list(LogTime now);
  void start_paged_list(LogTime now);
  void request(ReflectorRequest::Kind kind, const std::string& query);
  void request_page(const std::string& continue_token);
  void request_streaming_list(LogTime now);
  void request_watch(LogTime now);
  void request_stream(const std::string& from);
  void resume(LogTime now);
  void locate(LogTime now);
  void located(LogTime now, int status, std::string_view body, std::optional<Duration> retry_after);
  void handle_page(LogTime now, int status, std::string_view body,
                   std::optional<Duration> retry_after);
  void finish_list(const std::string& resource_version);
  void report_unlisted();
  bool too_many() const;
  bool too_many_changes(LogTime now) const;
  void overflow(LogTime now, StaleCause cause);
  void count_changes(LogTime now);
  void set_budget();
  void listed(JsonView object, std::string_view line, const LineFingerprint::Hash& rest);
  void wait(LogTime now, Duration span, Next next);
  void back_off(LogTime now, Next next, std::optional<Duration> at_least);
  void retry_later(LogTime now, int status, std::string_view body, Next next,
                   std::optional<Duration> retry_after);
  void slow_down(LogTime now, int status, std::string_view body);
  bool narrowed(LogTime now);
  void refused();
  void failed_list(LogTime now, int status, std::string_view body,
                   std::optional<Duration> retry_after);
  void drain(LogTime now, std::string_view bytes);
  void handle(LogTime now, const WatchEvent& event,
              const std::optional<LineFingerprint>& fingerprint);
  void handle_object(const WatchEvent& event, const std::optional<LineFingerprint>& fingerprint);
  bool knows(const LineFingerprint& fingerprint);
  void handle_known(const LineFingerprint& fingerprint);
  enum class Newer : std::uint8_t { yes, same, older };
  Newer is_newer(const KnownObjects::Object& known, std::string_view resource_version);
  void handle_missing(JsonView object);
  bool emit_object(JsonView object, const ObjectIdentity& identity, std::string_view line);
  void handle_bookmark(LogTime now, JsonView object);
  void handle_error(LogTime now, JsonView status);
  void broken(LogTime now, const std::string& why);
  void forget_failures_if_lasting(LogTime now);
  void alive(LogTime now);
  void log(std::string line);
  std::string_view printable(std::string_view text) const;
  Duration jittered(Duration span);
  std::string collection() const;
  ReflectorOutput finish(LogTime now);

  Kind kind_;
  ReflectorSettings settings_;
  std::function<std::uint64_t()> random_;

  WatchScope scope_;
  std::string namespace_;  // where it is watched at present; empty: everywhere

  Phase phase_ = Phase::unserved;
  std::string version_;
  bool streaming_lists_ = true;  // until the server says no
  bool synced_ = false;
  Next next_ = Next::list;      // what `waiting` leads to
  bool stream_useful_ = false;  // the open stream brought an event
  std::int64_t page_limit_;
  RetryBackoff backoff_;
  int bad_lines_ = 0;  // in a row
  std::string last_diagnostic_;
  std::string resource_version_;   // to resume from
  bool position_doubted_ = false;  // a stream failed or fell silent: the store may be another
  bool went_back_ = false;         // the list in progress is of an older store
  KnownObjects known_;
  ChangeBudget budget_;
  std::size_t counted_ = 0;  // of out_.facts, by the budget
  bool overflowing_ = false;
  Duration overflow_wait_;  // the last one
  LogTime overflow_wait_ends_;
  bool looked_up_ = false;                 // knows() looked the object of the line up,
  KnownObjects::Object* found_ = nullptr;  // and found this
  WatchDecoder decoder_;

  LogTime until_ = kForever;  // end of the wait, or deadline of the request
  LogTime last_alive_;
  LogTime opened_at_ = kForever;  // of the open stream
  bool expected_ = false;         // silence means something
  bool stale_ = false, lost_ = false;
  ReflectorCounters counters_;
  ReflectorOutput out_;
};

}  // namespace fairlead
