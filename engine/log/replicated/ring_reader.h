// Private to the ring: takes up what others append.
//
// What a read of a slot says counts, and a change that continues the chain; a list, and any other
// change, is a hint at where to read. So a list from an old cache, a change that is late or comes
// again, and a stream that is silent after a restore of the store cost time only.
//
// Slots are read in batches that grow while they bring commits: at most kRingReadAhead packs are in
// memory, however many slots there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/log/replicated/ring_check.h"
#include "engine/log/replicated/ring_session.h"

namespace fairlead {

inline constexpr std::uint32_t kRingReadAhead = 16;
/// With the slot of the next commit the one behind it is read: that shows whether the next one is
/// the end, or is missing.
inline constexpr std::uint32_t kRingReadFirst = 2;
/// A follower that hears nothing looks for itself this often.
inline constexpr Duration kRingIdleCheck = seconds(10);

class RingReader {
 public:
  explicit RingReader(RingSession& session)
      : session_(session), retry_(session), stream_retry_(session), check_retry_(session) {}

  /// Begins to follow, in this turn.
  void follow();
  /// Reads to the end, then says so.
  void read_on();
  /// Ends following. Before the turn ends.
  void end();

 private:
  using Found = Result<std::optional<RingSlot>>;
  struct Batch {
    std::uint64_t first = 0;                  ///< the commit that its first slot is read for
    std::vector<std::optional<Found>> found;  ///< as answers come, in any order
    std::uint32_t open = 0;                   ///< answers that are awaited
    bool checks = false;                      ///< `first` is known already, and read to check it
  };

  void list();
  void open_stream();
  void stream_ended(const Error& error);
  void changed(RingSlot slot);
  void take_hint(const RingCommit& commit);
  void inspect(std::uint64_t commit);
  SlotState inspected(std::uint64_t commit, const std::optional<RingSlot>& found);

  void scan();
  void read_batch();
  void take_batch();
  void take_end(const Batch& batch, std::uint32_t at);
  void look_beyond();
  void finish_scan();
  void learn(const RingCommit& commit, const PackHeader& header, StoreVersion version);
  void be_behind(std::uint64_t oldest);

  RingSession& session_;
  RingRetry retry_;         ///< of the scan
  RingRetry stream_retry_;  ///< of list and stream
  RingRetry check_retry_;   ///< of inspect()
  std::unique_ptr<CommitStore::Following> stream_;
  std::unique_ptr<CommitStore::Timer> sweep_;
  std::unique_ptr<CommitStore::Timer> idle_;
  StoreVersion seen_ = 0;        ///< the version that the stream is to be continued from
  std::uint64_t beyond_ = 0;     ///< the latest commit that a hint named
  std::uint64_t confirmed_ = 0;  ///< the latest that a read has shown beyond the end
  std::uint32_t width_ = kRingReadFirst;
  Batch batch_;
  bool listing_ = false;
  bool scanning_ = false;
  bool scan_again_ = false;  ///< something came while it was under way
  bool list_again_ = false;  ///< the stream is of another history
  bool inspecting_ = false;
  bool check_last_ = false;
  std::uint32_t ends_wanted_ = 0;    ///< calls of read_on()
  std::uint32_t ends_answered_ = 0;  ///< of them, by the scan under way
};

}  // namespace fairlead
