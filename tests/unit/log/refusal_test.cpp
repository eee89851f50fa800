// What a log refuses: second writers, other programs' directories, newer versions, failing disks.
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <map>

#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/private_files.h"
#include "engine/log/rocksdb/rocksdb_store.h"
#include "schema/codec.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

// ---- a disk that fails on request ----

enum class Failure { none, sync, full };

class FailingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FailingFile(std::unique_ptr<rocksdb::FSWritableFile> file, const std::atomic<Failure>& failure)
      : FSWritableFileOwnerWrapper(std::move(file)), failure_(&failure) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    if (failure_->load() == Failure::full)
      return rocksdb::IOStatus::NoSpace("no space left on device");
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& verification,
                           rocksdb::IODebugContext* debug) override {
    if (failure_->load() == Failure::full)
      return rocksdb::IOStatus::NoSpace("no space left on device");
    return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    if (failure_->load() == Failure::sync)
      return rocksdb::IOStatus::IOError("the disk does not answer");
    return FSWritableFileOwnerWrapper::Sync(options, debug);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    if (failure_->load() == Failure::sync)
      return rocksdb::IOStatus::IOError("the disk does not answer");
    return FSWritableFileOwnerWrapper::Fsync(options, debug);
  }

 private:
  const std::atomic<Failure>* failure_;
};

/// The default file system, whose write-ahead logs fail as `failure` says.
class FailingFiles final : public rocksdb::FileSystemWrapper {
 public:
  FailingFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FailingFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    if (!status.ok()) return status;
    *result = std::make_unique<FailingFile>(std::move(file), failure);
    return status;
  }

  std::atomic<Failure> failure{Failure::none};
};

/// Appends after a failure are refused, reading goes on, and the next start tells what is durable.
void check_stops_for_good(Failure failure, std::string_view message) {
  ScratchDirectory directory;
  const auto files = std::make_shared<FailingFiles>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  std::vector<Event> acknowledged;
  {
    const auto log = RocksdbLog::open_on(*env, directory.path(), OpenMode::write);
    REQUIRE(log.has_value());
    acknowledged = *(*log)->append(drafts(0, 2), LogTime{1}, Epoch{1});
    files->failure = failure;
    const auto failed = (*log)->append(drafts(2, 2), LogTime{2}, Epoch{1});
    REQUIRE(failed.has_error());
    CHECK(failed.error().code == ErrorCode::unavailable);
    CHECK(failed.error().message.find(message) != std::string::npos);
    files->failure = Failure::none;  // the disk is back, but what it holds is unknown
    const auto later = (*log)->append(drafts(4, 1), LogTime{3}, Epoch{1});
    REQUIRE(later.has_error());
    CHECK(later.error().code == ErrorCode::read_only);
    CHECK(later.error().message.find(message) != std::string::npos);
    CHECK((*log)->drop_raw_before({2}).error().code == ErrorCode::read_only);
    CHECK((*log)->last_seq() == Seq{2});
    CHECK(read_all(**log) == acknowledged);
    CHECK_FALSE((*log)->verify()->broken_at);
  }
  const auto again = open_log(directory.path());
  const std::vector<Event> events = read_all(*again);
  REQUIRE(events.size() >= acknowledged.size());
  CHECK(std::equal(acknowledged.begin(), acknowledged.end(), events.begin()));
  REQUIRE(again->append(drafts(9, 1), LogTime{9}, Epoch{2}).has_value());
  CHECK_FALSE(again->verify()->broken_at);
}

TEST_CASE("After a failed sync the log takes no more events, for good") {
  check_stops_for_good(Failure::sync, "the disk does not answer");
}

TEST_CASE("A sync that fails on its way is reported by the next call, and nothing follows it") {
  ScratchDirectory directory;
  const auto files = std::make_shared<FailingFiles>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  {
    const auto log = RocksdbLog::open_on(*env, directory.path(), OpenMode::write);
    REQUIRE(log.has_value());
    REQUIRE((*log)->append(drafts(0, 2), LogTime{1}, Epoch{1}, Durability::pending).has_value());
    REQUIRE((*log)->wait_durable().has_value());
    files->failure = Failure::sync;
    REQUIRE((*log)->append(drafts(2, 2), LogTime{2}, Epoch{1}, Durability::pending).has_value());
    // These may be taken while the failure is not known yet, and must never be written.
    for (int behind = 4; behind < 12; behind += 2)
      static_cast<void>(
          (*log)->append(drafts(behind, 2), LogTime{behind}, Epoch{1}, Durability::pending));
    const auto settled = (*log)->wait_durable();
    REQUIRE(settled.has_error());
    CHECK(settled.error().code == ErrorCode::unavailable);
    files->failure = Failure::none;
    CHECK((*log)->append(drafts(4, 1), LogTime{3}, Epoch{1}, Durability::pending).has_error());
    CHECK((*log)->append(drafts(4, 1), LogTime{3}, Epoch{1}).has_error());
    CHECK((*log)->drop_raw_before({2}).has_error());
    CHECK((*log)->wait_durable().has_error());
    CHECK((*log)->last_seq() == Seq{2});
    CHECK(read_acknowledged(directory.path() / "acknowledged")->seq == Seq{2});
  }
  const Seq last = open_log(directory.path())->last_seq();
  CHECK((last == Seq{2} || last == Seq{4}));  // a disk may have kept what it failed to sync
}

TEST_CASE("On a full disk the log says so and takes no more events") {
  check_stops_for_good(Failure::full, "the disk is full");
}

// ---- writers ----

TEST_CASE("A second writer is refused with a clear message, and the first is not disturbed") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  const auto second = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(second.has_error());
  CHECK(second.error().code == ErrorCode::conflict);
  CHECK(second.error().message.find("process " + std::to_string(::getpid()) +
                                    " is writing this log") != std::string::npos);
  REQUIRE(log->append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
}

TEST_CASE("The lock goes with the writer") {
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
  }
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write).has_value());
}

TEST_CASE("A writer in another process is refused too") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto second = RocksdbLog::open(directory.path(), OpenMode::write);
    ::_exit(second.has_error() && second.error().code == ErrorCode::conflict ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("A log that is being written can be read, without a trace in its directory") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path());
  for (int commit = 0; commit < 30; ++commit) {
    REQUIRE(log->append(drafts(commit, 2), LogTime{commit}, Epoch{1}).has_value());
    std::map<std::string, std::uintmax_t> before;
    for (const auto& file : fs::recursive_directory_iterator(directory.path()))
      if (file.is_regular_file()) before[file.path()] = file.file_size();
    const auto reading = open_log(directory.path(), OpenMode::read);
    CHECK(read_all(*reading) == read_all(*log));
    CHECK(reading->append(drafts(0, 1), LogTime{1}, Epoch{1}).error().code == ErrorCode::read_only);
    std::map<std::string, std::uintmax_t> after;
    for (const auto& file : fs::recursive_directory_iterator(directory.path()))
      if (file.is_regular_file()) after[file.path()] = file.file_size();
    CHECK(before == after);
  }
}

// ---- directories ----

TEST_CASE("A directory that does not exist cannot be read, and is made by a writer") {
  ScratchDirectory directory;
  const fs::path missing = directory.path() / "not" / "there";
  const auto reading = RocksdbLog::open(missing, OpenMode::read);
  REQUIRE(reading.has_error());
  CHECK(reading.error().code == ErrorCode::not_found);
  CHECK_FALSE(fs::exists(missing));
  CHECK(RocksdbLog::open(missing, OpenMode::write).has_value());
  CHECK(RocksdbLog::open(missing, OpenMode::read).has_value());
}

TEST_CASE("An empty directory holds no log to read") {
  ScratchDirectory directory;
  const auto reading = RocksdbLog::open(directory.path(), OpenMode::read);
  REQUIRE(reading.has_error());
  CHECK(reading.error().code == ErrorCode::not_found);
}

TEST_CASE("A directory with other things in it is left alone") {
  ScratchDirectory directory;
  write_bytes(directory.path() / "thesis.tex", "years of work");
  for (const OpenMode mode : {OpenMode::read, OpenMode::write}) {
    const auto refused = RocksdbLog::open(directory.path(), mode);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == ErrorCode::incompatible);
    CHECK(refused.error().message.find("thesis.tex") != std::string::npos);
  }
  CHECK(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("The directory of a fresh volume is taken") {
  ScratchDirectory directory;
  fs::create_directory(directory.path() / "lost+found");
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write).has_value());
}

TEST_CASE("A start that died while making the log is made good by the next") {
  ScratchDirectory directory;
  fs::create_directory(directory.path() / "log.new");
  write_bytes(directory.path() / "log.new" / "MANIFEST-000001", "half");
  const auto log = open_log(directory.path());
  CHECK(log->append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
}

TEST_CASE("Another program's database is left alone") {
  for (const char* place : {"", "log"}) {
    ScratchDirectory directory;
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    REQUIRE(rocksdb::DB::Open(options, (directory.path() / place).string(), &db).ok());
    delete db;
    for (const OpenMode mode : {OpenMode::read, OpenMode::write}) {
      const auto refused = RocksdbLog::open(directory.path(), mode);
      REQUIRE(refused.has_error());
      CHECK(refused.error().code == ErrorCode::incompatible);
      CHECK(refused.error().message.find("left alone") != std::string::npos);
    }
  }
}

TEST_CASE("A log of a newer schema version is refused") {
  const std::string newer = std::to_string(kSchemaVersion + 1);
  ScratchDirectory directory;
  {
    const auto log = open_log(directory.path());
  }
  {
    const auto store = open_store_for_writing(directory.path() / "log", nullptr);
    REQUIRE(store.has_value());
    REQUIRE((*store)->db->Put({}, (*store)->meta, "schema_version", newer).ok());
  }
  for (const OpenMode mode : {OpenMode::read, OpenMode::write}) {
    const auto refused = RocksdbLog::open(directory.path(), mode);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == ErrorCode::incompatible);
    CHECK(refused.error().message.find("schema version " + newer) != std::string::npos);
  }
}

// ---- other accounts ----

TEST_CASE("A directory that others may write is refused, with its name and its mode") {
  for (const mode_t mode : {0770U, 0707U, 0777U}) {
    ScratchDirectory directory;
    REQUIRE(::chmod(directory.path().c_str(), mode) == 0);
    const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == ErrorCode::bad_input);
    CHECK(refused.error().message.find(directory.path().string() + ": expected a directory that") ==
          0);
    CHECK(refused.error().message.find(mode == 0770
                                           ? "its group may (its mode is 0770)"
                                           : "everyone may (its mode is 07") != std::string::npos);
    CHECK(fs::is_empty(directory.path()));
  }
}

TEST_CASE("A folder of the log that others may write is refused, with its name and its mode") {
  ScratchDirectory directory;
  const fs::path store = directory.path() / "log";
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write).has_value());
  REQUIRE(::chmod(store.c_str(), 0720) == 0);
  const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(refused.error().message.find(store.string() + ": expected a directory that only its owner "
                                                      "may write, but its group may (its mode is "
                                                      "0720)") != std::string::npos);
  CHECK(RocksdbLog::open(directory.path(), OpenMode::read).has_value());
  REQUIRE(::chmod(store.c_str(), 0750) == 0);
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write).has_value());
}

TEST_CASE("A directory of another account is refused, one of root is not") {
  CHECK(exposure({1000, 0700}, 1000).empty());
  CHECK(exposure({0, 0755}, 1000).empty());
  const std::string fault = exposure({1001, 0700}, 1000);
  CHECK(fault.find("of this account (uid 1000) or of root, but uid 1001 owns it") !=
        std::string::npos);
  CHECK_FALSE(exposure({1000, 0700}, 0).empty());
  if (::geteuid() != 0) return;  // only root can give a directory away
  ScratchDirectory directory;
  REQUIRE(::chown(directory.path().c_str(), 1001, 0) == 0);
  const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(refused.error().message.find(directory.path().string() + ": " + exposure({1001, 0}, 0)) !=
        std::string::npos);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("A new directory is its owner's alone") {
  ScratchDirectory directory;
  const fs::path data = directory.path() / "new";
  CHECK(RocksdbLog::open(data, OpenMode::write).has_value());
  CHECK(fs::status(data).permissions() == fs::perms::owner_all);
  const auto ours = fs::perms::owner_read | fs::perms::owner_write;
  for (const char* file : {"writer.lock", "acknowledged"})
    CHECK(fs::status(data / file).permissions() == ours);
}

TEST_CASE("A symbolic link in the place of a file is refused, and its target left alone") {
  for (const char* name : {"writer.lock", "acknowledged"}) {
    ScratchDirectory directory;
    ScratchDirectory other;
    const fs::path victim = other.path() / "victim";
    write_bytes(victim, "years of work");
    fs::create_symlink(victim, directory.path() / name);
    const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message.find((directory.path() / name).string() +
                                       ": expected a regular file, got a symbolic link") !=
          std::string::npos);
    CHECK(read_bytes(victim) == "years of work");
  }
}

/// What a writer says where `make` put something in the place of a file that it needs.
template <typename Make>
void check_refused_in_place_of_a_file(const Make& make, const std::string& reason) {
  for (const char* name : {"writer.lock", "acknowledged"}) {
    ScratchDirectory directory;
    const fs::path file = directory.path() / name;
    make(file);
    const auto refused = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(refused.error().message.find(file.string() + ": " + reason) != std::string::npos);
  }
}

TEST_CASE("What is no regular file is refused in the place of one, without waiting for it") {
  check_refused_in_place_of_a_file(
      [](const fs::path& file) { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); },
      "expected a regular file, got a FIFO");
  check_refused_in_place_of_a_file(
      [](const fs::path& file) { REQUIRE(::mknod(file.c_str(), S_IFSOCK | 0600, 0) == 0); },
      "expected a regular file, got a socket");
  check_refused_in_place_of_a_file(
      [](const fs::path& file) { REQUIRE(fs::create_directory(file)); },
      "expected a regular file, got a directory");
}

TEST_CASE("A file with a second hard link is refused, and what that names is left alone") {
  ScratchDirectory other;
  const fs::path victim = other.path() / "victim";
  write_bytes(victim, "years of work");
  check_refused_in_place_of_a_file(
      [&](const fs::path& file) { fs::create_hard_link(victim, file); },
      "expected a file with one name, but it has 2 hard links");
  CHECK(read_bytes(victim) == "years of work");
}

// ---- packs ----

TEST_CASE("A pack gives back its records and tells its place without them") {
  std::vector<EventDraft> three = drafts(0, 3);
  const auto commit =
      make_commit({Seq{6}, LogTime{5}, sha256("before")}, three, LogTime{9}, Epoch{1});
  REQUIRE(commit.has_value());
  const std::string value = pack(*commit);
  const auto header = read_pack_header(value);
  REQUIRE(header.has_value());
  CHECK(header->first == Seq{7});
  CHECK(header->last() == Seq{9});
  CHECK(header->first_time == LogTime{9});
  CHECK(header->last_time == LogTime{9});
  CHECK(header->previous == sha256("before"));
  CHECK(header->digest == commit->digest);
  const auto unpacked = unpack(value, *header);
  REQUIRE(unpacked.has_value());
  REQUIRE(unpacked->records.size() == 3);
  const auto records = records_in(commit->payload, 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(unpacked->records[i] == records[i]);
}

TEST_CASE("A pack begins as the example in its header says") {
  Commit commit;
  const LogTime time{1'767'225'615'000'000'000};
  for (const std::uint64_t seq : {7U, 8U}) {
    Event event;
    event.seq = {seq};
    event.log_time = time;
    commit.events.push_back(event);
  }
  const std::string sizes("\x1e\x00\x00\x00\x0c\x00\x00\x00", 8);
  commit.payload = sizes + std::string(240, 'a') + std::string(96, 'b');
  const std::string value = pack(commit);
  const std::string expected(
      "FLPK\x08\x00\x01\x00\x07\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x58\x01\x00\x00"
      "\x00\xd6\x0b\x6c\x55\x72\x86\x18\x00\xd6\x0b\x6c\x55\x72\x86\x18",
      40);
  CHECK(value.substr(0, 40) == expected);
  const auto unpacked = unpack(value, *read_pack_header(value));
  REQUIRE(unpacked.has_value());
  const std::string table(unpacked->records.front().data() - 8, 8);  // it is before the first
  CHECK(table == sizes);
  CHECK(unpacked->records == records_in(commit.payload, 2));
  CHECK(unpacked->records[1] == std::string(96, 'b'));
}

TEST_CASE("No bit of a pack can change, and no byte can be missing, unnoticed") {
  std::vector<EventDraft> four = drafts(0, 4);
  const auto commit = make_commit({}, four, LogTime{9}, Epoch{1});
  const std::string value = pack(*commit);
  std::size_t unnoticed = 0;
  for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string damaged = value;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    if (read_pack_header(damaged)) ++unnoticed;
  }
  for (std::size_t size = 0; size < value.size(); ++size)
    if (read_pack_header(std::string_view(value).substr(0, size))) ++unnoticed;
  CHECK(unnoticed == 0);
}

TEST_CASE("A thousand events of one fleet take a fraction of their bytes") {
  std::vector<EventDraft> thousand = drafts(0, 1000);
  const auto commit = make_commit({}, thousand, LogTime{9}, Epoch{1});
  CHECK(pack(*commit).size() * 5 < commit->payload.size() - size_table_bytes(1000));
}

}  // namespace
}  // namespace fairlead
