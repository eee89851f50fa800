#include "engine/devices/cel/functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engine/devices/cel/characters.h"
#include "engine/devices/cel/equality.h"
#include "engine/devices/cel/patterns.h"
#include "engine/devices/cel/version.h"

namespace fairlead::cel {
namespace {

struct Signature {
  std::string_view name;
  CallForm form;
  std::size_t least, most;  ///< arguments, with the receiver
  Function function;
};
constexpr std::array kSignatures{
    Signature{"size", CallForm::global, 1, 1, Function::size},
    Signature{"size", CallForm::method, 1, 1, Function::size},
    Signature{"int", CallForm::global, 1, 1, Function::to_int},
    Signature{"string", CallForm::global, 1, 1, Function::to_string},
    Signature{"quantity", CallForm::global, 1, 1, Function::quantity},
    Signature{"isQuantity", CallForm::global, 1, 1, Function::is_quantity},
    Signature{"semver", CallForm::global, 1, 2, Function::semver},
    Signature{"isSemver", CallForm::global, 1, 2, Function::is_semver},
    Signature{"startsWith", CallForm::method, 2, 2, Function::starts_with},
    Signature{"endsWith", CallForm::method, 2, 2, Function::ends_with},
    Signature{"contains", CallForm::method, 2, 2, Function::contains},
    Signature{"matches", CallForm::method, 2, 2, Function::matches},
    Signature{"lowerAscii", CallForm::method, 1, 1, Function::lower_ascii},
    Signature{"upperAscii", CallForm::method, 1, 1, Function::upper_ascii},
    Signature{"substring", CallForm::method, 2, 3, Function::substring},
    Signature{"compareTo", CallForm::method, 2, 2, Function::compare_to},
    Signature{"isGreaterThan", CallForm::method, 2, 2, Function::is_greater_than},
    Signature{"isLessThan", CallForm::method, 2, 2, Function::is_less_than},
    Signature{"asInteger", CallForm::method, 1, 1, Function::as_integer},
    Signature{"isInteger", CallForm::method, 1, 1, Function::is_integer},
};

Value refused(Function function) { return fault(Fault::no_such_operation, text_of(function)); }

bool is_text(const Value& value) { return value.kind == Kind::text; }

/// Copies a text into the evaluation's memory. The caller pays for the work.
std::string_view keep(std::string_view text, Evaluation& evaluation) {
  if (text.empty()) return {};
  char* const kept = static_cast<char*>(evaluation.memory.allocate(text.size(), 1));
  std::memcpy(kept, text.data(), text.size());
  return {kept, text.size()};
}

Value size_of(const Value& value, Evaluation& evaluation) {
  switch (value.kind) {
    case Kind::text:
      evaluation.pay_for(value.text.size());
      return integer(count_characters(value.text));
    case Kind::list: return integer(static_cast<std::int64_t>(value.number));
    case Kind::attributes:
    case Kind::capacities:
    case Kind::attribute_domain:
    case Kind::capacity_domain:
      evaluation.steps_left -= static_cast<std::int64_t>(evaluation.device.facts.attributes.size() +
                                                         evaluation.device.facts.capacity.size());
      return integer(count_keys(evaluation.device, value));
    case Kind::fault:
    case Kind::boolean:
    case Kind::integer:
    case Kind::quantity:
    case Kind::version:
    case Kind::device: break;
  }
  return refused(Function::size);
}

Value to_int(const Value& value, Evaluation& evaluation) {
  if (value.kind == Kind::integer) return value;
  if (!is_text(value)) return refused(Function::to_int);
  evaluation.pay_for(value.text.size());
  return parse_integer(value.text);
}

Value to_string(const Value& value, Evaluation& evaluation) {
  if (is_text(value)) return value;
  if (value.kind == Kind::boolean) return named(Kind::text, is_true(value) ? "true" : "false");
  if (value.kind != Kind::integer) return refused(Function::to_string);
  const std::string digits = std::to_string(static_cast<std::int64_t>(value.number));
  return named(Kind::text, keep(digits, evaluation));
}

Value to_quantity(Function function, const Value& value, Evaluation& evaluation) {
  if (!is_text(value)) return refused(function);
  // Binary suffixes are multiplied out digit by digit, up to six times.
  evaluation.pay_for(value.text.size() * 16);
  return parse_quantity(value.text);
}

/// `semver(text)`, or `semver(text, normalize)`.
Value to_version(Function function, std::span<const Value> arguments, Evaluation& evaluation) {
  const Value& value = arguments[0];
  const bool flagged = arguments.size() > 1;
  if (!is_text(value) || (flagged && arguments[1].kind != Kind::boolean)) return refused(function);
  evaluation.pay_for(value.text.size() * 4);
  if (!flagged || is_false(arguments[1])) return parse_version(value.text);
  const auto normalized = normalized_version(value.text);
  return normalized ? named(Kind::version, keep(*normalized, evaluation))
                    : fault(Fault::malformed, "version");
}

Value is_readable(const Value& read, Function function) {
  if (read.kind == Kind::fault && read.fault != Fault::malformed) return refused(function);
  return boolean(read.kind != Kind::fault);
}

/// Changes the letters from `first` to `last`. A text without them is returned as it is.
Value change_case(Function function, const Value& value, char first, char last,
                  Evaluation& evaluation) {
  constexpr char kCaseBit = 'a' ^ 'A';
  if (!is_text(value)) return refused(function);
  evaluation.pay_for(value.text.size());
  const auto changes = [first, last](char c) { return c >= first && c <= last; };
  if (std::none_of(value.text.begin(), value.text.end(), changes)) return value;
  std::string changed(value.text);
  for (char& c : changed)
    if (changes(c)) c = static_cast<char>(c ^ kCaseBit);
  return named(Kind::text, keep(changed, evaluation));
}

/// `substring(start)`, or `substring(start, end)`, in characters.
Value substring(std::span<const Value> arguments, Evaluation& evaluation) {
  const Value &value = arguments[0], &start = arguments[1], &end = arguments.back();
  if (!is_text(value) || start.kind != Kind::integer || end.kind != Kind::integer)
    return refused(Function::substring);
  evaluation.pay_for(value.text.size());
  const Value outside = fault(Fault::out_of_range, "substring");
  if (start.number < 0 || start.number > end.number) return outside;
  const std::size_t from = offset_of(value.text, static_cast<std::int64_t>(start.number));
  if (from == std::string_view::npos) return outside;
  if (arguments.size() == 2) return named(Kind::text, value.text.substr(from));
  const std::size_t to = offset_of(value.text, static_cast<std::int64_t>(end.number));
  if (to == std::string_view::npos) return outside;
  return named(Kind::text, value.text.substr(from, to - from));
}

Value matches(const Value& subject, const Pattern& pattern, Evaluation& evaluation) {
  evaluation.steps_left -= pattern.match_steps(subject.text);
  if (evaluation.steps_left < 0) return fault(Fault::too_many_steps, "");
  return boolean(pattern.matches(subject.text));
}

/// A literal pattern was compiled with the expression; one that the device publishes is compiled
/// now.
Value matches(const Value& subject, std::string_view text, Evaluation& evaluation) {
  const Value invalid = fault(Fault::invalid_pattern, text);
  if (const auto known = evaluation.patterns.find(text); known != evaluation.patterns.end())
    return known->second->valid() ? matches(subject, *known->second, evaluation) : invalid;
  const Pattern pattern(text);
  // Paid afterwards, when it is known how large the pattern is; that is bounded in any case.
  evaluation.steps_left -= pattern.compile_steps();
  return pattern.valid() ? matches(subject, pattern, evaluation) : invalid;
}

/// The functions of two strings.
Value compare_texts(Function function, const Value& value, const Value& other,
                    Evaluation& evaluation) {
  if (!is_text(value) || !is_text(other)) return refused(function);
  const std::string_view text = value.text, part = other.text;
  evaluation.pay_for(text.size());
  if (function == Function::starts_with) return boolean(text.starts_with(part));
  if (function == Function::ends_with) return boolean(text.ends_with(part));
  if (function == Function::matches) return matches(value, part, evaluation);
  evaluation.pay_for(text.size() * part.size() / 16);
  return boolean(text.find(part) != std::string_view::npos);
}

/// The functions of two quantities or two versions.
Value compare_amounts(Function function, const Value& value, const Value& other,
                      Evaluation& evaluation) {
  const auto order = order_of_amounts(value, other);
  if (!order) return refused(function);
  evaluation.pay_for(value.text.size() + other.text.size());
  if (function == Function::is_greater_than) return boolean(*order > 0);
  if (function == Function::is_less_than) return boolean(*order < 0);
  return integer(*order > 0 ? 1 : *order < 0 ? -1 : 0);
}

Value as_integer(const Value& value) {
  constexpr std::int64_t kNanoPerUnit = 1'000'000'000;
  if (value.kind != Kind::quantity) return refused(Function::as_integer);
  if (!reads_as_integer(value)) return fault(Fault::malformed, "integer");
  return integer(static_cast<std::int64_t>(value.number / kNanoPerUnit));
}

Value is_integer(const Value& value) {
  if (value.kind != Kind::quantity) return refused(Function::is_integer);
  return boolean(reads_as_integer(value));
}

}  // namespace

bool knows_function(std::string_view name, CallForm form) {
  return std::any_of(kSignatures.begin(), kSignatures.end(),
                     [&](const Signature& one) { return one.name == name && one.form == form; });
}

std::optional<Function> find_function(std::string_view name, CallForm form, std::size_t arguments) {
  for (const Signature& one : kSignatures)
    if (one.name == name && one.form == form && arguments >= one.least && arguments <= one.most)
      return one.function;
  return std::nullopt;
}

std::string_view text_of(Function function) {
  const auto* const found =
      std::find_if(kSignatures.begin(), kSignatures.end(),
                   [&](const Signature& one) { return one.function == function; });
  return found->name;
}

Value call(Function function, std::span<const Value> arguments, Evaluation& evaluation) {
  for (const Value& argument : arguments)
    if (argument.kind == Kind::fault) return argument;
  const Value& first = arguments[0];
  switch (function) {
    case Function::size: return size_of(first, evaluation);
    case Function::to_int: return to_int(first, evaluation);
    case Function::to_string: return to_string(first, evaluation);
    case Function::quantity: return to_quantity(function, first, evaluation);
    case Function::is_quantity:
      return is_readable(to_quantity(function, first, evaluation), function);
    case Function::semver: return to_version(function, arguments, evaluation);
    case Function::is_semver:
      return is_readable(to_version(function, arguments, evaluation), function);
    case Function::starts_with:
    case Function::ends_with:
    case Function::contains:
    case Function::matches: return compare_texts(function, first, arguments[1], evaluation);
    case Function::lower_ascii: return change_case(function, first, 'A', 'Z', evaluation);
    case Function::upper_ascii: return change_case(function, first, 'a', 'z', evaluation);
    case Function::substring: return substring(arguments, evaluation);
    case Function::compare_to:
    case Function::is_greater_than:
    case Function::is_less_than: return compare_amounts(function, first, arguments[1], evaluation);
    case Function::as_integer: return as_integer(first);
    case Function::is_integer: return is_integer(first);
  }
  return refused(function);
}

}  // namespace fairlead::cel
