// What every CommitStore does, whatever servers are behind it: memory, kube-apiserver, etcd.
//
//   TEST_CASE("The memory store keeps the contract of commit stores") {
//     StoreUnderTest under{store, [&] { time.run_next(); }, [&] { server.compact(); }};
//     check_commit_store_contract(under);
//   }
//
// One run in order, not sections: a real server is slow to begin anew. It begins and ends with a
// store without slots.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Slots of the ring that the contract is tested with; the store is made for as many.
inline constexpr std::uint32_t kContractSlots = 4;
/// The log id that it is tested with.
inline constexpr const char* kContractLog = "00112233445566778899aabbccddeeff";

struct StoreUnderTest {
  CommitStore& store;
  /// Lets the store's thread make one step: the next event in virtual time, or some milliseconds of
  /// I/O.
  std::function<void()> pump;
  /// Makes every version up to now too old to be followed from; empty if that cannot be done.
  std::function<void()> compact{};
};

/// Calls a store and waits for the answers.
class StoreCalls {
 public:
  explicit StoreCalls(StoreUnderTest& under) : under_(under) {}

  /// Pumps until `holds`, at most 30 s of the store's time.
  void wait_until(const std::function<bool()>& holds) const {
    const LogTime until = under_.store.now() + seconds(30);
    while (!holds()) {
      if (until < under_.store.now()) FAIL("nothing came of it within 30 s");
      under_.pump();
    }
  }
  StoreAnswer replace(const RingCommit& commit, StoreVersion expected) const {
    return answer_of([&](auto done) { under_.store.replace(commit, expected, std::move(done)); });
  }
  StoreAnswer create(const RingCommit& commit) const {
    return answer_of([&](auto done) { under_.store.create(commit, std::move(done)); });
  }
  StoreAnswer remove(std::uint32_t slot) const {
    return answer_of([&](auto done) { under_.store.remove(slot, std::move(done)); });
  }
  std::optional<RingSlot> read(std::uint32_t slot) const {
    return value_of<std::optional<RingSlot>>(
        [&](auto done) { under_.store.read(slot, std::move(done)); });
  }
  CommitStore::Listed list() const {
    return value_of<CommitStore::Listed>([&](auto done) { under_.store.list(std::move(done)); });
  }
  /// The list as it is reported slot by slot.
  CommitStore::Listed list_each() const {
    CommitStore::Listed listed;
    listed.version = value_of<StoreVersion>([&](auto done) {
      under_.store.list_each([&](RingSlot slot) { listed.slots.push_back(std::move(slot)); },
                             std::move(done));
    });
    return listed;
  }
  /// Lists until the list shows `slots`: it may come from a cache that is behind.
  StoreVersion list_until(const std::vector<RingSlot>& slots) const {
    const LogTime until = under_.store.now() + seconds(30);
    for (;;) {
      const CommitStore::Listed listed = list();
      if (listed.slots == slots) return listed.version;
      if (until < under_.store.now()) {
        CHECK(listed.slots == slots);
        FAIL("the list did not become what was written");
      }
    }
  }

 private:
  template <class T, class Call>
  T wait_for(const Call& call) const {
    // Shared: a test that fails here leaves the call to end later.
    auto got = std::make_shared<std::optional<T>>();
    call([got](T value) {
      CHECK_FALSE(got->has_value());
      *got = std::move(value);
    });
    CHECK_FALSE(got->has_value());  // never within the call
    wait_until([&] { return got->has_value(); });
    return **got;
  }
  template <class T, class Call>
  T value_of(const Call& call) const {
    const auto result = wait_for<Result<T>>(call);
    if (!result) FAIL(result.error().message);
    return *result;
  }
  template <class Call>
  StoreAnswer answer_of(const Call& call) const {
    const StoreAnswer answer = wait_for<StoreAnswer>(call);
    INFO(answer.why);
    CHECK((answer.result == StoreResult::stored) == answer.why.empty());
    return answer;
  }

  StoreUnderTest& under_;
};

/// A commit with a pack that no text encoding leaves as it is.
inline RingCommit contract_commit(std::uint64_t commit, std::size_t bytes = 300) {
  RingCommit made{kContractLog, kContractSlots, commit, Seq{commit * 10 + 1}, 10, {}};
  for (std::size_t i = 0; i < bytes; ++i)
    made.pack.push_back(static_cast<char>((i * 7 + commit) % 256));
  return made;
}
inline RingCommit contract_unused(std::uint32_t slot) {
  return {kContractLog, kContractSlots, slot, Seq{}, 0, {}};
}

/// Slots are made once; what is not there is neither read nor replaced.
inline std::vector<RingSlot> check_create(const StoreCalls& calls) {
  CHECK(calls.list().slots.empty());
  CHECK_FALSE(calls.read(0));
  CHECK(calls.replace(contract_commit(0), 1).result == StoreResult::missing);
  CHECK(calls.remove(0).result == StoreResult::stored);
  std::vector<RingSlot> slots;
  StoreVersion before = 0;
  for (std::uint32_t slot = 0; slot < kContractSlots; ++slot) {
    const RingCommit unused = contract_unused(slot);
    const StoreAnswer made = calls.create(unused);
    REQUIRE(made.result == StoreResult::stored);
    CHECK(made.version > before);
    before = made.version;
    slots.push_back({unused, made.version});
    CHECK(calls.read(slot) == slots.back());
  }
  CHECK(calls.create(contract_commit(1)).result == StoreResult::conflict);
  CHECK(calls.read(1) == slots[1]);
  return slots;
}

/// A slot is replaced by who names its version, and by nobody else, a lap later too.
inline void check_replace(const StoreCalls& calls, std::vector<RingSlot>& slots) {
  StoreVersion before = slots.back().version;
  for (std::uint64_t commit = 0; commit < 2 * kContractSlots; ++commit) {
    RingSlot& slot = slots[commit % kContractSlots];
    const StoreAnswer answer = calls.replace(contract_commit(commit), slot.version);
    REQUIRE(answer.result == StoreResult::stored);
    CHECK(answer.version > before);  // one order for all slots
    before = answer.version;
    CHECK(calls.replace(contract_commit(commit), slot.version).result == StoreResult::conflict);
    slot = {contract_commit(commit), answer.version};
    CHECK(calls.read(slot.commit.slot()) == slot);
  }
  // A version that another slot has, and one that was never given.
  CHECK(calls.replace(contract_commit(8), slots[1].version).result == StoreResult::conflict);
  CHECK(calls.replace(contract_commit(8), before + 1000).result == StoreResult::conflict);
  CHECK(calls.read(0) == slots[0]);
}

/// A pack of the largest record arrives whole.
inline void check_large_packs(const StoreCalls& calls, std::vector<RingSlot>& slots) {
  for (const std::size_t bytes : {std::size_t{1}, kRingPackBytesMax, kRingRecordBytesMax}) {
    const RingCommit large = contract_commit(8, bytes);
    const StoreAnswer answer = calls.replace(large, slots[0].version);
    INFO(bytes);
    REQUIRE(answer.result == StoreResult::stored);
    slots[0] = {large, answer.version};
    CHECK(calls.read(0) == slots[0]);
  }
}

/// A version is never given twice: who knew a slot before it was deleted replaces nothing.
inline void check_remove(const StoreCalls& calls, std::vector<RingSlot>& slots) {
  const RingSlot old = slots[2];
  CHECK(calls.remove(2).result == StoreResult::stored);
  CHECK_FALSE(calls.read(2));
  CHECK(calls.replace(contract_commit(10), old.version).result == StoreResult::missing);
  CHECK_FALSE(calls.read(2));
  const StoreAnswer made = calls.create(old.commit);
  REQUIRE(made.result == StoreResult::stored);
  CHECK(made.version > slots[0].version);
  CHECK(calls.replace(contract_commit(10), old.version).result == StoreResult::conflict);
  slots[2] = {old.commit, made.version};
  CHECK(calls.read(2) == slots[2]);
}

/// What one stream of changes reported.
struct Followed {
  std::vector<RingSlot> changed;
  std::vector<std::uint32_t> removed;
  std::optional<Error> ended;

  CommitStore::FollowHandler handler() {
    return {[this](RingSlot slot) { changed.push_back(std::move(slot)); },
            [this](std::uint32_t slot) { removed.push_back(slot); },
            [this](Error error) { ended = std::move(error); }};
  }
  bool saw(const RingSlot& slot) const {
    for (const RingSlot& each : changed)
      if (each == slot) return true;
    return false;
  }
};

/// Changes are reported in order, from the version on that is named.
inline void check_follow(StoreUnderTest& under, const StoreCalls& calls,
                         std::vector<RingSlot>& slots) {
  const StoreVersion from = calls.list_until(slots);
  CHECK(from >= slots[2].version);
  Followed now;
  auto following = under.store.follow(from, now.handler());
  CHECK(now.changed.empty());
  const auto write = [&](std::uint64_t commit) {
    RingSlot& slot = slots[commit % kContractSlots];
    slot = {contract_commit(commit), calls.replace(contract_commit(commit), slot.version).version};
    return slot;
  };
  const RingSlot ninth = write(9);
  const RingSlot tenth = write(10);
  calls.wait_until([&] { return now.saw(tenth); });
  CHECK(now.changed.front() == ninth);  // nothing that was there before
  CHECK(calls.remove(3).result == StoreResult::stored);
  calls.wait_until([&] { return !now.removed.empty(); });
  CHECK(now.removed.front() == 3);
  slots[3] = {slots[3].commit, calls.create(slots[3].commit).version};
  calls.wait_until([&] { return now.saw(slots[3]); });
  CHECK_FALSE(now.ended);
  // From an earlier version the same is reported again; a stream that was destroyed says no more.
  following.reset();
  const std::size_t seen = now.changed.size();
  Followed again;
  following = under.store.follow(from, again.handler());
  calls.wait_until([&] { return again.saw(ninth) && again.saw(slots[3]); });
  CHECK(now.changed.size() == seen);
}

/// A version that is too old is refused as `gone`.
inline void check_gone(StoreUnderTest& under, const StoreCalls& calls,
                       const std::vector<RingSlot>& slots) {
  if (!under.compact) return;
  const StoreVersion old = calls.list_until(slots);
  const StoreAnswer answer = calls.replace(contract_commit(12), slots[0].version);
  REQUIRE(answer.result == StoreResult::stored);
  under.compact();
  Followed followed;
  const auto following = under.store.follow(old, followed.handler());
  CHECK_FALSE(followed.ended);
  calls.wait_until([&] { return followed.ended.has_value(); });
  CHECK(followed.ended->code == ErrorCode::gone);
}

/// Timers run once, and not at all once they are destroyed.
inline void check_time(StoreUnderTest& under, const StoreCalls& calls) {
  int ran = 0;
  const LogTime begin = under.store.now();
  const auto timer = under.store.after(milliseconds(20), [&] { ++ran; });
  auto cancelled = under.store.after(milliseconds(10), [&] { ran += 100; });
  cancelled.reset();
  CHECK(ran == 0);
  calls.wait_until([&] { return ran > 0; });
  CHECK(under.store.now() - begin >= milliseconds(20));
  int later = 0;
  const auto more = under.store.after(milliseconds(20), [&] { ++later; });
  calls.wait_until([&] { return later > 0; });
  CHECK(ran == 1);
  CHECK(*under.store.kind() != '\0');
}

/// Checks all of it.
inline void check_commit_store_contract(StoreUnderTest& under) {
  const StoreCalls calls(under);
  check_time(under, calls);
  std::vector<RingSlot> slots = check_create(calls);
  check_replace(calls, slots);
  calls.list_until(slots);
  CHECK(calls.list_each().slots == slots);
  check_large_packs(calls, slots);
  check_remove(calls, slots);
  check_follow(under, calls, slots);
  check_gone(under, calls, slots);
  for (std::uint32_t slot = 0; slot < kContractSlots; ++slot)
    CHECK(calls.remove(slot).result == StoreResult::stored);
  calls.list_until({});
}

}  // namespace fairlead
