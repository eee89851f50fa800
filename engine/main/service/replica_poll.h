// Asks the other replicas of a log how much of it they have: GET /log/position at the addresses
// that their Leases name (connectors/kube/lease/replica_leases.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/lease/replica_leases.h"
#include "connectors/kube/transport/http_client.h"
#include "engine/main/client/hub_place.h"

namespace fairlead {

/// How long a candidate waits for the others, whose log may be longer than its own.
inline constexpr Duration kReplicaAnswerMax = seconds(2);

/// Reads what GET /log/position answers; nullopt if it is something else.
std::optional<ReplicaPosition> read_log_position(std::string_view body);

/// On the loop's thread only.
class ReplicaPoll {
 public:
  /// `access` has token, authority and the name in the certificates of all replicas. They are not
  /// used where an address is http://, so that no token is sent in the clear.
  ReplicaPoll(IoLoop& loop, HubPlace access) : loop_(loop), access_(std::move(access)) {}
  ~ReplicaPoll();
  ReplicaPoll(const ReplicaPoll&) = delete;
  ReplicaPoll& operator=(const ReplicaPoll&) = delete;

  /// Asks each address, and calls `said` once for each within kReplicaAnswerMax, possibly before
  /// this returns. What an earlier call asked is not awaited any more.
  using Said = std::function<void(const Result<ReplicaPosition>&)>;
  void ask(const std::vector<std::string>& addresses, const Said& said);

 private:
  Result<void> ask(const std::string& address, const Said& said);
  void end();

  IoLoop& loop_;
  const HubPlace access_;
  std::vector<std::unique_ptr<HttpClient>> clients_;  ///< of the last call
  std::shared_ptr<int> round_;                        ///< of it: what comes later is not wanted
};

}  // namespace fairlead
