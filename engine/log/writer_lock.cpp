#include "engine/log/writer_lock.h"

#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "engine/log/private_files.h"

namespace fairlead {
namespace {

/// Returns the process id that the holder wrote to the file, for the message only.
std::string holder_of(int descriptor) {
  std::array<char, 16> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
  std::string_view digits(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  return digits.empty() ? "another process" : "process " + std::string(digits);
}

}  // namespace

Result<std::unique_ptr<WriterLock>> WriterLock::acquire(const std::filesystem::path& file) {
  const Result<int> opened = open_private_file(file);
  if (!opened) return opened.error();
  const int descriptor = *opened;
  std::unique_ptr<WriterLock> lock(new WriterLock(descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return Error{ErrorCode::unavailable, file.string() + ": " + std::strerror(errno)};
    return Error{ErrorCode::conflict, file.parent_path().string() + ": " + holder_of(descriptor) +
                                          " is writing this log; only one may"};
  }
  const std::string self = std::to_string(::getpid()) + "\n";
  // A failure is ignored: only the message to a second writer depends on these bytes.
  if (::ftruncate(descriptor, 0) == 0 &&
      ::pwrite(descriptor, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size()))
    static_cast<void>(::ftruncate(descriptor, 0) == 0);
  return lock;
}

// No other descriptor refers to the open file, so closing this one releases the lock.
WriterLock::~WriterLock() { ::close(descriptor_); }

}  // namespace fairlead
