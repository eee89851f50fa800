// Exact decimals of wide integers: `12.5`, without exponent or suffix.
#pragma once

#include <string>

#include "engine/base/quantity.h"

namespace fairlead {

/// Returns value / 10^places with every digit that is needed and no trailing zero: 12500 of three
/// places is "12.5", 12000 is "12".
std::string plain_decimal(Int128 value, int places);
/// The same with exactly `places` digits behind the point: 1250 of two places is "12.50".
std::string fixed_decimal(Int128 value, int places);

}  // namespace fairlead
