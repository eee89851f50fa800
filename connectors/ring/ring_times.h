// How long the servers of a ring may take, and in which portions they are asked.
#pragma once

#include "engine/base/time.h"

namespace fairlead {

/// For one slot, and for a page of a list.
inline constexpr Duration kRingTimeout = seconds(3);
inline constexpr Duration kRingPageTimeout = seconds(10);
/// Slots in a page.
inline constexpr int kRingPage = 100;
/// A stream of changes that is silent for so long is given up: its server may be gone without a
/// word, and following again costs a request.
inline constexpr Duration kRingSilence = seconds(30);

}  // namespace fairlead
