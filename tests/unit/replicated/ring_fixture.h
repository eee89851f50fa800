// Shared by the tests of the ring: engines with a local copy, on servers in memory.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/commit.h"
#include "engine/log/pack.h"
#include "engine/log/replicated/ring.h"
#include "tests/support/memory_commit_store.h"
#include "tests/unit/schema/samples/sample_events.h"

namespace fairlead {

inline constexpr const char* kTestLog = "0123456789abcdef0123456789abcdef";

/// A log's end with what only its packs know.
struct LocalCopy {
  RingPlace place{kTestLog, 4, 0, 0, Seq{}, Digest{}};
  std::vector<RingCommit> commits;

  /// Makes the commit that comes next; `mark` makes it another one than a rival's.
  RingCommit next_commit(int mark, int count = 1) const {
    std::vector<EventDraft> drafts;
    for (int i = 0; i < count; ++i) drafts.push_back(samples::node_draft(mark + i));
    const LogTail tail{place.last, LogTime{static_cast<std::int64_t>(place.next)}, place.chain};
    const auto made =
        make_commit(tail, drafts, LogTime{static_cast<std::int64_t>(place.next) + 1}, Epoch{1});
    REQUIRE(made.has_value());
    const PackHeader header = header_of(*made);
    return {place.log, place.slots, place.next, header.first, header.count, pack(*made)};
  }
  void add(const RingCommit& commit, StoreVersion version) {
    const auto header = read_pack_header(commit.pack);
    REQUIRE(header.has_value());
    REQUIRE(header->previous == place.chain);
    REQUIRE(commit.commit == place.next);
    place.last = header->last();
    place.chain = header->digest;
    place.version = version;
    ++place.next;
    commits.push_back(commit);
  }
};

/// An engine: a ring with its owner.
struct RingEngine {
  MemoryCommitStore store;
  LocalCopy local;
  std::unique_ptr<Ring> ring;
  std::optional<RingCommit> under_way;
  std::size_t pruned = 0;  ///< commits that are no longer kept
  int ends = 0;
  int stores = 0;
  int fences = 0;
  std::optional<std::uint64_t> behind;
  std::optional<Error> stopped;
  std::vector<std::string> said;
  std::function<void(const RingCommit&)> at_stored, at_learned;

  explicit RingEngine(MemoryRing& servers, std::uint32_t slots = 4) : store(servers) {
    local.place.slots = slots;
    begin();
  }
  /// Begins anew from the local copy, as after a start.
  void begin() {
    under_way.reset();
    behind.reset();
    RingEvents events;
    events.learned = [this](const RingCommit& commit, StoreVersion version) {
      behind.reset();  // it was put back
      local.add(commit, version);
      if (at_learned) at_learned(commit);
    };
    events.reached_end = [this] { ++ends; };
    events.stored = [this] {
      ++stores;
      const RingCommit commit = *std::exchange(under_way, std::nullopt);
      local.add(commit, ring->place().version);
      if (at_stored) at_stored(commit);
    };
    events.fenced = [this] {
      ++fences;
      under_way.reset();
    };
    events.behind = [this](std::uint64_t oldest) { behind = oldest; };
    events.stopped = [this](Error error) {
      under_way.reset();
      stopped = std::move(error);
    };
    events.kept = [this](std::uint64_t commit) -> std::optional<RingCommit> {
      if (commit < pruned || commit >= local.commits.size()) return std::nullopt;
      return local.commits[commit];
    };
    events.say = [this](std::string line) { said.push_back(std::move(line)); };
    ring = std::make_unique<Ring>(store, local.place, std::move(events));
  }
  void append(int mark, int count = 1) {
    under_way = local.next_commit(mark, count);
    ring->append(under_way->first, under_way->count, under_way->pack);
  }
};

/// Servers, made for a test.
struct RingWorld {
  model::VirtualTime time{LogTime{}};
  MemoryRing servers;

  explicit RingWorld(std::uint32_t slots = 4, std::uint64_t seed = 1) : servers(time, seed) {
    servers.make(kTestLog, slots);
  }
  void run(Duration span) { time.advance_to(time.now() + span); }
  /// Runs until `holds`, at most two minutes.
  template <class Holds>
  bool run_until(const Holds& holds) {
    const LogTime until = time.now() + minutes(2);
    while (!holds() && time.next_due() <= until) time.advance_to(time.next_due());
    return holds();
  }
  /// Appends and requires that it is stored.
  void append(RingEngine& engine, int mark) {
    const int before = engine.stores;
    engine.append(mark);
    REQUIRE(run_until([&] { return engine.stores > before; }));
  }
  void append_many(RingEngine& engine, int count) {
    for (int i = 0; i < count; ++i) append(engine, i);
  }
  /// Gives `to` the local copy of `from`, as an export does.
  static void copy(const RingEngine& from, RingEngine& to) {
    to.local = from.local;
    to.begin();
  }
  /// Follows to the end.
  void catch_up(RingEngine& engine) {
    const int before = engine.ends;
    engine.ring->follow();
    engine.ring->read_on();
    REQUIRE(run_until([&] { return engine.ends > before; }));
  }
  const RingSlot& slot(std::uint32_t number) const { return servers.slots().at(number); }
};

}  // namespace fairlead
