// Files that are part of the program: schema/crd/*.yaml and built_in.yaml. Their text is generated
// by CMake.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::model {

/// One file as it was when the program was built.
struct EmbeddedFile {
  std::string_view name;  ///< without folder
  std::string_view text;
};

inline constexpr std::string_view kBuiltInFile = "built_in.yaml";

/// Returns all files, in name order.
std::span<const EmbeddedFile> embedded_files();

}  // namespace fairlead::model
