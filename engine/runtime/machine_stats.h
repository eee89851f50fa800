// What the process takes of the machine: memory, processor time, open files, disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/time.h"

namespace fairlead {

/// Values that cannot be read are 0.
struct MachineStats {
  std::uint64_t resident_bytes = 0;
  Duration cpu;         ///< user and system, of all threads
  Duration started_at;  ///< since 1970
  std::uint64_t open_files = 0;
  std::map<std::string, std::uint64_t> data_bytes;  ///< by part: log, snapshots, other
  std::uint64_t data_free_bytes = 0;                ///< that the process may still write
};

/// Reads them; `data` is the data directory.
MachineStats machine_stats(const std::string& data);

}  // namespace fairlead
