#include "engine/core/fact_queue.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

const LogTime kFactTime{1'000'000'000};

WatchFact machine(const std::string& name, const std::string& version, bool ready = true) {
  ObjectSeen seen;
  seen.key = {Kind::node, "", name};
  seen.uid = "u-" + name;
  seen.resource_version = version;
  NodeFacts facts;
  facts.ready = ready;
  seen.facts = std::move(facts);
  return {"c1", std::move(seen)};
}

// `name@version` of each draft.
std::string drafted(const std::vector<EventDraft>& drafts) {
  std::string text;
  for (const EventDraft& draft : drafts) {
    if (const auto* seen = std::get_if<ObjectObserved>(&draft.fact))
      text += seen->key.name + "@" + seen->resource_version + " ";
    if (const auto* gone = std::get_if<ObjectGone>(&draft.fact)) text += "-" + gone->key.name + " ";
  }
  return text;
}

struct QueueOfFacts {
  std::string draft(LogTime now, HeldFacts held = HeldFacts::join) {
    return drafted(facts.draft(state, now, held));
  }
  State state;
  Ingest ingest;
  FactQueue facts{ingest, nullptr};
};

TEST_CASE("a batch has as many facts as the queue was made for") {
  QueueOfFacts queue;
  FactQueue facts(queue.ingest, nullptr, 2);
  for (const char* name : {"a", "b", "c"}) facts.offer(machine(name, "1"));
  CHECK(drafted(facts.draft(queue.state, kFactTime, HeldFacts::join)) == "a@1 b@1 ");
  facts.logged(queue.state);
  CHECK(drafted(facts.draft(queue.state, kFactTime, HeldFacts::join)) == "c@1 ");
}

TEST_CASE("an object's next change is held back until its interval is over") {
  QueueOfFacts queue;
  queue.state.configuration.debounce.ingest_coalesce = seconds(2);
  queue.state.now = kFactTime;
  queue.facts.offer(machine("a", "1"));
  CHECK(queue.draft(kFactTime) == "a@1 ");
  queue.facts.logged(queue.state);
  queue.facts.offer(machine("a", "2", false));
  CHECK(queue.draft(kFactTime + seconds(1)) == "");
  CHECK_FALSE(queue.facts.waiting());
  CHECK(queue.facts.next_due() == kFactTime + seconds(2));
  CHECK(queue.draft(kFactTime + seconds(2), HeldFacts::stay) == "");
  SECTION("it joins what is offered then, behind it") {
    queue.facts.offer(machine("b", "5"));
    CHECK(queue.draft(kFactTime + seconds(2)) == "b@5 a@2 ");
  }
  SECTION("or is replaced") {
    queue.facts.offer(machine("a", "3"));
    CHECK(queue.draft(kFactTime + seconds(2)) == "a@3 ");
  }
  SECTION("or dropped with all others") {
    queue.facts.clear();
    CHECK(queue.facts.next_due() == kForever);
    CHECK(queue.draft(kFactTime + seconds(2)) == "");
  }
}

TEST_CASE("two states of an object are two batches, unless the newer one replaces the other") {
  QueueOfFacts queue;
  queue.facts.offer(machine("a", "1"));
  queue.facts.offer(machine("b", "2"));
  queue.facts.offer({"c1", ObjectMissing{{Kind::node, "", "a"}, "", ""}});
  CHECK(queue.draft(kFactTime) == "a@1 b@2 ");
  queue.facts.logged(queue.state);
  CHECK(queue.facts.waiting());
  queue.state.clusters["c1"].reports.nodes["a"] = {};
  CHECK(queue.draft(kFactTime) == "-a ");
}

TEST_CASE(
    "a refused batch comes back in halves, in order, and what is too large alone is dropped") {
  QueueOfFacts queue;
  for (const char* name : {"a", "b", "c"}) queue.facts.offer(machine(name, "1"));
  auto drafts = queue.facts.draft(queue.state, kFactTime, HeldFacts::join);
  CHECK(drafted(drafts) == "a@1 b@1 c@1 ");
  CHECK_FALSE(queue.facts.refused(std::move(drafts)).has_value());
  auto first = queue.facts.draft(queue.state, kFactTime, HeldFacts::join);
  CHECK(drafted(first) == "a@1 ");
  const auto dropped = queue.facts.refused(std::move(first));
  REQUIRE(dropped.has_value());
  CHECK(std::get<ObjectObserved>(dropped->fact).key.name == "a");
  CHECK(queue.draft(kFactTime) == "b@1 c@1 ");
  queue.facts.logged(queue.state);
  CHECK_FALSE(queue.facts.waiting());
}

TEST_CASE("the first list drafts what it does not name, before the list itself") {
  State state;
  state.clusters["c1"].reports.nodes["gone"] = {};
  Ingest ingest;
  FirstLists lists;
  FactQueue facts(ingest, &lists);
  facts.offer(machine("a", "1"));
  facts.offer({"c1", ListCompleted{Kind::node, "9"}});
  const auto drafts = facts.draft(state, kFactTime, HeldFacts::join);
  REQUIRE(drafts.size() == 3);
  CHECK(drafted(drafts) == "a@1 -gone ");
  CHECK(std::holds_alternative<SourceSynced>(drafts.back().fact));
}

}  // namespace
}  // namespace fairlead
