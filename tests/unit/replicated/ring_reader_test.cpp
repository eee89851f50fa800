// What a follower takes up, and when it stops.
#include "tests/unit/replicated/ring_fixture.h"

namespace fairlead {
namespace {

TEST_CASE("A follower takes up each commit soon after it is stored") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.catch_up(follower);
  CHECK(follower.ends == 1);
  for (int i = 0; i < 10; ++i) {
    world.append(leader, i);
    world.run(milliseconds(5));
    CHECK(follower.local.commits == leader.local.commits);
  }
  CHECK(follower.ring->place() == leader.ring->place());
  // By its stream: it reads nothing but what it asked for at its start.
  CHECK(follower.store.reads <= 2);
  CHECK(follower.store.lists == 1);
}

TEST_CASE("A follower reads what was written while it was away") {
  RingWorld world(64);
  RingEngine leader(world.servers, 64);
  world.append_many(leader, 50);
  RingEngine follower(world.servers, 64);
  world.catch_up(follower);
  CHECK(follower.local.commits == leader.local.commits);
  world.append(leader, 50);
  follower.begin();
  world.catch_up(follower);
  CHECK(follower.local.commits == leader.local.commits);
}

TEST_CASE("To read on is to read from then on") {
  RingWorld world(64);
  RingEngine leader(world.servers, 64);
  RingEngine follower(world.servers, 64);
  world.catch_up(follower);
  world.servers.faults.follow_late = 1000;  // nothing comes by the stream
  world.servers.faults.latest = hours(1);
  world.servers.stored = [&](const RingSlot&) { follower.ring->read_on(); };
  for (int i = 0; i < 60; ++i) {
    leader.append(i);
    // A reading that is under way when the commit is stored may have passed its slot.
    world.run({i * 20'000});
    follower.ring->read_on();
    world.run(milliseconds(20));
    CHECK(follower.local.commits == leader.local.commits);
  }
  CHECK(leader.stores == 60);
}

TEST_CASE("Each call to read on has its end") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.catch_up(follower);
  const int ends = follower.ends;
  for (int i = 0; i < 3; ++i) {
    follower.ring->read_on();
    world.append(leader, i);
    follower.ring->read_on();
    REQUIRE(world.run_until([&] { return follower.ends == ends + 2 * (i + 1); }));
  }
}

TEST_CASE("What a stream does costs time only") {
  RingWorld world(8, 7);
  RingEngine leader(world.servers, 8);
  RingEngine follower(world.servers, 8);
  MemoryRingFaults& faults = world.servers.faults;
  SECTION("late") { faults.follow_late = 300; }
  SECTION("again and again") { faults.follow_again = 1000; }
  SECTION("with gaps") {
    faults.follow_late = 500;
    faults.follow_skipped = 1000;
  }
  SECTION("cut") { faults.follow_cut = 500; }
  SECTION("too old") { faults.follow_gone = 500; }
  SECTION("lists from an old cache") {
    faults.old_list = 900;
    faults.follow_gone = 500;
  }
  SECTION("reads that fail") {
    faults.failed_read = 500;
    faults.follow_cut = 300;
  }
  faults.latest = seconds(2);
  world.catch_up(follower);
  for (int i = 0; i < 60; ++i) {
    world.append(leader, i);
    if (i % 5 == 4) world.run(seconds(3));
  }
  REQUIRE(world.run_until(
      [&] { return follower.local.commits.size() == 60 || follower.behind.has_value(); }));
  CHECK_FALSE(follower.behind);
  CHECK_FALSE(follower.stopped);
  CHECK(follower.local.commits == leader.local.commits);
  CHECK(follower.ring->counters().went_back == 0);
}

TEST_CASE("A follower whose stream is too old to go on lists again") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.catch_up(follower);
  world.servers.cut(ErrorCode::unavailable);
  world.run(milliseconds(2));
  for (int i = 0; i < 3; ++i) world.servers.edit(world.slot(3).commit);
  world.servers.compact();
  world.run(seconds(5));
  CHECK(follower.store.lists == 2);
  world.append(leader, 0);
  world.run(milliseconds(5));
  CHECK(follower.local.commits == leader.local.commits);
}

TEST_CASE("A follower that is behind the window says so, and reads little more") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.append_many(leader, 2);
  world.catch_up(follower);
  follower.ring->give_up();
  for (int i = 2; i < 9; ++i) world.append(leader, i);
  follower.ring->follow();
  REQUIRE(world.run_until([&] { return follower.behind.has_value(); }));
  CHECK(*follower.behind <= 5);  // 5, 6, 7 and 8 are in the ring
  CHECK(*follower.behind > 2);
  const auto reads = follower.store.reads;
  world.run(minutes(1));
  CHECK(follower.store.reads <= reads + 60);
  world.copy(leader, follower);
  world.catch_up(follower);
  world.append(leader, 9);
  world.run(seconds(1));
  CHECK(follower.local.commits == leader.local.commits);
}

TEST_CASE("A commit that is missing between others is no end") {
  RingWorld world(8);
  RingEngine leader(world.servers, 8);
  RingEngine follower(world.servers, 8);
  world.append_many(leader, 6);
  const bool deleted = GENERATE(true, false);
  if (deleted)
    world.servers.erase(3);
  else
    world.servers.edit({kTestLog, 8, 3, Seq{}, 0, {}});
  follower.ring->follow();
  follower.ring->read_on();
  REQUIRE(world.run_until([&] { return follower.behind.has_value(); }));
  CHECK(*follower.behind == 4);
  CHECK(follower.local.commits.size() == 3);
  CHECK(follower.ends == 0);
  // Another one puts it back.
  world.servers.edit(leader.local.commits[3]);
  REQUIRE(world.run_until([&] { return follower.ends == 1; }));
  CHECK(follower.local.commits == leader.local.commits);
}

TEST_CASE("A list of what was there before a restore is no end either") {
  RingWorld world(8);
  RingEngine leader(world.servers, 8);
  world.append_many(leader, 3);
  const MemoryRing::Saved saved = world.servers.save();
  world.append_many(leader, 3);
  world.servers.faults.latest = minutes(1);
  world.servers.restore(saved, 0);
  RingEngine follower(world.servers, 8);
  world.catch_up(follower);  // the list shows six commits
  CHECK(follower.local.commits.size() == 3);
  CHECK_FALSE(follower.behind);
}

TEST_CASE("A follower sees that the store went back, and goes on when all is put back") {
  const auto jump = GENERATE(StoreVersion{0}, StoreVersion{1000});
  RingWorld world(8);
  RingEngine leader(world.servers, 8);
  RingEngine follower(world.servers, 8);
  world.catch_up(follower);
  world.append_many(leader, 4);
  const MemoryRing::Saved saved = world.servers.save();
  world.append_many(leader, 3);
  world.run(seconds(1));
  REQUIRE(follower.local.commits.size() == 7);
  world.servers.restore(saved, jump);
  world.run(seconds(45));
  CHECK(follower.ring->counters().went_back == 1);
  CHECK_FALSE(follower.stopped);
  world.append_many(leader, 4);
  REQUIRE(world.run_until([&] { return follower.local.commits.size() == 11; }));
  CHECK(follower.local.commits == leader.local.commits);
  CHECK_FALSE(follower.stopped);
  CHECK(follower.ring->counters().went_back == 1);
}

TEST_CASE("A follower goes on in a history that its stream is silent about") {
  RingWorld world(8);
  RingEngine leader(world.servers, 8);
  RingEngine follower(world.servers, 8);
  world.append_many(leader, 2);
  const MemoryRing::Saved saved = world.servers.save();
  for (int i = 0; i < 200; ++i) world.servers.edit({kTestLog, 8, 7, Seq{}, 0, {}});
  world.catch_up(follower);
  world.servers.restore(saved, 0);  // versions are given again; the stream is of the future
  world.run(minutes(1));
  world.append_many(leader, 5);
  REQUIRE(world.run_until([&] { return follower.local.commits.size() == 7; }));
  // From then on its stream is of this history.
  world.run(seconds(5));
  world.append(leader, 9);
  world.run(milliseconds(5));
  CHECK(follower.local.commits == leader.local.commits);
}

/// Makes a pack one of a newer schema, with the check that it then has.
void make_newer(RingCommit& commit) {
  std::string& pack = commit.pack;
  pack[4] = 0x7f;
  const std::string_view parts[] = {std::string_view(pack).substr(0, 104),
                                    std::string_view(pack).substr(kPackHeaderBytes)};
  const Digest digest = sha256(parts);
  for (std::size_t i = 0; i < 8; ++i) pack[104 + i] = static_cast<char>(digest.bytes[i]);
}

TEST_CASE("Damage, another log and another history stop a follower") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.append_many(leader, 2);
  world.catch_up(follower);
  RingCommit next = leader.local.next_commit(2);
  ErrorCode code = ErrorCode::corrupt;
  SECTION("a pack that does not read") { next.pack[next.pack.size() - 1] ^= 1; }
  SECTION("another log") { next.log.back() = '0'; }
  SECTION("another history") {
    next = LocalCopy{}.next_commit(50);
    next.commit = 2;
  }
  SECTION("another chain of the same seqs") {
    LocalCopy rival;
    rival.add(rival.next_commit(60), 0);
    rival.add(rival.next_commit(61), 0);
    next = rival.next_commit(62);
  }
  SECTION("other seqs than the pack has") { next.first = Seq{9}; }
  SECTION("another count than the pack has") { ++next.count; }
  SECTION("a known commit is another one") { next = LocalCopy{}.next_commit(51); }
  SECTION("the last known commit is another one at the start") {
    next = LocalCopy{}.next_commit(51);
    next.commit = 1;
    follower.begin();
    follower.ring->follow();
  }
  SECTION("a newer program's pack") {
    make_newer(next);
    code = ErrorCode::incompatible;
  }
  SECTION("a newer program's pack in its slot at the start") {
    make_newer(next);
    code = ErrorCode::incompatible;
    follower.begin();
    follower.ring->follow();
  }
  world.servers.edit(next);
  const MemoryRing::Slots before = world.servers.slots();
  REQUIRE(world.run_until([&] { return follower.stopped.has_value(); }));
  CHECK(follower.stopped->code == code);
  CHECK_THAT(follower.stopped->message, Catch::Contains("commit " + std::to_string(next.commit)));
  follower.ring->follow();
  follower.ring->read_on();
  world.run(minutes(1));
  CHECK(world.servers.slots() == before);
  CHECK(follower.local.commits.size() == 2);
}

// What a broken server makes of a slot.
using Lie = std::function<void(Result<std::optional<RingSlot>>&)>;
std::vector<Lie> lies_of_a_server() {
  const auto of_slot = [](std::function<void(RingSlot&)> change) -> Lie {
    return [change = std::move(change)](Result<std::optional<RingSlot>>& found) {
      if (found && *found) change(**found);
    };
  };
  return {of_slot([](RingSlot& slot) {
            if (!slot.commit.pack.empty()) slot.commit.pack[9] ^= 1;
          }),
          of_slot([](RingSlot& slot) { slot.commit.log.back() = '0'; }),
          of_slot([](RingSlot& slot) {
            LocalCopy other;
            while (other.place.next < slot.commit.commit) other.add(other.next_commit(70), 0);
            slot.commit = other.next_commit(70);
          }),
          of_slot([](RingSlot& slot) { slot = {{kTestLog, 4, slot.commit.slot(), {}, 0, {}}, 1}; }),
          [](Result<std::optional<RingSlot>>& found) {
            found = Error{ErrorCode::corrupt, "the value is not JSON"};
          }};
}

TEST_CASE("What one server gives wrongly is read again through another before it is a verdict") {
  for (const Lie& lie : lies_of_a_server()) {
    for (const bool follows : {true, false}) {
      RingWorld world;
      RingEngine engine(world.servers);
      RingEngine rival(world.servers);
      world.append_many(rival, 3);
      world.catch_up(engine);
      world.append_many(rival, 3);
      REQUIRE(world.run_until([&] { return engine.local.commits.size() == 6; }));
      engine.store.first_server = lie;
      if (follows) {
        engine.ring->follow();
        world.append(rival, 8);
        REQUIRE(world.run_until([&] { return engine.local.commits.size() == 7; }));
      } else {
        world.run(seconds(3));  // so that the commit before is read first
        world.append(engine, 8);
      }
      world.run(seconds(30));
      CHECK_FALSE(engine.stopped);
      CHECK(engine.ring->counters().went_back + engine.ring->counters().foreign == 0);
      CHECK(engine.ring->trouble() == "");
      CHECK_FALSE(engine.said.empty());
    }
  }
}

TEST_CASE("Slots of known commits that are touched or deleted do not disturb a follower") {
  RingWorld world;
  RingEngine leader(world.servers);
  RingEngine follower(world.servers);
  world.append_many(leader, 3);
  world.catch_up(follower);
  world.servers.edit(world.slot(1).commit);
  RingCommit damaged = world.slot(0).commit;
  damaged.pack[100] ^= 1;
  world.servers.edit(damaged);
  world.servers.erase(2);
  world.run(seconds(25));
  CHECK_FALSE(follower.stopped);
  world.append_many(leader, 5);
  REQUIRE(world.run_until([&] { return follower.local.commits.size() == 8; }));
  CHECK(follower.local.commits == leader.local.commits);
  // Who follows knows the version that each slot has: it replaces what it saw.
  follower.ring->read_on();
  REQUIRE(world.run_until([&] { return follower.ends == 2; }));
  world.append(follower, 100);
  CHECK(follower.ring->counters().foreign == 0);
}

TEST_CASE("A quiet follower asks little, and says what keeps it") {
  RingWorld world;
  RingEngine follower(world.servers);
  world.catch_up(follower);
  const auto reads = follower.store.reads;
  world.run(minutes(1));
  CHECK(follower.store.reads - reads <= 12);
  CHECK(follower.ring->trouble().empty());
  world.servers.down = true;
  world.servers.cut(ErrorCode::unavailable);
  world.run(seconds(30));
  CHECK_FALSE(follower.ring->trouble().empty());
  world.servers.down = false;
  world.run(seconds(10));
  CHECK(follower.ring->trouble().empty());
}

TEST_CASE("Ten thousand slots are read in order, with few packs in memory") {
  constexpr std::uint32_t kSlots = 10'000;
  RingWorld world(kSlots);
  RingEngine leader(world.servers, kSlots);
  const LogTime begin = world.time.now();
  world.append_many(leader, 10'500);
  const Duration written = world.time.now() - begin;
  RingEngine follower(world.servers, kSlots);
  for (std::size_t commit = 0; commit < 600; ++commit)
    follower.local.add(leader.local.commits[commit], 0);
  follower.begin();
  const LogTime started = world.time.now();
  world.catch_up(follower);
  CHECK(follower.local.place.next == 10'500);
  CHECK(follower.store.reads < 9'950);
  CHECK(follower.store.most_reads_open <= 16);
  // Sixteen at a time: the way of a read is most of its time.
  CHECK((world.time.now() - started).ns * 5 < written.ns);
}

}  // namespace
}  // namespace fairlead
