#include "engine/main/service/what_if_runs.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

AuditSource source_of(const ServedLog& served) { return {*served.log, served.snapshots.get()}; }

}  // namespace

WhatIfRuns::Span WhatIfRuns::span_of(const ReadableLog& log, const WhatIfOptions& options) {
  return {options.from, options.from_time, options.to.value_or(log.last_seq()), options.to_time};
}

// A data directory may have been replaced by another one.
void WhatIfRuns::forget_another_log(const ReadableLog& log) {
  const auto chain = log.chain_at(std::min(chain_seq_, log.last_seq()));
  if (log.last_seq() < chain_seq_ || !chain || *chain != chain_) {
    known_.clear();
    running_.reset();
  }
  chain_ = log.chain();
  chain_seq_ = log.last_seq();
}

Result<WhatIfProgress> WhatIfRuns::ask(const ServedLog& served, const WhatIfQuestion& question) {
  if (auto right = check_what_if(question); !right) return right.error();
  auto options = what_if_options(*served.log, question);
  if (!options) return options.error();
  forget_another_log(*served.log);
  const Span span = span_of(*served.log, *options);
  for (const Known& known : known_)
    if (known.question == question && known.span == span)
      return WhatIfProgress{known.finished, known.finished->result.to, known.finished->result.to};
  // One that has begun goes on to the end that the log had then.
  if (!running_ || running_->question != question) {
    const auto now = std::chrono::steady_clock::now();
    if (running_ && now - running_->asked_at < kWhatIfPatience)
      return WhatIfProgress{nullptr, Seq{}, span.to};
    if (auto begun = begin(served, question, *std::move(options)); !begun) return begun.error();
  }
  auto progress = advance(served);
  if (!progress) running_.reset();
  if (running_) running_->asked_at = std::chrono::steady_clock::now();
  return progress;
}

Result<void> WhatIfRuns::begin(const ServedLog& served, const WhatIfQuestion& question,
                               WhatIfOptions options) {
  running_.reset();  // its memory is needed
  const Span span = span_of(*served.log, options);
  const auto values = std::make_shared<ValueSeries>(StepSeqs::none);
  options.values = values;
  auto run = WhatIfRun::begin(source_of(served), std::move(options));
  if (!run) return run.error();
  running_.emplace(question, span, values, *std::move(run),
                   std::chrono::steady_clock::time_point());
  return {};
}

Result<WhatIfProgress> WhatIfRuns::advance(const ServedLog& served) {
  auto result = running_->run.advance(source_of(served), events_of_question_);
  if (!result) return result.error();
  if (!*result) return WhatIfProgress{nullptr, running_->run.seq(), running_->run.last()};
  const auto finished =
      std::make_shared<const FinishedWhatIf>(**std::move(result), running_->values);
  known_.push_back({running_->question, running_->span, finished});
  if (known_.size() > kWhatIfsKept) known_.pop_front();
  running_.reset();
  return WhatIfProgress{finished, finished->result.to, finished->result.to};
}

}  // namespace fairlead
