#include "tests/simulation/disk/faulty_disk.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

namespace fairlead {
namespace {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string disk_bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

class TrackedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  TrackedFile(std::unique_ptr<rocksdb::FSWritableFile> file, FaultyDisk& disk, std::string name)
      : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk), name_(std::move(name)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    return disk_.alone([&] {
      const IOStatus done = FSWritableFileOwnerWrapper::Append(data, options, debug);
      if (done.ok()) disk_.lengths_[name_].written += data.size();
      return done;
    });
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return disk_.alone([&] {
      disk_.about_to_sync();
      return synced(FSWritableFileOwnerWrapper::Sync(options, debug));
    });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return disk_.alone([&] {
      disk_.about_to_sync();
      return synced(FSWritableFileOwnerWrapper::Fsync(options, debug));
    });
  }

 private:
  IOStatus synced(IOStatus done) {
    FaultyDisk::Length& length = disk_.lengths_[name_];
    if (done.ok()) length.synced = length.written;
    return done;
  }

  FaultyDisk& disk_;
  const std::string name_;
};

class TrackedDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  TrackedDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, FaultyDisk& disk,
                   std::string name)
      : FSDirectoryWrapper(std::move(directory)), disk_(disk), name_(std::move(name)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return disk_.alone([&] {
      disk_.about_to_sync();
      return synced(FSDirectoryWrapper::Fsync(options, debug));
    });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  IOStatus synced(IOStatus done) {
    if (done.ok())
      std::erase_if(disk_.unsynced_entries_, [this](const auto& entry) {
        return fs::path(entry.first).parent_path() == fs::path(name_);
      });
    return done;
  }

  FaultyDisk& disk_;
  const std::string name_;
};

IOStatus FaultyDisk::alone(const std::function<IOStatus()>& operation) {
  const std::lock_guard lock(mutex_);
  ++operations_;
  if (fails_at != 0 && (operations_ == fails_at || (fails_for_good && operations_ > fails_at)))
    return failure;
  return operation();
}

void FaultyDisk::remember_entry(const std::string& name) {
  if (unsynced_entries_.contains(name)) return;
  unsynced_entries_[name] = fs::exists(name) ? std::optional(disk_bytes_of(name)) : std::nullopt;
}

std::uint64_t FaultyDisk::longest_tail() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t longest = 0;
  for (const auto& [name, length] : lengths_)
    longest = std::max(longest, length.written - length.synced);
  return longest;
}

void FaultyDisk::lose_power(const fs::path& of, const fs::path& copy,
                            const Leftover& leftover) const {
  const std::lock_guard lock(mutex_);
  fs::copy(of, copy, fs::copy_options::recursive);
  for (const auto& [name, length] : lengths_) {
    const fs::path file = copy / fs::path(name).lexically_relative(of);
    const std::uint64_t left =
        std::min(length.written, length.synced + std::min(leftover.tail_bytes, length.written));
    if (fs::exists(file) && left < fs::file_size(file)) fs::resize_file(file, left);
  }
  if (leftover.entries) return;
  for (const auto& [name, bytes] : unsynced_entries_) {
    const fs::path file = copy / fs::path(name).lexically_relative(of);
    fs::remove(file);
    if (bytes) std::ofstream(file, std::ios::binary) << *bytes;
  }
}

IOStatus FaultyDisk::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                     std::unique_ptr<rocksdb::FSWritableFile>* file,
                                     IODebugContext* debug) {
  return alone([&] {
    remember_entry(name);
    std::unique_ptr<rocksdb::FSWritableFile> made;
    const IOStatus done = FileSystemWrapper::NewWritableFile(name, options, &made, debug);
    if (!done.ok()) return done;
    lengths_[name] = {};
    *file = std::make_unique<TrackedFile>(std::move(made), *this, name);
    return done;
  });
}

IOStatus FaultyDisk::NewDirectory(const std::string& name, const IOOptions& options,
                                  std::unique_ptr<rocksdb::FSDirectory>* directory,
                                  IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> opened;
  const IOStatus done = FileSystemWrapper::NewDirectory(name, options, &opened, debug);
  if (done.ok())
    *directory = std::make_unique<TrackedDirectory>(std::move(opened), *this,
                                                    (fs::path(name) / "file").parent_path());
  return done;
}

IOStatus FaultyDisk::RenameFile(const std::string& from, const std::string& to,
                                const IOOptions& options, IODebugContext* debug) {
  return alone([&] {
    remember_entry(from);
    remember_entry(to);
    const IOStatus done = FileSystemWrapper::RenameFile(from, to, options, debug);
    if (done.ok()) lengths_[to] = lengths_[from], lengths_.erase(from);
    return done;
  });
}

IOStatus FaultyDisk::DeleteFile(const std::string& name, const IOOptions& options,
                                IODebugContext* debug) {
  return alone([&] {
    remember_entry(name);
    return FileSystemWrapper::DeleteFile(name, options, debug);
  });
}

}  // namespace fairlead
