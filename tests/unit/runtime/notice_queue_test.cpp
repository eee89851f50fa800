#include "engine/runtime/notice_queue.h"

#include <catch2/catch.hpp>
#include <string>

namespace fairlead {
namespace {

constexpr LogTime kMorning = LogTime{} + hours(1);

Notice numbered(std::size_t number, std::size_t bytes = 10) {
  Notice notice;
  notice.object.name = std::to_string(number);
  notice.message = std::string(bytes, 'x');
  return notice;
}

TEST_CASE("the first quotas of thousands of claims are all announced, in order and at a pace") {
  NoticeQueue queue;
  constexpr std::size_t kClaims = 5'000;
  for (std::size_t i = 0; i < kClaims; ++i) REQUIRE(queue.push(numbered(i)));
  std::size_t sent = 0;
  LogTime now = kMorning;
  for (; !queue.empty(); now = now + milliseconds(100)) {
    const auto turn = queue.dequeue(now);
    CHECK(turn.size() <= kNoticeBurst);
    for (const Notice& notice : turn) REQUIRE(notice.object.name == std::to_string(sent++));
    const auto passed_ms = static_cast<std::size_t>((now - kMorning).ns / 1'000'000);
    REQUIRE(sent <= kNoticeBurst + passed_ms * static_cast<std::size_t>(kNoticesPerSecond) / 1000);
  }
  CHECK(sent == kClaims);
  CHECK(now - kMorning <= seconds(201));
}

TEST_CASE("a single notice goes at once, and a pause allows a burst") {
  NoticeQueue queue;
  CHECK(queue.dequeue(kMorning).empty());
  for (int i = 0; i < 100; ++i) REQUIRE(queue.push(numbered(0)));
  CHECK(queue.dequeue(kMorning).size() == kNoticeBurst);
  CHECK(queue.dequeue(kMorning).empty());
  CHECK(queue.dequeue(kMorning + hours(1)).size() == kNoticeBurst);

  NoticeQueue at_zero;  // where a virtual time begins
  for (int i = 0; i < 100; ++i) REQUIRE(at_zero.push(numbered(0)));
  CHECK(at_zero.dequeue({}).size() == kNoticeBurst);
}

TEST_CASE("notices that wait are bounded in number and in bytes") {
  NoticeQueue many;
  for (std::size_t i = 0; i < kNoticesMax; ++i) REQUIRE(many.push(numbered(i)));
  CHECK_FALSE(many.push(numbered(0)));
  CHECK_FALSE(many.dequeue(kMorning).empty());
  CHECK(many.push(numbered(0)));

  NoticeQueue large;
  std::size_t kept = 0;
  while (large.push(numbered(0, 1 << 20))) ++kept;
  CHECK(kept == (kNoticeBytesMax >> 20) - 1);
}

}  // namespace
}  // namespace fairlead
