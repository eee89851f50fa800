// Every change of the nominalQuotas of one hub ClusterQueue, from the log's index of that object:
// what we wrote and how it was answered, and what somebody else wrote. Internal to the audit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/log/event_log.h"
#include "replay/audit_moment.h"

namespace fairlead {

/// What became of a write.
enum class Outcome : std::uint8_t { none, accepted, rejected, unknown };

/// The answer to a write, as far as the log has come.
struct WriteOutcome {
  Outcome outcome = Outcome::none;
  Seq seq;
  LogTime time;
  int http_code = 0;
  std::string resource_version;
  std::string why;
};

/// One nominalQuota took another value.
struct QuotaChange {
  Seq seq;  ///< of our intent, or of the observation that showed a foreign change
  LogTime time;
  std::string flavor;
  std::string resource;            ///< as the queue spells it
  std::optional<Quantity> before;  ///< none: there was no such pair
  /// Of somebody else's write behind one of ours that was never answered: `before` is what ours
  /// wrote, this is what stood if ours never came.
  std::optional<Quantity> before_unless;
  std::optional<Quantity> after;  ///< none: there is none any more
  std::optional<Reason> ours;     ///< of our write; none: somebody else's
  WriteOutcome answer;            ///< of our write
  Seq seen;                       ///< the observation that shows our write; 0: none yet
  LogTime seen_at;
};

/// The changes between two events, by seq. Answers after `to` are not looked at. Where the log's
/// beginning was pruned, the first sight of the queue is a change from what a snapshot says of it;
/// without a snapshot it is what stands, and no change.
Result<std::vector<QuotaChange>> changes_of_queue(const AuditSource& source,
                                                  const std::string& queue, Seq from, Seq to);
/// Which changes are of a pair: those under the spelling that the queue lists, or of any.
enum class Spelling : std::uint8_t { as_listed, any };
/// The last change of one pair at or before `to` that was not refused; nullopt if the log knows
/// none. `spelling` is `as_listed` where the queue lists the pair: then only changes under the
/// spelling of `pair` count.
Result<std::optional<QuotaChange>> last_change_of(const AuditSource& source, const KnownPair& pair,
                                                  Spelling spelling, const ResourceAliases& aliases,
                                                  Seq to);
/// Seqs for a reader: each once, ascending.
Json seqs_json(std::vector<Seq> seqs);
/// A row of QuotaHistory.
Json change_json(const QuotaChange& change);

/// No answer is looked for further behind its intent than this.
inline constexpr std::uint64_t kAnswerEventsMax = 100'000;

}  // namespace fairlead
