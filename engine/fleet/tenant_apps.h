// Plays the controllers in the API servers of tenants: each app has as many pods as its tenant
// wants, and a pod that is gone is replaced by a new one of another name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/fleet/api.h"
#include "engine/fleet/pool_world.h"

namespace fairlead {

/// Owned by one thread.
class TenantApps {
 public:
  /// `tenants` are the API servers by tenant. No app has a pod before scale().
  explicit TenantApps(const std::map<std::string, model::SharedModel*>& tenants);

  /// Sets how many pods `app` (`tenant/name`) shall have. This and restart() fail with `not_found`.
  Result<void> scale(const std::string& app, std::int64_t pods);
  /// Deletes all pods of the app: look() replaces them.
  Result<void> restart(const std::string& app);
  /// Creates and deletes pods, at most once a second.
  void look(LogTime now);
  std::uint64_t writes() const { return writes_; }

 private:
  struct App {
    PoolApp layout;
    std::int64_t wanted = 0;
    std::int64_t made = 0;  ///< pods so far: the number in the next name
  };

  App* find(const std::string& id);
  /// Returns the names of the app's pods that are not over; those that run come last.
  std::vector<std::string> pods(const App& app) const;
  void adjust(App& app);

  std::map<std::string, Api> tenants_;
  std::map<std::string, App> apps_;
  LogTime next_look_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
