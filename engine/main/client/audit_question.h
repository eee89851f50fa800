// A question about the past as text, the same on a command line and in a URL, so that a running hub
// gives the answer that its data directory would give.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/main/client/time_text.h"
#include "replay/audit/audit.h"

namespace fairlead {

/// Positions are as position.h reads them; empty members were not given.
struct AuditQuestion {
  std::string subject;  ///< quota, history, diff, why, why-not, admissions
  AuditPair pair;
  std::string as_of;
  std::string from, to;  ///< of history, diff and admissions, and of why about the pool
  std::string object;    ///< of admissions: NAME or KIND/NAME
  // Of history, why and why-not about the super cluster pool, in place of `pair`:
  std::string namespace_;  ///< TENANT/NAME
  std::string pod;         ///< TENANT/NAMESPACE/NAME; not of history
};

/// Returns what the question lacks: "audit why: expected ..."; empty if it can be answered.
std::string missing_subject(const AuditQuestion& question);

/// Whether the answer is about the end of the log: neither `as_of` nor `to` was given.
bool is_about_now(const AuditQuestion& question);
/// Returns the clusters whose nodes the answer is made of, beside what else `state` holds.
std::set<std::string> clusters_read(const State& state, const AuditQuestion& question);

/// Reads the positions and answers the question from `source`. `as_of` and `to` default to the end
/// of the log, `from` to its beginning.
Result<AuditAnswer> answer_question(const AuditSource& source, const AuditQuestion& question);

/// Writes the question's times in full (position.h).
void make_absolute(AuditQuestion& question, const TimeFrame& frame);

/// Returns the question as the target of a GET: `/audit/why?queue=...&as-of=...`.
std::string to_target(const AuditQuestion& question);
/// Reads such a target. Fails with `bad_input`, naming a parameter that is not known.
Result<AuditQuestion> from_target(std::string_view target);

}  // namespace fairlead
