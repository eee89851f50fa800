// State for questions about now: from the hub's thread to the one that answers, so that a question
// neither folds the log nor holds a second State.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/base/result.h"
#include "engine/core/core.h"

namespace fairlead {

/// Objects in one copy, at most: copying as many holds the hub's thread up for some milliseconds.
inline constexpr std::size_t kPresentObjectsMax = 20'000;
/// How long a question waits for the hub's thread, which may be writing a snapshot.
inline constexpr Duration kPresentPatience = seconds(1);

/// Copies are made for at most a tenth of the hub's time.
class PresentState {
 public:
  /// Names the clusters of a State whose nodes are read; the copy has no others.
  using NodesRead = std::function<std::set<std::string>(const State&)>;

  /// `wake` ends a wait of the hub's thread.
  explicit PresentState(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Returns State after an event that is durable, with its moment closed; nullopt where the log
  /// has to be folded: nothing is planned yet, the copy would have more than kPresentObjectsMax
  /// objects, or the hub's thread does not come to it. From any thread but the hub's.
  std::optional<State> ask(const NodesRead& nodes);

  /// For the hub's thread: whether a question waits.
  bool asked() const { return asked_; }
  /// Answers it, if there is one. While a moment is open it waits: until that closes, and none
  /// closes while `planning` is off. Calls `flush` first, which makes all events durable; fails as
  /// that does.
  Result<void> show(Core& core, Planning planning, const std::function<Result<void>()>& flush);

 private:
  const std::function<void()> wake_;
  std::mutex one_at_a_time_;
  std::atomic<bool> asked_{false};
  std::mutex mutex_;  // guards the rest
  std::condition_variable answered_;
  const NodesRead* nodes_ = nullptr;  // of the question that waits
  std::optional<State> copy_;
  std::chrono::steady_clock::time_point next_{};  // when the hub's thread may be asked again
};

}  // namespace fairlead
