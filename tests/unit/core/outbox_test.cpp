#include "engine/core/outbox.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

const ObjectKey kTarget{Kind::cluster_queue, "", "q"};
const LogTime kAnswerTime{1'000'000'000};

Event queue_intent(std::uint64_t seq) {
  PatchIntended intended;
  intended.cluster = kHub;
  intended.verb = Verb::apply;
  intended.target = kTarget;
  intended.version = "v1beta2";
  intended.resource_version = "10";
  return {Seq{seq}, kAnswerTime, Epoch{1}, std::string(kSelf), Seq{}, intended};
}

struct Sent {
  Sent() {
    WriteState& write = state.writes.by_key[{std::string(kHub), kTarget, false}];
    write.outstanding.emplace();
    write.outstanding->intent = std::get<PatchIntended>(queue_intent(1).fact);
    state.writes.outstanding[Seq{1}] = {std::string(kHub), kTarget, false};
    outbox.intended(state, queue_intent(1));
    REQUIRE(outbox.requests(kAnswerTime).size() == 1);
  }
  // The stream reports the object at this version.
  void observe(const std::string& version) {
    ObjectSeen seen;
    seen.key = kTarget;
    seen.uid = "u";
    seen.resource_version = version;
    seen.facts = ClusterQueueFacts{};
    ingest.draft(state, {std::string(kHub), std::move(seen)});
  }
  EventDraft outcome(WriteResult result, const std::string& version) {
    WriteAnswer answer;
    answer.intent = Seq{1};
    answer.result = result;
    answer.uid = "u";
    answer.resource_version = version;
    outbox.answer(std::move(answer));
    CHECK(outbox.waiting());
    auto drafts = outbox.draft(state, kAnswerTime);
    REQUIRE(drafts.size() == 1);
    CHECK_FALSE(outbox.waiting());
    return std::move(drafts.front());
  }

  State state;
  Ingest ingest;
  Outbox outbox{ingest};
};

TEST_CASE("the version of an answer is kept unless the stream was faster") {
  Sent sent;
  SECTION("the answer is first") {
    sent.observe("11");
    const EventDraft outcome = sent.outcome(WriteResult::accepted, "12");
    CHECK(std::get<PatchAccepted>(outcome.fact).resource_version == "12");
    CHECK(sent.ingest.newest_version(std::string(kHub), kTarget) == "12");
  }
  SECTION("the stream was first") {
    sent.observe("12");
    const EventDraft outcome = sent.outcome(WriteResult::accepted, "12");
    CHECK(std::get<PatchAccepted>(outcome.fact).resource_version.empty());
  }
}

TEST_CASE("an observation before the outcome of an unanswered write is offered again") {
  Sent sent;
  sent.observe("12");
  const EventDraft outcome = sent.outcome(WriteResult::unknown, "");
  CHECK(std::holds_alternative<PatchUnknown>(outcome.fact));
  const auto again = sent.outbox.logged();
  REQUIRE(again.size() == 1);
  CHECK(std::get<ObjectUnchanged>(again.front().said).resource_version == "12");
  CHECK(sent.outbox.logged().empty());
}

TEST_CASE("a newer intent replaces one that waits, which is rejected") {
  Sent sent;
  sent.outbox.intended(sent.state, queue_intent(2));
  CHECK_FALSE(sent.outbox.waiting());  // the object is busy, the write waits
  sent.outbox.intended(sent.state, queue_intent(3));
  const auto outcomes = sent.outbox.draft(sent.state, kAnswerTime);
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes.front().cause == Seq{2});
  CHECK(std::holds_alternative<PatchRejected>(outcomes.front().fact));
}

TEST_CASE("what is given up is unknown, and an observation of it is offered again") {
  Sent sent;
  sent.outbox.intended(sent.state, queue_intent(2));
  sent.observe("12");
  sent.outbox.give_up("the hub stopped");
  const auto outcomes = sent.outbox.draft(sent.state, kAnswerTime);
  REQUIRE(outcomes.size() == 2);
  for (const EventDraft& outcome : outcomes)
    CHECK(std::get<PatchUnknown>(outcome.fact).reason == "the hub stopped");
  CHECK(sent.outbox.under_way() == 0);
  CHECK(sent.outbox.unsent() == 0);
  // The observation may be the result of the write that was under way.
  CHECK(sent.outbox.logged().size() == 1);
}

TEST_CASE("a tenant learns of an accepted write, also of one that the stream showed first") {
  Ingest ingest;
  Outbox outbox(ingest);
  const State state;  // the write is concluded in it
  PatchIntended placed;
  placed.cluster = "tenant/acme";
  placed.verb = Verb::apply;
  placed.target = {Kind::pod, "web", "a"};
  placed.reason = {"pool/pod", {}, "none -> r1"};
  PodFacts facts;
  facts.super_cluster = "r1";
  placed.expected = facts;
  outbox.intended(state, {Seq{1}, kAnswerTime, Epoch{1}, std::string(kSelf), Seq{}, placed});
  REQUIRE(outbox.requests(kAnswerTime).size() == 1);
  WriteAnswer answer;
  answer.intent = Seq{1};
  const auto notices_after = [&](WriteResult result) {
    answer.result = result;
    outbox.answer(answer);
    CHECK(outbox.draft(state, kAnswerTime).size() == 1);
    return outbox.notices();
  };
  SECTION("accepted") {
    const auto notices = notices_after(WriteResult::accepted);
    REQUIRE(notices.size() == 1);
    CHECK(notices.front().reason == "Scheduled");
    CHECK(notices.front().seq == Seq{1});
    CHECK(outbox.notices().empty());
  }
  SECTION("refused") { CHECK(notices_after(WriteResult::refused).empty()); }
}

}  // namespace
}  // namespace fairlead
