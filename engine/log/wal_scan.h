// Looks into RocksDB's write-ahead log for commits behind damage.
//
// RocksDB's point-in-time recovery stops at the first record that is not whole. If that was the
// last thing ever written it was a torn tail. If a later commit follows it, the stopped-at record
// had been synced before that later one was written, so it was acknowledged and damaged since:
// corruption. This scanner tells the two apart. It reads the file format on its own (blocks of 32
// KiB; records of masked CRC-32C, length, type and data; the data of a first or full record begins
// with the sequence number of its WriteBatch) and, where the structure is broken, tries every
// offset.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// The greatest RocksDB sequence number at which an intact batch begins in the bytes of one *.log
/// file; 0 if none.
std::uint64_t last_batch_in(std::string_view wal);

/// The same over every *.log file in `directory`. Files that vanish meanwhile (a hub may be
/// writing) are passed over.
Result<std::uint64_t> last_batch_in_directory(const std::filesystem::path& directory);

}  // namespace fairlead
