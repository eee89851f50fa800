// Private to the RocksDB log: tables that lie beside the log and that its manifest does not list.
//
// RocksDB takes a manifest that was cut between two of its records for one that was never written
// further, and goes on without the tables that the rest listed. Events that are missing then are
// noticed (log_contents.h), entries of the index or epochs would not be: a question about an object
// would be answered "nothing".
//
// Such a table need not be a loss. A crash leaves one that was not listed yet, whose entries are in
// the write-ahead log, or one that was merged into another and not removed; a hub that runs writes
// some right now. Of all of these the entries are in the database too. It is a loss if they are
// not.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/log/log_contents.h"

namespace fairlead {

/// The first event for which something is missing that a table beside holds; nullopt if there is
/// none. Only what concerns the events of `contents` counts. Raw objects are not looked at: they
/// go when their time is over, and nobody can tell whether it was.
std::optional<LogDamage> lost_table(const std::filesystem::path& store,
                                    const LogContents& contents);

}  // namespace fairlead
