// Private to the ring: puts back what the ring had and has no more, before the writer goes on.
//
// Commits are missing after a restore of etcd (the last ones), or after a slot was changed or
// deleted by hand (that one). The repair reads backwards from the commit before the one that is
// being appended. It stops at the first slot that holds its commit, and writes the missing commits
// in their order. After a restore it reads the whole ring, because a delayed request or a paused
// writer may have stored a commit behind missing ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/log/replicated/ring_check.h"
#include "engine/log/replicated/ring_session.h"

namespace fairlead {

class RingRepair {
 public:
  struct Ends {
    std::function<void()> done;    ///< the ring is what it was: send again
    std::function<void()> fenced;  ///< another writer has gone on
  };
  RingRepair(RingSession& session, Ends ends)
      : session_(session), retry_(session), reads_(session), ends_(std::move(ends)) {}

  /// Repairs, in this turn, what lies before the next commit, whose own slot is in the state `own`.
  void start(SlotState own);

 private:
  struct Lost {
    std::uint64_t commit = 0;
    StoreVersion version = 0;  ///< of what is in its slot; 0: there is no slot
    SlotState state = SlotState::missing;
  };

  void look_ahead();
  void look_back(std::uint64_t commit);
  void look_before(std::uint64_t commit);
  void judge(std::uint64_t commit, const std::optional<RingSlot>& found);
  void note_lost(std::uint64_t commit, const std::optional<RingSlot>& found, SlotState state);
  void put_back();
  void put_back_answered(const Lost& lost, const StoreAnswer& answer);
  void make_own_slot();
  void try_later(const StoreAnswer& answer, std::function<void()> work);
  void stop(std::uint64_t commit, const std::string& what);

  RingSession& session_;
  RingRetry retry_;  ///< of writes
  RingRetry reads_;
  const Ends ends_;
  SlotState own_ = SlotState::unused;
  bool nothing_ahead_ = false;  ///< there is no slot for the commit after the next
  bool went_back_ = false;      ///< the last commit's slot holds something older: a restore
  bool beyond_good_ = false;    ///< a later commit was found in its slot
  std::vector<Lost> lost_;      ///< the latest first
};

}  // namespace fairlead
