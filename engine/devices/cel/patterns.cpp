#include "engine/devices/cel/patterns.h"

#include <algorithm>

namespace fairlead::cel {
namespace {

/// Of one pattern, in bytes. A quarter is for the program, which has room for one repetition of a
/// thousand, RE2's own bound for repetitions; the rest is for states, without which a match is
/// slower and says the same.
constexpr std::int64_t kPatternMemory = 1 << 20;
/// States that one `{n}` is counted as: half of the largest n.
constexpr std::int64_t kRepetitionStates = 500;
/// States or bytes that pass in the time of one evaluation step.
constexpr std::int64_t kVisitsPerStep = 64;

std::int64_t states_of(std::string_view text) {
  constexpr std::int64_t kAtLeast = 16;
  return kAtLeast + static_cast<std::int64_t>(text.size()) +
         kRepetitionStates * std::count(text.begin(), text.end(), '{');
}

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  return options;
}

}  // namespace

Pattern::Pattern(std::string_view text)
    : text_(text),
      states_(states_of(text)),
      expression_(
          std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), pattern_options())) {
  if (!expression_->ok()) expression_.reset();
}

bool Pattern::matches(std::string_view subject) const {
  return RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), *expression_);
}

std::int64_t Pattern::match_steps(std::string_view subject) const {
  return static_cast<std::int64_t>(subject.size()) * states_ / kVisitsPerStep;
}

std::int64_t Pattern::compile_steps(std::string_view text) { return states_of(text) / 2; }

}  // namespace fairlead::cel
