// The text of the evidence for a cluster's answer about devices (device_evidence.h).
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/json.h"

namespace fairlead {

/// Returns the text as a line that begins with `indent` blanks.
std::string indented(std::size_t indent, const std::string& text);
/// Returns "ResourceClaimTemplate a/b (seq 7), DeviceClass gpu (not there)".
std::string device_objects_text(const Json& objects);
/// Returns a line for each pool whose devices do not count.
std::string incomplete_pools_text(const Json& pools);
/// Returns the lines about each request: what the devices that it wants are kept by.
std::string device_requests_text(const Json& requests);
/// Returns what a pod of a reservation has: "gpu/r gpu.example.com/a/gpu-0".
std::string reserved_devices_text(const Json& pod);

}  // namespace fairlead
