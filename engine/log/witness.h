// What stands beside a log and tells how far that had certainly come.
//
// The end of a log that was cut at a group commit looks like any other end: only something beside
// it can tell. Two kinds of files do, the acknowledged mark (acknowledged.h) and the snapshots,
// which are taken of durable events only and name their seq and its digest. Losing the one is not
// losing the other, and each is believed only if it is whole, which its own digest says.
#pragma once

#include <string>

#include "engine/base/digest.h"
#include "engine/base/types.h"

namespace fairlead {

/// A group commit that was durable.
struct LogWitness {
  Seq seq;           ///< of its last event
  Digest chain;      ///< of the log after it
  std::string file;  ///< that says so, for a person: "snapshots/00000000000000000045.snapshot"
};

}  // namespace fairlead
