#include "engine/main/client/audit_question.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "engine/fold/state.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/position.h"
#include "replay/waiting/waiting.h"

namespace fairlead {

namespace {

constexpr std::string_view kWorkerList = "multikueueconfig/";
constexpr std::string_view kWorkload = "workload/";

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
  const std::string text = question.queue.substr(kWorkload.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string::npos)
    return Error{ErrorCode::bad_input, "audit " + question.subject +
                                           ": expected workload/NAMESPACE/NAME, got \"" +
                                           question.queue + "\""};
  const NamespacedName id{text.substr(0, slash), text.substr(slash + 1)};
  return question.subject == "why" ? audit_why_workload(source, id, as_of)
                                   : audit_why_not_workload(source, id, as_of);
}

struct Span {
  AuditPosition from, to;
};

Result<Span> span_of(const AuditSource& source, const AuditQuestion& question) {
  const auto from = place(source.log, "--from", question.from, source.log.first_seq());
  if (!from) return from.error();
  const auto to = place(source.log, "--to", question.to, end_of(source));
  if (!to) return to.error();
  return Span{*from, *to};
}

Result<AuditPosition> moment_asked(const AuditSource& source, const AuditQuestion& question) {
  return place(source.log, "--as-of", question.as_of, end_of(source));
}

Result<AuditAnswer> answer_quota(const AuditSource& source, const AuditQuestion& question) {
  const auto as_of = moment_asked(source, question);
  if (!as_of) return as_of.error();
  return audit_quota(source, *as_of, question.queue);
}

Result<AuditAnswer> answer_history(const AuditSource& source, const AuditQuestion& question) {
  if (is_about_pool(question)) return answer_about_pool(source, question);
  const auto span = span_of(source, question);
  if (!span) return span.error();
  return audit_history(source, question.pair(), span->from, span->to);
}

Result<AuditAnswer> answer_diff(const AuditSource& source, const AuditQuestion& question) {
  const auto span = span_of(source, question);
  if (!span) return span.error();
  return audit_diff(source, span->from, span->to, question.queue);
}

Result<AuditAnswer> answer_why(const AuditSource& source, const AuditQuestion& question) {
  if (is_about_pool(question)) return answer_about_pool(source, question);
  const auto as_of = moment_asked(source, question);
  if (!as_of) return as_of.error();
  const AuditPair pair = question.pair();
  const bool denied = question.subject == "why-not";
  if (!denied && pair.queue.starts_with(kWorkerList))
    return audit_why_workers(source, pair.queue.substr(kWorkerList.size()), pair.flavor, *as_of);
  if (pair.queue.starts_with(kWorkload)) return answer_about_workload(source, question, *as_of);
  const AskAboutPair ask = denied ? audit_why_not : audit_why;
  return pair.resource.empty() ? audit_each_pair(source, pair, *as_of, ask)
                               : ask(source, pair, *as_of);
}

Result<AuditAnswer> answer_admissions(const AuditSource& source, const AuditQuestion& question) {
  const auto span = span_of(source, question);
  if (!span) return span.error();
  return audit_admissions(source, question.object, span->from, span->to);
}

// Reads NAMESPACE/NAME.
std::optional<NamespacedName> namespaced(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string::npos)
    return std::nullopt;
  return NamespacedName{text.substr(0, slash), text.substr(slash + 1)};
}

Result<AuditAnswer> answer_waiting(const AuditSource& source, const AuditQuestion& question) {
  const auto as_of = moment_asked(source, question);
  if (!as_of) return as_of.error();
  const auto from = optional_place(source.log, "--from", question.from);
  if (!from) return from.error();
  const auto to = optional_place(source.log, "--to", question.to);
  if (!to) return to.error();
  WaitingQuestion asked{std::nullopt, question.queue, *as_of, *from, *to};
  if (question.workload.empty()) return audit_waiting(source, asked);
  asked.workload = namespaced(question.workload);
  if (!asked.workload || !question.queue.empty())
    return Error{ErrorCode::bad_input,
                 "audit waiting: expected NAMESPACE/NAME of a Workload or --queue CLUSTERQUEUE, "
                 "got \"" +
                     question.workload + "\"" +
                     (question.queue.empty() ? "" : " and --queue " + question.queue)};
  return audit_waiting(source, asked);
}

Result<AuditAnswer> answer_blocked_by(const AuditSource& source, const AuditQuestion& question) {
  const auto span = span_of(source, question);
  if (!span) return span.error();
  return audit_blocked_by(source, question.object, span->from, span->to);
}

constexpr AuditParameter kAuditQueue{"queue", &AuditQuestion::queue};
constexpr AuditParameter kAuditFlavor{"flavor", &AuditQuestion::flavor};
constexpr AuditParameter kAuditResource{"resource", &AuditQuestion::resource};
constexpr AuditParameter kAuditAsOf{"as-of", &AuditQuestion::as_of};
constexpr AuditParameter kAuditFrom{"from", &AuditQuestion::from};
constexpr AuditParameter kAuditTo{"to", &AuditQuestion::to};
constexpr AuditParameter kAuditObject{"object", &AuditQuestion::object};
constexpr AuditParameter kAuditNamespace{"namespace", &AuditQuestion::namespace_};
constexpr AuditParameter kAuditPod{"pod", &AuditQuestion::pod};
constexpr AuditParameter kAuditWorkload{"workload", &AuditQuestion::workload};
constexpr std::array kParameters{kAuditQueue, kAuditFlavor,  kAuditResource, kAuditAsOf,
                                 kAuditFrom,  kAuditTo,      kAuditObject,   kAuditNamespace,
                                 kAuditPod,   kAuditWorkload};

AuditArgument as_of_option() {
  return {kAuditAsOf, AuditForm::option, std::string(kPositionHelp) + "; default: the log's end"};
}
AuditArgument from_option() {
  return {kAuditFrom, AuditForm::option, std::string("From here: ") + kPositionHelp};
}
AuditArgument to_option() { return {kAuditTo, AuditForm::option, "To here, included"}; }
AuditArgument namespace_option() {
  return {kAuditNamespace, AuditForm::option,
          "In place of a queue: TENANT/NAME, a tenant's namespace in the super cluster pool"};
}

// Of a question about a quota, or in its place about a namespace or a pod of a tenant.
std::vector<AuditArgument> quota_or_placement(const char* queue_help, const char* flavor_help) {
  return {{kAuditQueue, AuditForm::word, queue_help},
          {kAuditFlavor, AuditForm::word, flavor_help},
          {kAuditResource, AuditForm::word, "Resource, as the queue spells it or its alias"},
          namespace_option(),
          {kAuditPod, AuditForm::option,
           "In place of a queue: TENANT/NAMESPACE/NAME, a pod of a tenant"},
          from_option(),
          to_option(),
          as_of_option()};
}

std::vector<AuditSubject> all_subjects() {
  return {
      {"quota",
       "Quotas at a moment, and of what they are made",
       {{kAuditQueue, AuditForm::word, "ClusterQueue; default: all"}, as_of_option()},
       true,
       answer_quota},
      {"history",
       "Every change of a queue's quotas, limits and rules: who, when, why, how answered",
       {{kAuditQueue, AuditForm::word,
         "ClusterQueue, or cohort/NAME, resourceflavor/NAME, admissioncheck/NAME, "
         "localqueue/NAMESPACE/NAME, or multikueueconfig/NAME for the changes of that list"},
        {kAuditFlavor, AuditForm::option, "Only this ResourceFlavor"},
        {kAuditResource, AuditForm::option, "Only this resource"},
        from_option(),
        to_option(),
        namespace_option(),
        {kAuditAsOf, AuditForm::option, "With --namespace: the same as --to"}},
       true,
       answer_history},
      {"diff",
       "What differs between two moments: configuration, claims, capacity, grants, quotas, queues, "
       "Cohorts",
       {{kAuditFrom, AuditForm::required_word, kPositionHelp},
        {kAuditTo, AuditForm::required_word, "The other moment, usually a later one"},
        {kAuditQueue, AuditForm::word, "Only what concerns this ClusterQueue"}},
       false,
       answer_diff},
      {"why", "From a quota down to the nodes, the windows and the claim's edit",
       quota_or_placement("ClusterQueue, or multikueueconfig/NAME for who is in that list and why, "
                          "or workload/NAMESPACE/NAME for where its devices are",
                          "ResourceFlavor; of a list: only this cluster"),
       false, answer_why},
      {"why-not", "Which guard keeps a quota from being written, or from growing",
       quota_or_placement("ClusterQueue, or workload/NAMESPACE/NAME for what each cluster lacks",
                          "ResourceFlavor"),
       false, answer_why},
      {"admissions",
       "Which changes the webhook refused, and which an override let pass",
       {{kAuditObject, AuditForm::option, "Only objects of this NAME or KIND/NAME"},
        from_option(),
        to_option()},
       false,
       answer_admissions},
      {"waiting",
       "Why a Workload waited, interval by interval, on the hub and on each worker; or who waits",
       {{kAuditWorkload, AuditForm::word, "NAMESPACE/NAME; default: all Workloads that wait"},
        {kAuditQueue, AuditForm::option, "Only Workloads of this ClusterQueue"},
        as_of_option(),
        from_option(),
        to_option()},
       false,
       answer_waiting},
      {"blocked-by",
       "Which Workloads waited because of a node, claim, window or cluster, and for how long",
       {{kAuditObject, AuditForm::required_word,
         "node/NAME, claim/NAME, window/NAME or cluster/NAME"},
        from_option(),
        to_option()},
       false,
       answer_blocked_by},
  };
}

const AuditSubject* find_subject(std::string_view name) {
  for (const AuditSubject& subject : audit_subjects())
    if (subject.name == name) return &subject;
  return nullptr;
}

// "a, b LAST c": the names of a list, for an error.
template <typename List>
std::string names_of(const List& list, const char* last) {
  std::string names;
  for (const auto& one : list) {
    const bool is_last = &one == &*std::prev(std::end(list));
    names.append(names.empty() ? "" : is_last ? last : ", ").append(one.name);
  }
  return names;
}

}  // namespace

const std::vector<AuditSubject>& audit_subjects() {
  static const std::vector<AuditSubject> all = all_subjects();
  return all;
}

bool AuditSubject::takes(std::string_view parameter) const {
  return std::any_of(arguments.begin(), arguments.end(), [parameter](const AuditArgument& one) {
    return one.parameter.name == parameter;
  });
}

std::vector<std::string> command_words(const AuditQuestion& question) {
  std::vector<std::string> words{"fairlead", "audit", question.subject};
  if (const AuditSubject* subject = find_subject(question.subject))
    for (const auto& [parameter, form, help] : subject->arguments) {
      const std::string& value = question.*parameter.value;
      if (value.empty()) continue;
      if (form == AuditForm::option) words.push_back("--" + std::string(parameter.name));
      words.push_back(value);
    }
  return words;
}

std::string missing_subject(const AuditQuestion& question) {
  const AuditSubject* subject = find_subject(question.subject);
  if (subject == nullptr)
    return "expected " + names_of(audit_subjects(), " or ") + ", got \"" + question.subject + "\"";
  const std::string expected = "audit " + question.subject + ": expected ";
  if (is_about_pool(question)) {
    if (!subject->takes("namespace"))
      return "audit " + question.subject + " answers nothing about --namespace or --pod";
    if (!question.pod.empty() && !subject->takes("pod"))
      return expected + "--namespace; a pod's history is in `audit why --pod`";
    const bool named =
        !question.queue.empty() || !question.flavor.empty() || !question.resource.empty();
    if (named || (!question.namespace_.empty() && !question.pod.empty()))
      return expected + "one of a ClusterQueue, --namespace and --pod";
    return "";
  }
  if (!question.queue.empty() || !subject->takes("namespace")) return "";
  return expected + (subject->takes("pod")
                         ? "a ClusterQueue, perhaps with a ResourceFlavor and a resource, or "
                           "workload/NAMESPACE/NAME, or --namespace TENANT/NAME, or --pod "
                           "TENANT/NAMESPACE/NAME"
                         : "a ClusterQueue or --namespace TENANT/NAME");
}

bool is_about_now(const AuditQuestion& question) {
  return question.as_of.empty() && question.to.empty();
}

// A placement looks for room on nodes, a Workload for devices on them. The derivation of a quota
// names the nodes of the clusters that the queue's claims are about.
std::set<std::string> clusters_read(const State& state, const AuditQuestion& question) {
  std::set<std::string> clusters;
  if (is_about_pool(question) || question.queue.starts_with(kWorkload)) {
    for (const auto& [name, cluster] : state.clusters) clusters.insert(name);
    return clusters;
  }
  const auto claims = state.claims.of_queue.find(question.queue);
  const bool derives = question.subject == "why" || question.subject == "why-not";
  if (!derives || claims == state.claims.of_queue.end()) return clusters;
  for (const std::string& name : claims->second)
    if (const auto claim = state.claims.by_name.find(name); claim != state.claims.by_name.end())
      if (claim->second.terms) clusters.insert(claim->second.terms->cluster);
  return clusters;
}

Result<AuditAnswer> answer_question(const AuditSource& source, const AuditQuestion& question) {
  if (std::string missing = missing_subject(question); !missing.empty())
    return Error{ErrorCode::bad_input, std::move(missing)};
  return find_subject(question.subject)->answer(source, question);
}

void make_absolute(AuditQuestion& question, const TimeFrame& frame) {
  make_absolute({&question.as_of, &question.from, &question.to}, frame);
}

std::string to_target(const AuditQuestion& question) {
  HttpTarget target{std::string(kAuditPath) + question.subject, {}};
  for (const AuditParameter& parameter : kParameters)
    target.add(parameter.name, question.*parameter.value);
  return to_text(target);
}

Result<AuditQuestion> from_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return target.error();
  AuditQuestion question;
  question.subject = target->path.substr(kAuditPath.size());
  for (const auto& [name, value] : target->parameters) {
    const auto known =
        std::find_if(kParameters.begin(), kParameters.end(),
                     [&name](const AuditParameter& one) { return one.name == name; });
    if (known == kParameters.end())
      return Error{ErrorCode::bad_input,
                   "unknown parameter \"" + name + "\"; known: " + names_of(kParameters, ", ")};
    question.*known->value = value;
  }
  return question;
}

}  // namespace fairlead
