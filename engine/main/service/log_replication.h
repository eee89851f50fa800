// What makes a process one of several that share a log: it finds the log that the Lease names, or
// makes it, and takes part in the election.
//
// A log is never begun anew while a data directory or the Lease knows one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/lease/replica_leases.h"
#include "engine/log/replicated/replicated_log.h"
#include "engine/main/client/replication_report.h"
#include "engine/main/service/replica_poll.h"
#include "engine/main/service/ring_servers.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/loop_watch.h"
#include "engine/runtime/role_loop.h"

namespace fairlead {

/// Returns where `local`, which was not written by a process of the ring, ends in it: the hash
/// chain proves it. nullopt: it ends outside of the ring's window, or is another log.
std::optional<RingPlace> place_in_ring(const NamedLog& log, const std::vector<RingSlot>& slots,
                                       Seq last, const Digest& chain);

/// Who a process is among those that share a log, and how it reaches the others.
struct ReplicaIdentity {
  std::string run;      ///< of this process
  std::string replica;  ///< the same after a restart
  std::string address;  ///< URL at which the others ask it; empty: they do not
  HubPlace others;      ///< how they are asked at their addresses
};

class LogReplication final : public Election {
 public:
  /// Prepares the connections, without a request. `settings` name a Lease. `wake` is called from
  /// another thread when leads(), others() or the log changed. Fails with `bad_input` if
  /// credentials or files cannot be used.
  static Result<std::unique_ptr<LogReplication>> make(const HubRoleSettings& settings,
                                                      const Credentials& credentials,
                                                      ReplicaIdentity identity, Logger logger,
                                                      std::function<void()> wake);
  /// Ends the election without giving the Lease up, and all use of the ring.
  ~LogReplication() override;

  /// Whether the Lease names a log whose beginning the ring no longer has: an empty data directory
  /// needs a copy of another replica's. Waits as join() does.
  Result<bool> needs_copy();
  /// Finds the ring that `local` is a copy of, or makes it one: of the log that the Lease names; or
  /// of a new log, if none is known, `local` has no events and the settings say `create`. Waits as
  /// long as servers do not answer, and says why. Fails with `conflict` if `local` is of another
  /// log, with `gone` if the ring no longer has what follows it, and with `not_found` if there is
  /// no log and none may be made. `local` outlives this.
  Result<ReplicatedLog*> join(RocksdbLog& local);
  /// Takes part in the election from now on.
  void elect();

  bool leads() const override;
  std::string leader() const override;
  void say_listed() override;
  bool listed() const override { return listed_; }
  std::vector<std::uint64_t> copies() const override;
  void release() override;
  void ask_others() override;
  OthersSaid others() const override;
  void yield() override;

  /// Returns what `fairlead log stat` says of it, where `role` is as the loop last said; nullopt:
  /// the log is local.
  std::optional<ReplicationReport> report(const RoleStats& role) const;

  CopyTerms copy_terms() const {
    return {settings_.replication.copies_required, settings_.replication.copies_wait};
  }
  /// Has `watch` look at the I/O thread.
  std::unique_ptr<LoopWatch::Loop> watched_by(LoopWatch& watch);

 private:
  LogReplication(const HubRoleSettings& settings, Logger logger, std::function<void()> wake)
      : settings_(settings), logger_(std::move(logger)), wake_(std::move(wake)) {}
  /// Tries again, and says why, while servers do not answer.
  template <class T>
  Result<T> insist(const std::function<Result<T>()>& attempt) const;
  Result<RingPlace> find(const RocksdbLog& local);
  Result<RingPlace> create();
  // On the I/O thread:
  void write_listed();
  void tell_position();
  void look_at_version();
  void poll_others();
  void other_said(const Result<ReplicaPosition>& said);
  void look();
  void look_again();

  const HubRoleSettings settings_;
  const Logger logger_;
  const std::function<void()> wake_;
  std::unique_ptr<RingServers> servers_;
  ReplicaIdentity identity_;
  std::unique_ptr<IoLoop::Timer> looking_, listing_, asking_;  ///< on the I/O thread
  std::unique_ptr<ReplicaLeases> replicas_;                    ///< there, too
  std::unique_ptr<ReplicaPoll> poll_;                          ///< there, too
  std::unique_ptr<ReplicatedLog> log_;
  std::atomic<bool> elected_{false};
  std::atomic<std::int64_t> leads_until_{0};  ///< ns of the I/O thread's clock
  std::atomic<bool> listed_{false};
  mutable std::mutex mutex_;  ///< guards the rest
  std::string leader_;
  std::map<std::string, ReplicaPosition> others_;  ///< by the name of their Lease
  std::string server_version_;
  OthersSaid others_said_;
  std::size_t awaited_ = 0;  ///< answers to ask_others()
};

}  // namespace fairlead
