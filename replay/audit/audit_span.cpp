#include "replay/audit/audit_span.h"

#include <algorithm>

#include "replay/audit/audit_moment.h"

namespace fairlead {

namespace {

// Inclusive ends of a range of events.
Result<Seq> range_begin(const ReadableLog& log, const AuditPosition& position) {
  if (const auto* seq = std::get_if<Seq>(&position)) return std::max(*seq, log.first_seq());
  const LogTime time = std::get<LogTime>(position);
  if (time.ns <= 0) return log.first_seq();
  auto before = log.last_at({time.ns - 1});
  if (before) return std::max(next(*before), log.first_seq());
  if (before.error().code == ErrorCode::gone) return log.first_seq();
  return before.error();
}

Result<Seq> range_end(const ReadableLog& log, const AuditPosition& position) {
  if (auto known = expect_before_damage(log, position); !known) return known.error();
  if (const auto* seq = std::get_if<Seq>(&position)) return std::min(*seq, log.last_seq());
  return log.last_at(std::get<LogTime>(position));
}

// Whether the later place was named first. Between two moments, or after the log's last event,
// there may be no event: such a span is empty and no mistake.
bool reversed(const ReadableLog& log, const AuditPosition& from, const AuditPosition& to, Seq begin,
              Seq end) {
  // Two seqs or two times compare as they are. A `to` at the log's end is not a mistake: `from` may
  // lie behind it.
  if (from.index() == to.index()) return to < from && to != AuditPosition(log.last_seq());
  return end < begin && end < log.last_seq();
}

std::string place_text(const AuditPosition& position) {
  if (const auto* seq = std::get_if<Seq>(&position)) return "seq " + std::to_string(seq->value);
  return to_rfc3339(std::get<LogTime>(position));
}

}  // namespace

Result<EventSpan> span_between(const ReadableLog& log, const AuditPosition& from,
                               const AuditPosition& to) {
  auto begin = range_begin(log, from);
  if (!begin) return begin.error();
  auto end = range_end(log, to);
  if (!end) return end.error();
  if (*end < log.first_seq() && log.last_seq() > Seq{})
    return Error{ErrorCode::bad_input, "--to (" + place_text(to) +
                                           ") is before the log begins: seq " +
                                           std::to_string(log.first_seq().value)};
  if (reversed(log, from, to, *begin, *end))
    return Error{ErrorCode::bad_input,
                 "--to (" + place_text(to) + ") is before --from (" + place_text(from) + ")"};
  return EventSpan{*begin, *end};
}

}  // namespace fairlead
