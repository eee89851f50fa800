// How the inbox shares its places and a step among the API servers.
#include "engine/runtime/inbox.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <string>

namespace fairlead {
namespace {

WatchFact alive(const std::string& source, int version = 0) {
  return {source, StreamAlive{Kind::node, std::to_string(version)}};
}

std::map<SourceName, int> counted(const Inbox::Content& content) {
  std::map<SourceName, int> counts;
  for (const WatchFact& fact : content.facts) ++counts[fact.source];
  return counts;
}

TEST_CASE("a fact behind many of another member is taken in the next step") {
  Inbox inbox(4000);
  for (int i = 0; i < 1000; ++i) inbox.push(alive("flood", i));
  inbox.push(alive("cluster1"));
  inbox.push(alive("hub"));
  const auto content = inbox.dequeue({}, 100);
  CHECK(content.more_facts);
  CHECK(content.facts.size() == 100);
  CHECK(counted(content) == std::map<SourceName, int>{{"cluster1", 1}, {"flood", 98}, {"hub", 1}});
}

TEST_CASE("sources share a step, and the facts of one keep their order") {
  Inbox inbox(400);
  for (int i = 0; i < 50; ++i) inbox.push(alive("a", i));
  for (int i = 0; i < 50; ++i) inbox.push(alive("b", i));
  CHECK(counted(inbox.dequeue({}, 20)) == std::map<SourceName, int>{{"a", 10}, {"b", 10}});
  std::map<SourceName, int> next{{"a", 10}, {"b", 10}};
  for (const WatchFact& fact : inbox.dequeue({}, 400).facts)
    CHECK(std::get<StreamAlive>(fact.said).resource_version == std::to_string(next[fact.source]++));
  CHECK(next == std::map<SourceName, int>{{"a", 50}, {"b", 50}});
  CHECK(inbox.depth() == 0);
}

TEST_CASE("each source has its turn in steps that are smaller than their number") {
  Inbox inbox(400);
  for (int i = 0; i < 10; ++i)
    for (const char* source : {"a", "b", "c"}) inbox.push(alive(source, i));
  std::string turns;
  for (int i = 0; i < 6; ++i) turns += inbox.dequeue({}, 1).facts.at(0).source;
  CHECK(turns == "abcabc");
}

TEST_CASE("a member that sends without end leaves places for the others") {
  Inbox inbox(8);
  auto flood = std::async(std::launch::async, [&inbox] {
    for (int i = 0; i < 100; ++i) inbox.push(alive("flood", i));
  });
  auto other = std::async(std::launch::async, [&inbox] { inbox.push(alive("cluster1")); });
  CHECK(flood.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout);
  CHECK(other.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  CHECK(inbox.depth() == 3);
  inbox.close();
}

TEST_CASE("notes of the webhook are bounded, make no caller wait, and wake the hub") {
  Inbox inbox(8);
  for (std::size_t i = 0; i < kInboxNotesMax; ++i) {
    AdmissionDecided note;
    note.request_uid = std::to_string(i);
    REQUIRE(inbox.offer(std::move(note)));
  }
  CHECK_FALSE(inbox.offer({}));
  const auto content = inbox.dequeue(minutes(1), 8);
  REQUIRE(content.notes.size() == kInboxNotesMax);
  CHECK(content.notes.back().request_uid == std::to_string(kInboxNotesMax - 1));
  CHECK(inbox.offer({}));
  inbox.close();
  CHECK_FALSE(inbox.offer({}));
}

}  // namespace
}  // namespace fairlead
