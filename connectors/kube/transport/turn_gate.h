// A bounded number of beginnings at a time, first in, first out.
//
// Thousands of servers that are connected at once make a queue inside this process: its one thread
// serves them all, and their deadlines pass while answers wait to be read. So they begin in turn.
// One whose server stays silent loses its turn, because a turn bounds the work of this process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "connectors/kube/transport/io_loop.h"

namespace fairlead {

/// On the loop's thread only, except for its construction and destruction.
class TurnGate {
 public:
  struct Limits {
    std::size_t places = 1;
    /// Idle time of the loop without progressed(): a loop that idles may begin more. Distant
    /// servers are silent for longer, and begin side by side.
    Duration silence_max = milliseconds(250);
    Duration held_max = seconds(30);
  };
  /// `loop` outlives it. Tickets may outlive it.
  TurnGate(IoLoop& loop, Limits limits);
  ~TurnGate();
  TurnGate(const TurnGate&) = delete;
  TurnGate& operator=(const TurnGate&) = delete;

  /// A place in the queue, then a turn. Destroying it ends either.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    /// The server has answered something. Without it the turn passes to a waiting entrant after
    /// Limits::silence_max. The holder gets no signal of that and may go on.
    virtual void progressed() = 0;
  };
  /// Calls `on_turn` soon, when the turn has come; not after the ticket's end.
  std::unique_ptr<Ticket> enter(std::function<void()> on_turn);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
