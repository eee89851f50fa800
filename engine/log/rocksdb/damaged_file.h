// Private to the RocksDB log: names the damaged file when RocksDB cannot open a log.
//
// RocksDB's message names the file that it was reading, which need not be the damaged one: for a
// table with a broken end it blames the manifest that lists the table.
#pragma once

#include <rocksdb/status.h>

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// Returns the table that a message of RocksDB names ("000016.sst"); empty if it names none.
std::string table_named_in(const std::string& message);

/// Returns the error of a failed opening of the log in `store`: `corrupt`, with the name of the
/// file and RocksDB's reason, if a file is damaged or missing, else what translate() returns.
Error cannot_open(const std::filesystem::path& store, const rocksdb::Status& status);

/// Returns the error of a store that holds no Fairlead log: `corrupt` if the durable watermark
/// beside it proves that there was one, else `incompatible`.
Error not_a_log(const std::filesystem::path& store);

/// Returns `error` with the directory `data` before it and advice behind it if it reports damage,
/// for an operator who asked about the log and not about one of its files.
Error with_damage_advice(const std::filesystem::path& data, Error error);

}  // namespace fairlead
