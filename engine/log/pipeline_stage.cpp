#include "engine/log/pipeline_stage.h"

#include <utility>

namespace fairlead {

PipelineStage::~PipelineStage() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> PipelineStage::outcome() const {
  if (failed_) return *failed_;
  return {};
}

Result<void> PipelineStage::begin(std::function<Result<void>()> work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failed_ || works_.size() < works_max_; });
  if (failed_) return *failed_;
  works_.push_back(std::move(work));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return {};
}

Result<void> PipelineStage::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return works_.empty(); });
  return outcome();
}

// A work stays at the front while it runs, so it counts for works_max_ and flush() waits for it.
// Only this thread takes works away. After a failure all that wait are dropped without being run:
// each builds on the one before it. The destructor lets those that were begun end first.
void PipelineStage::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !works_.empty(); });
    if (works_.empty()) return;
    const auto& work = works_.front();  // push_back on a deque does not move it
    lock.unlock();
    const Result<void> done = work();
    lock.lock();
    std::deque<std::function<Result<void>()>> ended;  // freed without the lock, after the notice
    if (done) {
      ended.push_back(std::move(works_.front()));
      works_.pop_front();
    } else {
      failed_ = done.error();
      ended.swap(works_);
    }
    changed_.notify_all();
    lock.unlock();
    ended.clear();
    lock.lock();
  }
}

}  // namespace fairlead
