#include "engine/main/event_filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/main/position.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// The longer ones first: `<=` begins with `<`.
constexpr std::array<std::string_view, 8> kOperators{"!=", "!~", "<=", ">=", "=", "~", "<", ">"};

Error bad_term(std::string_view term, const std::string& expected) {
  return {ErrorCode::bad_input,
          "--where: expected " + expected + ", got \"" + std::string(term) + "\""};
}

// Splits at spaces outside of quotes.
std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  std::string term;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c != ' ' || quoted) {
      term += c;
      continue;
    }
    if (!term.empty()) terms.push_back(std::exchange(term, {}));
  }
  if (!term.empty()) terms.push_back(std::move(term));
  return terms;
}

std::string without_quotes(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

// 14:00 or 14:00:30 on the day of the log's last event; else `text` as it is.
std::string with_day(const EventLog& log, const std::string& text) {
  const bool of_day = (text.size() == 5 || text.size() == 8) && text[2] == ':';
  if (!of_day) return text;
  constexpr std::size_t kDay = 10;  // of 2026-01-01T...
  return to_rfc3339(log.last_time()).substr(0, kDay) + "T" + text +
         (text.size() == 5 ? ":00Z" : "Z");
}

std::string cluster_of(const Event& event) {
  const auto* intent = std::get_if<PatchIntended>(&event.fact);
  return intent ? intent->cluster : event.source;
}
std::string namespace_of(const Event& event) {
  const ObjectKey* object = object_of(event.fact);
  return object ? object->namespace_ : "";
}
std::string name_of_object(const Event& event) {
  const ObjectKey* object = object_of(event.fact);
  return object ? object->name : "";
}
std::string kind_of(const Event& event) {
  const ObjectKey* object = object_of(event.fact);
  return object ? std::string(info(object->kind).name) : "";
}

using TextOf = std::string (*)(const Event&);
constexpr std::array<std::pair<std::string_view, TextOf>, 3> kTexts{
    {{"cluster", cluster_of}, {"namespace", namespace_of}, {"name", name_of_object}}};

TextOf text_field(std::string_view field) {
  for (const auto& [name, text] : kTexts)
    if (name == field) return text;
  return nullptr;
}

Seq before(Seq seq) { return {seq.value > 0 ? seq.value - 1 : 0}; }

}  // namespace

bool is_known_kind(std::string_view word) {
  const auto names = fact_names();
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [word](const KindInfo& row) { return row.name == word; }) ||
         std::find(names.begin(), names.end(), word) != names.end();
}

bool is_of_kind(const Event& event, std::string_view word) {
  const ObjectKey* object = object_of(event.fact);
  return word == fact_name(event.fact) || (object != nullptr && word == info(object->kind).name);
}

Result<EventFilter> EventFilter::parse(const EventLog& log, std::string_view text) {
  EventFilter filter;
  if (std::count(text.begin(), text.end(), '"') % 2 != 0) return bad_term(text, "a closing quote");
  for (const std::string& term : terms_of(text))
    if (auto added = filter.add(log, term); !added) return added.error();
  return filter;
}

bool EventFilter::accepts(const Event& event) const {
  return event.seq >= from_ && event.seq <= to_ &&
         std::all_of(tests_.begin(), tests_.end(),
                     [&event](const Test& test) { return test(event); });
}

Result<void> EventFilter::add(const EventLog& log, std::string_view term) {
  const std::size_t end = term.find_first_of("=!~<>");
  const std::string_view field = term.substr(0, end);
  std::string_view op, rest = end == std::string_view::npos ? "" : term.substr(end);
  for (const std::string_view known : kOperators)
    if (op.empty() && rest.starts_with(known)) op = known;
  const std::string value = without_quotes(rest.substr(op.size()));
  if (op.empty() || value.empty())
    return bad_term(term, "FIELD OPERATOR VALUE, as in kind=Node or name~gpu");
  if (field == "seq" || field == "time") return add_place(log, field, op, value);
  const TextOf text = field == "kind" ? kind_of : text_field(field);
  if (text == nullptr) return bad_term(term, "one of kind, cluster, namespace, name, seq and time");
  const bool contains = op == "~" || op == "!~";
  const bool wanted = op == "=" || op == "~";
  if (!contains && op != "=" && op != "!=")
    return bad_term(term, "= != ~ or !~ behind " + std::string(field));
  if (field == "kind" && !contains && !is_known_kind(value))
    return bad_term(term, "a kind (ClusterQueue) or a fact (PatchIntended)");
  tests_.emplace_back([text, value, contains, wanted,
                       of_kind = field == "kind"](const Event& event) {
    if (contains) {
      const bool in_fact = of_kind && fact_name(event.fact).find(value) != std::string_view::npos;
      return (in_fact || text(event).find(value) != std::string::npos) == wanted;
    }
    return (of_kind ? is_of_kind(event, value) : text(event) == value) == wanted;
  });
  return {};
}

Result<void> EventFilter::add_place(const EventLog& log, std::string_view field,
                                    std::string_view op, const std::string& value) {
  if (op == "~" || op == "!~")
    return bad_term(std::string(field).append(op) + value,
                    "= != < <= > or >= behind " + std::string(field));
  const auto position = parse_position(log, "--where " + std::string(field),
                                       field == "time" ? with_day(log, value) : value);
  if (!position) return position.error();
  if (std::holds_alternative<Seq>(*position) != (field == "seq"))
    return bad_term(value, field == "seq" ? "a seq" : "a time");
  const auto first = first_event(log, *position);
  if (!first) return first.error();
  auto last = last_event(log, *position);
  // Every event that is kept is later.
  if (!last && last.error().code == ErrorCode::gone) last = Seq{};
  if (!last) return last.error();
  if (op == "!=") {
    tests_.emplace_back([from = *first, to = *last](const Event& event) {
      return event.seq < from || event.seq > to;
    });
    return {};
  }
  if (op == ">" || op == ">=" || op == "=")
    from_ = std::max(from_, op == ">" ? next(*last) : *first);
  if (op == "<" || op == "<=" || op == "=") to_ = std::min(to_, op == "<" ? before(*first) : *last);
  return {};
}

}  // namespace fairlead
