#include "engine/main/client/event_filter.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "engine/devices/cel/patterns.h"
#include "engine/main/client/position.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// The longer ones first: `<=` begins with `<`.
constexpr std::array<std::string_view, 8> kOperators{"!=", "!~", "<=", ">=", "=", "~", "<", ">"};

Error bad_term(std::string_view term, const std::string& expected) {
  return {ErrorCode::bad_input,
          "--where: expected " + expected + ", got \"" + std::string(term) + "\""};
}

bool ends_term(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == ')';
}

// Returns the place behind the slash that ends the pattern at `begin`; npos: it is not a pattern,
// but a text with a slash.
std::size_t behind_pattern(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '/' && ends_term(text, i + 1))
      return i + 1;
  }
  return std::string_view::npos;
}

// Behind the term at `begin`: at a space or a parenthesis outside of quotes and patterns. npos: a
// quote is not closed.
std::size_t behind_term(std::string_view text, std::size_t begin) {
  std::size_t i = begin;
  while (!ends_term(text, i)) {
    const bool begins_value = i == begin || text[i - 1] == '~';
    if (text[i] == '"') {
      i = text.find('"', i + 1);
      if (i == std::string_view::npos) return i;
    } else if (text[i] == '/' && begins_value) {
      if (const auto end = behind_pattern(text, i); end != std::string_view::npos) return end;
    }
    ++i;
  }
  return i;
}

// Parentheses and terms, in order. Fails if a quote is not closed.
Result<std::vector<std::string>> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const bool is_parenthesis = text[i] == '(' || text[i] == ')';
    const std::size_t end = is_parenthesis ? i + 1 : behind_term(text, i);
    if (end == std::string_view::npos) return bad_term(text, "a closing quote");
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

bool is_or(std::string_view token) { return token == "or" || token == "OR"; }

std::string without_quotes(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return std::string(value);
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

namespace {

// A term; `op` is empty of a text or pattern alone.
struct TermParts {
  std::string_view field, op, value;
};

TermParts parts_of(std::string_view term) {
  const bool is_text = term.starts_with('"') || term.starts_with('/');
  const std::size_t end = is_text ? std::string_view::npos : term.find_first_of("=!~<>");
  if (end == std::string_view::npos) return {{}, {}, term};
  const std::string_view rest = term.substr(end);
  for (const std::string_view known : kOperators)
    if (rest.starts_with(known)) return {term.substr(0, end), known, rest.substr(known.size())};
  return {{}, {}, term};
}

bool is_pattern(std::string_view value) {
  return value.size() > 2 && value.front() == '/' && behind_pattern(value, 0) == value.size();
}

using TextTest = std::function<bool(std::string_view)>;

// Compiled once for all events.
Result<TextTest> matches_pattern(std::string_view value, std::string_view term) {
  const auto pattern = std::make_shared<const cel::Pattern>(value.substr(1, value.size() - 2));
  if (!pattern->valid() || pattern->instructions() > cel::kPatternInstructionsMax)
    return bad_term(term, "a regular expression of RE2 between slashes");
  return TextTest([pattern](std::string_view text) { return pattern->matches(text); });
}

// Behind ~ and alone: a pattern, or a text that is contained.
Result<TextTest> found_in(std::string_view value, std::string_view term) {
  if (is_pattern(value)) return matches_pattern(value, term);
  return TextTest([text = without_quotes(value)](std::string_view in) {
    return in.find(text) != std::string_view::npos;
  });
}

// A person writes a few; more would hold up the hub that answers.
constexpr std::size_t kWhereTokensMax = 100;

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// What people call the state of a node, which the record has as flags.
std::string state_words(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* node = seen ? std::get_if<NodeFacts>(&seen->facts) : nullptr;
  if (node == nullptr) return "";
  return std::string(node->ready ? " Ready" : " NotReady") +
         (node->unschedulable ? " cordoned" : "");
}

// An event as text, made once for all the terms that search it. Of one thread.
class EventAsText {
 public:
  const std::string& of(const Event& event) {
    if (!text_ || seq_ != event.seq) {
      text_ = to_text(to_json(event)) + state_words(event);
      lower_ = in_lower_case(*text_);
      seq_ = event.seq;
    }
    return *text_;
  }
  const std::string& in_lower_case_of(const Event& event) {
    of(event);
    return lower_;
  }

 private:
  Seq seq_;
  std::optional<std::string> text_;
  std::string lower_;
};

}  // namespace

bool EventFilter::Terms::hold(const Event& event) const {
  return event.seq >= from && event.seq <= to &&
         std::all_of(tests.begin(), tests.end(),
                     [&event](const Test& test) { return test(event); });
}

void EventFilter::Terms::add(Terms more) {
  from = std::max(from, more.from);
  to = std::min(to, more.to);
  std::move(more.tests.begin(), more.tests.end(), std::back_inserter(tests));
}

/// Reads tokens from the left, which recurses at parentheses: kWhereTokensMax bounds it. Each
/// function leaves `next_` behind what it read.
class EventFilter::Parser {
 public:
  Parser(const ReadableLog& log, const TimeFrame& frame, std::vector<std::string> tokens)
      : log_(log), frame_(frame), tokens_(std::move(tokens)) {}

  Result<Terms> read() {
    if (tokens_.empty()) return Terms{};
    auto terms = read_any();
    if (terms && next_ < tokens_.size()) return bad_term(tokens_[next_], "an opening parenthesis");
    return terms;
  }
  const std::string& note() const { return note_; }

 private:
  bool at(std::string_view token) const {
    return next_ < tokens_.size() && tokens_[next_] == token;
  }
  bool at_or() const { return next_ < tokens_.size() && is_or(tokens_[next_]); }

  Result<Terms> read_any() {
    std::vector<Terms> one_of;
    for (;; ++next_) {
      auto all = read_all();
      if (!all) return all.error();
      one_of.push_back(*std::move(all));
      if (!at_or()) break;
    }
    if (one_of.size() == 1) return std::move(one_of.front());
    Terms terms{one_of.front().from, one_of.front().to};
    for (const Terms& one : one_of) {
      terms.from = std::min(terms.from, one.from);
      terms.to = std::max(terms.to, one.to);
    }
    terms.tests.emplace_back([one_of = std::move(one_of)](const Event& event) {
      return std::any_of(one_of.begin(), one_of.end(),
                         [&event](const Terms& one) { return one.hold(event); });
    });
    return terms;
  }

  Result<Terms> read_all() {
    Terms terms;
    if (next_ == tokens_.size() || at(")") || at_or())
      return bad_term(next_ == tokens_.size() ? tokens_.back() : tokens_[next_],
                      "a term on each side of \"or\" and within parentheses");
    while (next_ < tokens_.size() && !at(")") && !at_or()) {
      auto one = read_one();
      if (!one) return one.error();
      terms.add(*std::move(one));
    }
    return terms;
  }

  Result<Terms> read_one() {
    if (!at("(")) return read_term(tokens_[next_++]);
    ++next_;
    auto inside = read_any();
    if (inside && !at(")")) return bad_term(tokens_.back(), "a closing parenthesis");
    ++next_;
    return inside;
  }

  Result<Terms> read_term(std::string_view term) {
    const auto [field, op, value] = parts_of(term);
    if (op.empty()) return read_text(term);
    if (without_quotes(value).empty())
      return bad_term(term, "FIELD OPERATOR VALUE, as in kind=Node or name~gpu");
    if (field == "seq" || field == "time") return read_place(term);
    return read_field(term);
  }

  // A text or pattern alone.
  Result<Terms> read_text(std::string_view term) {
    Terms terms;
    if (!is_pattern(term)) {
      terms.tests.emplace_back(
          [all = as_text_, text = in_lower_case(without_quotes(term))](const Event& event) {
            return all->in_lower_case_of(event).find(text) != std::string::npos;
          });
      return terms;
    }
    auto found = matches_pattern(term, term);
    if (!found) return found.error();
    terms.tests.emplace_back([all = as_text_, found = *std::move(found)](const Event& event) {
      return found(all->of(event));
    });
    return terms;
  }

  Result<Terms> read_field(std::string_view term) {
    const auto [field, op, written] = parts_of(term);
    const TextOf text = field == "kind" ? kind_of : text_field(field);
    if (text == nullptr)
      return bad_term(term, "one of kind, cluster, namespace, name, seq and time");
    const bool of_kind = field == "kind";
    const std::string value = without_quotes(written);
    Terms terms;
    if (op == "=" || op == "!=") {
      if (of_kind && !is_known_kind(value))
        return bad_term(term, "a kind (ClusterQueue) or a fact (PatchIntended)");
      terms.tests.emplace_back([text, value, of_kind, wanted = op == "="](const Event& event) {
        return (of_kind ? is_of_kind(event, value) : text(event) == value) == wanted;
      });
      return terms;
    }
    if (op != "~" && op != "!~") return bad_term(term, "= != ~ or !~ behind " + std::string(field));
    auto found = found_in(written, term);
    if (!found) return found.error();
    terms.tests.emplace_back(
        [text, found = *std::move(found), of_kind, wanted = op == "~"](const Event& event) {
          return ((of_kind && found(fact_name(event.fact))) || found(text(event))) == wanted;
        });
    return terms;
  }

  Result<Terms> read_place(std::string_view term) {
    const auto [field, op, written] = parts_of(term);
    if (op == "~" || op == "!~")
      return bad_term(term, "= != < <= > or >= behind " + std::string(field));
    const std::string value = without_quotes(written);
    const auto position = parse_position(frame_, "--where " + std::string(field), value);
    if (!position) return position.error();
    if (std::holds_alternative<Seq>(*position) != (field == "seq"))
      return bad_term(value, field == "seq" ? "a seq" : "a time");
    if (const std::string note = note_of({{"time", value}}, frame_); !note.empty())
      note_ += (note_.empty() ? "" : ", ") + note;
    return span_of(*position, op);
  }

  Result<Terms> span_of(const Position& position, std::string_view op) {
    const auto first = first_event(log_, position);
    if (!first) return first.error();
    auto last = last_event(log_, position);
    // Every event that is kept is later.
    if (!last && last.error().code == ErrorCode::gone) last = Seq{};
    if (!last) return last.error();
    Terms terms;
    if (op == "!=") {
      terms.tests.emplace_back([from = *first, to = *last](const Event& event) {
        return event.seq < from || event.seq > to;
      });
      return terms;
    }
    if (op == ">" || op == ">=" || op == "=") terms.from = op == ">" ? next(*last) : *first;
    if (op == "<" || op == "<=" || op == "=") terms.to = op == "<" ? before(*first) : *last;
    return terms;
  }

  const ReadableLog& log_;
  const TimeFrame& frame_;
  const std::vector<std::string> tokens_;
  const std::shared_ptr<EventAsText> as_text_ = std::make_shared<EventAsText>();
  std::size_t next_ = 0;
  std::string note_;
};

Result<EventFilter> EventFilter::parse(const ReadableLog& log, std::string_view text) {
  return parse(log, text, frame_of(log));
}

Result<EventFilter> EventFilter::parse(const ReadableLog& log, std::string_view text,
                                       const TimeFrame& frame) {
  auto tokens = tokens_of(text);
  if (!tokens) return tokens.error();
  if (tokens->size() > kWhereTokensMax)
    return bad_term((*tokens)[kWhereTokensMax],
                    "at most " + std::to_string(kWhereTokensMax) + " terms and parentheses");
  Parser parser(log, frame, *std::move(tokens));
  auto terms = parser.read();
  if (!terms) return terms.error();
  EventFilter filter;
  filter.terms_ = *std::move(terms);
  filter.note_ = parser.note();
  return filter;
}

bool EventFilter::accepts(const Event& event) const { return terms_.hold(event); }

std::string EventFilter::with_offsets(const std::string& text, const TimeFrame& frame) {
  const auto tokens = tokens_of(text);
  if (!tokens || frame.zone.is_utc()) return text;  // the hub says what is wrong
  std::string sent;
  for (const std::string& token : *tokens) {
    const auto [field, op, value] = parts_of(token);
    const bool is_time = field == "time" && !op.empty();
    sent +=
        (sent.empty() ? "" : " ") +
        (is_time ? "time" + std::string(op) + '"' + with_offset(without_quotes(value), frame) + '"'
                 : token);
  }
  return sent;
}

}  // namespace fairlead
