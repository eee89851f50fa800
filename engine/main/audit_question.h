// A question about the past as text, the same on a command line and in a URL: so the answer of a
// running hub is the answer that its data directory gives.
#pragma once

#include <string>
#include <string_view>

#include "replay/audit.h"

namespace fairlead {

/// Places are as position.h reads them; empty members were not given.
struct AuditQuestion {
  std::string subject;  ///< quota, history, diff, why, why-not
  AuditPair pair;
  std::string as_of;
  std::string from, to;  ///< of history and diff
};

/// Where the hub answers questions.
inline constexpr std::string_view kAuditPath = "/audit/";

/// Reads the places and asks. Without `as_of` the end of the log is meant, without `from` its
/// beginning, without `to` its end.
Result<AuditAnswer> answer_question(const AuditSource& source, const AuditQuestion& question);

/// The question as the target of a GET: `/audit/why?queue=...&as-of=...`.
std::string to_target(const AuditQuestion& question);
/// Reads such a target. bad_input names the parameter that is not known.
Result<AuditQuestion> from_target(std::string_view target);

}  // namespace fairlead
