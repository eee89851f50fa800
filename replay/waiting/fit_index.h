// Which of the Workloads that wait for quota of one API server fit, over log time.
//
// Workloads of one ClusterQueue with the same requests fit alike: they share a FitHistory. When the
// quota of a queue moves, only those requests are compared again that lie between the old and the
// new amount, so that an event costs what it changes and not what waits.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "replay/waiting/fit.h"
#include "replay/waiting/quota_tree.h"

namespace fairlead {

/// From `from` on the requests fit like this.
struct FitStep {
  LogTime from;
  QuotaFit fit = QuotaFit::unknown;
  std::vector<Seq> causes;         ///< the events of the ClusterQueues and Cohorts that made it so
  std::vector<Shortage> at_end{};  ///< what is short when the next step begins; of the last: empty
};

/// Steps of ascending times. A step is added only while the requests are watched.
struct FitHistory {
  std::vector<FitStep> steps;
};

class FitIndex {
 public:
  FitIndex();
  ~FitIndex();
  FitIndex(FitIndex&&) noexcept;
  FitIndex& operator=(FitIndex&&) noexcept;

  /// From now on keeps the last step of each history alone: who is asked about the present needs no
  /// more.
  void keep_last_steps() { keeps_all_ = false; }

  /// The quotas. What is set here counts from settle() on.
  QuotaTree& quotas() { return quotas_; }

  /// Begins to watch how requests fit in a queue, which need not exist. Every call of watch() needs
  /// one of forget().
  std::shared_ptr<const FitHistory> watch(const std::string& queue, const Requests& requests,
                                          LogTime now);
  void forget(const std::string& queue, const Requests& requests);
  /// Returns what is short of watched requests, as of the last settle().
  std::vector<Shortage> shortage(const std::string& queue, const Requests& requests) const;

  /// Computes the quotas that were set since the last call; they count from `now` on.
  void settle(LogTime now);
  /// Begins a step of everything that is watched, so that what is short now is kept.
  void mark(LogTime now);

 private:
  struct Watched;
  void begin_step(FitHistory& history, FitStep step, std::vector<Shortage> before) const;
  void follow(Watched& watched, const QueueRooms& rooms, LogTime now,
              const std::vector<Seq>& causes);

  QuotaTree quotas_;
  bool keeps_all_ = true;
  std::map<std::string, Watched> watched_;  // by queue
};

}  // namespace fairlead
