// States that this program folded: questions are answered from them, and nothing else is.
#include "snapshots/folded_states.h"

#include <map>

#include "engine/log/memory_log.h"
#include "snapshots/data_directory.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// A data directory with commits of two events each, and folded states after some of them.
class FoldedPlace {
 public:
  FoldedPlace(int commits, const std::map<std::uint64_t, std::string>& folded_by) {
    log = *open_data_directory(path(), OpenMode::write);
    for (int commit = 0; commit < commits; ++commit)
      REQUIRE(log->append(drafts(commit * 2, 2), LogTime{} + seconds(commit + 1), Epoch{1})
                  .has_value());
    for (const auto& [seq, program] : folded_by) {
      FoldedStates states(path(), program);
      REQUIRE(
          states.save(*state_at(*log, nullptr, Seq{seq}), *log->chain_at(Seq{seq})).has_value());
    }
  }
  const fs::path& path() const { return directory_.path(); }
  /// From which event on a question at `seq` folds; 0: from the beginning.
  Seq begins_at(Seq seq, const char* program = "this") const {
    const SnapshotsForQuestions snapshots(*log, path(), program);
    const auto newest = newest_of(*log, &snapshots, seq);
    REQUIRE(newest.has_value());
    CHECK(*state_at(*log, &snapshots, seq) == *state_at(*log, nullptr, seq));
    return *newest ? (*newest)->info.seq : Seq{};
  }
  /// The files of all states.
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path() / "folded"))
      if (entry.is_regular_file()) found.push_back(entry.path());
    return found;
  }

 private:
  ScratchDirectory directory_;

 public:
  std::unique_ptr<RocksdbLog> log;
};

TEST_CASE("a question begins with the nearest state that this program folded") {
  const FoldedPlace place(6, {{4, "this"}, {8, "this"}, {10, "another"}});
  CHECK(place.begins_at(Seq{12}) == Seq{8});
  CHECK(place.begins_at(Seq{8}) == Seq{8});
  CHECK(place.begins_at(Seq{7}) == Seq{4});
  CHECK(place.begins_at(Seq{3}) == Seq{});
  CHECK(place.begins_at(Seq{12}, "another") == Seq{10});
  FoldedStates(place.path(), "this").remove_others();
  CHECK(place.begins_at(Seq{12}, "another") == Seq{});
  FoldedStates::remove_all(place.path());
  CHECK(place.begins_at(Seq{12}) == Seq{});
}

TEST_CASE("what verifies the log, and what writes it, does not see folded states") {
  FoldedPlace place(6, {{8, "this"}});
  const SnapshotStore snapshots(place.path());
  CHECK(snapshots.list()->empty());
  CHECK_FALSE(newest_of(*place.log, &snapshots, Seq{12})->has_value());
  CHECK_FALSE(verify_with(*place.log, snapshots)->broken_at.has_value());
  CHECK(without_voucher(*place.log, snapshots)->empty());
}

TEST_CASE("a forged state that came with a copied directory is not used") {
  const FoldedPlace place(6, {{8, "this"}});
  const ScratchDirectory copied;
  fs::copy(place.path(), copied.path(), fs::copy_options::recursive);
  const auto log = open_data_directory(copied.path(), OpenMode::read);
  REQUIRE(log.has_value());
  const SnapshotsForQuestions snapshots(**log, copied.path(), "this");
  CHECK_FALSE(newest_of(**log, &snapshots, Seq{12})->has_value());
}

TEST_CASE("a damaged state, or one that others may write, is passed over") {
  const FoldedPlace place(6, {{4, "this"}, {8, "this"}});
  for (const fs::path& file : place.files()) {
    const std::string good = read_bytes(file);
    const Seq other = file.string().ends_with("08.snapshot") ? Seq{4} : Seq{8};
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 16) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
      write_bytes(file, bytes);
      CHECK(place.begins_at(Seq{12}) == other);
    }
    write_bytes(file, good);
  }
  CHECK(place.begins_at(Seq{12}) == Seq{8});
  for (const fs::path& exposed : {place.path(), place.path() / "folded"}) {
    fs::permissions(exposed, fs::perms::others_write, fs::perm_options::add);
    CHECK(place.begins_at(Seq{12}) == Seq{});
    fs::permissions(exposed, fs::perms::others_write, fs::perm_options::remove);
  }
  CHECK(place.begins_at(Seq{12}) == Seq{8});
}

TEST_CASE("the state of another log is not used, and a snapshot that is nearer is") {
  FoldedPlace place(6, {{4, "this"}});
  FoldedStates states(place.path(), "this");
  MemoryLog other;
  REQUIRE(other.append(drafts(50, 8), LogTime{} + seconds(1), Epoch{1}).has_value());
  REQUIRE(states.save(*state_at(other, nullptr, Seq{8}), other.chain()).has_value());
  CHECK(place.begins_at(Seq{12}) == Seq{4});

  SnapshotStore store(place.path());
  const auto state = state_at(*place.log, nullptr, place.log->last_seq());
  const auto saved = store.save(*state, place.log->chain());
  REQUIRE(saved.has_value());
  const Checkpoint checkpoint{saved->state_digest, saved->seq.value, saved->log_digest};
  const std::vector<EventDraft> voucher{{std::string(kSelf), {}, checkpoint}};
  REQUIRE(place.log->append(voucher, LogTime{} + seconds(9), Epoch{1}).has_value());
  CHECK(place.begins_at(Seq{13}) == Seq{12});
  CHECK(place.begins_at(Seq{11}) == Seq{4});
}

}  // namespace
}  // namespace fairlead
