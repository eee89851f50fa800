// What `fairlead log stat` says of a replicated log: the key "replication" of its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/json.h"
#include "engine/base/time.h"
#include "engine/log/replicated/ring_place.h"

namespace fairlead {

struct ReplicationReport {
  std::string store;             ///< "kubernetes" or "etcd"; empty: no hub runs here to say it
  std::string role = "stopped";  ///< or "leader" or "follower"
  std::string leader;            ///< the Lease's holder; empty: none is known
  RingPlace place;
  std::uint64_t copies = 0;  ///< replicas inside the window, this one too; 0: not known
  std::uint64_t lag_commits = 0;
  Duration lag;                ///< since when the log has not come on
  std::string trouble;         ///< why; empty while all is well
  std::string server_version;  ///< of etcd or kube-apiserver; empty: not known

  /// The first commit that the ring still has; 0 of an empty one.
  std::uint64_t window_first() const {
    return place.next > place.slots ? place.next - place.slots : 0;
  }
};

/// {"store", "log", "role", "leader", "commit", "window_first", "copies", "lag_commits",
/// "lag_seconds", "version", "trouble", "server_version"}: `commit` is the number of the last one,
/// null where there is none; `version` the store's of that commit; `copies` null where no hub runs;
/// `server_version` a text such as "v1.34.2" of kube-apiserver or "3.6.8" of etcd.
Json to_json(const ReplicationReport& report);
/// One line of words for a person.
std::string to_text(const ReplicationReport& report);
/// What GET /log/position answers, for another replica: {"log", "slots", "commit", "seq", "chain"}.
Json position_json(const RingPlace& place);

}  // namespace fairlead
