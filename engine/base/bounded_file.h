// Reads a file that the user named, up to a maximum size. Anything but a regular file (a pipe, a
// device) is refused and never waited for: a hub reads its configuration and credentials again
// while it runs.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// The largest file of settings or credentials that is read, in bytes.
inline constexpr std::size_t kSettingsBytesMax = std::size_t{16} << 20;

/// Returns the contents of a file; of /dev/null nothing. Fails with `bad_input`, naming the file,
/// if it is not a file, cannot be read, or is longer than `bytes_max`. Reads one byte more at most,
/// so that it does not block on what has no end of its own.
[[nodiscard]] Result<std::string> read_bounded(const std::string& path,
                                               std::size_t bytes_max = kSettingsBytesMax);

}  // namespace fairlead
