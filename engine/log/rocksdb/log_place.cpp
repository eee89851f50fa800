#include "engine/log/rocksdb/log_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// Whether a data directory that has no log yet may contain `name`.
bool harmless(const fs::path& name) {
  constexpr std::array<std::string_view, 5> kKnown{"writer.lock", "acknowledged", "log.new",
                                                   "snapshots", "lost+found"};
  const std::string text = name.string();
  return text.starts_with('.') || std::find(kKnown.begin(), kKnown.end(), text) != kKnown.end();
}

/// Whether RocksDB has files in `store`: then CURRENT had been written too.
bool has_tables(const fs::path& store) {
  std::error_code error;
  for (fs::directory_iterator files(store, error); !error && files != fs::directory_iterator();
       files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (name.starts_with("MANIFEST-") || name.ends_with(".sst")) return true;
  }
  return false;
}

}  // namespace

Error system_error(const fs::path& path, const std::error_code& error) {
  return {
      error == std::errc::no_such_file_or_directory ? ErrorCode::not_found : ErrorCode::unavailable,
      path.string() + ": " + error.message()};
}

Result<bool> has_log(const LogPaths& paths) {
  std::error_code error;
  if (fs::exists(paths.store / "CURRENT", error)) return true;
  if (error) return system_error(paths.store, error);
  if (has_tables(paths.store))
    return Error{ErrorCode::corrupt,
                 "the log is damaged: " + (paths.store / "CURRENT").string() + " is gone"};
  if (fs::exists(paths.data / "CURRENT", error))
    return Error{ErrorCode::incompatible,
                 paths.data.string() +
                     " is a database itself, not a data directory of Fairlead: it is left alone"};
  fs::directory_iterator entries(paths.data, error);
  if (error) return system_error(paths.data, error);
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) return system_error(paths.data, error);
    const fs::path name = entries->path().filename();
    if (!harmless(name))
      return Error{ErrorCode::incompatible, paths.data.string() + " holds \"" + name.string() +
                                                "\" but no Fairlead log: it is left alone"};
  }
  return false;
}

Result<void> expect_none_before(const LogPaths& paths, std::span<const WatermarkSource> sources) {
  WatermarkSource latest;
  if (const auto mark = read_acknowledged(paths.mark))
    latest = {mark->seq, mark->chain, paths.mark.filename().string()};
  for (const WatermarkSource& source : sources)
    if (source.seq > latest.seq) latest = source;
  if (latest.seq.value == 0) return {};
  return Error{ErrorCode::corrupt,
               "the log is gone, but seq 1 to " + std::to_string(latest.seq.value) +
                   " were acknowledged, as the file \"" + latest.file + "\" says"};
}

Result<void> make_log(const LogPaths& paths, rocksdb::Env* env,
                      std::span<const WatermarkSource> sources) {
  if (auto none = expect_none_before(paths, sources); !none) return none;
  std::error_code error;
  fs::remove_all(paths.fresh, error);  // left by a start that died before the rename
  // Under another name until it is whole: has_log() takes the file CURRENT for a log, and RocksDB
  // writes that before our format and column families are stored.
  if (auto made = create_store(paths.fresh, env); !made) return made.error();
  fs::rename(paths.fresh, paths.store, error);
  if (error) return system_error(paths.store, error);
  return {};
}

Result<void> sync_entries(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A rename or a new file is durable only when its directory is synced.
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const std::error_code error(errno, std::generic_category());
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) return system_error(directory, error);
  return {};
}

}  // namespace fairlead
