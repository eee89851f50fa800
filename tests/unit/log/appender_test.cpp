#include "engine/log/appender.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "engine/log/memory_log.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

/// A clock that a test sets.
class SetClock final : public Clock {
 public:
  LogTime now() override { return {ns.load()}; }
  std::atomic<std::int64_t> ns{1000};
};

/// A log whose appends wait until they are let through, and that can start failing.
class GatedLog final : public EventLog {
 public:
  Result<std::vector<Event>> append(std::span<const EventDraft> drafts, LogTime time,
                                    Epoch epoch) override {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    if (failing_) return Error{ErrorCode::unavailable, "the disk is full"};
    return log_.append(drafts, time, epoch);
  }
  Result<std::unique_ptr<EventReader>> read(Seq from) const override { return log_.read(from); }
  Result<Seq> last_at(LogTime time) const override { return log_.last_at(time); }
  Result<std::optional<std::string>> raw(Seq seq) const override { return log_.raw(seq); }
  Result<void> drop_raw_before(Seq seq) override { return log_.drop_raw_before(seq); }
  Result<std::vector<Seq>> history(std::string_view source, const ObjectKey& key) const override {
    return log_.history(source, key);
  }
  Seq first_seq() const override { return log_.first_seq(); }
  Seq last_seq() const override { return log_.last_seq(); }
  LogTime last_time() const override { return log_.last_time(); }
  Digest chain() const override { return log_.chain(); }
  Result<Digest> chain_at(Seq seq) const override { return log_.chain_at(seq); }
  Result<LogStat> stat() const override { return log_.stat(); }
  Result<LogVerdict> verify() const override { return log_.verify(); }

  void wait_for_append() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failing_ = true;
  }

 private:
  MemoryLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
  bool failing_ = false;
};

AppendBatch batch(int first, int count, Moment moment = Moment::open) {
  return {drafts(first, count), Epoch{1}, moment, {}};
}

TEST_CASE("A batch gets its events when they are durable") {
  MemoryLog log;
  SetClock clock;
  Appender appender(log, clock, {});
  std::promise<Result<std::vector<Event>>> answer;
  AppendBatch two = batch(0, 2);
  two.done = [&answer](Result<std::vector<Event>> events) { answer.set_value(std::move(events)); };
  appender.submit(std::move(two));
  const auto events = answer.get_future().get();
  REQUIRE(events.has_value());
  REQUIRE(events->size() == 2);
  CHECK(events->front().seq == Seq{1});
  CHECK(events->front().log_time == LogTime{1000});
  CHECK(log.last_seq() == Seq{2});
}

TEST_CASE("What has piled up is committed at once, and each batch gets its own events in order") {
  GatedLog log;
  SetClock clock;
  std::vector<std::uint64_t> order;
  {
    Appender appender(log, clock, {});
    appender.submit(batch(0, 1));
    log.wait_for_append();
    for (int i = 0; i < 10; ++i) {
      AppendBatch next = batch(i, i);
      next.done = [&order, i](Result<std::vector<Event>> events) {
        if (events && events->size() == static_cast<std::size_t>(i))
          order.push_back(events->empty() ? 0 : events->front().seq.value);
      };
      appender.submit(std::move(next));
    }
    log.open();
    appender.drain();
    CHECK(appender.counters().commits == 2);
    CHECK(appender.counters().batches == 11);
    CHECK(appender.counters().events == 46);
  }
  CHECK(order == std::vector<std::uint64_t>{0, 2, 3, 5, 8, 12, 17, 23, 30, 38});
}

TEST_CASE("After a settled moment time is strictly later, otherwise it only never goes back") {
  GatedLog log;
  SetClock clock;
  Appender appender(log, clock, {});
  appender.submit(batch(0, 1));
  appender.submit(batch(1, 1, Moment::settled));
  appender.submit(batch(2, 1));
  appender.submit(batch(3, 1));
  log.open();
  appender.drain();
  clock.ns = 5;  // somebody set the clock back
  appender.submit(batch(4, 1));
  appender.drain();
  const std::vector<Event> events = read_all(log);
  REQUIRE(events.size() == 5);
  CHECK(events[0].log_time == LogTime{1000});
  CHECK(events[1].log_time == LogTime{1000});
  CHECK(events[2].log_time == LogTime{1001});
  CHECK(events[3].log_time == LogTime{1001});
  CHECK(events[4].log_time == LogTime{1001});
}

TEST_CASE("Batches of different epochs do not share a commit") {
  GatedLog log;
  SetClock clock;
  Appender appender(log, clock, {});
  appender.submit(batch(0, 1));
  AppendBatch later = batch(1, 1);
  later.epoch = Epoch{2};
  appender.submit(std::move(later));
  log.open();
  appender.drain();
  const std::vector<Event> events = read_all(log);
  REQUIRE(events.size() == 2);
  CHECK(events[0].epoch == Epoch{1});
  CHECK(events[1].epoch == Epoch{2});
}

TEST_CASE("Every batch is told why it is not in the log") {
  GatedLog log;
  SetClock clock;
  Appender appender(log, clock, {});
  log.fail();
  log.open();
  std::atomic<int> refused{0};
  for (int i = 0; i < 5; ++i) {
    AppendBatch next = batch(i, 1);
    next.done = [&refused](const Result<std::vector<Event>>& events) {
      if (events.has_error() && events.error().code == ErrorCode::unavailable) ++refused;
    };
    appender.submit(std::move(next));
  }
  appender.drain();
  CHECK(refused == 5);
  CHECK(appender.counters().errors == 5);
  CHECK(log.last_seq() == Seq{0});
}

TEST_CASE("A full queue makes the submitter wait, and says so") {
  GatedLog log;
  SetClock clock;
  Appender appender(log, clock, {.queue_batches_max = 2, .commit_events_max = 1});
  appender.submit(batch(0, 1));
  log.wait_for_append();
  appender.submit(batch(1, 1));
  appender.submit(batch(2, 1));
  std::thread submitting([&appender] { appender.submit(batch(3, 1)); });
  while (appender.counters().queue_full == 0) std::this_thread::yield();
  log.open();
  submitting.join();
  appender.drain();
  CHECK(appender.counters().queue_full == 1);
  CHECK(log.last_seq() == Seq{4});
}

TEST_CASE("Many threads may submit; each thread's batches keep their order and nothing is lost") {
  MemoryLog log;
  SetClock clock;
  std::vector<std::vector<std::uint64_t>> seqs(4);
  {
    Appender appender(log, clock, {.queue_batches_max = 8, .commit_events_max = 16});
    std::vector<std::thread> threads;
    for (auto& mine : seqs)
      threads.emplace_back([&appender, &mine] {
        for (int i = 0; i < 200; ++i) {
          AppendBatch next = batch(i, 2);
          next.done = [&mine](Result<std::vector<Event>> events) {
            mine.push_back(events->front().seq.value);
          };
          appender.submit(std::move(next));
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(log.last_seq() == Seq{1600});
  for (const auto& mine : seqs) {
    CHECK(mine.size() == 200);
    CHECK(std::is_sorted(mine.begin(), mine.end()));
  }
  CHECK_FALSE(log.verify()->broken_at);
}

TEST_CASE("What is queued is appended before the appender ends") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  SetClock clock;
  {
    Appender appender(*log, clock, {});
    for (int i = 0; i < 50; ++i) appender.submit(batch(i, 1));
  }
  CHECK(log->last_seq() == Seq{50});
}

}  // namespace
}  // namespace fairlead
