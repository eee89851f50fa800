// The writes of two worlds that see the same events, held against each other.
//
// Worlds that only imagine what the API server answers write at exact moments: a deadline, or the
// time of the event that decided. So the same write is one of the same object, the same content and
// the same moment, to the nanosecond; whatever is not that is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/virtual_hub.h"

namespace fairlead {

/// How a write differs between the worlds.
enum class WriteDiffers : std::uint8_t {
  only_history,  ///< under the other configuration it is not written
  only_what_if,
  value,  ///< the object is written at the same moment, with another content
  time,   ///< the same content is written at another moment
};

/// A write that is not the same in both worlds; one side at least is there. The seqs of both are of
/// imagined logs and tell nothing.
struct WriteDifference {
  std::optional<PlannedWrite> control;   ///< under history's own configuration
  std::optional<PlannedWrite> imagined;  ///< under the other one
  /// Of `control`: where history itself intended the same content, at its own time; none: nowhere.
  struct Made {
    Seq seq;
    LogTime time;
  };
  std::optional<Made> made;

  WriteDiffers kind() const;
  /// When it is told: the control's moment, else the other one.
  LogTime time() const { return control ? control->time : imagined->time; }
};

struct WriteComparison {
  std::vector<WriteDifference> differences;  ///< in order of time
  std::uint64_t same = 0;                    ///< writes that are in both worlds
};

/// Holds `control` against `imagined`, object by object; statuses are left out. Writes of one
/// moment are partners first. Between two moments that the worlds have in common, equal contents
/// are paired in order: as many as possible, and so that they are as near in time as possible.
/// `made` are history's own writes, which are paired with `control` likewise. Each list is in order
/// of time.
WriteComparison compare_writes(const std::vector<PlannedWrite>& control,
                               const std::vector<PlannedWrite>& imagined,
                               const std::vector<PlannedWrite>& made);

}  // namespace fairlead
