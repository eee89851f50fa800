// One writer a data directory.
//
// The lock belongs to the open file, not to the process: it also keeps a second writer of the same
// process out, ends with the process however that ends, and no reader ever takes it.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/result.h"

namespace fairlead {

/// Held while a log is open for writing.
class WriterLock {
 public:
  /// Takes the lock; `conflict`, with the holder's process id, if somebody has it.
  static Result<std::unique_ptr<WriterLock>> take(const std::filesystem::path& file);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  explicit WriterLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace fairlead
