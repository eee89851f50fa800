#include "engine/runtime/present_state.h"

#include <utility>

#include "engine/fold/light_copy.h"

namespace fairlead {

std::optional<State> PresentState::ask(const NodesRead& nodes) {
  const std::lock_guard alone(one_at_a_time_);
  std::unique_lock lock(mutex_);
  // To the end, whoever is woken: the hub's thread has done its share for questions until then.
  answered_.wait_until(lock, next_, [] { return false; });
  nodes_ = &nodes;
  asked_ = true;
  wake_();
  answered_.wait_for(lock, std::chrono::nanoseconds(kPresentPatience.ns),
                     [this] { return !asked_; });
  asked_ = false;
  nodes_ = nullptr;
  return std::exchange(copy_, std::nullopt);
}

Result<void> PresentState::show(Core& core, Planning planning,
                                const std::function<Result<void>()>& flush) {
  if (!asked_) return {};
  if (core.moment_open()) {
    if (planning == Planning::on) return {};
    const std::lock_guard lock(mutex_);
    asked_ = false;
    answered_.notify_one();
    return {};
  }
  if (auto flushed = flush(); !flushed) return flushed;
  const std::lock_guard lock(mutex_);
  if (!asked_) return {};  // it waits no longer
  const auto began = std::chrono::steady_clock::now();
  const std::set<std::string> clusters = (*nodes_)(core.state());
  if (objects_in_copy(core.state(), clusters) <= kPresentObjectsMax)
    copy_ = core.copy_with_nodes_of(clusters);
  const auto ended = std::chrono::steady_clock::now();
  // So copies take a tenth of the time at most.
  next_ = ended + 9 * (ended - began);
  asked_ = false;
  answered_.notify_one();
  return {};
}

}  // namespace fairlead
