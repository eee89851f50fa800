// Regular expressions of matches().
//
// CEL's language is RE2's. Kubernetes runs Go's implementation of it, which differs in details: Go
// knows names of Unicode categories and the spelling `(?<name>x)`, which RE2 does not, and refuses
// `\C` and a name that is given twice, which RE2 takes. Both match in time linear in the text.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::cel {

/// The most instructions of RE2 that the patterns of one expression may have together. Compiling so
/// many takes 12 ms: a microsecond for an instruction that matches a class of Unicode. On a text of
/// 64 bytes, the longest that an attribute may have, they take all of the evaluation steps.
inline constexpr std::int64_t kPatternInstructionsMax = 10'000;

/// One compiled pattern; may be used from any thread.
class Pattern {
 public:
  /// Compiles `text`. A pattern that is malformed, or that would have more than about 16,000
  /// instructions, is invalid.
  explicit Pattern(std::string_view text);

  bool valid() const { return expression_ != nullptr; }
  const std::string& text() const { return text_; }
  /// Whether it matches somewhere in `subject`; it must be valid.
  bool matches(std::string_view subject) const;

  /// Returns how many instructions it has; for a pattern with too many, how many were looked at.
  std::int64_t instructions() const { return instructions_; }
  /// Returns the evaluation steps of a match: each byte may visit each instruction.
  std::int64_t match_steps(std::string_view subject) const;
  /// Returns the evaluation steps of compiling it.
  std::int64_t compile_steps() const;

 private:
  std::string text_;
  std::int64_t instructions_ = 0;
  std::unique_ptr<RE2> expression_;
};

/// Patterns that were compiled with an expression, by their text.
using KnownPatterns = std::map<std::string_view, const Pattern*>;

}  // namespace fairlead::cel
