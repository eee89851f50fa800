#include "engine/main/audit_question.h"

#include <array>
#include <optional>
#include <utility>

#include "engine/main/position.h"

namespace fairlead {

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low)
      return Error{ErrorCode::bad_input, "not percent-encoded: " + std::string(text)};
    out += static_cast<char>(*high * 16U + *low);
    i += 2;
  }
  return out;
}

using Parameter = std::pair<std::string_view, std::string AuditQuestion::*>;
constexpr std::array<Parameter, 3> kParameters{
    {{"as-of", &AuditQuestion::as_of}, {"from", &AuditQuestion::from}, {"to", &AuditQuestion::to}}};
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
  if (subject == "history" || subject == "diff") {
    auto from = place(log, "--from", question.from, log.first_seq());
    if (!from) return from.error();
    auto to = place(log, "--to", question.to, log.last_seq());
    if (!to) return to.error();
    if (subject == "diff") return audit_diff(source, *from, *to, question.pair.queue);
    if (question.pair.queue.empty()) return missing(subject, "a ClusterQueue");
    return audit_history(source, question.pair, *from, *to);
  }
  auto as_of = place(log, "--as-of", question.as_of, log.last_seq());
  if (!as_of) return as_of.error();
  if (subject == "quota") return audit_quota(source, *as_of, question.pair.queue);
  constexpr std::string_view workers = "multikueueconfig/";
  if (subject == "why" && question.pair.queue.starts_with(workers))
    return audit_why_workers(source, question.pair.queue.substr(workers.size()),
                             question.pair.flavor, *as_of);
  if (question.pair.queue.empty() || question.pair.flavor.empty() || question.pair.resource.empty())
    return missing(subject, "a ClusterQueue, a ResourceFlavor and a resource");
  if (subject == "why") return audit_why(source, question.pair, *as_of);
  if (subject == "why-not") return audit_why_not(source, question.pair, *as_of);
  return Error{ErrorCode::bad_input,
               "expected quota, history, diff, why or why-not, got \"" + subject + "\""};
}

std::string to_target(const AuditQuestion& question) {
  std::string target = std::string(kAuditPath) + percent_encoded(question.subject);
  char separator = '?';
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    target += separator + std::string(name) + "=" + percent_encoded(value);
    separator = '&';
  };
  for (const auto& [name, member] : kPairParameters) add(name, question.pair.*member);
  for (const auto& [name, member] : kParameters) add(name, question.*member);
  return target;
}

Result<AuditQuestion> from_target(std::string_view target) {
  AuditQuestion question;
  const std::size_t mark = target.find('?');
  question.subject = target.substr(0, mark).substr(kAuditPath.size());
  std::string_view query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view entry = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    std::string* parameter = parameter_of(question, name);
    if (parameter == nullptr)
      return Error{ErrorCode::bad_input, "unknown parameter \"" + std::string(name) +
                                             "\"; known: queue, flavor, resource, as-of, from, to"};
    auto value = percent_decoded(equals == std::string_view::npos ? "" : entry.substr(equals + 1));
    if (!value) return value.error();
    *parameter = *std::move(value);
  }
  return question;
}

}  // namespace fairlead
