// The servers of a replicated log as a process reaches them: the Lease in the hub's API server, and
// the ring's slots there or in an etcd.
//
// It has an I/O thread and connections of its own, so that a burst of facts, which may hold the
// hub's other connections back, holds back no commit and no renewal. The functions below wait for
// their answers; they are for the start of a hub and for commands.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/lease/lease_elector.h"
#include "connectors/kube/transport/http_client.h"
#include "connectors/ring/etcd_connections.h"
#include "connectors/ring/kube_commit_store.h"
#include "engine/log/replicated/commit_store.h"
#include "engine/runtime/replication_settings.h"

namespace fairlead {

/// The log that a Lease names: its annotation kLogAnnotation is "ID SLOTS".
struct NamedLog {
  std::string id;
  std::uint32_t slots = 0;

  friend bool operator==(const NamedLog&, const NamedLog&) = default;
};
inline constexpr const char* kLogAnnotation = "fairlead.io/log";
/// Reads the value of kLogAnnotation; nullopt if it is not "ID SLOTS".
std::optional<NamedLog> read_named_log(const std::string& annotation);
std::string to_text(const NamedLog& log);
/// Returns the name of a new log: a random id.
NamedLog new_log(std::int64_t slots);

class RingServers {
 public:
  /// Prepares the connections, without a request. `events` are called on the I/O thread. Fails with
  /// `bad_input` if credentials or files cannot be used.
  static Result<std::unique_ptr<RingServers>> make(const HubRoleSettings& settings,
                                                   const Credentials& credentials,
                                                   std::string identity,
                                                   LeaseElector::Events events);
  ~RingServers();

  /// Reads the Lease; nullopt: there is none.
  Result<std::optional<LeaseSeen>> read_lease();
  /// Reads the log that the Lease names. Fails with `corrupt` if the annotation is no such name.
  Result<std::optional<NamedLog>> read_name();
  /// Names the log, if nobody else has named one since read_name(): else `conflict`. nullopt: none.
  Result<void> write_name(const std::optional<NamedLog>& log);
  /// Makes the slots that are missing, unused, and leaves the others as they are.
  Result<void> make_slots(const NamedLog& log);
  Result<void> remove_slots(std::uint32_t slots);
  /// Reads all slots, in order.
  Result<std::vector<RingSlot>> list();
  Result<std::optional<RingSlot>> read(std::uint32_t slot);
  Result<StoreAnswer> replace(const RingCommit& commit, StoreVersion expected);
  /// On the I/O thread: asks the ring's servers for their version, and calls `done` with it; also
  /// with an empty one, where they do not say it.
  void ask_version(std::function<void(const std::string&)> done);

  /// Null where the log is not replicated.
  CommitStore* store() { return store_; }
  LeaseElector& elector() { return *elector_; }
  Transport& kube() { return *kube_; }  ///< to the hub's API server
  IoLoop& loop() { return loop_; }

 private:
  RingServers() = default;
  Result<void> connect(const HubRoleSettings& settings, const Credentials& credentials,
                       std::string identity, LeaseElector::Events events);
  /// Has the I/O thread do what ends later, and waits for that.
  void wait(const std::function<void(std::function<void()> done)>& work);
  /// Does `one` for each slot, some at a time, until one fails.
  using Answered = CommitStore::Answered;
  Result<void> for_each_slot(std::uint32_t slots,
                             const std::function<void(std::uint32_t, Answered)>& one);

  IoLoop loop_;
  // On its thread:
  std::unique_ptr<HttpClient> kube_;
  std::unique_ptr<KubeCommitStore> slots_in_kube_;
  std::unique_ptr<EtcdConnections> etcd_;
  std::unique_ptr<LeaseElector> elector_;
  CommitStore* store_ = nullptr;  ///< one of the two
};

}  // namespace fairlead
