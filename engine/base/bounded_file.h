// Reads a file that the user named, up to a maximum size: it may be a device or a pipe.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// The longest file of settings or credentials that is read, in bytes.
inline constexpr std::size_t kSettingsBytesMax = std::size_t{16} << 20;

/// What is in the file. `bad_input`, with its name, if it cannot be read or is longer than
/// `bytes_max`: of what never ends, like /dev/zero, no more than that is read.
[[nodiscard]] Result<std::string> read_bounded(const std::string& path,
                                               std::size_t bytes_max = kSettingsBytesMax);

}  // namespace fairlead
