// Where other threads leave what the hub's thread takes: watch facts, answers, signals.
//
// Facts are bounded: who brings more waits, so a full inbox slows the streams down instead of
// filling memory. Answers need no bound of their own: each belongs to a write under way, and those
// are bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "engine/apply/patch_sink.h"
#include "engine/base/time.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Facts that wait; then push() does.
inline constexpr std::size_t kInboxFactsMax = 16'384;

class Inbox {
 public:
  explicit Inbox(std::size_t facts_max);

  /// Leaves a fact; waits while the inbox is full. After close() facts are dropped.
  void push(WatchFact fact);
  void push(WriteAnswer answer);
  /// Read the configuration again.
  void ask_for_configuration();
  /// End cleanly; the second time: end now.
  void ask_to_stop();

  struct Content {
    std::vector<WatchFact> facts;
    std::vector<WriteAnswer> answers;
    bool more_facts = false;     ///< some were left behind
    bool configuration = false;  ///< was asked for
    int stops = 0;               ///< how often a stop was asked for, ever
  };
  /// Takes what is there, at most `facts_max` facts; waits until there is something, at most
  /// `wait`.
  Content take(Duration wait, std::size_t facts_max);
  /// Nobody takes facts any more: nobody waits in push().
  void close();

  std::size_t depth() const;
  std::size_t facts_max() const { return facts_max_; }

 private:
  bool has_something() const;

  const std::size_t facts_max_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable filled_, emptied_;
  std::vector<WatchFact> facts_;
  std::vector<WriteAnswer> answers_;
  bool configuration_ = false;
  int stops_ = 0, stops_told_ = 0;
  bool closed_ = false;
};

}  // namespace fairlead
