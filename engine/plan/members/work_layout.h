// Which queue of a member is in which of its quota works.
//
// OCM's webhook refuses a work with more than 500 KiB of manifests, and its agent writes a value
// for each feedback path into the work's status, which etcd bounds at 1.5 MiB with the rest of it.
// So a work is cut far below that.
//
// The layout follows from the works as observed: a queue stays in the work that has it while it
// fits, and is always whole in one. One that does not fit any more moves to a work with a higher
// number, never to a lower one: of two works that have a queue the higher is where it goes. It
// leaves the lower one when the higher one is applied: OCM's agent deletes what leaves a work,
// unless another work of the member has it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/fold/cluster_state.h"

namespace fairlead {

/// The most that a work gets of manifests and of feedback paths. A queue that has more alone is in
/// a work of its own.
inline constexpr std::size_t kWorkBytesMax = 256 * 1024;
inline constexpr std::size_t kWorkPathsMax = 500;

/// What a queue takes of a work.
struct QueueSize {
  std::string name;
  std::size_t bytes = 0;          ///< of its manifest
  std::size_t paths = 0;          ///< of its feedback
  std::set<std::string> flavors;  ///< whose manifests its work has too
};

/// Returns by queue the number of the work that it belongs in. `flavor_bytes` is the size of each
/// flavor's manifests.
std::map<std::string, std::size_t> place_queues(
    const Cluster& cluster, const std::vector<QueueSize>& queues,
    const std::map<std::string, std::size_t>& flavor_bytes);

/// Whether the work with that number has the queue and is applied: the work that had it before may
/// lose it.
bool has_arrived(const Cluster& cluster, const std::string& queue, std::size_t number);

}  // namespace fairlead
