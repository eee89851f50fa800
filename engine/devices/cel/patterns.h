// Regular expressions of matches().
//
// CEL's language is RE2's. Kubernetes runs Go's implementation of it, which differs in details: Go
// knows names of Unicode categories that RE2 does not, and RE2 knows `\C`, which Go refuses. Both
// match in time linear in the text.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace fairlead::cel {

/// One compiled pattern; may be used from any thread.
class Pattern {
 public:
  /// Compiles `text`. A pattern that is malformed, or that would take more than a fixed amount of
  /// memory, is invalid: no machine gives it another answer than another one.
  explicit Pattern(std::string_view text);

  bool valid() const { return expression_ != nullptr; }
  std::string_view text() const { return text_; }
  /// Whether it matches somewhere in `subject`; it must be valid.
  bool matches(std::string_view subject) const;

  /// Returns the evaluation steps of a match. An automaton has as many states as the pattern has
  /// characters, with each `{n}` written out, and may visit all of them for each byte.
  std::int64_t match_steps(std::string_view subject) const;
  /// Returns the evaluation steps of compiling `text`.
  static std::int64_t compile_steps(std::string_view text);

 private:
  std::string text_;
  std::int64_t states_;
  std::unique_ptr<RE2> expression_;
};

}  // namespace fairlead::cel
