// Private to the RocksDB log: finds out whether a data directory has a log, and makes one where
// there was none.
#pragma once

#include <filesystem>
#include <span>
#include <system_error>

#include "engine/base/result.h"
#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/watermark_source.h"

namespace fairlead {

Error system_error(const std::filesystem::path& path, const std::error_code& error);

/// Returns whether there is a log. Fails with `incompatible` if the directory holds something of
/// another program, with `corrupt` if it is a log without CURRENT, the file that RocksDB opens
/// first.
Result<bool> has_log(const LogPaths& paths);

/// Fails with `corrupt` if the watermark or a watermark source proves that a log is missing.
Result<void> expect_none_before(const LogPaths& paths, std::span<const WatermarkSource> sources);

/// Makes an empty log; fails like expect_none_before() if there was one.
Result<void> make_log(const LogPaths& paths, rocksdb::Env* env,
                      std::span<const WatermarkSource> sources);

/// Syncs the entries of a directory, which makes creations and renames in it durable.
Result<void> sync_entries(const std::filesystem::path& directory);

}  // namespace fairlead
