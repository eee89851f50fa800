// What a log is after a disk lost power, failed or flipped a bit. A sample of the points is tried
// here; FAIRLEAD_EXHAUSTIVE=1 tries all of them.
//
// tests/unit/log has what a cut or altered file means; here RocksDB, the watermark and the
// opening meet a disk that keeps only what was synced, at every sync they do.
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mutex>

#include "engine/log/acknowledged.h"
#include "tests/simulation/disk/faulty_disk.h"
#include "tests/support/sample.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

// Of `every` points a test tries one, unless all were asked for.
std::size_t one_of(std::size_t every) {
  if (std::getenv("FAIRLEAD_EXHAUSTIVE") != nullptr) return 1;
  return kSanitized ? every * 5 : every;
}

/// Guards a Told: the writer adds to it, and the disk reads it on threads of RocksDB.
std::mutex told_mutex;

/// The events that the log acknowledged to its writers, which follow each other.
struct Told {
  std::vector<Event> events;  ///< since the beginning, pruned ones too
  Seq asked_to_prune;         ///< events before it may be gone
};

/// Appends as a hub does over three starts: single and pipelined commits, tables, pruning. Ends at
/// the first failure, which it returns.
std::optional<Error> work(rocksdb::Env& env, const fs::path& directory, Told& told) {
  std::int64_t time = told.events.empty() ? 0 : told.events.back().log_time.ns;
  for (unsigned start = 1; start <= 3; ++start) {
    auto opened = RocksdbLog::open_on(env, directory, OpenMode::write);
    if (!opened) return opened.error();
    RocksdbLog& log = **opened;
    const auto append = [&](int count, Durability durability) -> std::optional<Error> {
      std::vector<EventDraft> made = drafts(static_cast<int>(++time), count);
      made[0].raw = "{}";
      auto appended = log.append(std::move(made), LogTime{time}, Epoch{start}, durability);
      const auto durable = appended ? log.wait_durable() : Result<void>(appended.error());
      if (!durable) {  // nothing may follow it, though the disk may be well again
        CHECK(log.append(drafts(0, 1), LogTime{time}, Epoch{start}).has_error());
        return durable.error();
      }
      const std::lock_guard lock(told_mutex);
      told.events.insert(told.events.end(), appended->begin(), appended->end());
      return std::nullopt;
    };
    for (int i = 0; i < 2; ++i)
      if (auto failed = append(2, Durability::durable)) return failed;
    if (auto failed = append(1, Durability::pending)) return failed;
    if (auto moved = log.move_to_tables(); !moved) return moved.error();
    if (auto failed = append(1, Durability::durable)) return failed;
    if (auto dropped = log.drop_raw_before(log.last_seq()); !dropped) return dropped.error();
    {
      const std::lock_guard lock(told_mutex);
      told.asked_to_prune = Seq{told.events.size() - 3};
    }
    if (auto pruned = log.prune_before(told.asked_to_prune); !pruned) return pruned.error();
    if (auto failed = append(1, Durability::durable)) return failed;
  }
  return std::nullopt;
}

/// Whether the log in `directory` opens for writing, verifies, has what was told and at most one
/// commit more, and goes on.
void holds(const fs::path& directory, const Told& told) {
  auto log = RocksdbLog::open(directory, OpenMode::write);
  if (!log) FAIL(log.error().message);
  REQUIRE_FALSE((*log)->verify()->broken_at);
  const Seq first = (*log)->first_seq();
  REQUIRE(first <= std::max(told.asked_to_prune, Seq{1}));
  const std::vector<Event> events = read_all(**log, first);
  const std::size_t skipped = first.value - 1;
  REQUIRE(skipped + events.size() >= told.events.size());
  REQUIRE(skipped + events.size() <= told.events.size() + 2);
  REQUIRE(std::equal(told.events.begin() + static_cast<std::ptrdiff_t>(skipped), told.events.end(),
                     events.begin()));
  const LogTime later{std::numeric_limits<std::int32_t>::max()};
  REQUIRE((*log)->append(drafts(0, 1), later, Epoch{9}).has_value());
  log->reset();
  REQUIRE(RocksdbLog::open(directory, OpenMode::read).has_value());
}

// ---- loss of power ----

/// A directory as a loss of power left it, and what had been told by then.
struct Outage {
  fs::path directory;
  Told told;
  std::string when;
};

TEST_CASE("A loss of power at any sync loses nothing that was acknowledged, and is not damage") {
  const ScratchDirectory scratch;
  const fs::path data = scratch.path() / "data";
  {
    open_log(data);
  }
  const std::string mark = read_bytes(data / "acknowledged");
  const auto disk = std::make_shared<FaultyDisk>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
  Told told;
  std::vector<Outage> outages;
  std::size_t syncs = 0;
  // Checked afterwards: RocksDB's threads wait meanwhile, and a second instance may need them.
  const auto lost = [&](const Leftover& leftover, bool old_mark) {
    const fs::path copy = scratch.path() / ("outage-" + std::to_string(outages.size()));
    disk->lose_power(data, copy, leftover);
    if (old_mark) write_bytes(copy / "acknowledged", mark);
    const std::lock_guard lock(told_mutex);
    outages.push_back({copy, told,
                       "sync " + std::to_string(syncs) + (leftover.entries ? " entries" : "") +
                           (old_mark ? " old mark " : " ") + std::to_string(leftover.tail_bytes)});
  };
  disk->before_sync = [&] {
    if (++syncs % one_of(29) != 0) return;
    for (const bool entries : {false, true}) {
      lost({entries, 0}, false);
      lost({entries, UINT64_MAX}, false);
      const std::uint64_t tail = disk->longest_tail();
      for (std::uint64_t left = 1; left < tail && tail < 4096; left += one_of(tail / 2 + 1))
        lost({entries, left}, entries);
    }
  };
  const auto failed = work(*env, data, told);
  if (failed) FAIL(failed->message);
  CHECK(syncs > 40);
  holds(data, told);
  for (const Outage& outage : outages) {
    INFO(outage.when << ", " << outage.told.events.size() << " events acknowledged");
    holds(outage.directory, outage.told);
    fs::remove_all(outage.directory);
  }
  std::cout << outages.size() << " losses of power at " << syncs << " syncs\n";
}

// ---- failing operations ----

void fails_at_every_operation(const rocksdb::IOStatus& failure) {
  std::uint64_t operations = 0;
  std::size_t stopped = 0;
  for (std::uint64_t at = 0; at <= operations; at += at == 0 ? 1 : one_of(37))
    for (const bool for_good : {true, false}) {
      INFO("operation " << at << " of " << operations << (for_good ? " and later" : " alone"));
      const ScratchDirectory scratch;
      const fs::path data = scratch.path() / "data";
      {
        open_log(data);
      }
      const auto disk = std::make_shared<FaultyDisk>();
      disk->fails_at = at;
      disk->fails_for_good = for_good;
      disk->failure = failure;
      const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
      Told told;
      const auto failed = work(*env, data, told);
      if (at == 0) {
        operations = disk->operations();
        REQUIRE_FALSE(failed);
      }
      if (failed) {
        ++stopped;
        INFO(failed->message);
        REQUIRE((failed->code == ErrorCode::unavailable || failed->code == ErrorCode::read_only));
        REQUIRE(failed->message.find(data.string()) != std::string::npos);
      }
      holds(data, told);
    }
  CHECK(stopped > 2);
  std::cout << stopped << " failures of " << operations << " operations\n";
}

TEST_CASE("A disk that is full at any write or sync: what was acknowledged stays, and is said") {
  fails_at_every_operation(rocksdb::IOStatus::NoSpace("no space left on device"));
}

TEST_CASE("A disk that fails at any write or sync: what was acknowledged stays, and is said") {
  fails_at_every_operation(rocksdb::IOStatus::IOError("input/output error"));
}

// ---- flipped bits ----

TEST_CASE("A flipped bit in any file of a log is reported or harmless, and never a wrong answer") {
  const ScratchDirectory scratch;
  const fs::path data = scratch.path() / "data";
  {
    const auto log = open_log(data);
    REQUIRE(log->append(drafts(0, 2), LogTime{1}, Epoch{1}).has_value());
    REQUIRE(log->move_to_tables().has_value());
    REQUIRE(log->append(drafts(2, 2), LogTime{2}, Epoch{1}).has_value());
  }
  const std::vector<Event> all = read_all(*open_log(data, OpenMode::read));
  std::size_t reported = 0, harmless = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    const std::string name = entry.path().filename().string();
    // RocksDB asks nothing of these (tests/unit/log/damage_test.cpp).
    if (!entry.is_regular_file() || name.starts_with("OPTIONS-") || name == "IDENTITY") continue;
    const std::string bytes = read_bytes(entry.path());
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit += one_of(bytes.size() / 3 + 241)) {
      INFO(name << " bit " << bit);
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      write_bytes(entry.path(), flipped);
      const auto log = RocksdbLog::open(data, OpenMode::read);
      std::optional<Error> error;
      if (!log) {
        REQUIRE(log.error().code == ErrorCode::corrupt);
        ++reported;
        continue;
      }
      const std::vector<Event> events = read_all(**log, {1}, &error);
      REQUIRE(events.size() <= all.size());
      REQUIRE(std::equal(events.begin(), events.end(), all.begin()));
      const bool said = error || (*log)->verify()->broken_at;
      REQUIRE((said || events == all));
      ++(said ? reported : harmless);
    }
    write_bytes(entry.path(), bytes);
  }
  CHECK(reported > harmless);
  std::cout << reported << " flipped bits reported, " << harmless << " harmless\n";
}

}  // namespace
}  // namespace fairlead
