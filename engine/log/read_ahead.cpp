#include "engine/log/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead {

namespace {

// A batch that the thread read, with the outcome of that read.
struct Batch {
  EventBatch events;
  Result<void> read;
  bool last = false;
};

class ReadAhead final : public EventReader {
 public:
  explicit ReadAhead(std::unique_ptr<EventReader> reader)
      : reader_(std::move(reader)), thread_([this] { read(); }) {}

  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<std::optional<Event>> next() override {
    while (consumed_ == batch_.events.size()) {
      if (batch_.last) {
        if (!batch_.read) return batch_.read.error();
        return std::optional<Event>();
      }
      dequeue_batch();
    }
    return std::optional<Event>(batch_.events.events()[consumed_++]);
  }

  Result<void> next_batch(EventBatch& batch) override {
    batch.clear();
    if (consumed_ < batch_.events.size()) {  // next() returned the ones before
      for (const Event& event : batch_.events.events().subspan(consumed_)) batch.add() = event;
      consumed_ = batch_.events.size();
    } else if (!batch_.last) {
      dequeue_batch();
      // The memory of the caller's former batch goes to the thread with the next call.
      std::swap(batch, batch_.events);
    }
    return batch_.read;
  }

 private:
  // Dequeues the next batch and returns the previous one to the thread, which reuses its memory.
  // The thread may sleep although there is place, but not when nothing is left: it is woken by each
  // of the last batches that are dequeued before that.
  void dequeue_batch() {
    std::unique_lock lock(mutex_);
    spent_.push_back(std::move(batch_));
    changed_.wait(lock, [this] { return !ready_.empty(); });
    batch_ = std::move(ready_.front());
    ready_.pop_front();
    const bool few = ready_.size() <= kReadAheadBatchesMax / 2;
    lock.unlock();
    if (few) changed_.notify_all();  // waking the thread for every batch costs more than its read
    consumed_ = 0;
  }

  void read() {
    for (bool more = true; more;) {
      Batch batch = spent_batch();
      batch.read = reader_->next_batch(batch.events);
      batch.last = !batch.read || batch.events.size() == 0;
      more = !batch.last;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || ready_.size() < kReadAheadBatchesMax; });
      if (ended_) return;
      ready_.push_back(std::move(batch));
      const bool first = ready_.size() == 1;
      lock.unlock();
      if (first) changed_.notify_all();
    }
  }

  Batch spent_batch() {
    const std::lock_guard lock(mutex_);
    if (spent_.empty()) return {};
    Batch batch = std::move(spent_.back());
    spent_.pop_back();
    return batch;
  }

  const std::unique_ptr<EventReader> reader_;  // used by the thread only
  Batch batch_;
  std::size_t consumed_ = 0;  // of the events of `batch_`
  std::mutex mutex_;          // guards the rest
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::vector<Batch> spent_;
  bool ended_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

std::unique_ptr<EventReader> read_ahead(std::unique_ptr<EventReader> reader) {
  return std::make_unique<ReadAhead>(std::move(reader));
}

}  // namespace fairlead
