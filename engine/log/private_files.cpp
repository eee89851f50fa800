#include "engine/log/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

Error failed(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::unavailable, path.string() + ": " + error.message()};
}
std::error_code last_error() { return {errno, std::generic_category()}; }

std::string octal(mode_t mode) {
  std::string digits;
  for (const int shift : {9, 6, 3, 0}) digits += static_cast<char>('0' + (mode >> shift & 7));
  return digits;
}

}  // namespace

Result<void> make_private_directory(const fs::path& directory) {
  std::error_code error;
  const bool missing = !fs::exists(directory, error);
  fs::create_directories(directory, error);
  if (!error && missing) fs::permissions(directory, fs::perms::owner_all, error);
  if (error) return failed(directory, error);
  struct stat found{};
  if (::stat(directory.c_str(), &found) != 0) return failed(directory, last_error());
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Error{ErrorCode::bad_input,
               directory.string() + ": expected a directory that only its owner may write, but " +
                   ((found.st_mode & S_IWOTH) != 0 ? "everyone" : "its group") +
                   " may (its mode is " + octal(found.st_mode) +
                   "); run chmod go-w on it, or name a new directory in it"};
}

Result<int> open_private_file(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor >= 0) return descriptor;
  if (errno == ELOOP)
    return Error{ErrorCode::unavailable,
                 file.string() + ": expected a regular file, got a symbolic link"};
  return failed(file, last_error());
}

int make_private_file(int directory, const char* name) {
  ::unlinkat(directory, name, 0);  // left by a crash, or no file of ours
  return ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace fairlead
