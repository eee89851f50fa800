// The part of an explanation about devices: from a quota down to the pools and devices behind it.
// Internal to the audit.
// Fields: DevicePool in ui/answers.d.ts.
#pragma once

#include <string>

#include "engine/base/json.h"
#include "replay/audit/explain.h"

namespace fairlead {

/// Returns which DeviceTaintRules of the cluster give the device the taint, behind its text: " of
/// DeviceTaintRule broken (seq 7)". Empty for a taint that is the slice's alone.
std::string rules_text(const Cluster& cluster, const std::string& taint,
                       const ResourceSliceFacts& slice, const DeviceFacts& device);
/// "devices" of a claim's row; empty where the cluster has published none.
Json device_rows(const State& state, const GrantOfPair& grant);
/// Renders them.
std::string devices_text(const Json& pools);

}  // namespace fairlead
