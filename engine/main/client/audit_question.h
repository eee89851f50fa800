// Questions about the past as values: the command line, a URL, --help and the link of a view are
// all made from one list, so that a running hub gives the answer that its data directory would
// give.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/main/client/time_text.h"
#include "replay/audit/audit.h"

namespace fairlead {

/// Positions are as position.h reads them; empty members were not given.
struct AuditQuestion {
  std::string subject;                  ///< the name of an AuditSubject
  std::string queue, flavor, resource;  ///< a pair, or in `queue` another object: KIND/NAME
  std::string as_of;
  std::string from, to;  ///< of history, diff and admissions, and of why about the pool
  std::string object;    ///< of admissions: NAME or KIND/NAME; of blocked-by: node/NAME and others
  // Of history, why and why-not about the super cluster pool, in place of a pair:
  std::string namespace_;  ///< TENANT/NAME
  std::string pod;         ///< TENANT/NAMESPACE/NAME; not of history
  std::string workload{};  ///< of waiting: NAMESPACE/NAME

  AuditPair pair() const { return {queue, flavor, resource}; }
};

/// One thing that a question may be told: a parameter of a URL, and a word or an option of a line.
struct AuditParameter {
  std::string_view name;
  std::string AuditQuestion::* value;
};
/// How a line gives a parameter: a word in its place, perhaps one that must be there, or --NAME.
enum class AuditForm : std::uint8_t { word, required_word, option };
struct AuditArgument {
  AuditParameter parameter;
  AuditForm form;
  std::string help;
};

/// One kind of question. The types of its answers are in ui/answers.d.ts.
struct AuditSubject {
  std::string_view name;
  const char* help;
  std::vector<AuditArgument> arguments;  ///< in the order of the line
  bool follows;                          ///< whether --follow makes sense: its answer grows
  Result<AuditAnswer> (*answer)(const AuditSource& source, const AuditQuestion& question);

  /// Whether a question on this subject may be told the parameter.
  bool takes(std::string_view parameter) const;
};
/// Returns all of them, in the order of --help.
const std::vector<AuditSubject>& audit_subjects();
/// Returns the words of the command `fairlead audit ...` that asks the question.
std::vector<std::string> command_words(const AuditQuestion& question);

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
