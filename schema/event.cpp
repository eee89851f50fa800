#include "schema/event.h"

#include <array>

namespace fairlead {
namespace {

struct VerbWord {
  Verb verb;
  std::string_view word;
};
constexpr std::array<VerbWord, 5> kVerbWords{{{Verb::apply, "apply"},
                                              {Verb::apply_status, "apply-status"},
                                              {Verb::create, "create"},
                                              {Verb::patch, "patch"},
                                              {Verb::remove, "delete"}}};

}  // namespace

std::string_view text_of(Verb verb) {
  for (const VerbWord& row : kVerbWords)
    if (row.verb == verb) return row.word;
  return "unknown";
}

std::optional<Verb> parse_verb(std::string_view word) {
  for (const VerbWord& row : kVerbWords)
    if (row.word == word) return row.verb;
  return std::nullopt;
}

Fact::Fact() = default;
Fact::Fact(const Fact& other) = default;
Fact::Fact(Fact&& other) noexcept = default;
Fact& Fact::operator=(const Fact& other) = default;
Fact& Fact::operator=(Fact&& other) noexcept = default;
Fact::~Fact() = default;
bool operator==(const Fact& a, const Fact& b) {
  return static_cast<const AnyFact&>(a) == static_cast<const AnyFact&>(b);
}

}  // namespace fairlead
