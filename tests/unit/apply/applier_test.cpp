#include "engine/apply/applier.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

Event intent(std::uint64_t seq, const std::string& queue, Direction direction = Direction::other,
             Verb verb = Verb::apply, const std::string& cluster = "hub") {
  PatchIntended intended;
  intended.cluster = cluster;
  intended.verb = verb;
  intended.target = {Kind::cluster_queue, "", queue};
  intended.version = "v1beta2";
  intended.field_manager = "fairlead";
  intended.force = true;
  intended.uid = "u";
  intended.resource_version = "7";
  intended.body = "{\"of\":" + std::to_string(seq) + "}";
  intended.direction = direction;
  return {Seq{seq}, LogTime{}, Epoch{1}, "self", Seq{}, intended};
}

WriteAnswer answer(std::uint64_t seq, WriteResult result, int code = 0,
                   const std::string& reason = "") {
  WriteAnswer said;
  said.intent = Seq{seq};
  said.result = result;
  said.http_code = code;
  said.reason = reason;
  return said;
}

std::vector<std::uint64_t> seqs(const std::vector<WriteRequest>& requests) {
  std::vector<std::uint64_t> out;
  for (const WriteRequest& request : requests) out.push_back(request.intent.value);
  return out;
}

using Seqs = std::vector<std::uint64_t>;
constexpr LogTime kNow{1'000'000'000};

template <class T>
T outcome_of(Applier& applier, const WriteAnswer& said) {
  const auto draft = applier.answered(said, kNow);
  REQUIRE(draft.has_value());
  CHECK(draft->source == "self");
  CHECK(draft->cause == said.intent);
  REQUIRE(std::holds_alternative<T>(draft->fact));
  return std::get<T>(draft->fact);
}

TEST_CASE("a request says exactly what its intent says") {
  Applier applier(8);
  CHECK_FALSE(applier.enqueue(intent(3, "a")).has_value());
  const auto requests = applier.requests(kNow);
  REQUIRE(requests.size() == 1);
  const WriteRequest& request = requests.front();
  CHECK(request.intent == Seq{3});
  CHECK(request.cluster == "hub");
  CHECK(request.verb == Verb::apply);
  CHECK(request.target == ObjectKey{Kind::cluster_queue, "", "a"});
  CHECK(request.version == "v1beta2");
  CHECK(request.field_manager == "fairlead");
  CHECK(request.force);
  CHECK(request.uid == "u");
  CHECK(request.resource_version == "7");
  CHECK(request.body == "{\"of\":3}");
  CHECK(applier.requests(kNow).empty());
}

TEST_CASE("shrinks go before what waits, the rest in the order of the log") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  applier.enqueue(intent(2, "b"));
  applier.enqueue(intent(3, "c", Direction::lowers));
  applier.enqueue(intent(4, "d", Direction::lowers));
  CHECK(seqs(applier.requests(kNow)) == Seqs{3, 4, 1, 2});
}

TEST_CASE("no more writes are under way than allowed, to each server on its own") {
  Applier applier(2);
  for (std::uint64_t seq = 1; seq <= 4; ++seq)
    applier.enqueue(intent(seq, "q" + std::to_string(seq)));
  applier.enqueue(intent(5, "q5", Direction::other, Verb::apply, "cluster2"));
  CHECK(seqs(applier.requests(kNow)) == Seqs{5, 1, 2});
  CHECK(applier.under_way() == 3);
  CHECK(applier.waiting() == 2);
  CHECK(applier.requests(kNow).empty());
  outcome_of<PatchAccepted>(applier, answer(2, WriteResult::accepted, 200));
  CHECK(seqs(applier.requests(kNow)) == Seqs{3});
  applier.set_inflight_max(3);
  CHECK(seqs(applier.requests(kNow)) == Seqs{4});
}

TEST_CASE("an object has one write under way, its status counts apart") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  applier.enqueue(intent(2, "a", Direction::other, Verb::apply_status));
  CHECK(seqs(applier.requests(kNow)) == Seqs{1, 2});
  CHECK_FALSE(applier.enqueue(intent(3, "a")).has_value());
  CHECK(applier.requests(kNow).empty());
  outcome_of<PatchUnknown>(applier, answer(1, WriteResult::unknown, 0, "timed out"));
  CHECK(seqs(applier.requests(kNow)) == Seqs{3});
}

TEST_CASE("a write that a newer one overtakes before it was sent is never sent") {
  Applier applier(1);
  applier.enqueue(intent(1, "a"));
  applier.requests(kNow);
  applier.enqueue(intent(2, "b"));
  const auto replaced = applier.enqueue(intent(3, "b"));
  REQUIRE(replaced.has_value());
  const auto& rejected = std::get<PatchRejected>(replaced->fact);
  CHECK(rejected.intent == Seq{2});
  CHECK(rejected.http_code == 0);
  CHECK(rejected.reason.find("not sent") != std::string::npos);
  outcome_of<PatchAccepted>(applier, answer(1, WriteResult::accepted, 200));
  CHECK(seqs(applier.requests(kNow)) == Seqs{3});
}

TEST_CASE("each answer becomes the outcome that the fold understands") {
  Applier applier(8);
  for (std::uint64_t seq = 1; seq <= 5; ++seq)
    applier.enqueue(intent(seq, "q" + std::to_string(seq)));
  applier.requests(kNow);

  WriteAnswer accepted = answer(1, WriteResult::accepted, 201);
  accepted.uid = "new";
  accepted.resource_version = "9";
  CHECK(outcome_of<PatchAccepted>(applier, accepted) == PatchAccepted{Seq{1}, 201, "new", "9"});
  CHECK(outcome_of<PatchRejected>(applier, answer(2, WriteResult::conflict, 409, "Conflict")) ==
        PatchRejected{Seq{2}, 409, "Conflict"});
  // However the server says it (404, 409 "uid mismatch", 422 on metadata.uid): it is not there.
  CHECK(outcome_of<PatchRejected>(applier, answer(3, WriteResult::gone, 422, "Invalid")) ==
        PatchRejected{Seq{3}, 404, "Invalid"});
  CHECK(outcome_of<PatchRejected>(applier, answer(4, WriteResult::refused, 403, "Forbidden")) ==
        PatchRejected{Seq{4}, 403, "Forbidden"});
  CHECK(outcome_of<PatchUnknown>(applier, answer(5, WriteResult::unknown, 0, "timed out")) ==
        PatchUnknown{Seq{5}, "timed out"});
  CHECK(applier.under_way() == 0);
}

TEST_CASE("a reason in the log is bounded") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  applier.requests(kNow);
  const auto rejected = outcome_of<PatchRejected>(
      applier, answer(1, WriteResult::refused, 400, std::string(100'000, 'x')));
  CHECK(rejected.reason.size() == kOutcomeReasonBytesMax);
}

TEST_CASE("an answer to no open request changes nothing") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  CHECK_FALSE(applier.answered(answer(1, WriteResult::accepted, 200), kNow).has_value());
  applier.requests(kNow);
  CHECK(applier.answered(answer(1, WriteResult::accepted, 200), kNow).has_value());
  CHECK_FALSE(applier.answered(answer(1, WriteResult::accepted, 200), kNow).has_value());
}

TEST_CASE("a throttled write is sent again when the server is ready, and nothing to it before") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  applier.requests(kNow);
  CHECK(applier.next_due() == kForever);
  WriteAnswer throttled = answer(1, WriteResult::throttled, 429);
  throttled.retry_after = seconds(7);
  CHECK_FALSE(applier.answered(throttled, kNow).has_value());
  applier.enqueue(intent(2, "b"));
  CHECK(applier.next_due() == kNow + seconds(7));
  CHECK(applier.requests(kNow + seconds(6)).empty());
  CHECK(seqs(applier.requests(kNow + seconds(7))) == Seqs{1, 2});
  CHECK(applier.next_due() == kForever);
}

TEST_CASE("a server that throttles without end gets its write rejected") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  LogTime now = kNow;
  for (std::int64_t i = 1; i < kThrottledMax; ++i) {
    REQUIRE(applier.requests(now).size() == 1);
    WriteAnswer throttled = answer(1, WriteResult::throttled, 503);
    throttled.retry_after = hours(10);
    REQUIRE_FALSE(applier.answered(throttled, now).has_value());
    CHECK(applier.next_due() == now + kRetryAfterMax);
    now = applier.next_due();
  }
  REQUIRE(applier.requests(now).size() == 1);
  const auto rejected = outcome_of<PatchRejected>(applier, answer(1, WriteResult::throttled, 503));
  CHECK(rejected.http_code == 503);
  CHECK(rejected.cause == RejectionCause::outage);
}

TEST_CASE("a rejection says whether the write, the server or the rights are its cause") {
  const auto cause_of = [](WriteResult result) {
    Applier applier(8);
    applier.enqueue(intent(1, "a"));
    applier.requests(kNow);
    return outcome_of<PatchRejected>(applier, answer(1, result, 500)).cause;
  };
  CHECK(cause_of(WriteResult::refused) == RejectionCause::content);
  CHECK(cause_of(WriteResult::conflict) == RejectionCause::content);
  CHECK(cause_of(WriteResult::forbidden) == RejectionCause::rights);
  CHECK(cause_of(WriteResult::unserved) == RejectionCause::outage);
}

TEST_CASE("a throttled write gives way to a newer intent of its object") {
  Applier applier(8);
  applier.enqueue(intent(1, "a"));
  applier.requests(kNow);
  applier.enqueue(intent(2, "a"));
  CHECK(outcome_of<PatchRejected>(applier, answer(1, WriteResult::throttled, 429)).http_code ==
        429);
  CHECK(seqs(applier.requests(kNow)) == Seqs{2});
}

TEST_CASE("giving up leaves every write with an outcome") {
  Applier applier(1);
  applier.enqueue(intent(1, "a"));
  applier.enqueue(intent(2, "b"));
  applier.requests(kNow);
  const auto drafts = applier.give_up("stopping");
  REQUIRE(drafts.size() == 2);
  CHECK(std::get<PatchUnknown>(drafts[0].fact) == PatchUnknown{Seq{1}, "stopping"});
  CHECK(std::get<PatchUnknown>(drafts[1].fact) == PatchUnknown{Seq{2}, "stopping"});
  CHECK(applier.under_way() == 0);
  CHECK(applier.waiting() == 0);
  CHECK_FALSE(applier.answered(answer(1, WriteResult::accepted, 200), kNow).has_value());
}

}  // namespace
}  // namespace fairlead
