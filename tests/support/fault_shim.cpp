// Loaded before the C library, it gives a program false answers of the machine without its
// knowledge: another clock, a full disk, a disk that does not answer. A file of three 64-bit
// numbers, named by FAIRLEAD_FAULTS and shared with the test, holds the clock's offset in seconds,
// whether the disk is full, and whether syncs wait until the test says otherwise.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

struct Faults {
  long long clock_seconds;
  long long disk_full;
  long long syncs_held;
};

// Never unmapped: writes go on until the process has ended.
const volatile Faults& faults() {
  static const volatile Faults* const shared = [] {
    static const Faults none{};
    const char* path = std::getenv("FAIRLEAD_FAULTS");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return &none;
    void* mapped = ::mmap(nullptr, sizeof(Faults), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return mapped == MAP_FAILED ? &none : static_cast<const Faults*>(mapped);
  }();
  return *shared;
}

template <class Function>
Function* original(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Printing and sending still work.
bool refuses(int file) {
  struct stat what{};
  return faults().disk_full != 0 && file > 2 && ::fstat(file, &what) == 0 && S_ISREG(what.st_mode);
}

// Keeps the calling thread as a disk does that does not answer: no other thread waits.
void wait_for_disk() {
  constexpr timespec kPause{0, 10'000'000};
  while (faults().syncs_held != 0) ::nanosleep(&kPause, nullptr);
}

}  // namespace

extern "C" {

int fdatasync(int file) {
  static auto* const next = original(&fdatasync, "fdatasync");
  wait_for_disk();
  return next(file);
}

int fsync(int file) {
  static auto* const next = original(&fsync, "fsync");
  wait_for_disk();
  return next(file);
}

int clock_gettime(clockid_t clock, timespec* now) {
  static auto* const next = original(&clock_gettime, "clock_gettime");
  const int result = next(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += faults().clock_seconds;
  return result;
}

ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const next = original(&write, "write");
  if (refuses(file)) return errno = ENOSPC, -1;
  return next(file, bytes, count);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  static auto* const next = original(&pwrite, "pwrite");
  if (refuses(file)) return errno = ENOSPC, -1;
  return next(file, bytes, count, offset);
}

ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const next = original(&writev, "writev");
  if (refuses(file)) return errno = ENOSPC, -1;
  return next(file, parts, count);
}

int fallocate(int file, int mode, off_t offset, off_t length) {
  static auto* const next = original(&fallocate, "fallocate");
  if (refuses(file)) return errno = ENOSPC, -1;
  return next(file, mode, offset, length);
}
}
