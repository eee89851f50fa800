// Scans RocksDB's write-ahead log for commits behind damage.
//
// RocksDB's point-in-time recovery stops at the first record that is not whole. If nothing was
// written after that record, it is a torn tail. If a later commit follows, the record had been
// synced before the later one was written, so it was acknowledged and damaged since: corruption.
// This scanner distinguishes the two. It reads the file format itself (blocks of 32 KiB; records of
// masked CRC-32C, length, type and data; the data of a first or full record begins with the
// sequence number of its WriteBatch) and, where the structure is broken, tries every offset.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// Returns the greatest RocksDB sequence number at which an intact batch begins in the bytes of one
/// *.log file; 0 if none does.
std::uint64_t last_batch_in(std::string_view wal);

/// Returns the greatest over every *.log file in `directory`. Skips files that vanish meanwhile (a
/// hub may be writing). Fails with `unavailable` if the directory cannot be listed.
Result<std::uint64_t> last_batch_in_directory(const std::filesystem::path& directory);

}  // namespace fairlead
