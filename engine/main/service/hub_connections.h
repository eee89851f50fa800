// The API servers of a hub: the hub itself, the members whose Nodes are watched directly, and the
// tenants of the super cluster pool.
//
// Facts of all of them go into the inbox. The configuration names the members that are watched;
// files, Secrets and ClusterProfiles give our credentials there. A member that cannot be reached,
// or has no credentials, does not delay any other.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kube/access/member_access.h"
#include "connectors/kube/api_server_connection.h"
#include "engine/core/notice.h"
#include "engine/core/sources.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/inbox.h"
#include "engine/runtime/loop_watch.h"
#include "engine/runtime/metrics.h"
#include "schema/configuration.h"

namespace fairlead {

/// `inbox` outlives it. All but stats() belong to the hub's thread.
class HubConnections {
 public:
  /// `providers` are the exec plugins that ClusterProfiles may name.
  HubConnections(Inbox& inbox, Logger logger, std::shared_ptr<const AccessProviders> providers);
  ~HubConnections();

  /// Connects to the hub, and opens no stream yet. Fails with `bad_input` if the credentials cannot
  /// be used.
  Result<void> connect_hub(Credentials credentials, const Configuration& configuration);
  /// Ends all connections without waiting for them; connect_hub() comes next, once ended().
  void disconnect();
  /// Whether no connection that was ended still reports anything.
  bool ended() const { return retired_ == 0; }
  /// Opens the streams of `wanted` and closes all others; the connections that stay take over the
  /// settings of a new configuration. After connect_hub().
  void follow(const Configuration& configuration, const Watch& wanted);
  /// Returns the sink for writes to that API server; null if it is not watched, or nothing is
  /// written (Configuration::record).
  PatchSink* sink_of(const std::string& cluster);
  /// Sends a KubeEvent to the API server that has its object, once and without a guarantee; not
  /// under Configuration::record.
  void notify(const Notice& notice, std::string_view identity);
  /// Returns the kinds that the hub certainly does not serve at present.
  std::set<Kind> absent_kinds() const;
  /// Returns the counters of all connections. From any thread.
  std::vector<ConnectionStats> stats() const;
  /// Has `watch` look at the threads of its connections, until the handles are destroyed.
  std::vector<std::unique_ptr<LoopWatch::Loop>> watched_by(LoopWatch& watch);
  /// Closes all connections. The inbox must be closed before, or a blocked stream never ends.
  void stop();

 private:
  struct Member {
    Watch::Member wanted;
    std::unique_ptr<ApiServerConnection> connection;
    std::unique_ptr<MemberAccess> access;                     ///< of a Secret or ClusterProfile
    std::unique_ptr<ApiServerConnection::Follower> object{};  ///< of Streams::object
  };
  struct Tenant {
    TenantAccess wanted;
    std::unique_ptr<ApiServerConnection> connection;
    std::unique_ptr<MemberAccess> access;  ///< of a Secret
  };
  ApiServerConnection* server_of(const SourceName& source) const;
  ConnectionSettings settings_for(const Streams& streams) const;
  ConnectionSettings member_settings(const Watch::Member& member) const;
  ConnectionSettings tenant_settings() const;
  void adjust();
  void watch(ApiServerConnection& connection, const Streams& streams);
  void watch_object(Member& member, const ObjectKey& key);
  Member connect(const Watch::Member& wanted);
  std::unique_ptr<ApiServerConnection> connection_to(const Watch::Member& wanted);
  Tenant connect_tenant(const TenantAccess& wanted);

  /// Ends connections without waiting for them.
  void retire(std::shared_ptr<void> ended);

  Inbox& inbox_;
  const Logger logger_;
  const std::shared_ptr<const AccessProviders> providers_;
  IoLoop hub_loop_, member_loop_, tenant_loop_;
  const std::shared_ptr<TurnGate> member_beginnings_, tenant_beginnings_;
  mutable std::mutex mutex_;  // guards the set of connections
  std::unique_ptr<ApiServerConnection> hub_;
  std::map<std::string, Member> members_;
  std::map<SourceName, Tenant> tenants_;
  std::thread retiring_;
  std::atomic<int> retired_{0};  ///< that retiring_ still waits for
  Configuration configuration_;  ///< the one last followed, and what there should be under it
  Watch watch_;
};

}  // namespace fairlead
