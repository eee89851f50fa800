// Names of the API of fleet claims that the connector and the engine share.
#pragma once

#include <string_view>

namespace fairlead {

/// The driver of bookings, which Fairlead itself is: FleetResourceClass.driverName.
inline constexpr std::string_view kBookingDriver = "fairlead.io/devices";
/// The annotation of a pod template that names the fleet claims of its pods.
inline constexpr std::string_view kFleetClaimsAnnotation = "dra.fairlead.io/claims";

}  // namespace fairlead
