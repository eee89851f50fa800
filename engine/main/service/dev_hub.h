// The hub inside `fairlead dev`: the parts of `fairlead hub`, on a thread of its own and the
// fleet's clock.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/fleet/scaled_clock.h"
#include "engine/main/service/hub_connections.h"
#include "engine/runtime/hub_loop.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

class DevHub {
 public:
  /// Connects to the API server of `kubeconfig` and the members of `configuration`, and runs.
  /// `log`, which is in `data`, and `clock` outlive it; it is the only writer of the log, and
  /// leaves snapshots beside a long one.
  static Result<std::unique_ptr<DevHub>> start(EventLog& log, const std::filesystem::path& data,
                                               ScaledClock& clock, const std::string& kubeconfig,
                                               const Configuration& configuration);
  /// Calls stop() if the caller did not.
  ~DevHub();
  DevHub(const DevHub&) = delete;
  DevHub& operator=(const DevHub&) = delete;

  /// False once it has ended by itself, because its log accepts no more events.
  bool running() const { return running_; }
  /// Whether it knows the hub's objects and plans.
  bool ready() const { return status_.ready(); }
  HubStats stats() const { return status_.stats(); }
  /// Has the hub take up another configuration, soon.
  void reconfigure(Configuration configuration);
  /// Ends it cleanly. Returns the error that ended it, if there is one.
  Result<void> stop();

 private:
  DevHub(EventLog& log, const std::filesystem::path& data, ScaledClock& clock);
  Result<void> begin(const std::string& kubeconfig, const Configuration& configuration);

  ScaledClock& clock_;
  const Logger logger_;
  Inbox inbox_;
  HubStatus status_;
  HubConnections connections_;
  SnapshotStore snapshots_;
  Replica replica_;
  Leader leader_;
  Result<void> ended_;
  std::unique_ptr<HubLoop> loop_;  ///< answers may come until the connections are stopped
  std::mutex mutex_;               // guards wanted_
  std::optional<Configuration> wanted_;
  std::atomic<bool> running_{false};
  std::thread thread_;
};

}  // namespace fairlead
