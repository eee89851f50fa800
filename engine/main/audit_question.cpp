#include "engine/main/audit_question.h"

#include <array>
#include <utility>

#include "engine/main/http_target.h"
#include "engine/main/position.h"

namespace fairlead {

namespace {

using Parameter = std::pair<std::string_view, std::string AuditQuestion::*>;
constexpr std::array<Parameter, 4> kParameters{{{"as-of", &AuditQuestion::as_of},
                                                {"from", &AuditQuestion::from},
                                                {"to", &AuditQuestion::to},
                                                {"object", &AuditQuestion::object}}};
constexpr std::array<std::pair<std::string_view, std::string AuditPair::*>, 3> kPairParameters{
    {{"queue", &AuditPair::queue},
     {"flavor", &AuditPair::flavor},
     {"resource", &AuditPair::resource}}};

std::string* parameter_of(AuditQuestion& question, std::string_view name) {
  for (const auto& [known, member] : kParameters)
    if (known == name) return &(question.*member);
  for (const auto& [known, member] : kPairParameters)
    if (known == name) return &(question.pair.*member);
  return nullptr;
}

Result<AuditPosition> place(const EventLog& log, const char* option, const std::string& text,
                            Seq otherwise) {
  if (text.empty()) return AuditPosition(otherwise);
  return parse_position(log, option, text);
}

Error missing(const std::string& subject, const char* what) {
  return {ErrorCode::bad_input, "audit " + subject + ": expected " + what};
}

}  // namespace

Result<AuditAnswer> answer_question(const AuditSource& source, const AuditQuestion& question) {
  const EventLog& log = source.log;
  const std::string& subject = question.subject;
  if (subject == "history" || subject == "diff" || subject == "admissions") {
    auto from = place(log, "--from", question.from, log.first_seq());
    if (!from) return from.error();
    auto to = place(log, "--to", question.to, end_of(log));
    if (!to) return to.error();
    if (subject == "diff") return audit_diff(source, *from, *to, question.pair.queue);
    if (subject == "admissions") return audit_admissions(source, question.object, *from, *to);
    if (question.pair.queue.empty()) return missing(subject, "a ClusterQueue");
    return audit_history(source, question.pair, *from, *to);
  }
  auto as_of = place(log, "--as-of", question.as_of, end_of(log));
  if (!as_of) return as_of.error();
  if (subject == "quota") return audit_quota(source, *as_of, question.pair.queue);
  constexpr std::string_view workers = "multikueueconfig/";
  if (subject == "why" && question.pair.queue.starts_with(workers))
    return audit_why_workers(source, question.pair.queue.substr(workers.size()),
                             question.pair.flavor, *as_of);
  if (subject != "why" && subject != "why-not")
    return Error{
        ErrorCode::bad_input,
        "expected quota, history, diff, why, why-not or admissions, got \"" + subject + "\""};
  if (question.pair.queue.empty() || question.pair.flavor.empty() || question.pair.resource.empty())
    return missing(subject, "a ClusterQueue, a ResourceFlavor and a resource");
  if (subject == "why") return audit_why(source, question.pair, *as_of);
  return audit_why_not(source, question.pair, *as_of);
}

std::string to_target(const AuditQuestion& question) {
  HttpTarget target{std::string(kAuditPath) + question.subject, {}};
  for (const auto& [name, member] : kPairParameters) target.add(name, question.pair.*member);
  for (const auto& [name, member] : kParameters) target.add(name, question.*member);
  return to_text(target);
}

Result<AuditQuestion> from_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return target.error();
  AuditQuestion question;
  question.subject = target->path.substr(kAuditPath.size());
  for (const auto& [name, value] : target->parameters) {
    std::string* parameter = parameter_of(question, name);
    if (parameter == nullptr)
      return Error{ErrorCode::bad_input,
                   "unknown parameter \"" + name +
                       "\"; known: queue, flavor, resource, as-of, from, to, object"};
    *parameter = value;
  }
  return question;
}

}  // namespace fairlead
