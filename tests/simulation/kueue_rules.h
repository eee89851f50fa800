// What Kueue's webhook and schema demand of a ClusterQueue. The world's servers refuse what breaks
// it, and a checker judges what the hub leaves by it.
#pragma once

#include <string>

#include "engine/base/json.h"

namespace fairlead::simulation {

/// Returns what Kueue's webhook (pkg/webhooks/clusterqueue_webhook.go) or its schema has against
/// the ClusterQueue; empty: it is valid.
std::string fault_of_queue(const Json& queue);

}  // namespace fairlead::simulation
