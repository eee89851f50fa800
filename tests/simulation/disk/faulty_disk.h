// A disk for RocksDB that can lose power and fail.
//
// It passes everything on to the machine's file system and remembers beside it what POSIX promises
// to be there after a loss of power: the bytes of a file up to its last sync, and the entries of a
// directory as they were at its last sync. Files are only appended to, as RocksDB does here.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace fairlead {

/// What of the bytes and entries that were never synced a loss of power leaves.
struct Leftover {
  bool entries = false;          ///< creations, renames and removals of files
  std::uint64_t tail_bytes = 0;  ///< of each file, behind what was synced
};

class FaultyDisk final : public rocksdb::FileSystemWrapper {
 public:
  FaultyDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyDisk"; }

  /// Called before each sync of a file or directory, while nothing else reaches the disk.
  std::function<void()> before_sync;
  /// The operation that fails, counted from 1; 0: none. `failure` is what it answers.
  std::uint64_t fails_at = 0;
  bool fails_for_good = false;  ///< so do all later ones
  rocksdb::IOStatus failure;

  /// The number of writes, syncs, creations, renames and removals so far.
  std::uint64_t operations() const { return operations_; }
  /// The length of the longest tail that was never synced.
  std::uint64_t longest_tail() const;
  /// Makes `copy` what a loss of power now leaves of the directory `of`. Called by before_sync, or
  /// while nothing is written.
  void lose_power(const std::filesystem::path& of, const std::filesystem::path& copy,
                  const Leftover& leftover) const;

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  friend class TrackedFile;
  friend class TrackedDirectory;

  struct Length {
    std::uint64_t written = 0, synced = 0;
  };
  /// Runs `operation` alone, or fails in its place.
  rocksdb::IOStatus alone(const std::function<rocksdb::IOStatus()>& operation);
  void remember_entry(const std::string& name);
  void about_to_sync() const {
    if (before_sync) before_sync();
  }

  mutable std::recursive_mutex mutex_;
  std::uint64_t operations_ = 0;
  std::map<std::string, Length> lengths_;
  /// Entries that changed since their directory was synced: the bytes that were there; none if
  /// there was no such file.
  std::map<std::string, std::optional<std::string>> unsynced_entries_;
};

}  // namespace fairlead
