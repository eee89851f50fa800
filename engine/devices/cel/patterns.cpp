#include "engine/devices/cel/patterns.h"

namespace fairlead::cel {
namespace {

/// The memory of one pattern in bytes: its program, and cached states of an automaton, which make
/// matching faster and change no answer.
constexpr std::int64_t kPatternMemory = 256 << 10;
/// The instructions that a pattern which does not fit is counted as.
constexpr std::int64_t kTooManyInstructions = 16'000;
/// Instructions that one byte visits in the time of an evaluation step, at 5 ns each.
constexpr std::int64_t kVisitsPerStep = 64;

RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  return options;
}

}  // namespace

Pattern::Pattern(std::string_view text)
    : text_(text),
      expression_(
          std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), pattern_options())) {
  if (expression_->ok())
    instructions_ = expression_->ProgramSize();
  else if (expression_->error_code() == RE2::ErrorPatternTooLarge)
    instructions_ = kTooManyInstructions;
  if (!expression_->ok()) expression_.reset();
}

bool Pattern::matches(std::string_view subject) const {
  return RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), *expression_);
}

std::int64_t Pattern::match_steps(std::string_view subject) const {
  return static_cast<std::int64_t>(subject.size()) * instructions_ / kVisitsPerStep;
}

std::int64_t Pattern::compile_steps() const {
  constexpr std::int64_t kAtLeast = 50, kPerInstruction = 2;
  return kAtLeast + static_cast<std::int64_t>(text_.size()) + kPerInstruction * instructions_;
}

}  // namespace fairlead::cel
