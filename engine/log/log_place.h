// Private to the RocksDB log: whether there is a log in a data directory, and making one where
// there was none.
#pragma once

#include <filesystem>
#include <span>
#include <system_error>

#include "engine/base/result.h"
#include "engine/log/log_contents.h"
#include "engine/log/witness.h"

namespace fairlead {

Error system_error(const std::filesystem::path& path, const std::error_code& error);

/// Whether there is a log. `incompatible` if what is there is somebody else's, `corrupt` if it is a
/// log without the file that RocksDB begins with.
Result<bool> has_log(const LogPaths& paths);

/// `corrupt` if something in the directory tells of a log that is not there.
Result<void> expect_none_before(const LogPaths& paths, std::span<const LogWitness> witnesses);

/// Makes an empty log where nothing tells of an earlier one.
Result<void> make_log(const LogPaths& paths, rocksdb::Env* env,
                      std::span<const LogWitness> witnesses);

/// The directory's own entries become durable: what was made in it, and renamed.
Result<void> sync_entries(const std::filesystem::path& directory);

}  // namespace fairlead
