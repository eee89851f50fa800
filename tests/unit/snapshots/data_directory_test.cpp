// Snapshots are watermark sources of how far the log beside them had come.
#include "snapshots/data_directory.h"

#include <algorithm>
#include <vector>

#include "snapshots/snapshot_store.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// Makes a log of `commits` commits of two events each, of the nodes from `first` on, with a
/// snapshot after each commit whose number is in `taken` (1: the first).
void make_directory(const fs::path& directory, int first, int commits,
                    const std::vector<int>& taken) {
  const auto log = open_data_directory(directory, OpenMode::write);
  REQUIRE(log.has_value());
  SnapshotStore store(directory);
  for (int commit = 1; commit <= commits; ++commit) {
    REQUIRE((*log)
                ->append(drafts(first + commit * 2, 2), LogTime{} + seconds(commit), Epoch{1})
                .has_value());
    if (std::find(taken.begin(), taken.end(), commit) == taken.end()) continue;
    const auto state = state_at(**log, nullptr, (*log)->last_seq());
    REQUIRE(state.has_value());
    REQUIRE(store.save(*state, (*log)->chain()).has_value());
  }
}

/// The log and its mark become those of `other`; the snapshots stay.
void replace_log(const fs::path& directory, const fs::path& other) {
  for (const char* part : {"log", "acknowledged"}) {
    fs::remove_all(directory / part);
    fs::copy(other / part, directory / part, fs::copy_options::recursive);
  }
}

std::string refusal(const fs::path& directory) {
  const auto log = open_data_directory(directory, OpenMode::write);
  if (log) return "";
  CHECK(log.error().code == ErrorCode::corrupt);
  return log.error().message;
}

TEST_CASE("A log is not written beside snapshots that others may write, and can be read") {
  const ScratchDirectory directory;
  make_directory(directory.path(), 0, 2, {2});
  const fs::path snapshots = directory.path() / "snapshots";
  fs::permissions(snapshots, fs::perms::others_write, fs::perm_options::add);
  const auto refused = open_data_directory(directory.path(), OpenMode::write);
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(refused.error().message.find(snapshots.string() + ": expected a directory that only") == 0);
  CHECK(open_data_directory(directory.path(), OpenMode::read).has_value());
}

TEST_CASE("A log that was cut with its mark is noticed by the snapshot behind its end") {
  const ScratchDirectory directory;
  const ScratchDirectory shorter;
  make_directory(directory.path(), 0, 4, {2, 4});
  make_directory(shorter.path(), 0, 3, {});
  replace_log(directory.path(), shorter.path());
  const std::string file = "\"snapshots/00000000000000000008.snapshot\"";
  CHECK(refusal(directory.path()).find("damaged at seq 7") != std::string::npos);
  CHECK(refusal(directory.path()).find(file) != std::string::npos);

  const auto log = open_data_directory(directory.path(), OpenMode::read);
  REQUIRE(log.has_value());
  CHECK((*log)->last_seq() == Seq{6});
  CHECK((*log)->verify()->broken_at == Seq{7});
  const SnapshotStore store(directory.path());
  CHECK(verify_with(**log, store)->broken_at == Seq{7});
  const auto verdicts = verify_snapshots(**log, store);
  REQUIRE(verdicts.has_value());
  REQUIRE(verdicts->size() == 2);
  CHECK(verdicts->front().fault.empty());
  CHECK(verdicts->back().fault.find("damaged at seq 7") != std::string::npos);
  CHECK(store.list()->size() == 2);  // nothing was removed

  // The older one cannot say so, and a damaged one says nothing.
  write_bytes(store.directory() / snapshot_file_name({8}), "damaged");
  CHECK(refusal(directory.path()).empty());
}

TEST_CASE("A log of other events is noticed by a snapshot in its middle") {
  const ScratchDirectory directory;
  const ScratchDirectory other;
  make_directory(directory.path(), 0, 3, {1, 3});
  make_directory(other.path(), 100, 3, {});
  replace_log(directory.path(), other.path());
  CHECK(refusal(directory.path()).find("damaged at seq 1") != std::string::npos);
  const auto log = open_data_directory(directory.path(), OpenMode::read);
  REQUIRE(log.has_value());
  CHECK((*log)->verify()->broken_at == Seq{5});  // a reader asks the newest
}

TEST_CASE("Verify and a writer ask every snapshot, a reader the newest") {
  const ScratchDirectory directory;
  make_directory(directory.path(), 0, 3, {1, 3});
  SnapshotStore store(directory.path());
  const auto log = open_data_directory(directory.path(), OpenMode::read);
  REQUIRE(log.has_value());
  CHECK_FALSE(verify_with(**log, store)->broken_at);
  const auto state = state_at(**log, nullptr, Seq{4});
  REQUIRE(state.has_value());
  REQUIRE(store.save(*state, sha256("another chain")).has_value());
  const auto again = open_data_directory(directory.path(), OpenMode::read);
  REQUIRE(again.has_value());
  CHECK((*again)->damage().empty());
  CHECK(verify_with(**again, store)->broken_at == Seq{4});
  CHECK(refusal(directory.path()).find("damaged at seq 3") != std::string::npos);
}

TEST_CASE("Where snapshots lie and the log is gone no new log is made") {
  const ScratchDirectory directory;
  make_directory(directory.path(), 0, 2, {2});
  fs::remove_all(directory.path() / "log");
  fs::remove(directory.path() / "acknowledged");
  CHECK(refusal(directory.path()).find("seq 1 to 4 were acknowledged") != std::string::npos);
  CHECK_FALSE(fs::exists(directory.path() / "log"));
}

TEST_CASE("What is read to make a snapshot of it can be made durable") {
  const ScratchDirectory directory;
  make_directory(directory.path(), 0, 2, {});
  const auto log = open_data_directory(directory.path(), OpenMode::read);
  REQUIRE(log.has_value());
  CHECK((*log)->make_durable().has_value());
  fs::remove_all(directory.path() / "log");
  CHECK((*log)->make_durable().has_error());
}

}  // namespace
}  // namespace fairlead
