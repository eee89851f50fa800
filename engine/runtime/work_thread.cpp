#include "engine/runtime/work_thread.h"

#include <utility>

namespace fairlead {

void WorkThread::start() {
  thread_ = std::thread([this] { run(); });
}

void WorkThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool WorkThread::offer(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= waiting_max_) return false;
    waiting_.push_back({std::chrono::steady_clock::now(), std::move(work)});
  }
  wake_.notify_one();
  return true;
}

void WorkThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const auto waited = std::chrono::steady_clock::now() - next.since;
    next.work(waited > std::chrono::nanoseconds(patience_.ns) ? Turn::late : Turn::in_time);
    lock.lock();
  }
}

}  // namespace fairlead
