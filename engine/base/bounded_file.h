// Reads a file that the user named, up to a maximum size: it may be a device or a pipe.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// The largest file of settings or credentials that is read, in bytes.
inline constexpr std::size_t kSettingsBytesMax = std::size_t{16} << 20;

/// Returns the contents of a file. Fails with `bad_input`, naming the file, if it cannot be read or
/// is longer than `bytes_max`. Reads one byte more at most, also of an endless file like
/// /dev/zero.
[[nodiscard]] Result<std::string> read_bounded(const std::string& path,
                                               std::size_t bytes_max = kSettingsBytesMax);

}  // namespace fairlead
