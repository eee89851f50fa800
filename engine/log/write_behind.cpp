#include "engine/log/write_behind.h"

#include <utility>

namespace fairlead {

WriteBehind::~WriteBehind() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> WriteBehind::settled(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !work_; });
  if (failed_) return *failed_;
  return {};
}

Result<void> WriteBehind::begin(std::function<Result<void>()> work) {
  std::unique_lock lock(mutex_);
  if (auto before = settled(lock); !before) return before;
  work_ = std::move(work);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return {};
}

Result<void> WriteBehind::settle() {
  std::unique_lock lock(mutex_);
  return settled(lock);
}

void WriteBehind::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || work_; });
    if (!work_) return;
    lock.unlock();
    const Result<void> done = work_();
    lock.lock();
    if (!done) failed_ = done.error();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace fairlead
