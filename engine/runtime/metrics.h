// The stats of a hub as Prometheus text. Names follow Kubernetes components where the meaning
// matches; a metric that only Fairlead has, and whose name could be taken for another's, begins
// with fairlead_.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/hub_stats.h"
#include "engine/runtime/machine_stats.h"
#include "engine/runtime/webhook_stats.h"
#include "schema/event.h"

namespace fairlead {

/// The counters and gauges of the connection to one API server.
struct ConnectionStats {
  SourceName source;
  std::map<int, std::uint64_t> requests_by_code;  ///< 0: no answer
  std::map<Kind, bool> synced;                    ///< kinds that are watched
  std::uint64_t relists = 0;
  std::uint64_t overflows = 0;      ///< times that Nodes, or their changes, exceeded the bounds
  std::uint64_t refused = 0;        ///< objects that no API server would have accepted
  std::uint64_t notices_lost = 0;   ///< KubeEvents that could not be sent
  bool credentials_usable = false;  ///< requests can be made
  std::optional<LogTime> credentials_expire;  ///< since 1970; nullopt: no end is known
  std::uint64_t credential_renewals = 0;
  std::uint64_t plugin_calls = 0;
  std::uint64_t plugin_failures = 0;
};

/// What the hub's own servers say of themselves.
struct ServingStats {
  std::optional<LogTime> certificate_expires;  ///< since 1970; nullopt: there is no certificate
};

/// Returns the part of the page about the webhook, for a hub that has one.
/// `certificate_expires` is since 1970; nullopt: there is no certificate.
std::string webhook_metrics_text(const WebhookStats& webhook,
                                 std::optional<LogTime> certificate_expires);

/// Returns the whole page of /metrics, without that part.
std::string metrics_text(const HubStats& hub, const std::vector<ConnectionStats>& connections,
                         const MachineStats& machine, const ServingStats& serving = {});

}  // namespace fairlead
