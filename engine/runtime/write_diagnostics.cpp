#include "engine/runtime/write_diagnostics.h"

namespace fairlead {

void WriteDiagnostics::intended(const Event& event) {
  const PatchIntended& intent = std::get<PatchIntended>(event.fact);
  unanswered_[event.seq] = {event.log_time,
                            {{"cluster", intent.cluster},
                             {"verb", std::string(text_of(intent.verb))},
                             {"object", name_of(intent.target)},
                             {"rule", intent.reason.rule},
                             {"change", intent.reason.text}}};
}

Diagnostic WriteDiagnostics::outcome(const Event& outcome, HubStats& stats) {
  Diagnostic said;
  auto known = unanswered_.extract(outcome.cause);
  if (known) said.details = std::move(known.mapped().details);
  said.details.insert(said.details.begin(), {"intent", std::to_string(outcome.cause.value)});
  if (std::holds_alternative<PatchAccepted>(outcome.fact)) {
    ++stats.accepted;
    if (known) stats.write_delay.add(outcome.log_time - known.mapped().intended_at);
    said.what = "write accepted";
  } else if (const auto* rejected = std::get_if<PatchRejected>(&outcome.fact)) {
    ++stats.rejected;
    said.what = "write rejected";
    // Another writer was faster, or the object is gone: the watch reports it and the hub plans
    // anew.
    const bool expected = rejected->http_code == 409 || rejected->http_code == 404;
    said.severity = expected ? Severity::info : Severity::warn;
    said.details.emplace_back("code", std::to_string(rejected->http_code));
    said.details.emplace_back("why", rejected->reason);
  } else if (const auto* unknown = std::get_if<PatchUnknown>(&outcome.fact)) {
    ++stats.unknown;
    said.what = "write without an answer";
    said.severity = Severity::warn;
    said.details.emplace_back("why", unknown->reason);
  }
  return said;
}

std::string name_of(const ObjectKey& key) {
  const std::string prefix = key.namespace_.empty() ? "" : key.namespace_ + "/";
  return std::string(info(key.kind).name) + " " + prefix + key.name;
}

}  // namespace fairlead
