// How much memory the facts of an object take, for the bounds on what one API server may report.
#pragma once

#include <cstddef>

#include "schema/facts.h"

namespace fairlead {

/// Returns about how many bytes the facts take; the same facts give the same number. Counts the
/// kinds that are read of members and tenants; 0 for others, which only the hub has.
std::size_t kept_bytes(const Facts& facts);

}  // namespace fairlead
