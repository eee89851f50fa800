// Private to the RocksDB log: finds tables in the log's directory that its manifest does not list.
//
// RocksDB treats a manifest that was cut between two of its records as complete and goes on without
// the tables that the lost records listed. Missing events are noticed then (log_contents.h), but
// missing entries of the index or the epochs would not be: the history of an object would come out
// empty.
//
// An unlisted table is not always a loss. A crash leaves one that was not listed yet, whose entries
// are in the write-ahead log, or one that was merged into another and not removed; a running hub is
// writing others. The entries of all of these are in the database too. A table is lost if its
// entries are not.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/log/rocksdb/log_contents.h"

namespace fairlead {

/// Returns the damage at the first event whose entries are in an unlisted table and missing from
/// the database; nullopt if there is none. Considers only events of `contents`, and no raw objects:
/// an entry that is missing may have been dropped by retention.
std::optional<LogDamage> lost_table(const std::filesystem::path& store,
                                    const LogContents& contents);

}  // namespace fairlead
