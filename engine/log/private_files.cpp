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

std::error_code last_error() { return {errno, std::generic_category()}; }

/// Returns the kind of a file that is not a regular one, from its `mode`.
const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a device";
}

Error not_regular(const fs::path& file, mode_t mode) {
  return {ErrorCode::unavailable,
          file.string() + ": expected a regular file, got " + kind_of(mode)};
}

std::string octal(mode_t mode) {
  std::string digits;
  for (const int shift : {9, 6, 3, 0}) digits += static_cast<char>('0' + (mode >> shift & 7));
  return digits;
}

}  // namespace

Error file_failure(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::unavailable, path.string() + ": " + error.message()};
}

std::string exposure(const DirectoryRights& found, uid_t self) {
  if (found.owner != self && found.owner != 0)
    return "expected a directory of this account (uid " + std::to_string(self) +
           ") or of root, but uid " + std::to_string(found.owner) +
           " owns it; run chown on it, or name another data directory, such as a new one in a "
           "volume";
  if ((found.mode & (S_IWGRP | S_IWOTH)) == 0) return "";
  return std::string("expected a directory that only its owner may write, but ") +
         ((found.mode & S_IWOTH) != 0 ? "everyone" : "its group") + " may (its mode is " +
         octal(found.mode) +
         "); run chmod go-w on it, or name another data directory, such as a new one in a volume";
}

Result<void> expect_private(int directory, const fs::path& name) {
  struct stat found{};
  if (::fstat(directory, &found) != 0) return file_failure(name, last_error());
  const std::string fault = exposure({found.st_uid, found.st_mode}, ::geteuid());
  if (fault.empty()) return {};
  return Error{ErrorCode::bad_input, name.string() + ": " + fault};
}

Result<void> expect_private(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return file_failure(directory, last_error());
  const Result<void> found = expect_private(descriptor, directory);
  ::close(descriptor);
  return found;
}

Result<void> make_private_directory(const fs::path& directory) {
  std::error_code error;
  const bool missing = !fs::exists(directory, error);
  fs::create_directories(directory, error);
  // A directory that existed keeps its mode: expect_private() reports what is wrong with it.
  if (!error && missing) fs::permissions(directory, fs::perms::owner_all, error);
  if (error) return file_failure(directory, error);
  return expect_private(directory);
}

// What is checked is the descriptor, after it was opened: a name may mean another file a moment
// later.
Result<int> open_private_file(const fs::path& file) {
  // O_NONBLOCK: a FIFO or a device must not block the caller; it has no effect on a regular file.
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int descriptor = ::open(file.c_str(), flags, 0600);
  struct stat found{};
  if (descriptor < 0) {
    const std::error_code error = last_error();
    if (::lstat(file.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
      return not_regular(file, found.st_mode);
    return file_failure(file, error);
  }
  const auto refuse = [&](Error error) {
    ::close(descriptor);
    return error;
  };
  if (::fstat(descriptor, &found) != 0) return refuse(file_failure(file, last_error()));
  if (!S_ISREG(found.st_mode)) return refuse(not_regular(file, found.st_mode));
  if (found.st_nlink > 1)
    return refuse({ErrorCode::unavailable,
                   file.string() + ": expected a file with one name, but it has " +
                       std::to_string(found.st_nlink) +
                       " hard links: what is written here would change the others too; put a copy "
                       "in its place"});
  return descriptor;
}

int make_private_file(int directory, const char* name) {
  ::unlinkat(directory, name, 0);  // left by a crash, or no file of ours
  return ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace fairlead
