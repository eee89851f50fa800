// Directories and files that only their owner may write, for what lies in a data directory.
//
// What a log says decides quotas, and what it holds are the objects of a hub: no other account may
// read or change it, nor make the program write elsewhere by a symbolic link that it put there.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace fairlead {

/// Makes `directory`, with what is missing above it, for its owner alone (0700). `bad_input` if it
/// is there and its group or others may write it: they could replace every file in it.
[[nodiscard]] Result<void> make_private_directory(const std::filesystem::path& directory);

/// Opens a regular file to read and write it, and makes it (0600) if it is missing. Returns the
/// descriptor. `unavailable` if it cannot be opened, also because it is a symbolic link: what that
/// points to is not touched.
[[nodiscard]] Result<int> open_private_file(const std::filesystem::path& file);

/// Makes an empty file (0600) in the place of what has `name`, relative to the open `directory`
/// (AT_FDCWD: the working directory), and opens it to write. What a symbolic link of that name
/// points to is not touched. Returns the descriptor; below 0, errno says why not.
[[nodiscard]] int make_private_file(int directory, const char* name);

}  // namespace fairlead
