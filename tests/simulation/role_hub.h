// One of several hubs that share a replicated log: it follows, and leads while it holds the Lease.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "connectors/kube/lease/lease_elector.h"
#include "engine/log/replicated/replicated_log.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/runtime/role_loop.h"
#include "tests/simulation/process.h"
#include "tests/support/memory_commit_store.h"

namespace fairlead::simulation {

/// As the name of the ring's log.
inline constexpr const char* kRingLog = "0123456789abcdef0123456789abcdef";

/// What the replicas of a log share.
struct RoleWorld {
  /// A replica that lives, and how many commits it has.
  struct Living {
    LifeRef life;
    std::uint64_t commits = 0;
  };
  MemoryRing& ring;
  std::uint32_t slots = 0;  ///< of the ring
  int wrong_reads = 0;      ///< of a thousand: a server of the ring answers with wrong bytes
  bool listed = false;      ///< as the Lease's annotation says
  std::map<std::string, Living> living{};
};

class RoleHub final : public Process {
 public:
  /// `local` is the replica's copy of the log; `acknowledged` gets what is new in it. All outlive
  /// it.
  RoleHub(const HubWorld& world, std::string name, RoleWorld& roles, RocksdbLog& local,
          Clock& clock, std::function<void(const Event&)> acknowledged, Seq& told);
  ~RoleHub() override;

  Result<void> begin(const Configuration& configuration) override;
  Result<void> settle() override;
  LogTime next_due() const override { return wake_; }
  const State& state() const override { return replica_.state(); }

  bool leads() const { return loop_ && loop_->leads(); }
  /// Whether the ring no longer has what it awaits.
  bool is_behind() const { return log_.state().behind.has_value(); }
  MemoryCommitStore& store() { return store_; }

 private:
  class LeaseElection;
  ReplicatedLogPorts log_ports();
  void read_wrong_bytes(Result<std::optional<RingSlot>>& found);
  void tell();

  const HubWorld world_;
  const std::string name_;
  RoleWorld& roles_;
  Clock& clock_;
  const std::function<void(const Event&)> acknowledged_;
  Seq& told_;  // the last event that was acknowledged
  LogTime wake_;
  bool woken_ = true;
  Inbox inbox_{kInboxFactsMax};
  HubStatus status_{HubRole::follower};
  MemoryCommitStore store_;
  ReplicatedLog log_;
  Replica replica_;
  Connections connections_;
  std::unique_ptr<Network> lease_way_;
  std::unique_ptr<LeaseElection> election_;
  std::unique_ptr<RoleLoop> loop_;
};

}  // namespace fairlead::simulation
