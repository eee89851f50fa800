// Files of a data directory that are read and replaced as a whole: snapshots, and the index of the
// audit page.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

/// A descriptor that is closed with its owner; negative: none.
struct OpenFile {
  int descriptor = -1;
  explicit OpenFile(int opened) : descriptor(opened) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();
};

/// Opens a directory for writes and removals that name files relative to it, so that a symbolic
/// link in its place cannot redirect them. Returns a negative number, with errno, if it cannot.
int open_directory(const std::filesystem::path& directory);
/// Returns the error of open_directory() as `unavailable`.
Error directory_not_opened(const std::filesystem::path& directory);
/// Returns the error in errno as `unavailable`, with the message "PATH: WHAT: reason".
Error io_error(const std::filesystem::path& path, const char* what);

/// Replaces a file atomically and durably: after a crash the name has either the new file or the
/// old one. Fails with `unavailable`, and with `bad_input` if another account may write the
/// directory (engine/log/private_files.h).
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes);
/// The same with the concatenation of `parts`.
Result<void> replace_file(const std::filesystem::path& path,
                          std::span<const std::string_view> parts);
/// Returns the bytes of a file. Fails with `unavailable`.
Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace fairlead
