// From the Lease to the term of a leader: a replica that holds the Lease asks the others how much
// of the log they have, and gives the Lease up for one that has more than the ring. After a restore
// of etcd the ring may lack what they know, and a leader that went on without it would end them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "engine/log/replicated/replicated_log.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/election.h"

namespace fairlead {

/// How long it waits for what the other replicas have.
inline constexpr Duration kOthersMax = seconds(2);
/// How often in a row it yields to another that has more of the log. That one has leaseDuration
/// each time; if it never leads, a log without its last commits is better than none.
inline constexpr int kYieldsMax = 2;

/// How long a replica holds the Lease without reading or writing the ring. Another may reach its
/// servers.
inline constexpr Duration kUnreachedMax = seconds(30);

/// Owned by one thread.
class Candidacy {
 public:
  /// All outlive it. `now` returns a monotonic time.
  Candidacy(ReplicatedLog& log, Election& election, std::function<LogTime()> now, Logger logger)
      : log_(log), election_(election), now_(std::move(now)), logger_(std::move(logger)) {}

  /// Call it in each turn in which this replica holds the Lease and does not lead. Returns whether
  /// it may lead now: what the ring holds is here.
  bool may_lead();
  /// The Lease is not held any more.
  void lost();
  /// This replica leads.
  void won();

 private:
  void leave(const std::string& why);
  bool yields(std::uint64_t commits);

  ReplicatedLog& log_;
  Election& election_;
  const std::function<LogTime()> now_;
  const Logger logger_;

  std::optional<LogTime> asked_at_;  ///< when the others were asked
  /// ReplicatedLogState::end_reached at which it may lead; none: it still waits for the others.
  std::optional<std::uint64_t> lead_at_;
  bool yielded_ = false;            ///< the Lease is being given up
  bool decided_ = false;            ///< to lead though another has more
  int yields_ = 0;                  ///< in a row
  std::uint64_t yielded_with_ = 0;  ///< commits that this replica had then
};

}  // namespace fairlead
