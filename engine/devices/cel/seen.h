// What an expression sees of a device.
#pragma once

#include <string>

#include "engine/devices/cel/device_maps.h"
#include "engine/devices/cel/program.h"

namespace fairlead::cel {

/// Returns a text that is equal for devices that look alike to the program, which must have code:
/// the driver, and the attributes and capacities that the program names, or all of them where it
/// looks at maps.
std::string seen_by(const Program& program, const DeviceView& device);

}  // namespace fairlead::cel
