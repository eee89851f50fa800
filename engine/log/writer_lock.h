// The lock that allows one writer for each data directory.
//
// The lock belongs to the open file (flock), not to the process: it also excludes a second writer
// of the same process, and ends with the process however that ends. Readers never acquire it.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/result.h"

namespace fairlead {

/// Held while a log is open for writing.
class WriterLock {
 public:
  /// Acquires the lock. Fails with `conflict`, naming the holder's process id if it is known, if
  /// another writer has it.
  static Result<std::unique_ptr<WriterLock>> acquire(const std::filesystem::path& file);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  explicit WriterLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace fairlead
