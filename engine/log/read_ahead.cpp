#include "engine/log/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace fairlead {

namespace {

// What the thread read: events, and behind the last of them the end or an error.
struct Batch {
  std::vector<Event> events;
  std::optional<Error> error;
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
    while (taken_ == batch_.events.size()) {
      if (batch_.last) {
        if (batch_.error) return *batch_.error;
        return std::optional<Event>();
      }
      take_batch();
    }
    return std::optional<Event>(std::move(batch_.events[taken_++]));
  }

 private:
  void take_batch() {
    Batch spent = std::exchange(batch_, {});
    taken_ = 0;
    spent.events.clear();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty(); });
    batch_ = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
  }

  void read() {
    for (bool more = true; more;) {
      Batch batch = read_batch();
      more = !batch.last;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || ready_.size() < kReadAheadBatchesMax; });
      if (ended_) return;
      ready_.push_back(std::move(batch));
      lock.unlock();
      changed_.notify_all();
    }
  }

  Batch read_batch() {
    Batch batch;
    batch.events.reserve(kReadAheadEvents);
    while (batch.events.size() < kReadAheadEvents) {
      auto event = reader_->next();
      if (!event) batch.error = event.error();
      batch.last = !event || !*event;
      if (batch.last) break;
      batch.events.push_back(std::move(**event));
    }
    return batch;
  }

  const std::unique_ptr<EventReader> reader_;  // the thread's
  Batch batch_;
  std::size_t taken_ = 0;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  bool ended_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

std::unique_ptr<EventReader> read_ahead(std::unique_ptr<EventReader> reader) {
  return std::make_unique<ReadAhead>(std::move(reader));
}

}  // namespace fairlead
