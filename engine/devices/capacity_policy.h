// How much of a capacity a request takes.
#pragma once

#include <optional>

#include "engine/base/quantity.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// Returns how much of `capacity` a request takes that asks for `asked`. One that names no amount
/// (null) takes the policy's default, else all of it. What is asked is rounded up to a value that
/// the policy allows; nullopt if there is none. Source: k8s.io/dynamic-resource-allocation
/// structured/internal/incubating/consumable_capacity.go.
std::optional<Quantity> consumption(const DeviceCapacity& capacity, const Quantity* asked);

/// Returns the sum, or the nearest value that 128 bits hold.
Int128 saturating_sum(Int128 a, Int128 b);
/// Returns the difference, or the nearest value that 128 bits hold.
Int128 saturating_difference(Int128 a, Int128 b);

}  // namespace fairlead
