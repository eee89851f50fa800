// Compares the writes of two worlds that receive the same events.
//
// Counterfactuals write at exact moments: a deadline, or the time of the event that decided. So two
// writes are the same if object, content and moment are equal, to the nanosecond; any other write
// is reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/virtual_hub.h"

namespace fairlead {

/// How a write differs between the worlds.
enum class WriteDiffers : std::uint8_t {
  only_history,  ///< the other configuration does not write it
  only_what_if,
  value,  ///< another content at the same moment
  time,   ///< the same content at another moment
};

/// A write that differs between the worlds; at least one side is there. The seqs of both belong to
/// virtual logs and mean nothing.
struct WriteDifference {
  std::optional<PlannedWrite> baseline;        ///< under history's own configuration
  std::optional<PlannedWrite> counterfactual;  ///< under the other one
  /// Of `baseline`: the same content in history's own writes, with its time; none: history has
  /// none.
  struct Made {
    Seq seq;
    LogTime time;
  };
  std::optional<Made> made;

  WriteDiffers kind() const;
  /// The time under which it is reported: the baseline's moment, else the other one's.
  LogTime time() const { return baseline ? baseline->time : counterfactual->time; }
};

struct WriteComparison {
  std::vector<WriteDifference> differences;  ///< in order of time
  std::uint64_t same = 0;                    ///< number of writes that both worlds made
};

/// Whether a write is compared: all but those of statuses; that of a Workload says where it goes.
bool is_compared(const PatchIntended& intent);

/// Returns what a write does, for a person: the text of its reason, or where a Workload's status
/// sends the Workload: "nominated p-w1", "nominated nowhere: NoCluster (p-w1: NoDevices r/gpu)".
std::string text_of_write(const PatchIntended& intent);

/// Compares `baseline` with `counterfactual`, object by object, as is_compared() says. Writes of
/// one moment are paired first. Between two moments in which both worlds write, equal contents are
/// paired in order: as many as possible and, among those, as near in time as possible. `made` are
/// history's own writes, paired with `baseline` in the same way. Each list is in order of time.
WriteComparison compare_writes(const std::vector<PlannedWrite>& baseline,
                               const std::vector<PlannedWrite>& counterfactual,
                               const std::vector<PlannedWrite>& made);

}  // namespace fairlead
