#include "engine/admission/judge.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

bool is_deleting(const AdmissionRequest& request) {
  const auto& object = request.object ? request.object : request.old_object;
  return object && object->deleting;
}

// The reason of the override; empty if there is none.
std::string override_of(const AdmissionRequest& request) {
  const auto& object = request.object ? request.object : request.old_object;
  if (!object) return "";
  const auto at = object->annotations.find(kOverrideAnnotation);
  if (at == object->annotations.end()) return "";
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = at->second.find_first_not_of(space);
  if (first == std::string::npos) return "";
  return at->second.substr(first, at->second.find_last_not_of(space) - first + 1);
}

void override_denials(AdmissionVerdict& verdict, const std::string& reason) {
  if (reason.empty()) return;
  for (Finding& finding : verdict.findings) {
    // The fold refuses an invalid spec whatever the API server has admitted.
    if (finding.action != RuleAction::deny || finding.rule == AdmissionRule::claim_invalid)
      continue;
    finding.action = RuleAction::warn;
    verdict.override_reason = reason;
  }
}

}  // namespace

bool AdmissionVerdict::denied() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.action == RuleAction::deny; });
}

AdmissionVerdict judge(const AdmissionView& view, const AdmissionRequest& request) {
  AdmissionVerdict verdict;
  // Finalizers are removed by updates of such an object: a denial would keep it from going.
  if (is_deleting(request)) return verdict;
  verdict.unsynced = view.state == ViewState::unsynced;
  const Question question = question_of(view, request);
  for (const AdmissionRuleFunction& rule : admission_rules()) {
    // That rule alone asks for nothing but the request and the configuration.
    if (verdict.unsynced && rule.rule != AdmissionRule::claim_invalid) continue;
    const RuleAction action = view.terms->action(rule.rule);
    if (action == RuleAction::off) continue;
    Objections objections = rule.ask(question);
    if (action == RuleAction::deny && !objections.empty()) verdict.refused.push_back(rule.rule);
    for (Objection& objection : objections)
      verdict.findings.push_back({rule.rule, action, std::move(objection)});
  }
  override_denials(verdict, override_of(request));
  return verdict;
}

bool passes(const AdmissionRequest& request, const std::string& hub_user) {
  if (!hub_user.empty() && request.user == hub_user) return true;
  return std::find(request.groups.begin(), request.groups.end(),
                   "system:serviceaccounts:kube-system") != request.groups.end();
}

std::string finding_text(const Finding& finding) {
  const Objection& objection = finding.objection;
  return objection.field.empty() ? objection.message : objection.field + ": " + objection.message;
}

std::string printable(std::string_view text, std::size_t characters_max) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) == 0x80U) continue;  // one character was replaced already
    out += byte >= 0x80U ? '?' : byte < 0x20U || byte == 0x7fU ? ' ' : c;
    if (out.size() > characters_max) break;
  }
  if (out.size() > characters_max) out.replace(characters_max - 3, std::string::npos, "...");
  return out;
}

std::vector<std::string> warnings_of(const AdmissionVerdict& verdict) {
  std::vector<std::string> all;
  if (verdict.overridden() && !verdict.denied())
    all.push_back("admitted by fairlead.io/override: " + verdict.override_reason);
  for (const Finding& finding : verdict.findings)
    if (finding.action == RuleAction::warn) all.push_back(finding_text(finding));
  if (verdict.unsynced)
    all.push_back("the hub has not read the cluster yet: of its rules only claimInvalid was asked");
  const std::size_t count = all.size();
  if (count > kWarningsMax) {
    all.resize(kWarningsMax - 1);
    all.push_back("and " + std::to_string(count - all.size()) + " more");
  }
  for (std::string& text : all) text = printable(text, kWarningCharactersMax);
  return all;
}

}  // namespace fairlead
