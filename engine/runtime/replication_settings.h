// The settings `log.replication` and `leaderElection` of the configuration file.
//
// They say how a process takes part in a replicated log, not what it decides: so they are no part
// of the Configuration that is logged and folded, and change with a restart alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "engine/log/replicated/commit_store.h"
#include "engine/log/replicated/ring_pace.h"

namespace fairlead {

/// Objects of the kind LogCommit in the hub's own API server.
struct KubernetesRing {
  std::string namespace_ = "fairlead-system";
  std::string name = "fairlead";  ///< slots are NAME-SLOT

  friend bool operator==(const KubernetesRing&, const KubernetesRing&) = default;
};

/// Keys of an etcd of its own, never the hub's. Asked over its JSON gateway.
struct EtcdRing {
  std::vector<std::string> endpoints;  ///< https://HOST:PORT, in the order in which they are tried
  std::string prefix = "/fairlead/";
  std::string ca, certificate, key;  ///< files

  friend bool operator==(const EtcdRing&, const EtcdRing&) = default;
};

struct ReplicationSettings {
  std::optional<KubernetesRing> kubernetes;  ///< at most one of these two
  std::optional<EtcdRing> etcd;
  std::int64_t window = kRingSlots;  ///< commits
  ReplicationPace pace;
  std::int64_t copies_required = 1;
  Duration copies_wait = seconds(10);
  bool create = false;  ///< make a log where none is known

  /// Whether the log is replicated at all.
  bool on() const { return kubernetes || etcd; }
  friend bool operator==(const ReplicationSettings&, const ReplicationSettings&) = default;
};

struct LeaderElectionSettings {
  std::string lease;  ///< NAMESPACE/NAME; empty: no election (then the log is local)
  Duration lease_duration = seconds(15);
  Duration renew_deadline = seconds(10);
  Duration retry_period = seconds(2);

  friend bool operator==(const LeaderElectionSettings&, const LeaderElectionSettings&) = default;
};

/// What a process is started with, beside the Configuration.
struct HubRoleSettings {
  ReplicationSettings replication;
  LeaderElectionSettings election;

  friend bool operator==(const HubRoleSettings&, const HubRoleSettings&) = default;
};

}  // namespace fairlead
