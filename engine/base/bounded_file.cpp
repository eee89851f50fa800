#include "engine/base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace fairlead {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

Error cannot_read(const std::string& path, const std::string& why) {
  return {ErrorCode::bad_input, "cannot read " + path + ": " + why};
}

Error failed(const std::string& path) {
  return cannot_read(path, std::generic_category().message(errno));
}

// What something other than a file is.
const char* what_is(const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return "it is a folder";
  if (S_ISFIFO(found.st_mode)) return "it is a pipe, expected a file";
  return S_ISSOCK(found.st_mode) ? "it is a socket, expected a file"
                                 : "it is a device, expected a file";
}

// Closes it at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

}  // namespace

Result<std::string> read_bounded(const std::string& path, std::size_t bytes_max) {
  if (path == "/dev/null") return std::string();  // for kubectl, too, this means: no file
  // Opening a pipe would wait for its other end, and so would a read of some files of /proc.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found{};
  if (file.number() < 0 || ::fstat(file.number(), &found) != 0) return failed(path);
  if (!S_ISREG(found.st_mode)) return cannot_read(path, what_is(found));
  std::string text;
  // One byte more than allowed is read, which shows a longer file. Some files have no size to ask
  // for.
  while (text.size() <= bytes_max) {
    const std::size_t before = text.size();
    const std::size_t piece = std::min(kPieceBytes, bytes_max + 1 - before);
    text.resize(before + piece);
    const ssize_t got = ::read(file.number(), text.data() + before, piece);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return failed(path);
  }
  return Error{ErrorCode::bad_input, path + ": expected a file of up to " +
                                         std::to_string(bytes_max) + " bytes, got a longer one"};
}

}  // namespace fairlead
