// `audit admissions`: what the webhook refused, and what an override admitted.
#include <algorithm>
#include <cctype>

#include "replay/audit/audit.h"
#include "replay/audit/audit_span.h"

namespace fairlead {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Whether `wanted` names the object: empty, NAME, or KIND/NAME with the kind as kubectl takes it.
bool names(const std::string& wanted, const ObjectKey& object) {
  if (wanted.empty() || wanted == object.name) return true;
  const std::size_t slash = wanted.find('/');
  if (slash == std::string::npos || wanted.substr(slash + 1) != object.name) return false;
  const std::string kind = wanted.substr(0, slash);
  return same_word(kind, info(object.kind).name) || same_word(kind, info(object.kind).resource);
}

Json row_of(const Event& event, const AdmissionDecided& decided) {
  Json rules = Json::array();
  for (const AdmissionRule rule : decided.rules) rules.push_back(info(rule).name);
  return {{"seq", event.seq.value},
          {"time", to_rfc3339(event.log_time)},
          {"user", decided.user},
          {"operation", text_of(decided.operation)},
          {"kind", info(decided.object.kind).name},
          {"name", decided.object.name},
          {"rules", std::move(rules)},
          {"outcome", text_of(decided.outcome)},
          {"reason", decided.reason},
          {"requestUid", decided.request_uid}};
}

}  // namespace

Result<AuditAnswer> audit_admissions(const AuditSource& source, const std::string& object,
                                     const AuditPosition& from, const AuditPosition& to) {
  const auto span = span_between(source.log, from, to);
  if (!span) return span.error();
  Json rows = Json::array();
  auto reader = source.log.read(span->begin);
  if (!reader) return reader.error();
  for (;;) {
    auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq > span->end) break;
    const auto* decided = std::get_if<AdmissionDecided>(&(*event)->fact);
    if (decided && names(object, decided->object)) rows.push_back(row_of(**event, *decided));
  }
  return AuditAnswer{{{"kind", "AdmissionHistory"},
                      {"from", {{"seq", span->begin.value}}},
                      {"to", {{"seq", span->end.value}}},
                      {"unseen", Json::array()},
                      {"rows", std::move(rows)}}};
}

}  // namespace fairlead
