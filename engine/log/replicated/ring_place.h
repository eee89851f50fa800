// Where a log ends in the ring that keeps its newest commits.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/digest.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Where a log ends in its ring.
struct RingPlace {
  std::string log;                   ///< its id
  std::uint32_t slots = kRingSlots;  ///< R
  std::uint64_t next = 0;            ///< the number of the next commit
  StoreVersion version = 0;          ///< of the last one as it was stored; 0: not known
  Seq last;                          ///< of the last event; 0: none
  Digest chain;                      ///< after the last commit
  /// The first commit that was ever written to the ring, as far as is known: a log that had commits
  /// before it was replicated keeps those to itself.
  std::uint64_t base = 0;

  friend bool operator==(const RingPlace&, const RingPlace&) = default;
};

}  // namespace fairlead
