// Shared by the tests of the log: directories that are removed afterwards, and logs with a few
// commits.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "tests/unit/schema/samples/sample_events.h"

namespace fairlead {

/// A directory for one test, removed afterwards.
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

/// Reads `taken` events one by one and the rest in batches. Returns all of them, and the error that
/// ended the reading.
inline std::pair<std::vector<Event>, std::optional<Error>> read_batches(EventReader& reader,
                                                                        std::size_t taken) {
  std::vector<Event> events;
  EventBatch batch;
  while (events.size() < taken) {
    auto event = reader.next();
    if (!event) return {events, event.error()};
    if (!*event) return {events, std::nullopt};
    events.push_back(**event);
  }
  for (;;) {
    const auto read = reader.next_batch(batch);
    events.insert(events.end(), batch.events().begin(), batch.events().end());
    if (!read) return {events, read.error()};
    if (batch.size() == 0) return {events, std::nullopt};
  }
}

/// Returns every event from `from`, and in `error` the error that ended the reading, if one did.
/// Reads one by one, in batches and by both, and requires equal results.
inline std::vector<Event> read_all(const ReadableLog& log, Seq from = {1},
                                   std::optional<Error>* error = nullptr) {
  std::vector<Event> events;
  auto reader = log.read(from);
  REQUIRE(reader.has_value());
  std::optional<Error> ended;
  for (;;) {
    auto event = (*reader)->next();
    if (!event) ended = event.error();
    if (!event || !*event) break;
    events.push_back(**event);
  }
  for (const std::size_t taken : {0U, 1U, 5U}) {
    auto again = log.read(from);
    REQUIRE(again.has_value());
    const auto batches = read_batches(**again, taken);
    CHECK(batches.first == events);
    CHECK(batches.second == ended);
  }
  if (ended && error == nullptr) FAIL(ended->message);
  if (ended && error != nullptr) *error = ended;
  return events;
}

inline std::unique_ptr<RocksdbLog> open_log(const std::filesystem::path& directory,
                                            OpenMode mode = OpenMode::write) {
  auto log = RocksdbLog::open(directory, mode);
  if (!log) FAIL(log.error().message);
  return *std::move(log);
}

/// Returns the *.log file of RocksDB that holds the latest commits.
inline std::filesystem::path newest_wal(const std::filesystem::path& directory) {
  std::filesystem::path newest;
  for (const auto& file : std::filesystem::directory_iterator(directory / "log"))
    if (file.path().extension() == ".log" && file.path().filename() > newest.filename())
      newest = file.path();
  REQUIRE(!newest.empty());
  return newest;
}

}  // namespace fairlead
