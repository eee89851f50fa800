// What the tests of the log share: directories that go away, and logs with a few commits.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/log/rocksdb_log.h"
#include "tests/unit/schema/samples/sample_events.h"

namespace fairlead {

/// A directory of its own for one test.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    // Memory, where there is a file system in memory: these tests sync thousands of times.
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = ::access(memory.c_str(), W_OK) == 0;
    const std::filesystem::path base = in_memory ? memory : std::filesystem::temp_directory_path();
    std::string name = (base / "fairlead-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}
inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<EventDraft> drafts(int first, int count) {
  std::vector<EventDraft> made;
  for (int i = 0; i < count; ++i) made.push_back(samples::node_draft(first + i));
  return made;
}

/// Every event from `from`; the error that ended the reading, if one did, in `error`.
inline std::vector<Event> read_all(const EventLog& log, Seq from = {1},
                                   std::optional<Error>* error = nullptr) {
  std::vector<Event> events;
  auto reader = log.read(from);
  REQUIRE(reader.has_value());
  for (;;) {
    auto event = (*reader)->next();
    if (!event && error != nullptr) *error = event.error();
    if (!event && error == nullptr) FAIL(event.error().message);
    if (!event || !*event) return events;
    events.push_back(**event);
  }
}

inline std::unique_ptr<RocksdbLog> open_log(const std::filesystem::path& directory,
                                            OpenMode mode = OpenMode::write) {
  auto log = RocksdbLog::open(directory, mode);
  if (!log) FAIL(log.error().message);
  return *std::move(log);
}

/// The *.log file of RocksDB that holds the latest commits.
inline std::filesystem::path newest_wal(const std::filesystem::path& directory) {
  std::filesystem::path newest;
  for (const auto& file : std::filesystem::directory_iterator(directory / "log"))
    if (file.path().extension() == ".log" && file.path().filename() > newest.filename())
      newest = file.path();
  REQUIRE(!newest.empty());
  return newest;
}

}  // namespace fairlead
