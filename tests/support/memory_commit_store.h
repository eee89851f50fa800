// The servers of a ring in memory, in virtual time, with faults drawn from a seed: what a store can
// do to a log happens here as often as a test likes, and again exactly.
//
//   model::VirtualTime time(LogTime{});
//   MemoryRing servers(time, seed);
//   servers.faults.lost_answer = 50;           // per thousand
//   MemoryCommitStore one(servers), two(servers);   // one per engine
//
// Everything runs within VirtualTime::advance_to(), on one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/fleet/model/virtual_time.h"
#include "engine/fleet/random.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// How often what happens: of a thousand requests, reports or callbacks.
struct MemoryRingFaults {
  int lost_request = 0;  ///< never arrives; unknown after the timeout
  int lost_answer = 0;   ///< takes effect; unknown after the timeout
  int late_request = 0;  ///< unknown after the timeout; takes effect up to `latest` later
  int error_before = 0;  ///< 429 or 500 without effect, the 429 with Retry-After
  int error_after = 0;   ///< 500 and stored
  int refused = 0;       ///< 403
  int failed_read = 0;
  int old_list = 0;        ///< served from a cache that is behind
  int follow_late = 0;     ///< a change is reported up to `latest` late, and the later ones too
  int follow_again = 0;    ///< what was reported before is reported again
  int follow_skipped = 0;  ///< where the slot was replaced again meanwhile
  int follow_cut = 0;      ///< the stream ends: `unavailable`
  int follow_gone = 0;     ///< the stream ends: `gone`
  int pause = 0;           ///< the engine stands still for up to `latest` before a callback
  Duration latest = seconds(30);
};

class MemoryCommitStore;

/// What the engines share. Outlives their stores.
class MemoryRing {
 public:
  using Slots = std::map<std::uint32_t, RingSlot>;
  /// A state to go back to.
  struct Saved {
    Slots slots;
    StoreVersion version = 0;
  };
  static constexpr Duration kTimeout = seconds(3);
  /// Changes that can be followed from; older ones are compacted.
  static constexpr std::size_t kChangesKept = 4096;

  MemoryRing(model::VirtualTime& time, std::uint64_t seed) : time_(time), random_(seed) {}
  MemoryRing(const MemoryRing&) = delete;
  MemoryRing& operator=(const MemoryRing&) = delete;

  MemoryRingFaults faults;
  /// Called with each write of an engine that is stored, when it is.
  std::function<void(const RingSlot&)> stored;
  /// Returns what a write is answered with instead of being done; nullopt: it is done. May be
  /// empty.
  std::function<std::optional<StoreAnswer>()> answer_instead;
  bool full = false;  ///< NOSPACE: writes are answered with an error, reads work
  bool down = false;  ///< nothing answers

  /// Makes the empty slots of a log.
  void make(const std::string& log, std::uint32_t slots);
  const Slots& slots() const { return slots_; }
  StoreVersion version() const { return version_; }

  /// Writes a slot by hand, or deletes it.
  void edit(const RingCommit& commit);
  void erase(std::uint32_t slot);

  Saved save() const { return {slots_, version_}; }
  /// Goes back to `saved`; versions continue `jump` above it. For up to half a minute lists and
  /// streams stay as they were before, then the streams are cut.
  void restore(const Saved& saved, StoreVersion jump);
  /// Makes all versions up to now too old to be followed from.
  void compact();
  /// Ends all streams of changes.
  void cut(ErrorCode why);

  model::VirtualTime& time() { return time_; }
  /// Returns whether what happens `per_thousand` times happens now.
  bool happens(int per_thousand) { return per_thousand > 0 && random_.below(1000) < per_thousand; }
  /// Returns a span from 0 to `most`.
  Duration up_to(Duration most) { return {random_.below(most.ns + 1)}; }

 private:
  friend class MemoryCommitStore;
  struct Change {
    StoreVersion version = 0;
    std::uint32_t slot = 0;
    std::shared_ptr<const RingSlot> now;  ///< null: deleted
  };
  struct Stream;
  class Following;

  StoreAnswer replace(const RingCommit& commit, StoreVersion expected);
  StoreAnswer create(const RingCommit& commit);
  StoreAnswer remove(std::uint32_t slot);
  StoreAnswer write(const RingCommit& commit);
  void put(const RingCommit& commit);
  void changed(Change change);
  void report(const std::shared_ptr<Stream>& stream, const Change& change);
  void end(const std::shared_ptr<Stream>& stream, ErrorCode code);

  model::VirtualTime& time_;
  fairlead::Random random_;
  Slots slots_;
  StoreVersion version_ = 0;
  StoreVersion compacted_ = 0;
  std::deque<Change> changes_;
  std::vector<std::weak_ptr<Stream>> streams_;
  Saved cache_;         ///< what an old list shows
  bool stale_ = false;  ///< after a restore
};

/// The store of one engine.
class MemoryCommitStore final : public CommitStore {
 public:
  explicit MemoryCommitStore(MemoryRing& ring);
  ~MemoryCommitStore() override;

  void replace(const RingCommit& commit, StoreVersion expected, Answered done) override;
  void create(const RingCommit& commit, Answered done) override;
  void remove(std::uint32_t slot, Answered done) override;
  void read(std::uint32_t slot, Read done) override;
  void read_again(std::uint32_t slot, Read done) override;
  void list(std::function<void(Result<Listed>)> done) override;
  std::unique_ptr<CommitStore::Following> follow(StoreVersion from, FollowHandler handler) override;
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override;
  LogTime now() const override { return ring_.time().now(); }
  const char* kind() const override { return "memory"; }

  /// The engine stands still: what is due to it waits until it goes on.
  void pause() { engine_->paused = true; }
  void resume();
  bool paused() const { return engine_->paused; }

  /// What the server of read(), not the one of read_again(), makes of an answer; empty: nothing.
  std::function<void(Result<std::optional<RingSlot>>&)> first_server;

  /// Requests that were made, for tests and benches.
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t lists = 0;
  std::uint64_t reads_open = 0;
  std::uint64_t most_reads_open = 0;

 private:
  friend class MemoryRing;
  struct Engine {
    bool paused = false;
    std::deque<std::function<void()>> waiting;
  };
  /// Runs `work` as a callback of the engine, now or once it goes on.
  static void deliver(MemoryRing& ring, const std::weak_ptr<Engine>& engine,
                      std::function<void()> work);
  static void resume(const std::shared_ptr<Engine>& engine);
  void send(std::function<StoreAnswer()> effect, Answered done);
  void answer(Duration after, Answered done, StoreAnswer answer);
  void answer_later(std::function<void()> work, Duration after);

  MemoryRing& ring_;
  std::shared_ptr<Engine> engine_;
};

}  // namespace fairlead
