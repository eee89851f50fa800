// Every time that the quota in force of a ClusterQueue of the hub fell, and why.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/time.h"
#include "schema/event.h"

namespace fairlead {

struct LoweredQuota {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  Amount from = 0;
  Amount to = 0;
  LogTime time;
  Seq seq;                  ///< of the observation
  std::vector<Seq> causes;  ///< it, and where it was ours the write and what that was because of
};

class LoweredQuotas {
 public:
  /// An observation of a queue.
  struct When {
    LogTime time;
    Seq seq;
    std::vector<Seq> causes;
  };
  void observe(const std::string& name, const ClusterQueueFacts& queue, const When& when);

  /// In the order of the observations, those of one by flavor and resource.
  const std::vector<LoweredQuota>& all() const { return all_; }

 private:
  using Nominals = std::map<std::pair<std::string, std::string>, Amount>;

  std::map<std::string, Nominals> last_;  // by queue
  std::vector<LoweredQuota> all_;
};

}  // namespace fairlead
