// Lists every change of the quotas of one hub ClusterQueue, from the log's index of that
// object: our writes with their answers, and the changes of other writers. Internal to the audit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/log/event_log.h"
#include "replay/audit/audit_moment.h"

namespace fairlead {

/// The kind of answer to a write; none: not answered yet.
enum class Outcome : std::uint8_t { none, accepted, rejected, unknown };

/// The answer to a write, as far as the log reaches.
struct WriteOutcome {
  Outcome outcome = Outcome::none;
  Seq seq;
  LogTime time;
  int http_code = 0;
  std::string resource_version;
  std::string why;
};

/// Returns the first answer to the write `intent`, up to the event `to`.
Result<WriteOutcome> answer_of(const ReadableLog& log, Seq intent, Seq to);
/// "answer" of a row of a history.
Json outcome_json(const WriteOutcome& answer);

/// What a pair of a queue has.
enum class QuotaField : std::uint8_t { nominal, borrowing_limit, lending_limit };

/// A change of one value of one pair.
struct QuotaChange {
  Seq seq;  ///< of our intent, or of the first observation of a foreign change
  LogTime time;
  std::string flavor;
  std::string resource;  ///< as the queue spells it
  QuotaField field = QuotaField::nominal;
  std::optional<Quantity> before;  ///< none: the queue had no such pair, or no such limit
  /// Only for a foreign change after a write of ours that was never answered: `before` is the value
  /// of that write, this the value before it, in case the write never arrived.
  std::optional<Quantity> before_unless;
  std::optional<Quantity> after;  ///< none: the pair or its limit was removed
  std::optional<Reason> ours;     ///< of our write; none: another writer's
  /// For another writer's change: the managers that owned the queue's resourceGroups when it was
  /// observed, in the order of managedFields. Empty where the log does not have it.
  std::vector<FieldWriter> writers;
  WriteOutcome answer;  ///< of our write
  Seq seen;             ///< the first observation of our write; 0: none yet
  LogTime seen_at;
};

/// Returns the changes between two events, by seq. Answers after `to` are not considered. If the
/// log's beginning was pruned, the first observation of the queue is compared with a snapshot;
/// without a snapshot it is the initial value and no change.
Result<std::vector<QuotaChange>> changes_of_queue(const AuditSource& source,
                                                  const std::string& queue, Seq from, Seq to);
/// Which changes belong to a pair: those under the spelling that the queue lists, or under any.
enum class Spelling : std::uint8_t { as_listed, any };
/// Returns the last change of one pair's nominalQuota at or before `to` that was not rejected;
/// nullopt if the log has none. Pass `as_listed` if the queue lists the pair: then only changes
/// under the spelling of `pair` count.
Result<std::optional<QuotaChange>> last_change_of(const AuditSource& source, const KnownPair& pair,
                                                  Spelling spelling, const ResourceAliases& aliases,
                                                  Seq to);
/// A pair as its queue lists it: flavor and spelling of the resource.
using ListedPair = std::pair<std::string, std::string>;
/// Returns the last change, as last_change_of() has it, of each of `pairs`, which the queue lists.
/// At most the last kLastEventsMax events about the queue are searched: a pair that did not move in
/// them is left out.
Result<std::map<ListedPair, QuotaChange>> last_changes_of(const AuditSource& source,
                                                          const std::string& queue,
                                                          const std::vector<KnownPair>& pairs,
                                                          Seq to);
/// "by" of a row of a history: the `writers` that own the field, the newest first.
Json writers_json(std::vector<FieldWriter> writers, SpecField field);
/// The seqs, each once, ascending.
Json seqs_json(std::vector<Seq> seqs);
/// A row of "rows" or, of a limit, of "settings" in a QuotaHistory.
Json change_json(const QuotaChange& change);

/// Bounds what a table of all quotas reads of each queue.
inline constexpr std::size_t kLastEventsMax = 512;
/// The answer to an intent is searched in at most this many events after it.
inline constexpr std::uint64_t kAnswerEventsMax = 100'000;

}  // namespace fairlead
