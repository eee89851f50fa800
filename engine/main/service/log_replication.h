// What joins a process to the others that share its log: the Lease that elects a leader, and the
// servers that keep the ring.
//
// Both have an I/O thread and a connection of their own, so that a burst of facts, which may hold
// the other connections back, holds back no commit and no renewal.
//
// The Lease also names the log: its annotation `fairlead.io/log` is "ID SLOTS". A log is never
// begun anew while a data directory or this annotation knows one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "connectors/kube/lease/lease_elector.h"
#include "connectors/kube/transport/http_client.h"
#include "engine/log/replicated/replicated_log.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/loop_watch.h"
#include "engine/runtime/replication_settings.h"
#include "engine/runtime/role_loop.h"

namespace fairlead {

/// The log that a Lease names.
struct NamedLog {
  std::string id;
  std::uint32_t slots = 0;

  friend bool operator==(const NamedLog&, const NamedLog&) = default;
};
inline constexpr const char* kLogAnnotation = "fairlead.io/log";
/// Reads the value of kLogAnnotation; nullopt if it is not "ID SLOTS".
std::optional<NamedLog> read_named_log(const std::string& annotation);
std::string to_text(const NamedLog& log);

class LogReplication final : public Election {
 public:
  /// Prepares the connections, without a request. `settings` name a Lease. `wake` is called from
  /// another thread when leads() or the log changed. Fails with `bad_input` if credentials or files
  /// cannot be used.
  static Result<std::unique_ptr<LogReplication>> make(const HubRoleSettings& settings,
                                                      const Credentials& credentials,
                                                      std::string identity, Logger logger,
                                                      std::function<void()> wake);
  /// Ends the election without giving the Lease up, and all use of the ring.
  ~LogReplication() override;

  /// Finds the ring that `local` is a copy of, or makes it one: of the log that the Lease names, if
  /// `local` has no events; or of a new log, if none is known and the settings say `create`. Waits
  /// as long as servers do not answer, and says why. Fails with `conflict` if `local` is of another
  /// log, and with `not_found` if there is none and none may be made. `local` outlives this.
  Result<ReplicatedLog*> join(RocksdbLog& local);
  /// Takes part in the election from now on.
  void elect();

  bool leads() const override;
  std::string leader() const override;
  void release() override;

  /// Has `watch` look at the I/O thread.
  std::unique_ptr<LoopWatch::Loop> watched_by(LoopWatch& watch);

 private:
  LogReplication(const HubRoleSettings& settings, Logger logger, std::function<void()> wake);
  Result<void> connect(const Credentials& credentials, std::string identity);
  void on_loop(std::function<void(std::function<void()> done)> work) const;
  Result<std::optional<NamedLog>> read_name();
  Result<NamedLog> create_log(const std::optional<NamedLog>& unfinished);
  Result<void> make_slots(const NamedLog& log);
  Result<NamedLog> find_log(const std::optional<RingPlace>& ours);
  // On the loop's thread:
  void look();
  void look_again();

  const HubRoleSettings settings_;
  const Logger logger_;
  const std::function<void()> wake_;
  mutable IoLoop loop_;
  // On the loop's thread:
  std::unique_ptr<HttpClient> kube_, etcd_;
  std::unique_ptr<LeaseElector> elector_;
  std::unique_ptr<CommitStore> store_;
  std::unique_ptr<IoLoop::Timer> looking_;

  std::unique_ptr<ReplicatedLog> log_;
  std::atomic<bool> elected_{false};
  std::atomic<std::int64_t> leads_until_{0};  ///< ns of the loop's clock
  mutable std::mutex mutex_;                  ///< guards the rest
  std::string leader_;
};

}  // namespace fairlead
