// Makes a log out of the packs of another.
//
// Packs are taken verbatim, so the new log has the digests of the old one and can be held against
// it. Each is verified to the last byte before it is kept. The log appears in the directory at once
// and whole, or not at all.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/log/log_contents.h"
#include "engine/log/object_index.h"
#include "engine/log/pack_verification.h"
#include "engine/log/writer_lock.h"

namespace fairlead {

class LogImport {
 public:
  /// Begins a log in `directory`, which must be new or empty (`bad_input`). `base` is where events
  /// ended that the packs go on from; `versions` the programs of epochs whose start is not in them.
  static Result<std::unique_ptr<LogImport>> begin(const std::filesystem::path& directory,
                                                  const LogTail& base,
                                                  std::map<Epoch, std::string> versions);
  /// What was begun and not finished leaves nothing behind.
  ~LogImport();
  LogImport(const LogImport&) = delete;
  LogImport& operator=(const LogImport&) = delete;

  /// Adds the next pack. `corrupt`, naming the seq, if it is not what belongs there.
  Result<void> add(std::string_view pack);
  /// Makes it durable and lets it appear.
  Result<void> finish();

 private:
  LogImport(const std::filesystem::path& directory, const LogTail& base,
            std::map<Epoch, std::string> versions);
  Result<void> flush();

  const LogPaths paths_;
  const LogTail base_;
  std::map<Epoch, std::string> versions_;
  std::unique_ptr<WriterLock> lock_;
  std::shared_ptr<Store> store_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  rocksdb::Status status_;
  CommitIndex index_;  ///< of the pack that is added
  Seq pack_;           ///< where that begins
  PackVerification verification_;
  bool finished_ = false;
};

}  // namespace fairlead
