// What an expression sees of a device.
#pragma once

#include <string>

#include "engine/devices/cel/device_maps.h"
#include "engine/devices/cel/program.h"

namespace fairlead::cel {

/// Returns a text that is equal for devices on which the program, which has code, is the same: the
/// driver and the attributes and capacities that it names; all of them where it looks at maps.
std::string seen_by(const Program& program, const DeviceView& device);

}  // namespace fairlead::cel
