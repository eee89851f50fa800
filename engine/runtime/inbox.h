// The queue from other threads to the hub's thread: watch facts, answers, signals.
//
// Facts are bounded: a producer waits for a place, so a full inbox slows the streams down instead
// of filling memory. One API server has at most a quarter of the places, and the servers' facts are
// dequeued in turn, so a member that sends without end waits while the facts of the others are at
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

/// Facts in the inbox of a hub, at most; push() waits for a place.
inline constexpr std::size_t kInboxFactsMax = 16'384;

/// Notes of the webhook that are queued, at most; more are lost.
inline constexpr std::size_t kInboxNotesMax = 1024;

/// Any thread may enqueue; one thread dequeues.
class Inbox {
 public:
  explicit Inbox(std::size_t facts_max);

  /// Enqueues a fact; waits while the inbox is full, or while a quarter of its places hold facts of
  /// the same source. After close() facts are dropped.
  void push(WatchFact fact);
  /// Enqueues an answer; never waits.
  void push(WriteAnswer answer);
  /// Enqueues what the webhook decided; never waits. False if there is no place, or after close():
  /// the note is lost, because an answer of the webhook waits for no log.
  [[nodiscard]] bool offer(AdmissionDecided note);
  /// Asks the hub to read its configuration again.
  void ask_for_configuration();
  /// Asks the hub to end cleanly; the second time, to end at once.
  void ask_to_stop();
  /// Ends the present or the next wait of dequeue().
  void wake();
  /// Returns how often a stop was asked for, ever. From any thread; for work that looks whether it
  /// should be given up.
  int stops() const;

  struct Content {
    std::vector<WatchFact> facts;
    std::vector<WriteAnswer> answers;
    std::vector<AdmissionDecided> notes;
    bool more_facts = false;     ///< some are still queued
    bool configuration = false;  ///< reading it again was asked for
    int stops = 0;               ///< how often a stop was asked for, ever
  };
  /// Dequeues all answers, notes and signals and at most `facts_max` facts, an equal share of each
  /// source. Waits for the first of them, at most `wait`.
  Content dequeue(Duration wait, std::size_t facts_max);
  /// Drops the queued facts and those that still come, and ends every wait in push().
  void close();

  /// Facts and answers that are queued.
  std::size_t depth() const;
  std::size_t facts_max() const { return facts_max_; }

 private:
  bool has_something() const;
  bool has_place(const SourceName& source) const;
  void dequeue_in_turn(std::vector<WatchFact>& out, std::size_t facts_max);

  const std::size_t facts_max_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable filled_, emptied_;
  std::map<SourceName, std::deque<WatchFact>> facts_;  // no queue is empty
  std::size_t waiting_ = 0;                            // facts in all queues
  SourceName served_;                                  // the source dequeued from last
  std::vector<WriteAnswer> answers_;
  std::vector<AdmissionDecided> notes_;
  bool configuration_ = false;
  bool woken_ = false;
  int stops_ = 0, stops_dequeued_ = 0;
  bool closed_ = false;
};

}  // namespace fairlead
