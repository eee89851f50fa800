// How far the replicas of a log are: each says so in a Lease of its own, and reads those of the
// others.
//
// The Lease of a replica is LEASE-NAME, has the label `fairlead.io/replicas-of: LEASE` and the
// annotations `fairlead.io/position: "LOG COMMITS"` and, where it can be asked,
// `fairlead.io/address`. It has no holder. A replica counts as gone when its Lease has not changed
// for three periods by the reader's own clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "connectors/kube/lease/lease_object.h"
#include "connectors/kube/transport/transport.h"

namespace fairlead {

/// What a replica has of a log.
struct ReplicaPosition {
  std::string log;            ///< its id
  std::uint64_t commits = 0;  ///< all before this number
  std::string address{};      ///< URL that answers GET /log/position; empty: it cannot be asked

  friend bool operator==(const ReplicaPosition&, const ReplicaPosition&) = default;
};

struct ReplicaLeaseSettings {
  std::string namespace_;
  std::string lease;  ///< that elects the leader of the log
  std::string name;   ///< of this replica: the same after a restart
  Duration period = seconds(30);
  std::function<LogTime()> wall_clock;  ///< for renewTime
};

/// On the transport's thread only, where the callbacks run, too.
class ReplicaLeases {
 public:
  struct Ports {
    /// Returns where this replica is.
    std::function<ReplicaPosition()> own;
    /// Takes up where the others are; those that are gone are left out.
    std::function<void(const std::map<std::string, ReplicaPosition>&)> others;
    /// Says one line to an operator.
    std::function<void(const std::string&)> say;
  };
  /// `transport` outlives it. Begins at once.
  ReplicaLeases(Transport& transport, ReplicaLeaseSettings settings, Ports ports);
  ~ReplicaLeases();
  ReplicaLeases(const ReplicaLeases&) = delete;
  ReplicaLeases& operator=(const ReplicaLeases&) = delete;

  /// Reads the others' Leases now, then calls `done`, also if that failed.
  void read(std::function<void()> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
