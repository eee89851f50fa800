// Private to the RocksDB log: which file of it is not what was written, when RocksDB cannot go on.
//
// RocksDB's own words name the file that it was at, which need not be the damaged one: a table with
// a broken end is told of as if the manifest were wrong that lists it.
#pragma once

#include <rocksdb/status.h>

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// The table that RocksDB names ("000016.sst"); empty if it names none.
std::string table_named_in(const std::string& message);

/// What a failed opening of the log in `store` means. `corrupt` if a file of it is damaged or gone;
/// the file is named, and RocksDB's reason kept. Else as `translate` says.
Error cannot_open(const std::filesystem::path& store, const rocksdb::Status& status);

/// The error of a store that holds nothing of a Fairlead log: `incompatible`, and `corrupt` where
/// the mark beside it says that there was one.
Error not_a_log(const std::filesystem::path& store);

/// `error` for a person who has not asked about a file of `data`: if it tells of damage, with the
/// directory, and with what can be done.
Error told_of_damage(const std::filesystem::path& data, Error error);

}  // namespace fairlead
