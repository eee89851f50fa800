// Watermark sources: files beside a log that name a commit which was certainly durable.
//
// The end of a log that was cut at a group commit looks like any other end: only evidence outside
// the log shows the loss. Two kinds of files hold it: the durable watermark (acknowledged.h) and
// the snapshots, which are saved of durable events only and name their seq and its digest. They can
// be lost independently, and each counts only if its own checksum holds.
#pragma once

#include <string>

#include "engine/base/digest.h"
#include "engine/base/types.h"

namespace fairlead {

/// A group commit that was durable.
struct WatermarkSource {
  Seq seq;           ///< of its last event
  Digest chain;      ///< of the log after it
  std::string file;  ///< its file, for messages: "snapshots/00000000000000000045.snapshot"
};

}  // namespace fairlead
