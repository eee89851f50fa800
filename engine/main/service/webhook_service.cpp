#include "engine/main/service/webhook_service.h"

#include <chrono>
#include <set>
#include <utility>

#include "connectors/kube/admission_review.h"
#include "engine/admission/judge.h"

namespace fairlead {

namespace {

void count_request(WebhookStats& counted, const std::string& rule, const std::string& decision) {
  ++counted.requests[{rule, decision}];
}

// Counts each rule once, by the gravest of its findings.
void count_verdict(WebhookStats& counted, const AdmissionVerdict& verdict) {
  if (verdict.findings.empty()) return count_request(counted, "none", "allowed");
  const std::set<AdmissionRule> refused(verdict.refused.begin(), verdict.refused.end());
  std::set<AdmissionRule> rules;
  for (const Finding& finding : verdict.findings) {
    if (!rules.insert(finding.rule).second) continue;
    const bool denies = finding.action == RuleAction::deny;
    count_request(counted, std::string(info(finding.rule).name),
                  denies                                                ? "denied"
                  : refused.contains(finding.rule) && !verdict.denied() ? "overridden"
                                                                        : "warned");
  }
}

// What is recorded of a request that a rule refuses; nothing of a dry run.
std::optional<AdmissionDecided> note_of(const AdmissionRequest& request,
                                        const AdmissionVerdict& verdict) {
  if (request.dry_run || verdict.refused.empty()) return std::nullopt;
  return AdmissionDecided{
      printable(request.uid, kNoteCharactersMax),
      printable(request.user, kNoteCharactersMax),
      request.operation,
      request.key,
      verdict.refused,
      verdict.denied() ? AdmissionOutcome::denied : AdmissionOutcome::overridden,
      verdict.denied() ? "" : printable(verdict.override_reason, kNoteCharactersMax)};
}

}  // namespace

WebhookService::WebhookService(const AdmissionFeed& feed, WebhookSettings settings)
    : feed_(feed),
      post_(std::move(settings.post)),
      hub_user_(std::move(settings.hub_user)),
      notes_(std::chrono::steady_clock::now()) {}

bool WebhookService::may_note() {
  const std::lock_guard lock(mutex_);
  return notes_.spend(std::chrono::steady_clock::now());
}

void WebhookService::identify(std::string hub_user) {
  const std::lock_guard lock(mutex_);
  hub_user_ = std::move(hub_user);
}

HttpReply WebhookService::answer(std::string_view body, WebhookStats& counted,
                                 std::optional<AdmissionDecided>& note) const {
  const auto review = read_admission_review(body);
  if (!review) {
    count_request(counted, "none", "refused");
    const int status = body.size() > kReviewBytesMax ? 413 : 400;
    return {status, "text/plain; charset=utf-8", review.error().message + "\n"};
  }
  const std::string hub_user = [this] {
    const std::lock_guard lock(mutex_);
    return hub_user_;
  }();
  AdmissionVerdict verdict;
  if (!review->request) {
    count_request(counted, "none", review->unread.empty() ? "allowed" : "unread");
  } else if (passes(*review->request, hub_user)) {
    count_request(counted, "none", "passed");
  } else {
    verdict = judge(*feed_.current(), *review->request);
    count_verdict(counted, verdict);
    note = note_of(*review->request, verdict);
  }
  return {200, "application/json", admission_answer(*review, verdict)};
}

HttpReply WebhookService::reply(std::string_view body) {
  const auto began = std::chrono::steady_clock::now();
  WebhookStats counted;
  std::optional<AdmissionDecided> note;
  HttpReply reply = answer(body, counted, note);
  const Duration took{std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()};
  const bool lost = note && !(post_ && may_note() && post_(*std::move(note)));
  const std::lock_guard lock(mutex_);
  for (const auto& [of, count] : counted.requests) stats_.requests[of] += count;
  stats_.took.add(took);
  if (lost) ++stats_.notes_lost;
  return reply;
}

WebhookStats WebhookService::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace fairlead
