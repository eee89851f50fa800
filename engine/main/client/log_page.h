// The output of `fairlead log stat` and `log cat`: all at once from a log on this machine, page by
// page over HTTP from a running hub.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "engine/log/event_log.h"
#include "engine/main/client/hub_place.h"
#include "engine/main/client/replication_report.h"
#include "engine/main/client/time_text.h"

namespace fairlead {

enum class LogOutput : std::uint8_t { text, json };

/// Says what events of a log changed, which are read in their order.
struct EventWords {
  /// What the event changed: "Ready -> NotReady"; empty: there is nothing to say.
  std::function<std::string(const Event&)> of{};
  /// Takes in an event that is read and not printed.
  std::function<void(const Event&)> passed{};
};
/// Returns the words for a log, which outlives them.
using DescribeEvents = std::function<EventWords(const ReadableLog&)>;

/// Selects the events that `log cat` prints; empty members do not restrict.
struct LogSelection {
  std::string from{};    ///< a position (position.h); inclusive
  std::string to{};      ///< the same; inclusive
  std::string kind{};    ///< a Kubernetes kind (ClusterQueue) or a fact (PatchIntended)
  std::string object{};  ///< NAME or NAMESPACE/NAME
  std::string where{};   ///< terms (event_filter.h)
  std::string last{};    ///< a number: only so many of the selected events, those at the end
  bool raw = false;      ///< with the raw object that is kept beside an event, if one is
  TimeZone zone{};       ///< of times without one; and of those that are shown, but in JSON
  std::optional<LogTime> now{};  ///< of the hub that answers (position.h)
  DescribeEvents describe{};     ///< of text; empty: what events changed is not said
};

/// "ok", or "broken@SEQ".
std::string chain_text(const LogVerdict& verdict);

/// Prints a summary of the log, and whether its chain holds. Returns the exit code, 1 if it does
/// not. `replication`: of a replicated one.
Result<int> print_stat(const ReadableLog& log, LogOutput output, std::ostream& out,
                       TimeZone zone = {},
                       const std::optional<ReplicationReport>& replication = {});
/// "--from yesterday is 2026-11-20T00:00:00Z": which moments the times of a selection are; empty if
/// each was written in full. Fails with `bad_input` as print_events() does.
Result<std::string> note_on_times(const ReadableLog& log, const LogSelection& selection);
/// Prints the selected events, one per line, until `out` fails. Returns the error that ended the
/// reading, if there is one.
Result<void> print_events(const ReadableLog& log, const LogSelection& selection, LogOutput output,
                          std::ostream& out);

/// Bounds on one page of events: bytes printed, and events read.
inline constexpr std::int64_t kLogPageBytesMax = 1 << 20;
inline constexpr std::uint64_t kLogPageEventsMax = 100'000;

/// Most events that `last` may ask for.
inline constexpr std::size_t kLogLastMax = 10'000;

/// Answers GET `/log/stat` and `/log/cat?from=&to=&kind=&object=&where=&last=&raw=true`, both with
/// `output=text|json`, with the output of the command:
///   {"text": "...", "exit": 0, "end": 5000, "next": {"from": "seq:1001", "to": "seq:5000"}}
/// and `/log/position` of a replicated log with position_json() (replication_report.h).
/// `end` is the log's last seq; `next` is absent on the last page; a selection ends where the log
/// ended at its first. With `last` a page has the newest of the selected events and "events", how
/// many; `next` selects older ones.
Result<std::string> answer_log_target(const ReadableLog& log, std::string_view target,
                                      std::optional<LogTime> now = {},
                                      const DescribeEvents& describe = {},
                                      const std::optional<ReplicationReport>& replication = {});

/// What a hub answered.
struct HubPrinted {
  int exit_code = 0;
  std::optional<Seq> end{};  ///< the log's last event then; a hub that is older does not say
};
/// Prints all pages of a hub's answer about `subject` (stat, cat), and on `err` which moments were
/// taken.
Result<HubPrinted> print_from_hub(const AskHub& ask, const char* subject,
                                  const LogSelection& selection, LogOutput output,
                                  std::ostream& out, std::ostream& err);

}  // namespace fairlead
