// Equality and order of values: `==` and `<`.
#pragma once

#include <optional>

#include "engine/devices/cel/value.h"

namespace fairlead::cel {

/// Whether two values that are neither lists nor maps are equal. Values of different kinds are not;
/// quantities are compared by value, versions by precedence; faults are equal to nothing.
bool equal_scalars(const Value& a, const Value& b);

/// Orders two ints, two strings (bytewise) or two bools; nullopt for any other pair.
std::optional<std::strong_ordering> order_of(const Value& a, const Value& b);

/// Orders two quantities by value or two versions by precedence; nullopt for any other pair.
std::optional<std::strong_ordering> order_of_amounts(const Value& a, const Value& b);

}  // namespace fairlead::cel
