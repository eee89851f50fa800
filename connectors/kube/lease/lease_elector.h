// Leader election by a Lease, as client-go does it, over a Transport.
//
// The holder renews the Lease every retryPeriod. It leads until renewDeadline has passed since the
// request of its last successful renewal was sent, by its own monotonic clock. Another replica
// takes the Lease once it has observed the same holder and renewTime for leaseDuration by its own
// clock: renewTime is written for people and never compared with a clock. A released Lease (no
// holder) is taken at once.
//
// A Lease serves liveness only: two may believe that they lead. Who may append is decided by the
// ring (engine/log/replicated/ring.h).
//
// Source: k8s.io/client-go/tools/leaderelection, coordination.k8s.io/v1 Lease.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "connectors/kube/transport/transport.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

struct LeaseSettings {
  std::string namespace_;
  std::string name;
  std::string identity;  ///< of this process: HOST_PID
  Duration lease_duration = seconds(15);
  Duration renew_deadline = seconds(10);
  Duration retry_period = seconds(2);     ///< of the holder and of those who wait
  std::function<std::uint64_t()> random;  ///< 64 random bits, for jitter (client-go: up to 1.2)
  std::function<LogTime()> wall_clock;    ///< for renewTime and acquireTime
};

/// A Lease as it was read or written last.
struct LeaseSeen {
  std::string holder;  ///< empty: released
  std::uint64_t transitions = 0;
  std::map<std::string, std::string> annotations;
  std::string resource_version;
};

/// On the transport's thread only. Callbacks run there, never within a call of this class.
class LeaseElector {
 public:
  struct Events {
    std::function<void()> won;             ///< this process holds the Lease
    std::function<void()> lost;            ///< it does not any more, or could not renew it in time
    std::function<void(std::string)> say;  ///< one line for an operator: who leads, what fails
  };
  /// `transport` outlives it.
  LeaseElector(Transport& transport, LeaseSettings settings, Events events);
  ~LeaseElector();
  LeaseElector(const LeaseElector&) = delete;
  LeaseElector& operator=(const LeaseElector&) = delete;

  void start();
  /// Gives the Lease up if this process holds it (holderIdentity empty), then calls `done`; also if
  /// that failed. `lost` is called first. The election ends.
  void release(std::function<void()> done);
  /// Steps down for once: gives the Lease up, and does not take it again before leaseDuration has
  /// passed. That another held it meanwhile shortens nothing: of two that yield to a third, neither
  /// comes before that one again.
  void yield();

  bool leads() const;
  /// Until when, by Transport::now(), this process may act as the leader; the past: it may not.
  LogTime leads_until() const;
  /// nullopt: not read yet, or there is none.
  const std::optional<LeaseSeen>& seen() const;
  /// Adds annotations to the Lease by its resourceVersion (making it, without a holder, if there is
  /// none) and calls `done`. Fails with `conflict` if the Lease was written meanwhile, or if its
  /// annotations are not those of seen() at the time of the call.
  void annotate(std::map<std::string, std::string> annotations,
                std::function<void(Result<void>)> done);
  /// Reads the Lease, then calls `done`; seen() has it then. Also without start().
  void read(std::function<void(Result<void>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
