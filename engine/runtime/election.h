// Who leads, by a Lease, and what the replicas of a log tell each other through the servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead {

/// What the other replicas of a log have of it.
struct OthersSaid {
  std::uint64_t commits = 0;  ///< the most that one of them has
  bool all = false;           ///< each has said it that can be asked
};

/// Who leads, by a Lease. From any thread.
class Election {
 public:
  virtual ~Election() = default;
  /// Whether this process holds the Lease and may act on it, by its own clock.
  virtual bool leads() const = 0;
  /// Returns the holder; empty: none is known.
  virtual std::string leader() const = 0;
  /// Has all processes know that the leader of this log has listed every kind once: State holds
  /// what the hub's API server does.
  virtual void say_listed() = 0;
  /// Whether a leader of this log ever said so.
  virtual bool listed() const = 0;
  /// Returns, for each other replica of this log that is there, how many of its commits it has.
  virtual std::vector<std::uint64_t> copies() const = 0;
  /// Asks the other replicas how much of the log they have; others() is what they said since then.
  virtual void ask_others() {}
  virtual OthersSaid others() const { return {0, true}; }
  /// Gives the Lease up, and does not take it again before leaseDuration has passed.
  virtual void yield() {}
  /// Gives the Lease up at the end of the process. Waits a few seconds at most.
  virtual void release() = 0;
};

}  // namespace fairlead
