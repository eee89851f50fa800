// What a log says after crashes and damage: never less than was acknowledged without saying so,
// never anything else.
#include <cstdlib>
#include <set>

#include "engine/log/acknowledged.h"
#include "engine/log/rocksdb/wal_scan.h"
#include "tests/support/sample.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// A closed log of `commits` commits of two events each, all of it in the write-ahead log.
std::vector<Event> make_log(const fs::path& directory, int commits) {
  const auto log = open_log(directory);
  for (int commit = 0; commit < commits; ++commit)
    REQUIRE(log->append(drafts(commit * 2, 2), LogTime{commit}, Epoch{1}).has_value());
  return read_all(*log);
}

/// A fresh copy of a log with one file replaced.
class Copies {
 public:
  explicit Copies(fs::path original) : original_(std::move(original)) {}

  fs::path with(const fs::path& file, const std::string& bytes) {
    const fs::path copy = scratch_.path() / std::to_string(++count_ % 2);
    fs::remove_all(copy);
    fs::copy(original_, copy, fs::copy_options::recursive);
    write_bytes(copy / fs::relative(file, original_), bytes);
    return copy;
  }

 private:
  fs::path original_;
  ScratchDirectory scratch_;
  int count_ = 0;
};

/// Positions of damage are tried in steps that reach every bit of a byte, because opening a log
/// 10000 times takes minutes; FAIRLEAD_EXHAUSTIVE=1 tries every position.
std::size_t stride() {
  if (std::getenv("FAIRLEAD_EXHAUSTIVE") != nullptr) return 1;
  return kSanitized ? 67 : 17;
}

bool is_prefix(const std::vector<Event>& events, const std::vector<Event>& of) {
  return events.size() <= of.size() && std::equal(events.begin(), events.end(), of.begin());
}

/// Puts the mark back to what it was when a fresh log was opened: a loss of power may leave that.
void put_back_mark(const fs::path& directory) {
  const auto mark = AcknowledgedFile::open(directory / "acknowledged");
  REQUIRE(mark.has_value());
  for (int slot = 0; slot < 2; ++slot) (*mark)->write({});
}

TEST_CASE("A log that was closed opens again with everything, and goes on") {
  ScratchDirectory directory;
  const std::vector<Event> before = make_log(directory.path(), 3);
  for (int round = 0; round < 3; ++round) {
    const auto log = open_log(directory.path());
    CHECK(is_prefix(before, read_all(*log)));
    REQUIRE(log->append(drafts(round, 1), LogTime{100 + round}, Epoch{2}).has_value());
    CHECK(log->last_seq() == Seq{before.size() + static_cast<std::size_t>(round) + 1});
    CHECK_FALSE(log->verify()->broken_at);
  }
  CHECK(read_all(*open_log(directory.path(), OpenMode::read)).size() == before.size() + 3);
}

TEST_CASE("A log that was moved to tables has nothing in its write-ahead log, and goes on") {
  ScratchDirectory directory;
  std::vector<Event> events = make_log(directory.path(), 3);
  for (int round = 0; round < 2; ++round) {
    {
      const auto log = open_log(directory.path());
      REQUIRE(log->append(drafts(round, 1), LogTime{100 + round}, Epoch{2}).has_value());
      CHECK(last_batch_in_directory(directory.path() / "log").value() > 0);
      REQUIRE(log->move_to_tables().has_value());
      REQUIRE(log->append(drafts(7, 1), LogTime{200 + round}, Epoch{2}).has_value());
      REQUIRE(log->move_to_tables().has_value());
      REQUIRE(log->move_to_tables().has_value());
      const std::vector<Event> now = read_all(*log);
      CHECK(now.size() == events.size() + 2);
      CHECK(is_prefix(events, now));
      events = now;
    }
    // RocksDB removes the file a little after it is asked to.
    CHECK(last_batch_in_directory(directory.path() / "log").value() == 0);
  }
  const auto log = open_log(directory.path(), OpenMode::read);
  CHECK(log->damage().empty());
  CHECK(read_all(*log) == events);
  CHECK_FALSE(log->verify()->broken_at);
  CHECK(log->move_to_tables().has_error());
}

TEST_CASE(
    "A write-ahead log cut anywhere behind what the mark says: the whole commits before the cut "
    "remain") {
  // What a loss of power leaves: the mark is that of the opening, the tail is torn.
  ScratchDirectory directory;
  const std::vector<Event> all = make_log(directory.path(), 4);
  put_back_mark(directory.path());
  const fs::path wal = newest_wal(directory.path());
  const std::string bytes = read_bytes(wal);
  Copies copies(directory.path());
  std::set<std::size_t> lengths;
  for (std::size_t size = 0; size <= bytes.size(); size += stride()) {
    CAPTURE(size);
    const fs::path copy = copies.with(wal, bytes.substr(0, size));
    if (size % 5 == 0) {
      const auto log = open_log(copy);
      REQUIRE(log->append(drafts(90, 1), LogTime{90}, Epoch{1}).has_value());
      REQUIRE_FALSE(log->verify()->broken_at);
      REQUIRE(log->last_seq().value % 2 == 1);
    } else {
      const auto log = open_log(copy, OpenMode::read);
      const std::vector<Event> events = read_all(*log);
      REQUIRE(is_prefix(events, all));
      REQUIRE_FALSE(log->verify()->broken_at);
      lengths.insert(events.size());
    }
  }
  lengths.erase(8);  // only the whole file has them, which not every stride meets
  CHECK(lengths == std::set<std::size_t>{0, 2, 4, 6});
}

TEST_CASE(
    "A write-ahead log cut below what was acknowledged refuses a writer, names the seq and can be "
    "read") {
  ScratchDirectory directory;
  const std::vector<Event> all = make_log(directory.path(), 4);
  const fs::path wal = newest_wal(directory.path());
  const std::string bytes = read_bytes(wal);
  Copies copies(directory.path());
  for (std::size_t size = 0; size < bytes.size(); size += stride()) {
    CAPTURE(size);
    const fs::path copy = copies.with(wal, bytes.substr(0, size));
    const auto reading = open_log(copy, OpenMode::read);
    std::optional<Error> error;
    const std::vector<Event> events = read_all(*reading, {1}, &error);
    REQUIRE(is_prefix(events, all));
    REQUIRE(events.size() < all.size());
    REQUIRE(error);
    REQUIRE(error->code == ErrorCode::corrupt);
    REQUIRE(reading->verify()->broken_at == Seq{events.size() + 1});
    if (size % 5 != 0) continue;
    const auto writing = RocksdbLog::open(copy, OpenMode::write);
    REQUIRE(writing.has_error());
    REQUIRE(writing.error().code == ErrorCode::corrupt);
    REQUIRE(writing.error().message.find("seq " + std::to_string(events.size() + 1)) !=
            std::string::npos);
  }
}

TEST_CASE("A flipped bit in the write-ahead log is never passed over") {
  ScratchDirectory directory;
  const std::vector<Event> all = make_log(directory.path(), 3);
  const fs::path wal = newest_wal(directory.path());
  const std::string bytes = read_bytes(wal);
  Copies copies(directory.path());
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < bytes.size(); i += stride()) {
    CAPTURE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    const fs::path copy = copies.with(wal, damaged);
    const auto reading = open_log(copy, OpenMode::read);
    std::optional<Error> error;
    const std::vector<Event> events = read_all(*reading, {1}, &error);
    REQUIRE(is_prefix(events, all));
    if (!error) {
      REQUIRE(events == all);
      ++harmless;
      continue;
    }
    REQUIRE(reading->verify()->broken_at == Seq{events.size() + 1});
    if (i % 5 == 0)
      REQUIRE(RocksdbLog::open(copy, OpenMode::write).error().code == ErrorCode::corrupt);
  }
  // RocksDB begins its log with records that hold no commit.
  CHECK(harmless < bytes.size() / stride() / 4 + 1);
}

TEST_CASE("Damage in the middle of the write-ahead log is found though the mark is old") {
  ScratchDirectory directory;
  const std::vector<Event> all = make_log(directory.path(), 6);
  put_back_mark(directory.path());
  const fs::path wal = newest_wal(directory.path());
  const std::string bytes = read_bytes(wal);
  Copies copies(directory.path());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size() * 3 / 4; i += stride()) {
    CAPTURE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    const auto reading = open_log(copies.with(wal, damaged), OpenMode::read);
    std::optional<Error> error;
    const std::vector<Event> events = read_all(*reading, {1}, &error);
    REQUIRE(is_prefix(events, all));
    REQUIRE((error || events == all));
    if (error) ++refused;
  }
  CHECK(refused > bytes.size() / stride() / 2);
}

TEST_CASE("A torn tail whose end reached the disk before its middle is dropped") {
  ScratchDirectory directory;
  const std::vector<Event> all = make_log(directory.path(), 3);
  const fs::path wal = newest_wal(directory.path());
  const std::string whole = read_bytes(wal);
  {
    const auto log = open_log(directory.path());  // moves everything into a table file
  }
  const fs::path mark = directory.path() / "acknowledged";
  const std::string mark_before = read_bytes(mark);
  {
    const auto log = open_log(directory.path());
    REQUIRE(log->append(drafts(50, 2), LogTime{50}, Epoch{1}).has_value());
  }
  write_bytes(mark, mark_before);
  const fs::path tail = newest_wal(directory.path());
  std::string bytes = read_bytes(tail);
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 20; ++i) bytes[i] = '\0';
  write_bytes(tail, bytes);
  const auto log = open_log(directory.path());
  CHECK(read_all(*log) == all);
  REQUIRE(log->append(drafts(60, 1), LogTime{60}, Epoch{1}).has_value());
  CHECK_FALSE(log->verify()->broken_at);
}

/// A closed log whose events are all in one table file, and the file.
fs::path make_table_file(const fs::path& directory, std::vector<Event>& all) {
  all = make_log(directory, 3);
  {
    const auto log = open_log(directory);
  }  // recovery writes what it recovered into table files
  fs::path largest;
  for (const auto& file : fs::directory_iterator(directory / "log"))
    if (file.path().extension() == ".sst" &&
        (largest.empty() || file.file_size() > fs::file_size(largest)))
      largest = file.path();
  REQUIRE(!largest.empty());
  return largest;
}

TEST_CASE("A flipped bit in a table file is found by verify, and nothing wrong is read") {
  ScratchDirectory directory;
  std::vector<Event> all;
  const fs::path file = make_table_file(directory.path(), all);
  const std::string bytes = read_bytes(file);
  Copies copies(directory.path());
  for (std::size_t i = 0; i < bytes.size(); i += stride()) {
    CAPTURE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    const fs::path copy = copies.with(file, damaged);
    const auto reading = RocksdbLog::open(copy, OpenMode::read);
    if (!reading) {
      REQUIRE(reading.error().code == ErrorCode::corrupt);
      continue;
    }
    std::optional<Error> error;
    REQUIRE(is_prefix(read_all(**reading, {1}, &error), all));
    REQUIRE((*reading)->verify()->broken_at);
  }
}

TEST_CASE("A lost table file or manifest is an error, not an empty log") {
  for (const char* lost : {".sst", "MANIFEST"}) {
    ScratchDirectory directory;
    std::vector<Event> all;
    make_table_file(directory.path(), all);
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(directory.path() / "log"))
      if (file.path().filename().string().find(lost) != std::string::npos)
        files.push_back(file.path());
    REQUIRE_FALSE(files.empty());
    for (const fs::path& file : files) fs::remove(file);
    CHECK(RocksdbLog::open(directory.path(), OpenMode::write).has_error());
    CHECK(RocksdbLog::open(directory.path(), OpenMode::read).has_error());
  }
}

TEST_CASE("A log that was put back to an earlier copy is noticed") {
  ScratchDirectory directory;
  make_log(directory.path(), 2);
  ScratchDirectory backup;
  fs::copy(directory.path() / "log", backup.path() / "log", fs::copy_options::recursive);
  {
    const auto log = open_log(directory.path());
    REQUIRE(log->append(drafts(10, 1), LogTime{10}, Epoch{1}).has_value());
  }
  fs::remove_all(directory.path() / "log");
  fs::copy(backup.path() / "log", directory.path() / "log", fs::copy_options::recursive);
  const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::corrupt);
  CHECK(refused.error().message.find("acknowledged up to seq 5") != std::string::npos);

  fs::remove_all(directory.path() / "log");
  const auto gone = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(gone.has_error());
  CHECK(gone.error().code == ErrorCode::corrupt);
}

TEST_CASE("History that was rewritten consistently is noticed by the mark") {
  ScratchDirectory directory;
  make_log(directory.path(), 2);
  ScratchDirectory other;
  {
    const auto log = open_log(other.path());
    REQUIRE(log->append(drafts(70, 4), LogTime{1}, Epoch{1}).has_value());
  }
  fs::remove_all(directory.path() / "log");
  fs::copy(other.path() / "log", directory.path() / "log", fs::copy_options::recursive);
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write).error().code == ErrorCode::corrupt);
  CHECK(open_log(directory.path(), OpenMode::read)->verify()->broken_at);
}

TEST_CASE("The mark survives the loss of either slot") {
  ScratchDirectory directory;
  const fs::path file = directory.path() / "mark";
  CHECK_FALSE(read_acknowledged(file));
  {
    const auto mark = AcknowledgedFile::open(file);
    REQUIRE(mark.has_value());
    (*mark)->write({Seq{1}, sha256("1")});
    CHECK(read_acknowledged(file) == Acknowledged{Seq{1}, sha256("1")});
    (*mark)->write({Seq{2}, sha256("2")});
    (*mark)->write({Seq{3}, sha256("3")});
  }
  const std::string bytes = read_bytes(file);
  CHECK(read_acknowledged(file) == Acknowledged{Seq{3}, sha256("3")});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_bytes(file, damaged);
    CHECK(read_acknowledged(file)->seq == Seq{i < 64 ? 2u : 3u});
  }
  write_bytes(file, "");
  CHECK_FALSE(read_acknowledged(file));
}

TEST_CASE("The scanner of write-ahead logs finds batches behind damage") {
  ScratchDirectory directory;
  make_log(directory.path(), 3);
  const std::string bytes = read_bytes(newest_wal(directory.path()));
  const std::uint64_t last = last_batch_in(bytes);
  CHECK(last > 0);
  // Damage in front hides nothing behind it, wherever it is.
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    CHECK(last_batch_in(damaged) == last);
  }
  CHECK(last_batch_in(bytes + std::string(100000, '\0')) == last);
  CHECK(last_batch_in(std::string(100000, 'x')) == 0);
  CHECK(last_batch_in("") == 0);

  const auto log = directory.path() / "log";
  CHECK(last_batch_in_directory(log).value() == last);
  const auto wal = newest_wal(directory.path());
  write_bytes(wal, bytes + std::string(100000, '\0'));
  CHECK(last_batch_in_directory(log).value() == last);
  write_bytes(wal, std::string(32768, '\0') + bytes + std::string(32768 * 3, 'x'));
  CHECK(last_batch_in_directory(log).value() == last);
}

}  // namespace
}  // namespace fairlead
