// Where other threads leave what the hub's thread takes: watch facts, answers, signals.
//
// Facts are bounded: who brings more waits, so a full inbox slows the streams down instead of
// filling memory. One API server has at most a quarter of the places, and facts are taken from the
// servers in turn, so a member that sends without end waits while the facts of the others are at
// most one step of the hub away. The facts of one server keep their order. Answers need no bound of
// their own: each belongs to a write under way, and those are bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
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

  /// Leaves a fact; waits while the inbox is full, or while a quarter of its places hold facts of
  /// the same source. After close() facts are dropped.
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
  /// Takes what is there, at most `facts_max` facts, of each source an equal share; waits until
  /// there is something, at most `wait`.
  Content take(Duration wait, std::size_t facts_max);
  /// Nobody takes facts any more: nobody waits in push().
  void close();

  std::size_t depth() const;
  std::size_t facts_max() const { return facts_max_; }

 private:
  bool has_something() const;
  bool has_place(const SourceName& source) const;
  void take_in_turn(std::vector<WatchFact>& out, std::size_t facts_max);

  const std::size_t facts_max_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable filled_, emptied_;
  std::map<SourceName, std::deque<WatchFact>> facts_;  // no queue is empty
  std::size_t waiting_ = 0;                            // facts in all queues
  SourceName served_;                                  // the last that facts were taken from
  std::vector<WriteAnswer> answers_;
  bool configuration_ = false;
  int stops_ = 0, stops_told_ = 0;
  bool closed_ = false;
};

}  // namespace fairlead
