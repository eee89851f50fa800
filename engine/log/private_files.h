// Directories and files that only their owner may write, for what lies in a data directory.
//
// What a log says decides quotas, and what it holds are the objects of a hub: no other account may
// read or change it, nor make the program write elsewhere by a symbolic link that it put there.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// Whose a directory is, and who may write it.
struct DirectoryRights {
  uid_t owner = 0;
  mode_t mode = 0;  ///< as stat(2) has it
};

/// Why another account than `self` or root could replace files in such a directory: another owns
/// it, or its group or others may write it. Empty: none could.
[[nodiscard]] std::string exposure(const DirectoryRights& found, uid_t self);

/// `bad_input`, with the name and the reason, if exposure() has one for the effective user;
/// `unavailable` if it cannot be looked at. The first form looks at an open directory, so that
/// another one in its place does not deceive; the second follows a symbolic link.
[[nodiscard]] Result<void> expect_private(int directory, const std::filesystem::path& name);
[[nodiscard]] Result<void> expect_private(const std::filesystem::path& directory);

/// Makes `directory`, with what is missing above it, for its owner alone (0700). If it is there, as
/// expect_private().
[[nodiscard]] Result<void> make_private_directory(const std::filesystem::path& directory);

/// Opens a regular file to read and write it, and makes it (0600) if it is missing. Returns the
/// descriptor. `unavailable` if it cannot be opened, is no regular file (a symbolic link, a FIFO, a
/// socket, ...), or has a second hard link: what that names is not touched. Never blocks.
[[nodiscard]] Result<int> open_private_file(const std::filesystem::path& file);

/// Makes an empty file (0600) in the place of what has `name`, relative to the open `directory`
/// (AT_FDCWD: the working directory), and opens it to write. What a symbolic link of that name
/// points to is not touched. Returns the descriptor; below 0, errno says why not.
[[nodiscard]] int make_private_file(int directory, const char* name);

}  // namespace fairlead
