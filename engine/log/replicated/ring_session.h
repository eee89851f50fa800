// Private to the ring: what its reader, its writer and its repair share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/pack.h"
#include "engine/log/replicated/ring.h"

namespace fairlead {

/// The first pause before a request is sent again; it doubles up to the second.
inline constexpr Duration kRingRetryFirst = milliseconds(20);
inline constexpr Duration kRingRetryMost = seconds(1);

/// What is known of the ring. One of reading and appending is under way at a time: a turn. What
/// comes back from an earlier turn is not wanted any more.
struct RingSession : std::enable_shared_from_this<RingSession> {
  RingSession(CommitStore& store_, RingPlace place_, RingEvents events_)
      : store(store_),
        place(std::move(place_)),
        events(std::move(events_)),
        versions(place.slots) {}

  CommitStore& store;
  RingPlace place;
  const RingEvents events;
  RingCounters counters;
  std::vector<StoreVersion> versions;  ///< of the slots, as last known; 0: not known
  std::string trouble;
  bool stopped = false;
  bool went_back_counted = false;  ///< until all is well again
  bool behind = false;             ///< the last scan ended before a commit that is missing
  /// The latest known commit that a reader did not find in its slot. The next append checks it and
  /// repairs the ring from there. Later commits may be in their slots: a writer that was paused
  /// during a restore stores its commit behind the missing ones.
  std::optional<std::uint64_t> missing;
  std::uint64_t turn = 0;

  /// Returns `work` as a callback that does nothing after this turn, or after the ring.
  template <class Work>
  auto in_turn(Work work) {
    return [weak = weak_from_this(), mine = turn, work = std::move(work)](auto... given) mutable {
      const auto self = weak.lock();
      if (self && self->turn == mine) work(std::move(given)...);
    };
  }

  std::uint32_t slot_of(std::uint64_t commit) const {
    return static_cast<std::uint32_t>(commit % place.slots);
  }
  StoreVersion& version_of(std::uint64_t commit) { return versions[slot_of(commit)]; }
  /// Notes that a commit has another version now.
  void set_version(std::uint64_t commit, StoreVersion version) {
    version_of(commit) = version;
    if (commit + 1 == place.next) place.version = version;
  }
  /// Moves the place behind the next commit.
  void advance(const PackHeader& header, StoreVersion version) {
    place.last = header.last();
    place.chain = header.digest;
    set_version(place.next++, version);
    place.version = version;
  }
  /// Returns the digest of a commit that is known; nullopt if it is not kept here any more.
  std::optional<Digest> known_digest(std::uint64_t commit) const;
  /// Reads a slot in this turn. What would end the hub, or have commits written over, is read again
  /// through another server: one that is broken does not speak for the ring.
  void read(std::uint32_t slot, CommitStore::Read done);

  void stop(Error error);
  void say(std::string line) const {
    if (events.say) events.say(std::move(line));
  }
  void count_foreign(std::uint64_t commit, const std::string& what);
  void count_went_back(const std::string& what);

 private:
  bool is_doubtful(std::uint32_t slot, const Result<std::optional<RingSlot>>& found) const;
};

/// Sends again, later each time.
class RingRetry {
 public:
  explicit RingRetry(RingSession& session) : session_(session) {}

  /// Runs `work` after a pause, or after the one that the server asked for, unless the turn ends.
  void again(std::optional<Duration> asked, std::function<void()> work);
  /// The next pause is the first one again.
  void reset() { wait_ = kRingRetryFirst; }

  /// Reads a slot until the store answers.
  void read(std::uint32_t slot, std::function<void(std::optional<RingSlot>)> found);

 private:
  RingSession& session_;
  Duration wait_ = kRingRetryFirst;
  std::unique_ptr<CommitStore::Timer> timer_;
};

}  // namespace fairlead
