// Questions about who waits and why, and whom a loss keeps waiting.
#pragma once

#include <optional>
#include <string>

#include "replay/audit/audit.h"

namespace fairlead {

/// What is asked about waits.
struct WaitingQuestion {
  std::optional<NamespacedName> workload;  ///< nullopt: all that wait
  std::string cluster_queue;               ///< of all that wait: only those of this ClusterQueue
  AuditPosition as_of;                     ///< where the record ends
  std::optional<AuditPosition> from;       ///< cuts the finished answer
  std::optional<AuditPosition> to;
};

// A name that the log does not know is `not_found`, with the names nearby; other errors are those
// of audit.h. A document has "kind" and, in its intervals, "because" (words for "causes"), which
// printed JSON leaves out: its fields are a contract (docs/waiting.md).

/// Returns a Waiting of one Workload, or the WaitingList of all that wait.
Result<AuditAnswer> audit_waiting(const AuditSource& source, const WaitingQuestion& question);

/// Returns a BlockedBy: who waited because of what happened to `object` (node/NAME, claim/NAME,
/// window/NAME or cluster/NAME) between two places.
Result<AuditAnswer> audit_blocked_by(const AuditSource& source, const std::string& object,
                                     const AuditPosition& from, const AuditPosition& to);

/// Returns a document of these as its fields are promised.
Json without_words(Json document);

/// Renders them as text.
std::string waiting_text(const Json& document, std::size_t columns);

}  // namespace fairlead
