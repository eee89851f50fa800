#include "snapshots/stored_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "engine/base/stop_point.h"
#include "engine/log/private_files.h"

namespace fairlead {

namespace fs = std::filesystem;

OpenFile::~OpenFile() {
  if (descriptor >= 0) ::close(descriptor);
}

Error io_error(const fs::path& path, const char* what) {
  return {ErrorCode::unavailable,
          path.string() + ": " + what + ": " + std::generic_category().message(errno)};
}

int open_directory(const fs::path& directory) {
  return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

Error directory_not_opened(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(directory, ignored)))
    return {ErrorCode::unavailable,
            directory.string() + ": expected a directory, got a symbolic link"};
  return io_error(directory, "cannot be opened");
}

Result<void> replace_file(const fs::path& path, std::string_view bytes) {
  return replace_file(path, std::span{&bytes, 1});
}

namespace {

Result<void> write_whole(const OpenFile& file, const fs::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error(path, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

// A crash leaves the former file under the name or the whole new one: the bytes are synced before
// the rename, the rename before this returns. A `.new` that is left is replaced by the next call.
// All is done in the directory that was opened and checked, whatever its name means meanwhile.
Result<void> replace_file(const fs::path& path, std::span<const std::string_view> parts) {
  stop_point("snapshot.before_write");
  const OpenFile directory(open_directory(path.parent_path()));
  if (directory.descriptor < 0) return directory_not_opened(path.parent_path());
  if (auto ours = expect_private(directory.descriptor, path.parent_path()); !ours)
    return ours.error();
  fs::path fresh = path;
  fresh += ".new";
  const std::string name = path.filename().string();
  const std::string fresh_name = fresh.filename().string();
  {
    const OpenFile file(make_private_file(directory.descriptor, fresh_name.c_str()));
    if (file.descriptor < 0) return io_error(fresh, "cannot be made");
    for (const std::string_view part : parts)
      if (auto written = write_whole(file, fresh, part); !written) return written;
    stop_point("snapshot.before_sync");
    if (::fsync(file.descriptor) != 0) return io_error(fresh, "cannot be synced");
  }
  stop_point("snapshot.before_rename");
  if (::renameat(directory.descriptor, fresh_name.c_str(), directory.descriptor, name.c_str()) != 0)
    return io_error(path, "cannot be renamed");
  stop_point("snapshot.after_rename");
  // A rename is durable with the directory's entries, not with the file.
  if (::fsync(directory.descriptor) != 0) return io_error(path.parent_path(), "cannot be synced");
  return {};
}

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);  // fails for a FIFO, which would block
  if (error)
    return Error{ErrorCode::unavailable, path.string() + ": cannot be read: " + error.message()};
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_error(path, "cannot be read");
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in) return io_error(path, "cannot be read");
  return bytes;
}

}  // namespace fairlead
