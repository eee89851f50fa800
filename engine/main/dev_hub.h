// The hub inside `fairlead dev`: the same parts as `fairlead hub` has, on a thread and a clock of
// its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "engine/fleet/scaled_clock.h"
#include "engine/main/hub_connections.h"
#include "engine/runtime/hub_loop.h"

namespace fairlead {

class DevHub {
 public:
  /// Connects to the API server of `kubeconfig` and the members of `configuration`, and runs.
  /// `log` and `clock` outlive it; nobody else appends.
  static Result<std::unique_ptr<DevHub>> start(EventLog& log, ScaledClock& clock,
                                               const std::string& kubeconfig,
                                               const Configuration& configuration);
  /// stop(), if that was not called.
  ~DevHub();
  DevHub(const DevHub&) = delete;
  DevHub& operator=(const DevHub&) = delete;

  /// False once it has ended by itself: its log takes no more.
  bool running() const { return running_; }
  /// It knows the hub's objects and plans.
  bool ready() const { return status_.ready(); }
  HubFigures figures() const { return status_.figures(); }
  /// Ends it cleanly; how it ended.
  Result<void> stop();

 private:
  DevHub(EventLog& log, ScaledClock& clock);
  Result<void> begin(const std::string& kubeconfig, const Configuration& configuration);

  ScaledClock& clock_;
  const Say say_;
  Inbox inbox_;
  HubStatus status_;
  HubConnections connections_;
  HubCore core_;
  Result<void> ended_;
  std::unique_ptr<HubLoop> loop_;  ///< answers may come until the connections are stopped
  std::atomic<bool> running_{false};
  std::thread thread_;
};

}  // namespace fairlead
