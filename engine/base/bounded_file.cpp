#include "engine/base/bounded_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace fairlead {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

Error cannot_read(const std::string& path, const std::string& why) {
  return {ErrorCode::bad_input, "cannot read " + path + ": " + why};
}

}  // namespace

Result<std::string> read_bounded(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return cannot_read(path, "it is a folder");
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (in && text.size() <= bytes_max) {
    const std::size_t before = text.size();
    // One byte more than allowed is read, which shows a longer file. A pipe has no size to ask for.
    const std::size_t piece = std::min(kPieceBytes, bytes_max + 1 - before);
    text.resize(before + piece);
    in.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad()) return cannot_read(path, std::generic_category().message(errno));
  if (text.size() > bytes_max)
    return Error{ErrorCode::bad_input, path + ": expected a file of up to " +
                                           std::to_string(bytes_max) + " bytes, got a longer one"};
  return text;
}

}  // namespace fairlead
