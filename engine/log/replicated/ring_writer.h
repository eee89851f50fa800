// Private to the ring: sends one commit until it is decided.
#pragma once

#include <optional>

#include "engine/log/replicated/ring_check.h"
#include "engine/log/replicated/ring_repair.h"
#include "engine/log/replicated/ring_session.h"

namespace fairlead {

class RingWriter {
 public:
  explicit RingWriter(RingSession& session);

  /// Sends `commit`, which continues the place, in this turn.
  void append(RingCommit commit);

 private:
  void attempt();
  void check_previous();
  void send();
  void answered(const StoreAnswer& answer);
  void settle();
  void settled(const std::optional<RingSlot>& found);
  void known_content(const RingSlot& found, SlotState state);
  void write_over();
  void decided();
  void fenced();
  void stop(const std::string& what);

  RingSession& session_;
  RingRetry retry_;  ///< of writes
  RingRetry reads_;
  RingRepair repair_;
  RingCommit commit_;
  PackHeader header_;
  /// The ring may have changed behind our back: the commit before is read before one is sent. After
  /// every trouble, and when nothing was heard from the store for a while: a restore, after which
  /// versions go on above all earlier ones, shows by nothing else.
  bool suspicious_ = true;
  bool previous_lost_ = false;  ///< it was read, and was not there
  bool stored_ = false;         ///< commit_ is stored, and the commit before it is checked again
  LogTime heard_;               ///< when the ring was last known to hold all commits
};

}  // namespace fairlead
