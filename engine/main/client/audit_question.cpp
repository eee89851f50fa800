#include "engine/main/client/audit_question.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "engine/fold/state.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/position.h"

namespace fairlead {

namespace {

constexpr std::string_view kWorkerList = "multikueueconfig/";
constexpr std::string_view kWorkload = "workload/";

using Parameter = std::pair<std::string_view, std::string AuditQuestion::*>;
constexpr std::array<Parameter, 6> kParameters{{{"as-of", &AuditQuestion::as_of},
                                                {"from", &AuditQuestion::from},
                                                {"to", &AuditQuestion::to},
                                                {"object", &AuditQuestion::object},
                                                {"namespace", &AuditQuestion::namespace_},
                                                {"pod", &AuditQuestion::pod}}};
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

Result<AuditPosition> place(const ReadableLog& log, const char* option, const std::string& text,
                            Seq otherwise) {
  if (text.empty()) return AuditPosition(otherwise);
  return parse_position(log, option, text);
}

bool is_about_pool(const AuditQuestion& question) {
  return !question.namespace_.empty() || !question.pod.empty();
}

// Reads TENANT/NAME or TENANT/NAMESPACE/NAME.
Result<AuditPlacement> placement_of(const AuditQuestion& question) {
  const bool of_pod = !question.pod.empty();
  const std::string& text = of_pod ? question.pod : question.namespace_;
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  const bool whole = std::none_of(parts.begin(), parts.end(),
                                  [](const std::string& part) { return part.empty(); });
  if (!whole || parts.size() != (of_pod ? 3u : 2u))
    return Error{ErrorCode::bad_input,
                 of_pod ? "--pod: expected TENANT/NAMESPACE/NAME, got \"" + text + "\""
                        : "--namespace: expected TENANT/NAME, got \"" + text + "\""};
  return AuditPlacement{parts[0], parts[1], of_pod ? parts[2] : ""};
}

Result<std::optional<AuditPosition>> optional_place(const ReadableLog& log, const char* option,
                                                    const std::string& text) {
  if (text.empty()) return std::optional<AuditPosition>();
  auto position = parse_position(log, option, text);
  if (!position) return position.error();
  return std::optional<AuditPosition>(*position);
}

// Where a question ends that names no end.
Seq end_of(const AuditSource& source) {
  return source.present ? source.present->seq : end_of(source.log);
}

// Without --as-of the moment is the end of the span that is asked for.
Result<AuditAnswer> answer_about_pool(const AuditSource& source, const AuditQuestion& question) {
  const ReadableLog& log = source.log;
  const auto object = placement_of(question);
  if (!object) return object.error();
  const auto from = optional_place(log, "--from", question.from);
  if (!from) return from.error();
  const auto to = optional_place(log, "--to", question.to);
  if (!to) return to.error();
  const auto as_of = optional_place(log, "--as-of", question.as_of);
  if (!as_of) return as_of.error();
  if (question.subject == "history") {
    if (*as_of && *to)
      return Error{ErrorCode::bad_input, "audit history: expected one of --to and --as-of"};
    return audit_history_placements(source, *object, from->value_or(log.first_seq()),
                                    *to ? **to : as_of->value_or(AuditPosition(end_of(source))));
  }
  const AuditPosition moment = *as_of ? **as_of : to->value_or(AuditPosition(end_of(source)));
  const AuditDecisions decisions{*from, *to};
  return question.subject == "why" ? audit_why_placement(source, *object, moment, decisions)
                                   : audit_why_not_placement(source, *object, moment, decisions);
}

// Reads workload/NAMESPACE/NAME.
Result<AuditAnswer> answer_about_workload(const AuditSource& source, const AuditQuestion& question,
                                          const AuditPosition& as_of) {
  const std::string text = question.pair.queue.substr(kWorkload.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string::npos)
    return Error{ErrorCode::bad_input, "audit " + question.subject +
                                           ": expected workload/NAMESPACE/NAME, got \"" +
                                           question.pair.queue + "\""};
  const NamespacedName id{text.substr(0, slash), text.substr(slash + 1)};
  return question.subject == "why" ? audit_why_workload(source, id, as_of)
                                   : audit_why_not_workload(source, id, as_of);
}

}  // namespace

std::string missing_subject(const AuditQuestion& question) {
  const AuditPair& pair = question.pair;
  const std::string& subject = question.subject;
  const bool in_pool = subject == "history" || subject == "why" || subject == "why-not";
  const bool named = !pair.queue.empty() || !pair.flavor.empty() || !pair.resource.empty();
  const std::string expected = "audit " + subject + ": expected ";
  if (is_about_pool(question)) {
    if (!in_pool) return "audit " + subject + " answers nothing about --namespace or --pod";
    if (subject == "history" && !question.pod.empty())
      return expected + "--namespace; a pod's history is in `audit why --pod`";
    if (named || (!question.namespace_.empty() && !question.pod.empty()))
      return expected + "one of a ClusterQueue, --namespace and --pod";
    return "";
  }
  if (subject == "history" && pair.queue.empty())
    return expected + "a ClusterQueue or --namespace TENANT/NAME";
  if ((subject == "why" || subject == "why-not") && pair.queue.empty())
    return expected +
           "a ClusterQueue, perhaps with a ResourceFlavor and a resource, or "
           "workload/NAMESPACE/NAME, or "
           "--namespace TENANT/NAME, or --pod TENANT/NAMESPACE/NAME";
  return "";
}

bool is_about_now(const AuditQuestion& question) {
  return question.as_of.empty() && question.to.empty();
}

// A placement looks for room on nodes, a Workload for devices on them. The derivation of a quota
// names the nodes of the clusters that the queue's claims are about.
std::set<std::string> clusters_read(const State& state, const AuditQuestion& question) {
  std::set<std::string> clusters;
  if (is_about_pool(question) || question.pair.queue.starts_with(kWorkload)) {
    for (const auto& [name, cluster] : state.clusters) clusters.insert(name);
    return clusters;
  }
  const auto claims = state.claims.of_queue.find(question.pair.queue);
  const bool derives = question.subject == "why" || question.subject == "why-not";
  if (!derives || claims == state.claims.of_queue.end()) return clusters;
  for (const std::string& name : claims->second)
    if (const auto claim = state.claims.by_name.find(name); claim != state.claims.by_name.end())
      if (claim->second.terms) clusters.insert(claim->second.terms->cluster);
  return clusters;
}

Result<AuditAnswer> answer_question(const AuditSource& source, const AuditQuestion& question) {
  const ReadableLog& log = source.log;
  const std::string& subject = question.subject;
  if (std::string missing = missing_subject(question); !missing.empty())
    return Error{ErrorCode::bad_input, std::move(missing)};
  if (is_about_pool(question)) return answer_about_pool(source, question);
  if (subject == "history" || subject == "diff" || subject == "admissions") {
    auto from = place(log, "--from", question.from, log.first_seq());
    if (!from) return from.error();
    auto to = place(log, "--to", question.to, end_of(source));
    if (!to) return to.error();
    if (subject == "diff") return audit_diff(source, *from, *to, question.pair.queue);
    if (subject == "admissions") return audit_admissions(source, question.object, *from, *to);
    return audit_history(source, question.pair, *from, *to);
  }
  auto as_of = place(log, "--as-of", question.as_of, end_of(source));
  if (!as_of) return as_of.error();
  if (subject == "quota") return audit_quota(source, *as_of, question.pair.queue);
  if (subject == "why" && question.pair.queue.starts_with(kWorkerList))
    return audit_why_workers(source, question.pair.queue.substr(kWorkerList.size()),
                             question.pair.flavor, *as_of);
  if (subject != "why" && subject != "why-not")
    return Error{
        ErrorCode::bad_input,
        "expected quota, history, diff, why, why-not or admissions, got \"" + subject + "\""};
  if (question.pair.queue.starts_with(kWorkload))
    return answer_about_workload(source, question, *as_of);
  if (question.pair.resource.empty())
    return audit_each_pair(source, question.pair, *as_of,
                           subject == "why" ? audit_why : audit_why_not);
  if (subject == "why") return audit_why(source, question.pair, *as_of);
  return audit_why_not(source, question.pair, *as_of);
}

void make_absolute(AuditQuestion& question, const TimeFrame& frame) {
  make_absolute({&question.as_of, &question.from, &question.to}, frame);
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
      return Error{
          ErrorCode::bad_input,
          "unknown parameter \"" + name +
              "\"; known: queue, flavor, resource, as-of, from, to, object, namespace, pod"};
    *parameter = value;
  }
  return question;
}

}  // namespace fairlead
