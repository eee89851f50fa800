// The seam between a replicated log and the servers that keep its commits.
//
// The commits of a log lie in a ring of slots: commit k (dense, from 0) in slot k mod R. A slot is
// made once, empty, and then only replaced, always naming the version that is replaced: a version
// is never given twice, so a writer that was paused for as long as it likes replaces nothing that
// another has written since. That is the fence of the log
// (docs/decisions/0060-a-replicated-log.md).
//
// Objects through kube-apiserver (connectors/ring/kube_commit_store.h), keys of an etcd
// (connectors/ring/etcd_commit_store.h) and memory (tests) implement it and pass one contract test.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/types.h"

namespace fairlead {

/// The version of a slot, as its server counts: resourceVersion, or etcd's mod_revision. Grows with
/// every write of the store, whichever slot it is of. 0: none.
using StoreVersion = std::uint64_t;

/// Slots of a ring, unless log.replication.window says otherwise.
inline constexpr std::uint32_t kRingSlots = 1024;
/// The largest pack of a commit in bytes, unless it holds one record alone.
inline constexpr std::size_t kRingPackBytesMax = std::size_t{64} << 10;
/// The largest pack of a single record: a request of 1.5 MiB is etcd's bound, and the pack is sent
/// as base64.
inline constexpr std::size_t kRingRecordBytesMax = std::size_t{700} << 10;

/// What a slot holds. Written as JSON by both stores.
struct RingCommit {
  std::string log;           ///< the log's id: 32 hexadecimal digits, random, made with the ring
  std::uint32_t slots = 0;   ///< R
  std::uint64_t commit = 0;  ///< k
  Seq first;                 ///< of its events
  std::uint32_t count = 0;   ///< events
  std::string pack;          ///< pack.h, byte for byte; empty: the slot was not used yet

  std::uint32_t slot() const { return static_cast<std::uint32_t>(commit % slots); }
  friend bool operator==(const RingCommit&, const RingCommit&) = default;
};

/// A slot as it was read. Of an unused one `commit.commit` is the number of the slot.
struct RingSlot {
  RingCommit commit;
  StoreVersion version = 0;
  friend bool operator==(const RingSlot&, const RingSlot&) = default;
};

/// What a server said to a write. Only `stored` and `conflict` decide anything.
enum class StoreResult : std::uint8_t {
  stored,    ///< on a majority of its disks, as `version`
  conflict,  ///< the slot has another version, or (create) exists: nothing was stored
  missing,   ///< there is no such slot (404): nothing was stored by this request, but a request
             ///< sent before it may have been
  refused,   ///< 403, 410, 413, 422: nothing was stored. Not final: a server that has just started
             ///< says 403 to everybody
  unknown,   ///< no answer, 408, 429, 5xx: it may have been stored, now or later
};

struct StoreAnswer {
  StoreResult result = StoreResult::unknown;
  StoreVersion version = 0;               ///< if stored
  std::string why{};                      ///< for an operator; empty if stored
  std::optional<Duration> retry_after{};  ///< as the server asked
};

/// The servers of one ring. Everything is called on one thread, all callbacks run there, and never
/// within the call that was given them. Nothing calls a request back: a caller that no longer wants
/// the answer ignores it. Each request ends: the store gives up after a few seconds (`unknown`,
/// `unavailable`).
class CommitStore {
 public:
  virtual ~CommitStore() = default;

  using Answered = std::function<void(StoreAnswer)>;
  /// Replaces the slot of `commit` if it has the version `expected`.
  virtual void replace(const RingCommit& commit, StoreVersion expected, Answered done) = 0;
  /// Makes the slot of `commit`, unused or with a pack, if there is none.
  virtual void create(const RingCommit& commit, Answered done) = 0;
  /// Deletes a slot; `stored` also if there is none.
  virtual void remove(std::uint32_t slot, Answered done) = 0;

  /// Reads a slot as a majority has it; nullopt: there is none, which decides nothing about a
  /// write that is under way. Fails with `unavailable`; with `corrupt` if what is there is not a
  /// RingCommit (RingSlot::version is lost then).
  using Read = std::function<void(Result<std::optional<RingSlot>>)>;
  virtual void read(std::uint32_t slot, Read done) = 0;
  /// Reads a slot through another server than the last read() of it, where there may be one: a
  /// second opinion.
  virtual void read_again(std::uint32_t slot, Read done) { read(slot, std::move(done)); }

  /// Reads all slots in order of their numbers, possibly from a cache that is behind, and the
  /// version from which follow() continues.
  struct Listed {
    std::vector<RingSlot> slots;
    StoreVersion version = 0;
  };
  virtual void list(std::function<void(Result<Listed>)> done) = 0;
  /// The same slot by slot, so that a store which reads in pages never holds a whole ring.
  virtual void list_each(std::function<void(RingSlot)> each,
                         std::function<void(Result<StoreVersion>)> done) {
    list([each = std::move(each), done = std::move(done)](Result<Listed> listed) {
      if (!listed) return done(listed.error());
      for (RingSlot& slot : listed->slots) each(std::move(slot));
      done(listed->version);
    });
  }

  /// Reports each later change of a slot: in order, possibly late, repeated or with gaps where a
  /// slot was replaced twice. `gone`: `from` is too old, list again. Any other end is
  /// `unavailable`: follow again, from the last version that was seen. Destroying it ends it
  /// without a callback.
  class Following {
   public:
    virtual ~Following() = default;
  };
  struct FollowHandler {
    std::function<void(RingSlot)> changed;
    std::function<void(std::uint32_t slot)> removed;
    std::function<void(Error)> ended;
  };
  virtual std::unique_ptr<Following> follow(StoreVersion from, FollowHandler handler) = 0;

  /// Runs `work` once after `span`; destroying the handle cancels it.
  class Timer {
   public:
    virtual ~Timer() = default;
  };
  virtual std::unique_ptr<Timer> after(Duration span, std::function<void()> work) = 0;
  /// Returns a monotonic time; not a wall clock.
  virtual LogTime now() const = 0;
  /// Returns "kubernetes", "etcd" or what else names its kind to an operator.
  virtual const char* kind() const = 0;
};

}  // namespace fairlead
