// Makes a log out of the packs of another.
//
// Packs are stored verbatim, so the new log has the digests of the old one and can be compared with
// it. Each is verified to the last byte before it is stored. The log appears in the directory
// atomically: whole, or not at all.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/log/pack_verification.h"
#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/rocksdb/object_index.h"
#include "engine/log/writer_lock.h"

namespace fairlead {

/// A file in the directory that an import leaves alone: the export that it reads may lie there.
inline constexpr const char* kCopyName = "copy.fairlead";

class LogImport {
 public:
  /// Begins a log in `directory`, which must be new or empty (else `bad_input`); fails with
  /// `conflict` if another writer has it. `base` is the tail that the first pack continues;
  /// `versions` names the programs of epochs whose start is not in the packs.
  static Result<std::unique_ptr<LogImport>> begin(const std::filesystem::path& directory,
                                                  const LogTail& base,
                                                  std::map<Epoch, std::string> versions);
  /// Deletes a log that was not finished.
  ~LogImport();
  LogImport(const LogImport&) = delete;
  LogImport& operator=(const LogImport&) = delete;

  /// Adds the next pack. Fails with `corrupt`, naming the seq, if it is not intact or does not
  /// continue the packs before it.
  Result<void> add(std::string_view pack);
  /// Makes the log durable and renames it to its place.
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
  CommitIndex index_;  ///< of the pack that is being added
  Seq pack_;           ///< the first seq of that pack
  PackVerification verification_;
  bool finished_ = false;
};

}  // namespace fairlead
