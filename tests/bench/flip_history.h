// The log of a hub over days in which nodes fail and come back, for benches that read such a log
// again.
#pragma once

#include <cstdint>
#include <filesystem>

namespace fairlead::bench {

/// The size of the history.
struct FlipSettings {
  std::uint64_t clusters = 50;
  std::uint64_t nodes = 100;   ///< of each cluster
  std::uint64_t outages = 88;  ///< of each cluster and day; seven in eight last less than 65 s
  std::uint64_t days = 4;
  std::uint64_t snapshot_every = 0;  ///< events; 0: no snapshots
};

/// A data directory and the number of its events.
struct FlipHistory {
  std::filesystem::path directory;
  std::uint64_t events = 0;
};

/// Writes into `directory` the log of a hub with three ClusterQueues, which the claims of all
/// clusters name: nodes as they fail and come back, timers, the hub's writes with their answers and
/// the observations that follow, a checkpoint every 25000 events. Each commit is one of the hub's.
/// The same settings give the same events.
FlipHistory write_flips(const std::filesystem::path& directory, const FlipSettings& settings);

}  // namespace fairlead::bench
