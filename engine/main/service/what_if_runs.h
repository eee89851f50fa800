// What-ifs over HTTP, folded in parts so that other questions are answered in between.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "engine/main/client/what_if_question.h"
#include "engine/main/service/served_log.h"

namespace fairlead {

/// A question folds at most this many events. Each is folded in three worlds, so that is
/// about half a second of work.
inline constexpr std::uint64_t kWhatIfEventsOfQuestion = 50'000;
/// So many answers are kept for the next time that they are asked for.
inline constexpr std::size_t kWhatIfsKept = 4;
/// An unfinished what-if is cancelled for another one once it has not been asked for during this
/// time.
inline constexpr std::chrono::seconds kWhatIfPatience{3};

/// An answer, and the values of the world under the other configuration.
struct FinishedWhatIf {
  WhatIf result;
  std::shared_ptr<const ValueSeries> values;
};

/// How far a what-if is.
struct WhatIfProgress {
  std::shared_ptr<const FinishedWhatIf> finished;  ///< null: the same question brings it further
  Seq seq;                                         ///< the last event that is folded; 0: it waits
  Seq last;                                        ///< the last event that it folds
};

/// Owned by the caller's lock. One what-if is folded at a time, because each needs the memory of
/// three States; a question about another one waits until that is done or given up.
class WhatIfRuns {
 public:
  explicit WhatIfRuns(std::uint64_t events_of_question = kWhatIfEventsOfQuestion)
      : events_of_question_(events_of_question) {}
  /// Folds on, as far as one question does. Fails as check_what_if(), what_if_options() and
  /// what_if() do.
  Result<WhatIfProgress> ask(const ServedLog& served, const WhatIfQuestion& question);

 private:
  // The span that a question means while the log is as it is now.
  struct Span {
    std::optional<Seq> from;
    std::optional<LogTime> from_time;
    Seq to;
    std::optional<LogTime> to_time;

    friend bool operator==(const Span&, const Span&) = default;
  };
  struct Known {
    WhatIfQuestion question;
    Span span;
    std::shared_ptr<const FinishedWhatIf> finished;
  };
  struct Running {
    WhatIfQuestion question;
    Span span;
    std::shared_ptr<ValueSeries> values;
    WhatIfRun run;
    std::chrono::steady_clock::time_point asked_at;
  };

  static Span span_of(const ReadableLog& log, const WhatIfOptions& options);
  void forget_another_log(const ReadableLog& log);
  Result<void> begin(const ServedLog& served, const WhatIfQuestion& question,
                     WhatIfOptions options);
  Result<WhatIfProgress> advance(const ServedLog& served);

  const std::uint64_t events_of_question_;
  std::deque<Known> known_;  // the newest last
  std::optional<Running> running_;
  Digest chain_;  // of the log, after `chain_seq_`, to know it again
  Seq chain_seq_;
};

}  // namespace fairlead
