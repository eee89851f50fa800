#include "engine/core/core.h"

#include <set>

#include "engine/fold/evolve.h"
#include "tests/unit/core/hand_driver.h"

namespace fairlead {
namespace {

TEST_CASE("a request is given out when its intent is stored, not before") {
  OfferedWorld driver;
  Ready waiting = driver.append_all(Durability::pending);
  CHECK(waiting.send.empty());
  CHECK_FALSE(waiting.idle());
  CHECK(waiting.flush == driver.log.back().seq);
  std::vector<Seq> intents;
  for (const Event& event : driver.log)
    if (std::holds_alternative<PatchIntended>(event.fact)) intents.push_back(event.seq);
  REQUIRE(intents.size() >= 2);

  driver.core.durable(Seq{intents.front().value - 1});
  CHECK(driver.ready().send.empty());
  driver.core.durable(intents.front());
  const Ready first = driver.ready();
  REQUIRE(first.send.size() == 1);
  CHECK(first.send.front().intent == intents.front());
  CHECK_FALSE(first.idle());  // the others still wait
  driver.core.durable(driver.log.back().seq);
  const Ready rest = driver.ready();
  CHECK(rest.send.size() == driver.core.under_way() - 1);
  CHECK(rest.idle());
  CHECK(driver.ready().send.empty());
}

// State may come from a snapshot, or from a process that died before it planned.
TEST_CASE("planning that begins plans everything, and planning that goes on what changed") {
  Core core({});
  core.set_planning(Planning::on);
  CHECK(core.dirty().everything);
  Core paused({.planning = Planning::paused});
  paused.set_planning(Planning::on);
  CHECK_FALSE(paused.dirty().everything);
}

TEST_CASE("a recommendation and a notice wait for what they follow from") {
  SECTION("a recommendation") {
    OfferedWorld driver({.mode = WriteMode::recommend});
    CHECK(driver.append_all(Durability::pending).recommendations.empty());
    driver.core.durable(driver.log.back().seq);
    CHECK_FALSE(driver.ready().recommendations.empty());
    CHECK(driver.count<PatchIntended>() == 0);
  }
  SECTION("a notice") {
    OfferedWorld driver;
    driver.settle();
    for (const char* name : {"spot-0", "spot-1", "spot-2"})
      driver.core.offer(driver.world.member.remove(SmallWorld::node(name)));
    std::size_t notices = 0;
    for (int i = 0; i < 10; ++i) {
      Ready next = driver.append_all(Durability::pending);
      CHECK(next.notices.empty());
      while (!next.idle()) {
        driver.core.durable(next.flush);
        next = driver.append_all(Durability::durable);
        notices += next.notices.size();
        for (const WriteRequest& request : next.send) driver.carry_out(request);
      }
    }
    CHECK(notices > 0);
  }
}

TEST_CASE("what is appended after a closed moment is strictly later") {
  OfferedWorld driver;
  driver.settle();  // the clock does not move
  CHECK(driver.count<PatchIntended>() >= 3);
  for (std::size_t i = 1; i < driver.log.size(); ++i) {
    const bool intent = std::holds_alternative<PatchIntended>(driver.log[i].fact);
    const bool before = std::holds_alternative<PatchIntended>(driver.log[i - 1].fact);
    INFO(i);
    if (intent && !before) CHECK(driver.log[i].log_time > driver.log[i - 1].log_time);
  }
  // A fold of the log closes the same moments.
  State again;
  DirtySet dirty;
  for (const Event& event : driver.log) evolve(again, event, dirty);
  close_moment(again, dirty);
  CHECK((again == driver.core.state()));
}

TEST_CASE("a turn has a bounded number of rounds, and the next one goes on") {
  OfferedWorld driver({.rounds_max = 1});
  const Ready first = driver.turn();
  CHECK(driver.closed == 1);
  CHECK_FALSE(first.send.empty());
  CHECK(first.next_deadline == LogTime{});  // at once: the moment of the intents is open
  const Ready second = driver.turn();
  CHECK(driver.closed == 2);
  CHECK(second.next_deadline > LogTime{});
}

TEST_CASE("timers that are due closer together than the gap share an event") {
  OfferedWorld driver({.timer_gap = hours(1)});
  Configuration slow = driver.world.configuration;
  slow.debounce.first_quiet = seconds(5);
  slow.debounce.grow_window = seconds(60);
  REQUIRE(driver.core.configure(slow));
  driver.turn();
  const LogTime due = driver.core.state().deadlines.next();
  REQUIRE(due != kForever);
  CHECK(driver.core.next_deadline() == due);
  driver.now = due;
  driver.turn();
  CHECK(driver.count<TimerFired>() == 1);
  driver.core.offer(driver.world.add_node("spot-5", "spot"));  // growth waits for its window
  driver.turn();
  const LogTime again = driver.core.state().deadlines.next();
  REQUIRE(again < due + hours(1));
  CHECK(driver.core.next_deadline() == due + hours(1));
  driver.now = again;
  driver.turn();
  CHECK(driver.count<TimerFired>() == 1);
  driver.now = due + hours(1);
  driver.turn();
  CHECK(driver.count<TimerFired>() == 2);
}

TEST_CASE("after an append that failed late nothing is given out") {
  OfferedWorld driver;
  const Ready waiting = driver.append_all(Durability::pending);
  CHECK(waiting.flush != Seq{});
  CHECK(driver.core.under_way() > 0);
  driver.core.failed();
  driver.core.durable(driver.log.back().seq);
  driver.core.offer(driver.world.member.remove(SmallWorld::node("spot-3")));
  const Ready after = driver.ready();
  CHECK(after.idle());
  CHECK(after.send.empty());
  CHECK(after.next_deadline == kForever);
  CHECK(driver.core.next_deadline() == kForever);
}

TEST_CASE(
    "in a burst drafts follow drafts before any is stored, and at its end all is waited for") {
  OfferedWorld driver;
  driver.settle();
  const Seq before = driver.log.back().seq;
  for (const char* name : {"a", "b", "c"}) {
    driver.core.offer(driver.world.member.put(SmallWorld::node(name), NodeFacts{}));
    Ready next = driver.ready(Input::more_pending);
    REQUIRE(next.append.drafts.size() == 1);
    CHECK(next.append.durability == Durability::pending);
    driver.core.appended(driver.stored(std::move(next.append)), Durability::pending);
    CHECK(driver.ready(Input::more_pending).idle());  // nothing waits for the disk
  }
  CHECK(driver.log.back().seq.value == before.value + 3);
  const int closed = driver.closed;
  CHECK(driver.append_all(Durability::pending).flush == driver.log.back().seq);
  CHECK(driver.closed == closed + 1);
  driver.core.durable(driver.log.back().seq);
  CHECK(driver.ready().idle());
}

TEST_CASE("while an append is out, input queues and nothing is asked for") {
  OfferedWorld driver;
  driver.settle();
  driver.core.offer(driver.world.member.remove(SmallWorld::node("spot-3")));
  Ready out = driver.ready();
  REQUIRE(out.append.drafts.size() == 1);
  driver.core.offer(driver.world.member.remove(SmallWorld::node("spot-4")));
  CHECK(driver.ready().idle());
  CHECK(driver.core.next_deadline() == kForever);
  driver.core.appended(driver.stored(std::move(out.append)), Durability::durable);
  CHECK(driver.ready().append.origin == Origin::facts);
}

TEST_CASE("a long burst is planned before its end") {
  OfferedWorld driver({.unplanned_max = 3});
  driver.settle();
  driver.closed = 0;
  for (const char* name : {"a", "b"}) {
    driver.core.offer(driver.world.member.put(SmallWorld::node(name), NodeFacts{}));
    driver.append_all(Durability::durable, Input::more_pending);
  }
  CHECK(driver.closed == 0);
  driver.core.offer(driver.world.member.put(SmallWorld::node("c"), NodeFacts{}));
  driver.append_all(Durability::durable, Input::more_pending);
  CHECK(driver.closed == 1);
}

TEST_CASE("while facts wait for the log's pace what is stored is planned, however many come") {
  OfferedWorld driver;
  driver.settle();
  for (const char* name : {"a", "b"}) {
    driver.core.offer(driver.world.member.put(SmallWorld::node(name), NodeFacts{}));
    driver.append_all(Durability::durable, Input::more_pending);
    const int closed = driver.closed;
    const auto facts = driver.count<ObjectObserved>();
    driver.core.offer(driver.world.member.put(SmallWorld::node("later"), NodeFacts{}));
    const Ready paced = driver.turn(Input::paced);
    CHECK(driver.closed == closed + 1);
    CHECK(driver.count<ObjectObserved>() == facts);
    CHECK(paced.next_deadline == LogTime{});  // as soon as the log may be written
    CHECK(driver.ready(Input::held).idle());
  }
}

TEST_CASE("where commits are paced, outcomes go with the last answer or with facts") {
  OfferedWorld driver;
  const Ready sent = driver.append_all(Durability::durable);
  const std::size_t requests = sent.send.size();
  REQUIRE(requests >= 2);
  const auto answer = [&](const WriteRequest& request) {
    WriteAnswer made;
    made.intent = request.intent;
    made.result = WriteResult::unknown;
    driver.core.answer(std::move(made));
  };
  for (std::size_t i = 0; i + 1 < requests; ++i) answer(sent.send[i]);
  CHECK(driver.ready(Input::paced).append.drafts.empty());
  SECTION("the last answer") {
    answer(sent.send.back());
    CHECK(driver.ready(Input::paced).append.drafts.size() == requests);
  }
  SECTION("what follows from them is planned once the log may be written") {
    answer(sent.send.back());
    const int closed = driver.closed;
    CHECK(driver.turn(Input::paced).next_deadline == LogTime{});
    CHECK(driver.closed == closed);
    driver.turn(Input::complete);
    CHECK(driver.closed > closed);
  }
  SECTION("facts") {
    driver.core.offer(driver.world.member.put(SmallWorld::node("later"), NodeFacts{}));
    Ready facts = driver.ready();
    REQUIRE(facts.append.origin == Origin::facts);
    driver.core.appended(driver.stored(std::move(facts.append)), Durability::durable);
    const Ready next = driver.ready(Input::paced);
    CHECK(next.append.origin == Origin::outcomes);
    CHECK(next.append.drafts.size() == requests - 1);
  }
}

TEST_CASE("assumed answers are a part of the moment of their intents") {
  CoreSettings settings = in_virtual_time();
  settings.planning = Planning::off;
  OfferedWorld driver(settings);
  Ready next;
  while ((next = driver.ready()).append.origin != Origin::intents)
    if (!next.append.drafts.empty())
      driver.core.appended(driver.stored(std::move(next.append)), Durability::durable);
  const LogTime time = next.append.time;
  driver.core.appended(driver.stored(std::move(next.append)), Durability::durable);
  const Event intent = driver.log.back();
  const Ready held = driver.ready(Input::more_pending);
  CHECK(held.idle());
  CHECK(held.send.empty());
  driver.core.propose(PatchAccepted{intent.seq, 200, "u", "7"});
  Ready answer = driver.ready(Input::more_pending);
  CHECK(answer.append.origin == Origin::proposal);
  CHECK(answer.append.time == time);
  driver.core.appended(driver.stored(std::move(answer.append)), Durability::durable);
  CHECK(driver.ready().closed);
}

TEST_CASE("paused moments close, and what is to be written waits") {
  OfferedWorld driver;
  driver.core.set_planning(Planning::paused);
  driver.turn();
  CHECK(driver.closed > 0);
  CHECK(driver.count<PatchIntended>() == 0);
  driver.core.set_planning(Planning::on);
  CHECK_FALSE(driver.turn().send.empty());
}

TEST_CASE("proposals come before all that was offered, facts before answers") {
  OfferedWorld driver;
  for (const WriteRequest& request : driver.turn().send) driver.carry_out(request);
  Configuration changed = driver.world.configuration;
  changed.writes.inflight_max = 3;
  REQUIRE(driver.core.configure(changed));
  std::vector<Origin> origins;
  for (Ready next = driver.ready(); !next.append.drafts.empty(); next = driver.ready()) {
    origins.push_back(next.append.origin);
    driver.core.appended(driver.stored(std::move(next.append)), Durability::durable);
  }
  REQUIRE(origins.size() >= 3);
  CHECK(origins[0] == Origin::proposal);
  CHECK(origins[1] == Origin::facts);
  CHECK(origins[2] == Origin::outcomes);
  CHECK_FALSE(driver.core.configure(changed));
}

TEST_CASE("at the end every write has an outcome, and nothing else is accepted") {
  OfferedWorld driver;
  driver.turn();
  const std::size_t open = driver.core.unsent() + driver.core.under_way();
  REQUIRE(open > 0);
  driver.core.wind_down();
  driver.core.offer(driver.world.member.remove(SmallWorld::node("spot-3")));
  driver.core.set_planning(Planning::on);
  driver.core.give_up("the test ended");
  const Ready done = driver.turn();
  CHECK(done.send.empty());
  CHECK(driver.count<PatchUnknown>() == open);
  CHECK(driver.count<ObjectGone>() == 0);
  CHECK(driver.core.under_way() == 0);
}

TEST_CASE("facts that are too large together are appended in halves, one alone is dropped") {
  HandDriver driver;
  SmallWorld world;
  driver.begin(world.configuration);
  const char* const names[] = {"a", "b", "large", "d", "e"};
  for (const char* name : names)
    driver.core.offer(world.member.put(SmallWorld::node(name), NodeFacts{}));
  const auto name_in = [](const EventDraft& draft) {
    return std::get<ObjectObserved>(draft.fact).key.name;
  };
  std::vector<std::string> logged, dropped;
  for (Ready next = driver.ready(); !next.append.drafts.empty(); next = driver.ready()) {
    REQUIRE(next.append.divisible);
    std::vector<std::string> batch;
    for (const EventDraft& draft : next.append.drafts) batch.push_back(name_in(draft));
    const bool too_large = batch.size() > 2 || batch.front() == "large" || batch.back() == "large";
    if (too_large) {
      if (const auto lost = driver.core.refused(std::move(next.append.drafts)))
        dropped.push_back(name_in(*lost));
      continue;
    }
    logged.insert(logged.end(), batch.begin(), batch.end());
    driver.core.appended(driver.stored(std::move(next.append)), Durability::durable);
  }
  CHECK(logged == std::vector<std::string>{"a", "b", "d", "e"});
  CHECK(dropped == std::vector<std::string>{"large"});
}

}  // namespace
}  // namespace fairlead
