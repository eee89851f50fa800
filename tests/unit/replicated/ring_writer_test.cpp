// What an append comes to, for each answer that a store can give.
#include "tests/unit/replicated/ring_fixture.h"

namespace fairlead {
namespace {

TEST_CASE("Commits go into their slots, lap after lap") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 11);
  CHECK(engine.ring->place() == engine.local.place);
  CHECK(engine.ring->place().next == 11);
  for (std::uint32_t number = 0; number < 4; ++number)
    CHECK(world.slot(number).commit == engine.local.commits[number < 3 ? 8 + number : 7]);
  CHECK(engine.ring->place().version == world.slot(2).version);
  CHECK(engine.ring->trouble().empty());
  // One write per commit; in the first lap each slot and the next one are read before it.
  CHECK(engine.store.writes == 11);
  CHECK(engine.store.reads == 8);
  CHECK(engine.store.lists == 0);
}

TEST_CASE("A commit whose answer was lost is not stored twice") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  const StoreVersion before = world.servers.version();
  SECTION("lost on the way") { world.servers.faults.lost_answer = 1000; }
  SECTION("an error after the effect") { world.servers.faults.error_after = 1000; }
  engine.append(6);
  world.run(milliseconds(3));
  world.servers.faults = {};
  REQUIRE(world.run_until([&] { return engine.stores == 7; }));
  CHECK(world.servers.version() == before + 1);
  CHECK(engine.ring->counters().unknown == 1);
  CHECK(engine.ring->counters().fenced == 0);
}

TEST_CASE("Only stored and conflict decide; the pauses double to a second") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 1);
  std::vector<std::int64_t> at;
  const auto answer = GENERATE(StoreAnswer{StoreResult::unknown, 0, "500 no space", {}},
                               StoreAnswer{StoreResult::refused, 0, "403 forbidden", {}});
  world.servers.answer_instead = [&] {
    at.push_back(world.time.now().ns / 1'000'000);
    return std::optional(answer);
  };
  engine.append(1);
  world.run(seconds(30));
  CHECK(engine.stores == 1);
  CHECK(engine.ring->trouble() == answer.why);
  REQUIRE(at.size() > 10);
  for (std::size_t i = 1; i < at.size(); ++i) {
    const std::int64_t pause = std::min<std::int64_t>(20 << (i - 1), 1000);
    CHECK(at[i] - at[i - 1] >= pause);
    CHECK(at[i] - at[i - 1] <= pause + 6);
    if (pause == 1000) break;
  }
  world.servers.answer_instead = nullptr;
  CHECK(world.run_until([&] { return engine.stores == 2; }));
  CHECK(engine.ring->trouble().empty());
}

TEST_CASE("Retry-After is obeyed") {
  RingWorld world;
  RingEngine engine(world.servers);
  std::vector<LogTime> at;
  world.servers.answer_instead = [&]() -> std::optional<StoreAnswer> {
    at.push_back(world.time.now());
    if (at.size() > 1) return std::nullopt;
    return StoreAnswer{StoreResult::unknown, 0, "429", seconds(7)};
  };
  world.append(engine, 0);
  REQUIRE(at.size() == 2);
  CHECK(at[1] - at[0] >= seconds(7));
  CHECK(at[1] - at[0] < seconds(8));
}

TEST_CASE("Another writer's commit fences, soon or laps later") {
  RingWorld world;
  RingEngine old(world.servers);
  RingEngine young(world.servers);
  world.append_many(old, 5);
  world.copy(old, young);
  world.catch_up(young);
  REQUIRE(young.local.commits == old.local.commits);
  const int ahead = GENERATE(1, 2, 4, 5, 9);
  for (int i = 0; i < ahead; ++i) world.append(young, 100 + i);
  const MemoryRing::Slots before = world.servers.slots();
  old.append(5);
  REQUIRE(world.run_until([&] { return old.fences == 1; }));
  world.run(minutes(1));
  CHECK(world.servers.slots() == before);
  CHECK(old.stores == 5);
  CHECK(old.ring->counters().fenced == 1);
  old.ring->follow();
  old.ring->read_on();
  if (ahead > 4) {
    REQUIRE(world.run_until([&] { return old.behind.has_value(); }));
    CHECK(*old.behind == static_cast<std::uint64_t>(ahead == 9 ? 10 : 6));
  } else {
    REQUIRE(world.run_until([&] { return old.ends == 1; }));
    CHECK(old.local.commits == young.local.commits);
  }
}

TEST_CASE("A request that arrives a lap late replaces nothing") {
  RingWorld world;
  RingEngine old(world.servers);
  RingEngine young(world.servers);
  world.append_many(old, 5);
  world.copy(old, young);
  world.catch_up(young);
  world.servers.faults.late_request = 1000;
  world.servers.faults.latest = minutes(1);
  old.append(5);
  world.run(milliseconds(10));
  old.ring->give_up();
  world.servers.faults = {};
  for (int i = 0; i < 5; ++i) world.append(young, 100 + i);
  const MemoryRing::Slots before = world.servers.slots();
  world.run(minutes(2));
  CHECK(world.servers.slots() == before);
}

TEST_CASE("What was given up is learned, if it was stored") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 2);
  world.servers.faults.late_request = 1000;
  engine.append(2);
  const RingCommit sent = *engine.under_way;
  world.run(milliseconds(10));
  engine.ring->give_up();
  world.servers.faults = {};
  world.catch_up(engine);
  CHECK(engine.ring->place().next == 2);
  REQUIRE(world.run_until([&] { return engine.local.place.next == 3; }));
  CHECK(engine.local.commits.back() == sent);
  CHECK(engine.stores == 2);
}

TEST_CASE("A known commit that was touched by hand is written over") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  RingCommit edited = world.slot(2).commit;
  SECTION("the same text") {}
  SECTION("another pack") { edited.pack[20] ^= 1; }
  SECTION("another count") { edited.count = 9; }
  SECTION("emptied") { edited = {kTestLog, 4, 2, Seq{}, 0, {}}; }
  world.servers.edit(edited);
  world.append(engine, 6);
  CHECK(world.slot(2).commit == engine.local.commits[6]);
  CHECK_FALSE(engine.stopped);
  if (!edited.pack.empty()) CHECK(engine.ring->counters().foreign == 1);
}

TEST_CASE("A slot that was deleted is made again with what was in it") {
  RingWorld world;
  RingEngine engine(world.servers);
  const int laps = GENERATE(2, 6);
  world.append_many(engine, laps);
  std::vector<RingCommit> written;
  world.servers.stored = [&](const RingSlot& slot) { written.push_back(slot.commit); };
  world.servers.erase(2);
  world.append(engine, 6);
  CHECK(engine.ring->counters().foreign == 1);
  REQUIRE(written.size() == 2);
  if (laps == 6) CHECK(written[0] == engine.local.commits[2]);
  if (laps == 2) CHECK(written[0].pack.empty());
  CHECK(written[1] == engine.local.commits.back());
}

TEST_CASE("The commit before is put back if it was deleted") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  world.servers.erase(1);
  world.run(seconds(3));  // longer than a writer trusts what it last heard
  world.append(engine, 6);
  CHECK(world.slot(1).commit == engine.local.commits[5]);
  CHECK(engine.ring->counters().foreign == 1);
  CHECK(engine.ring->counters().went_back == 0);
}

TEST_CASE("A writer does not fill what was emptied behind another one") {
  RingWorld world(8);
  RingEngine old(world.servers, 8);
  RingEngine young(world.servers, 8);
  const bool deleted = GENERATE(true, false);
  const int laps = GENERATE(3, 11);
  CAPTURE(deleted, laps);
  world.append_many(old, laps);
  world.copy(old, young);
  world.catch_up(young);
  world.append(young, 100);
  world.append(young, 101);
  // Commit 3 or 11, which only the young one knows.
  if (deleted)
    world.servers.erase(3);
  else
    world.servers.edit({kTestLog, 8, 3, Seq{}, 0, {}});
  const MemoryRing::Slots before = world.servers.slots();
  old.append(5);
  REQUIRE(world.run_until([&] { return old.fences == 1; }));
  CHECK(world.servers.slots() == before);
  old.ring->follow();
  REQUIRE(world.run_until([&] { return old.behind.has_value(); }));
  CHECK(*old.behind == static_cast<std::uint64_t>(laps + 1));
}

TEST_CASE("A writer that makes a slot again looks whether others have done so, and gone on") {
  RingWorld world(8);
  RingEngine old(world.servers, 8);
  RingEngine young(world.servers, 8);
  world.append_many(old, 5);
  world.copy(old, young);
  world.catch_up(young);
  world.servers.erase(5);
  const auto reads = old.store.reads;
  old.append(5);
  // The slot, the one ahead and the one before; then it is about to make the slot.
  REQUIRE(world.run_until([&] { return old.store.reads == reads + 3; }));
  old.store.pause();
  world.append(young, 100);
  world.append(young, 101);
  world.servers.erase(5);
  old.store.resume();
  REQUIRE(world.run_until([&] { return old.fences == 1; }));
  CHECK(old.stores == 5);
}

TEST_CASE("Nothing is sent after a commit was given up") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 2);
  world.servers.full = true;
  engine.append(2);
  world.run(seconds(2));
  engine.ring->give_up();
  world.servers.full = false;
  const auto writes = engine.store.writes;
  world.run(minutes(1));
  CHECK(engine.store.writes == writes);
  CHECK(engine.stores == 2);
}

TEST_CASE("Without a ring there is no decision, and none is made") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  const MemoryRing::Saved saved = world.servers.save();
  for (std::uint32_t slot = 0; slot < 4; ++slot) world.servers.erase(slot);
  engine.append(6);
  world.run(minutes(1));
  CHECK(engine.stores == 6);
  CHECK(world.servers.slots().empty());
  CHECK_THAT(engine.ring->trouble(), Catch::Contains("not there"));
  world.servers.restore(saved, 100);
  CHECK(world.run_until([&] { return engine.stores == 7; }));
}

TEST_CASE("After the store went back the missing commits are put back") {
  const auto jump = GENERATE(StoreVersion{0}, StoreVersion{1000});
  const int kept = GENERATE(1, 6, 9, 10);  // commits at the time of the copy
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, kept);
  const MemoryRing::Saved saved = world.servers.save();
  for (int i = kept; i < 10; ++i) world.append(engine, i);
  bool under_way = GENERATE(true, false);
  CAPTURE(jump, kept, under_way);
  if (under_way) {
    world.servers.down = true;
    engine.append(10);
    world.run(seconds(1));
    world.servers.restore(saved, jump);
    world.servers.down = false;
  } else {
    world.servers.restore(saved, jump);
    world.run(seconds(3));
    engine.append(10);
  }
  REQUIRE(world.run_until([&] { return engine.stores == 11; }));
  CHECK_FALSE(engine.stopped);
  CHECK(engine.ring->counters().went_back == (kept == 10 ? 0 : 1));
  for (std::uint64_t commit = 7; commit < 11; ++commit)
    CHECK(world.slot(commit % 4).commit == engine.local.commits[commit]);
  // In their order: who reads on sees versions that rise.
  for (std::uint64_t commit = 8; commit < 11; ++commit)
    CHECK(world.slot(commit % 4).version > world.slot((commit - 1) % 4).version);
  RingEngine reader(world.servers);
  for (std::size_t commit = 0; commit < 7; ++commit)
    reader.local.add(engine.local.commits[commit], 0);
  reader.begin();
  world.catch_up(reader);
  CHECK(reader.local.commits == engine.local.commits);
}

TEST_CASE("A writer that stood still while the store went back leaves no hole before its commit") {
  const auto jump = GENERATE(StoreVersion{0}, StoreVersion{1000});
  CAPTURE(jump);
  RingWorld world(8);
  RingEngine engine(world.servers, 8);
  RingEngine reader(world.servers, 8);
  world.append_many(engine, 3);
  const MemoryRing::Saved saved = world.servers.save();
  for (int i = 3; i < 6; ++i) world.append(engine, i);
  world.servers.faults.latest = {};  // lists are of what there is
  // Before the request arrives. Its slot was not used yet, and has the version that is named.
  world.servers.answer_instead = [&]() -> std::optional<StoreAnswer> {
    if (engine.store.paused()) return std::nullopt;
    engine.store.pause();
    world.servers.restore(saved, jump);
    return std::nullopt;
  };
  engine.append(6);
  world.run(seconds(5));
  REQUIRE_FALSE(world.slot(6).commit.pack.empty());
  REQUIRE(world.slot(5).commit.pack.empty());
  reader.ring->follow();
  reader.ring->read_on();
  world.run(seconds(5));
  CHECK(reader.behind == 4);
  world.servers.answer_instead = nullptr;
  engine.store.resume();
  REQUIRE(world.run_until([&] { return engine.stores == 7 && reader.ends == 1; }));
  CHECK(engine.ring->counters().went_back == 1);
  for (std::uint64_t commit = 1; commit < 7; ++commit)
    CHECK(world.slot(static_cast<std::uint32_t>(commit)).version >
          world.slot(static_cast<std::uint32_t>(commit - 1)).version);
  CHECK(reader.local.commits == engine.local.commits);
}

TEST_CASE(
    "A hole that a writer left which stood still and lost the Lease is filled by the next one") {
  RingWorld world(8);
  RingEngine old(world.servers, 8);
  RingEngine next(world.servers, 8);
  RingEngine reader(world.servers, 8);
  world.append_many(old, 3);
  const MemoryRing::Saved saved = world.servers.save();
  for (int i = 3; i < 6; ++i) world.append(old, i);
  world.catch_up(next);
  world.servers.faults.latest = {};
  world.servers.answer_instead = [&]() -> std::optional<StoreAnswer> {
    if (!old.store.paused()) world.servers.restore(saved, 1000);
    old.store.pause();
    return std::nullopt;
  };
  old.append(6);
  world.run(seconds(5));
  world.servers.answer_instead = nullptr;
  const bool is_first = GENERATE(true, false);
  CAPTURE(is_first);
  if (is_first) {
    world.catch_up(next);  // it knows commit 6, too
    world.append(next, 7);
  } else {
    old.under_way.reset();
    old.ring->give_up();
    old.store.resume();
    world.catch_up(old);
    world.append(old, 7);
  }
  world.catch_up(reader);
  CHECK(reader.local.commits.size() == 8);
  CHECK(reader.local.commits == (is_first ? next : old).local.commits);
}

TEST_CASE("A version that is not above the one before does not count") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 7);
  const MemoryRing::Saved saved = world.servers.save();
  world.append(engine, 7);
  world.append(engine, 8);
  // At once: nothing but the version shows it. Commit 9 goes over commit 5, which is there.
  world.servers.restore(saved, 0);
  world.append(engine, 9);
  CHECK(engine.ring->counters().went_back == 1);
  for (std::uint64_t commit = 6; commit < 10; ++commit)
    CHECK(world.slot(commit % 4).commit == engine.local.commits[commit]);
}

TEST_CASE("What cannot be put back stops the writer") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  const MemoryRing::Saved saved = world.servers.save();
  world.append_many(engine, 3);
  world.servers.restore(saved, 0);
  engine.pruned = 8;
  engine.append(9);
  REQUIRE(world.run_until([&] { return engine.stopped.has_value(); }));
  CHECK_THAT(engine.stopped->message, Catch::Contains("commit 7"));
}

TEST_CASE("Another history or another log stops the writer, and nothing is touched") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 6);
  RingCommit foreign = world.slot(2).commit;
  std::string what;
  SECTION("another log") {
    foreign.log.back() = '0';
    what = "another log";
  }
  SECTION("a ring of another size") {
    foreign.slots = 3;
    what = "another log";
  }
  SECTION("another commit of the lap before") {
    foreign = LocalCopy{}.next_commit(77);
    foreign.commit = 2;
    what = "another history";
  }
  SECTION("this commit after another one") {
    foreign = LocalCopy{}.next_commit(77);
    foreign.commit = 6;
    what = "another history";
  }
  SECTION("this commit, and it does not read") {
    foreign = engine.local.next_commit(6);
    foreign.pack[120] ^= 1;
    what = "does not read";
  }
  world.servers.edit(foreign);
  const MemoryRing::Slots before = world.servers.slots();
  engine.append(6);
  REQUIRE(world.run_until([&] { return engine.stopped.has_value(); }));
  CHECK(engine.stopped->code == ErrorCode::corrupt);
  CHECK_THAT(engine.stopped->message, Catch::Contains(what) && Catch::Contains("commit 6"));
  engine.ring->follow();
  engine.ring->append(Seq{7}, 1, "x");
  world.run(minutes(1));
  CHECK(world.servers.slots() == before);
}

TEST_CASE("A conflict is settled by a read, never by a list") {
  RingWorld world;
  RingEngine old(world.servers);
  RingEngine young(world.servers);
  world.append_many(old, 5);
  old.store.list([](const auto&) {});  // fills the cache, which is served from now on
  world.run(seconds(1));
  world.servers.faults.old_list = 1000;
  world.copy(old, young);
  world.catch_up(young);
  world.append(young, 100);
  old.append(5);
  REQUIRE(world.run_until([&] { return old.fences == 1; }));
  CHECK(old.stores == 5);
}

TEST_CASE("No space, and space again") {
  RingWorld world;
  RingEngine engine(world.servers);
  world.append_many(engine, 5);
  world.servers.full = true;
  engine.append(5);
  world.run(minutes(1));
  CHECK(engine.stores == 5);
  CHECK_THAT(engine.ring->trouble(), Catch::Contains("space exceeded"));
  world.servers.full = false;
  CHECK(world.run_until([&] { return engine.stores == 6; }));
}

}  // namespace
}  // namespace fairlead
