// What changes the rows of a report, each from one millisecond of log time on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/fold/observed.h"
#include "engine/fold/usage/queue_use.h"

namespace fairlead {

/// A ClusterQueue as it is reported.
struct UsageQueue {
  std::string uid;
  std::string cohort;
  std::map<UsePair, UseAmounts> pairs;

  friend bool operator==(const UsageQueue&, const UsageQueue&) = default;
};
struct UsageQueueChange {
  SourceName source;
  std::string name;
  std::optional<UsageQueue> queue;  ///< none: it is gone
};

/// What the podSets of a Workload count as, in milli-units.
struct UsageWorkload {
  std::string owner;  ///< NAMESPACE/KIND/NAME; empty: it has no controller
  std::map<std::string, std::string> labels;
  std::string queue;      ///< the ClusterQueue that admitted it
  bool admitted = false;  ///< else quota is reserved
  std::map<UsePair, Int128> amounts;

  friend bool operator==(const UsageWorkload&, const UsageWorkload&) = default;
};
struct UsageWorkloadChange {
  SourceName source;
  NamespacedName id;
  std::optional<UsageWorkload> workload;  ///< none: it has neither quota nor is it admitted
};

/// A hub stops or starts.
struct UsageHubChange {
  enum class To : std::uint8_t { stopped, started };
  To to{};
};

/// The capacity of a flavor in one cluster.
struct UsageCapacityChange {
  std::string cluster;
  std::string flavor;
  std::string resource;  ///< canonical
  Int128 accepted = 0;   ///< milli-units
  Int128 down = 0;       ///< likewise
};

/// The configuration has these aliases of resources.
struct UsageAliasChange {
  std::map<std::string, std::string> aliases;
};

using UsageChange = std::variant<UsageQueueChange, UsageWorkloadChange, SilenceSign, UsageHubChange,
                                 UsageCapacityChange, UsageAliasChange>;

}  // namespace fairlead
