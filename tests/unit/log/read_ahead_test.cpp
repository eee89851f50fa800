#include "engine/log/read_ahead.h"

#include <atomic>

#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

// Reads events 1.. and then ends, or fails.
class Counting final : public EventReader {
 public:
  Counting(std::uint64_t count, std::optional<Error> error)
      : count_(count), error_(std::move(error)) {}
  Result<std::optional<Event>> next() override {
    if (next_ < count_)
      return std::optional<Event>(Event{Seq{++next_}, {}, {}, "self", {}, TimerFired{}});
    if (error_) return *error_;
    return std::optional<Event>();
  }

 private:
  std::uint64_t count_, next_ = 0;
  std::optional<Error> error_;
};

TEST_CASE("Reading ahead gives the same events in the same order, and the end stays the end") {
  for (const std::uint64_t count : {0U, 1U, 511U, 512U, 513U, 5000U}) {
    const auto reader = read_ahead(std::make_unique<Counting>(count, std::nullopt));
    for (std::uint64_t seq = 1; seq <= count; ++seq) {
      const auto event = reader->next();
      REQUIRE(event.has_value());
      REQUIRE(event->has_value());
      REQUIRE((*event)->seq == Seq{seq});
    }
    for (int again = 0; again < 3; ++again) {
      const auto end = reader->next();
      REQUIRE(end.has_value());
      CHECK_FALSE(end->has_value());
    }
  }
}

TEST_CASE("Reading ahead in batches gives the same") {
  for (const std::uint64_t count : {0U, 1U, 512U, 513U, 50'000U})
    for (const auto& error :
         {std::optional<Error>(), std::optional(Error{ErrorCode::corrupt, "x"})}) {
      const auto reader = read_ahead(std::make_unique<Counting>(count, error));
      const auto [events, ended] = read_batches(*reader, 0);
      REQUIRE(events.size() == count);
      for (std::uint64_t seq = 1; seq <= count; ++seq) REQUIRE(events[seq - 1].seq == Seq{seq});
      CHECK(ended == error);
      EventBatch batch;
      CHECK(reader->next_batch(batch).has_value() == !error);
      CHECK(batch.size() == 0);
    }
}

TEST_CASE("Reading ahead gives everything before an error, and then the error") {
  const Error damaged{ErrorCode::corrupt, "damaged at seq 701"};
  const auto reader = read_ahead(std::make_unique<Counting>(700, damaged));
  for (int i = 0; i < 700; ++i) REQUIRE(reader->next()->has_value());
  CHECK(reader->next().error() == damaged);
  CHECK(reader->next().error() == damaged);
}

TEST_CASE("Reading ahead event by event and in batches in turn gives each event once") {
  const Error damaged{ErrorCode::corrupt, "damaged at seq 1801"};
  const auto reader = read_ahead(std::make_unique<Counting>(1800, damaged));
  std::uint64_t seq = 0;
  Result<void> ended;
  while (ended) {
    const auto event = reader->next();
    if (!event) {
      ended = event.error();
      break;
    }
    REQUIRE((*event)->seq == Seq{++seq});
    EventBatch batch;
    ended = reader->next_batch(batch);
    for (const Event& in_batch : batch.events()) REQUIRE(in_batch.seq == Seq{++seq});
  }
  CHECK(seq == 1800);
  CHECK(ended.error() == damaged);
}

TEST_CASE("Reading ahead can end before everything is read, and does not run far ahead") {
  class Endless final : public EventReader {
   public:
    explicit Endless(std::atomic<std::uint64_t>& read) : read_(read) {}
    Result<std::optional<Event>> next() override {
      return std::optional<Event>(Event{Seq{++read_}, {}, {}, "self", {}, TimerFired{}});
    }

   private:
    std::atomic<std::uint64_t>& read_;
  };
  std::atomic<std::uint64_t> read{0};
  auto reader = read_ahead(std::make_unique<Endless>(read));
  CHECK((*reader->next())->seq == Seq{1});
  reader.reset();
  CHECK(read <= (kReadAheadBatchesMax + 2) * kBatchEvents);
}

}  // namespace
}  // namespace fairlead
