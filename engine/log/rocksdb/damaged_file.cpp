#include "engine/log/rocksdb/damaged_file.h"

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/log/acknowledged.h"
#include "engine/log/event_log.h"
#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/rocksdb/rocksdb_store.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// Returns the first table by name that does not open on its own; empty if all do.
std::string table_that_does_not_open(const fs::path& store) {
  std::vector<fs::path> tables;
  std::error_code error;
  for (fs::directory_iterator files(store, error); !error && files != fs::directory_iterator();
       files.increment(error))
    if (files->path().extension() == ".sst") tables.push_back(files->path());
  std::sort(tables.begin(), tables.end());
  for (const fs::path& table : tables) {
    rocksdb::SstFileReader reader{rocksdb::Options()};
    if (!reader.Open(table.string()).ok()) return table.filename().string();
  }
  return {};
}

/// Returns the manifest that `message` names; empty if it names none.
std::string manifest_named_in(const std::string& message) {
  const std::size_t begin = message.find("MANIFEST-");
  if (begin == std::string::npos) return {};
  std::size_t end = begin + std::string_view("MANIFEST-").size();
  while (end < message.size() && is_digit(message[end])) ++end;
  return message.substr(begin, end - begin);
}

/// The manifest comes last: RocksDB names it also when a table that it lists is damaged.
std::string damaged_file(const fs::path& store, const std::string& message) {
  if (std::string table = table_named_in(message); !table.empty()) return table;
  if (message.find("CURRENT") != std::string::npos) return "CURRENT";
  if (std::string table = table_that_does_not_open(store); !table.empty()) return table;
  return manifest_named_in(message);
}

}  // namespace

std::string table_named_in(const std::string& message) {
  // For a missing table RocksDB tries its old ending, .ldb, last, and names that.
  for (const char* ending : {".sst", ".ldb"})
    for (std::size_t end = message.find(ending); end != std::string::npos;
         end = message.find(ending, end + 1)) {
      std::size_t begin = end;
      while (begin > 0 && is_digit(message[begin - 1])) --begin;
      if (begin < end) return message.substr(begin, end - begin) + ".sst";
    }
  return {};
}

Error cannot_open(const fs::path& store, const rocksdb::Status& status) {
  const Error error = translate(status, "cannot open " + store.string());
  const bool gone = status.IsNotFound() || status.IsPathNotFound();
  if (error.code != ErrorCode::corrupt && !gone) return error;
  const std::string file = damaged_file(store, status.ToString());
  std::error_code failed;
  const std::string fault = file.empty() ? "a file in " + store.string() : (store / file).string();
  const bool lost = !file.empty() && !fs::exists(store / file, failed);
  return {ErrorCode::corrupt, "the log is damaged: " + fault +
                                  (lost ? " is gone" : " is not as it was written") +
                                  " (RocksDB: " + status.ToString() + ")"};
}

Error not_a_log(const fs::path& store) {
  // A watermark beside it shows that this was a log: its manifest lost the column families.
  if (read_acknowledged(LogPaths(store.parent_path()).mark))
    return {ErrorCode::corrupt, "the log is damaged: the file MANIFEST-* in " + store.string() +
                                    " is not as it was written: it names none of the log's tables"};
  return {
      ErrorCode::incompatible,
      store.string() + " is a RocksDB directory, but not one of a Fairlead log: it is left alone"};
}

Error with_damage_advice(const fs::path& data, Error error) {
  if (error.code != ErrorCode::corrupt) return error;
  const bool names_log = error.message.find("the log is ") != std::string::npos;
  return {ErrorCode::corrupt, data.string() + ": " + (names_log ? "" : "the log is damaged: ") +
                                  error.message + ". " + kDamageAdvice};
}

}  // namespace fairlead
