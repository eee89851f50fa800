// The hub's thread where several processes share one log, or one Lease: it follows, and leads while
// it holds the Lease.
//
// Following, it folds what another leader appends and answers questions. When the Lease is won it
// reads the ring to its end, connects to the API servers and begins an epoch; from then on the loop
// of a leader (hub_loop.h) runs here, until the Lease is lost or another leader has appended.
//
// The Lease says who should lead. Who may append is enforced by the ring alone: a leader that is
// late learns it from its next append, of which nothing was folded, published or sent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/replicated/replicated_log.h"
#include "engine/runtime/hub_loop.h"

namespace fairlead {

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
  /// Gives the Lease up at the end of the process. Waits a few seconds at most.
  virtual void release() = 0;
};

/// What the loop calls outside the replica, always on its own thread.
struct RolePorts {
  HubPorts hub;
  /// Connects to the hub's API server, without streams. Returns false if the connections of the
  /// last term have not ended yet: it is asked again.
  std::function<Result<bool>(const Configuration&)> connect;
  /// Ends all connections without waiting for them.
  std::function<void()> disconnect;
};

/// When a leader goes on although nobody else has the commit that the next one replaces in the
/// ring.
struct CopyTerms {
  std::int64_t required = 1;    ///< 2 or more: never
  Duration wait = seconds(10);  ///< after this time, once until another has caught up
};

class RoleLoop {
 public:
  /// All outlive the loop. `replica` has folded its log, which `log` is; null: the log is local,
  /// and a lost Lease ends the process.
  RoleLoop(Replica& replica, ReplicatedLog* log, Election& election, Inbox& inbox,
           HubStatus& status, RolePorts ports, Configuration configuration, const CopyTerms& terms,
           Logger logger);

  /// Runs until the inbox asks it to stop. An error ends the process (exit code 3): the log accepts
  /// no more events, or, of a local log, the Lease is lost.
  Result<void> run();
  /// One turn of it, without a wait: for who has a clock and an order of its own.
  Result<void> turn(Inbox::Content content);
  /// The end of run(), after a stop was asked for `content.stops` times. No other call follows.
  Result<void> finish(Inbox::Content content);
  /// How long run() waits for the inbox before the next turn.
  Duration wait() const;

  bool leads() const { return leader_ != nullptr; }
  HubStats stats() const;

 private:
  Result<void> step(Inbox::Content content);
  Result<void> follow(const Inbox::Content& content);
  void wait_for_copies();
  Result<void> lead();
  Result<void> step_down(const std::string& why);
  std::string trouble() const;

  Replica& replica_;
  ReplicatedLog* const log_;
  Election& election_;
  Inbox& inbox_;
  HubStatus& status_;
  RolePorts ports_;
  Configuration configuration_;  ///< as it was read last, by a leader or a follower
  const Logger logger_;

  std::unique_ptr<Leader> leader_;  ///< null: following
  std::unique_ptr<HubLoop> loop_;   ///< of the leader
  /// ReplicatedLogState::end_reached at which a candidate may lead; none: the Lease is not held.
  std::optional<std::uint64_t> lead_at_;
  Duration paced_;                        ///< as RoleStats has it
  std::optional<LogTime> paced_since_;    ///< none: the leader did not wait for the pace
  std::optional<LogTime> trouble_since_;  ///< none: there is no trouble
  const CopyTerms terms_;
  std::optional<LogTime> uncopied_since_;
  bool alone_ = false;  ///< as it was said last
  bool said_listed_ = false;
};

}  // namespace fairlead
