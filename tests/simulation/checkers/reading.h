// How checkers read Kubernetes objects: by the schemas of Kueue and of claims, without the engine.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/quantity.h"
#include "tests/simulation/record.h"

namespace fairlead::simulation {

inline constexpr std::string_view kQueueResource = "clusterqueues.kueue.x-k8s.io";
inline constexpr std::string_view kClaimResource = "clusterresourceclaims.galaxy.kubestellar.io";

/// A (flavor, resource), the resource by its canonical name.
using SeenPair = std::pair<std::string, std::string>;

/// Billionths of the unit; nullopt: not a Quantity.
std::optional<Int128> nano_of(const Json& quantity);

/// Every nominalQuota of a ClusterQueue. Malformed ones are left out.
std::map<SeenPair, Int128> nominals_of(const Json& queue,
                                       const std::map<std::string, std::string>& aliases);

/// One row of a claim's resourceAssignments and resource.
struct SeenRow {
  std::string queue;
  SeenPair pair;
  Int128 assigned = 0;  ///< billionths
};
/// What a claim assigns; nullopt where Fairlead keeps the former spec: an amount is malformed or
/// negative, has no ceiling, or the sum of a resource is above its ceiling.
std::optional<std::vector<SeenRow>> rows_of(const Json& claim,
                                            const std::map<std::string, std::string>& aliases);

/// The objects of all servers as the writes left them.
class SeenObjects {
 public:
  void wrote(const SeenWrite& write);
  /// By key; empty if there is none.
  const std::map<std::string, model::ObjectRef>& of(const std::string& server,
                                                    std::string_view resource) const;

 private:
  std::map<std::pair<std::string, std::string>, std::map<std::string, model::ObjectRef>> objects_;
};

/// The most and the least that the machines of a cluster offered of a pair from `from` to `to`, in
/// billionths.
struct Offered {
  Int128 most = 0, least = 0;
};
Offered offered(const Record& record, const std::string& cluster, const SeenPair& pair,
                LogTime from, LogTime to);

/// The most that they offered of the resource in all flavors together.
Int128 offered_in_total(const Record& record, const std::string& cluster,
                        const std::string& resource, LogTime from, LogTime to);

/// For a message: the number of whole units.
std::string whole(Int128 nano);

}  // namespace fairlead::simulation
