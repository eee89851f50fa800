#include "engine/log/rocksdb/stopping_env.h"

#ifdef FAIRLEAD_STOP_POINTS

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "engine/base/stop_point.h"

namespace fairlead {

inline namespace stop_points_on {

namespace {

class StoppingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    stop_point("append.before_write");
    if (stops_next("append.half_written")) {
      // A torn write: only the first half reaches the file.
      FSWritableFileOwnerWrapper::Append({data.data(), data.size() / 2}, options, debug)
          .PermitUncheckedError();
    }
    stop_point("append.half_written");
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo&,
                           rocksdb::IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    stop_point("append.before_sync");
    auto status = FSWritableFileOwnerWrapper::Sync(options, debug);
    stop_point("append.after_sync");
    return status;
  }
};

class StoppingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "StoppingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    auto status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (status.ok() && name.ends_with(".log"))
      *file = std::make_unique<StoppingFile>(std::move(*file));
    return status;
  }
};

}  // namespace

rocksdb::Env* stopping_env() {
  static const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(
      std::make_shared<StoppingFileSystem>(rocksdb::FileSystem::Default()));
  return env.get();
}

}  // namespace stop_points_on

}  // namespace fairlead

#endif
