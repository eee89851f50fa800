// Directories and files that only their owner may write, for the contents of a data directory.
//
// A log decides quotas and holds the objects of a hub: no other account may read or change it, nor
// redirect the program's writes by a symbolic link.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "engine/base/result.h"

namespace fairlead {

/// The failure of an operation on a file or directory: `unavailable`, with its path.
[[nodiscard]] Error file_failure(const std::filesystem::path& path, const std::error_code& error);

/// The owner of a directory, and who may write it.
struct DirectoryRights {
  uid_t owner = 0;
  mode_t mode = 0;  ///< as stat(2) has it
};

/// Returns why an account other than `self` and root could replace files in such a directory:
/// another account owns it, or its group or others may write it. Empty if none could.
[[nodiscard]] std::string exposure(const DirectoryRights& found, uid_t self);

/// Fails with `bad_input`, naming the directory and the reason, if it is exposed to an account
/// other than the effective user (exposure()), and with `unavailable` if it cannot be examined. The
/// first form examines an open directory, which cannot be exchanged meanwhile; the second follows a
/// symbolic link.
[[nodiscard]] Result<void> expect_private(int directory, const std::filesystem::path& name);
[[nodiscard]] Result<void> expect_private(const std::filesystem::path& directory);

/// Makes `directory` for its owner alone (0700), with missing parents. Then, and also if it
/// existed, fails as expect_private() does.
[[nodiscard]] Result<void> make_private_directory(const std::filesystem::path& directory);

/// Opens a regular file for reading and writing, and makes it (0600) if it is missing. Returns the
/// descriptor. Fails with `unavailable`, and changes nothing, if it cannot be opened, is not a
/// regular file (a symbolic link, a FIFO, a socket, ...) or has a second hard link. Never blocks.
[[nodiscard]] Result<int> open_private_file(const std::filesystem::path& file);

/// Replaces the file `name` in the open `directory` (AT_FDCWD: the working directory) by an empty
/// one (0600) and opens that for writing. A symbolic link of that name is removed, its target not
/// touched. Returns the descriptor; a negative number with errno set if that failed.
[[nodiscard]] int make_private_file(int directory, const char* name);

}  // namespace fairlead
