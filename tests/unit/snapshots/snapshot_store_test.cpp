#include "snapshots/snapshot_store.h"

#include <fstream>

#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "snapshots/data_directory.h"
#include "snapshots/state_codec.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

State folded(const ReadableLog& log, Seq seq) {
  auto state = state_at(log, nullptr, seq);
  REQUIRE(state.has_value());
  return *std::move(state);
}

// A log of `commits` group commits of three events, one a second. Each begins with the Checkpoint
// of what is before it, as behind a snapshot.
void fill(EventLog& log, int commits) {
  for (int i = 0; i < commits; ++i) {
    auto three = drafts(3 * i, 3);
    const Seq last = log.last_seq();
    if (i > 0)
      three.front() = {std::string(kSelf), Seq{},
                       Checkpoint{state_digest(folded(log, last)), last.value, log.chain()}};
    REQUIRE(log.append(three, LogTime{} + seconds(i), Epoch{1}).has_value());
  }
}

SnapshotInfo take(const MemoryLog& log, SnapshotStore& store, Seq seq) {
  const auto chain = log.chain_at(seq);
  REQUIRE(chain.has_value());
  const auto taken = store.save(folded(log, seq), *chain);
  REQUIRE(taken.has_value());
  return *taken;
}

std::filesystem::path file_of(const SnapshotStore& store) {
  for (const auto& entry : std::filesystem::directory_iterator(store.directory()))
    return entry.path();
  return {};
}

TEST_CASE("The shape of State belongs to the fold version") {
  // Another shape: raise kFoldVersion, so that snapshots of the old one are passed over, and put
  // the new digest here.
  CHECK(kFoldVersion == 31);
  CHECK(state_shape().hex() == "03cdc2f0bb333c15613fd0987015ff3d077f5ab83d15395e7f4ab52a90b02d8b");
}

TEST_CASE("A snapshot is read back as it was taken") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 4);
  SnapshotStore store(directory.path());
  CHECK(store.list()->empty());
  CHECK_FALSE(store.newest(Seq{12})->has_value());

  const SnapshotInfo info = take(log, store, Seq{6});
  CHECK(info.seq == Seq{6});
  CHECK(info.log_time == LogTime{} + seconds(1));
  CHECK(info.state_digest == state_digest(folded(log, Seq{6})));
  CHECK(*store.list() == std::vector{info});
  CHECK_FALSE(store.newest(Seq{5})->has_value());
  const auto newest = store.newest(Seq{12});
  REQUIRE(newest->has_value());
  CHECK((*newest)->info == info);
  CHECK((*newest)->state == folded(log, Seq{6}));
}

TEST_CASE("Symbolic links do not lead a snapshot elsewhere") {
  const ScratchDirectory directory;
  const ScratchDirectory other;
  const auto victim = other.path() / snapshot_file_name(Seq{6});
  write_bytes(victim, "years of work");
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  std::filesystem::create_directory_symlink(other.path(), store.directory());
  const auto refused = store.save(folded(log, Seq{6}), *log.chain_at(Seq{6}));
  REQUIRE(refused.has_error());
  const std::string what = store.directory().string() + ": expected a directory, got a symbolic";
  CHECK(refused.error().message.find(what) == 0);
  CHECK(store.remove(Seq{6}).has_error());
  CHECK(read_bytes(victim) == "years of work");

  std::filesystem::remove(store.directory());
  take(log, store, Seq{6});
  CHECK(std::filesystem::status(store.directory()).permissions() ==
        std::filesystem::perms::owner_all);
  const auto file = store.directory() / snapshot_file_name(Seq{6});
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  std::filesystem::create_symlink(victim, file.string() + ".new");
  take(log, store, Seq{6});
  CHECK(read_bytes(victim) == "years of work");
}

TEST_CASE("What a crash cut off is removed when the next snapshot was taken") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  take(log, store, Seq{3});
  const std::filesystem::path cut = store.directory() / (snapshot_file_name(Seq{5}) + ".new");
  const std::filesystem::path other = store.directory() / "notes.new";
  for (const auto& path : {cut, other}) std::ofstream(path) << "x";
  take(log, store, Seq{6});
  REQUIRE(store.apply_retention(log, kSnapshotsMax).has_value());
  CHECK_FALSE(std::filesystem::exists(cut));
  CHECK(std::filesystem::exists(other));
  CHECK(store.list()->size() == 2);
}

TEST_CASE("A save that is given up leaves no file") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  const auto saved = store.save(folded(log, Seq{6}), *log.chain_at(Seq{6}), [] { return true; });
  REQUIRE(saved.has_error());
  CHECK(saved.error().message == "it was given up, because the hub was asked to end");
  CHECK(store.list()->empty());
  CHECK_FALSE(std::filesystem::exists(store.directory()));
}

TEST_CASE("Into a folder that others may write no snapshot is taken") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  CHECK(store.expect_writable().has_value());
  take(log, store, Seq{3});
  CHECK(store.expect_writable().has_value());
  std::filesystem::permissions(store.directory(), std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  const auto refused = store.save(folded(log, Seq{6}), *log.chain_at(Seq{6}));
  REQUIRE(refused.has_error());
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(refused.error().message.find(store.directory().string() +
                                     ": expected a directory that only its owner may write, but "
                                     "its group may (its mode is 0720)") == 0);
  CHECK(store.expect_writable().error() == refused.error());
  CHECK(store.list()->size() == 1);
}

TEST_CASE("The state at any seq is the same with and without snapshots") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 6);
  SnapshotStore store(directory.path());
  take(log, store, Seq{3});
  take(log, store, Seq{9});
  for (std::uint64_t seq = 0; seq <= 18; ++seq) {
    const auto state = state_at(log, &store, Seq{seq});
    REQUIRE(state.has_value());
    CHECK(encode_state(*state) == encode_state(folded(log, Seq{seq})));
  }
  const auto at_time = state_at(log, &store, LogTime{} + milliseconds(3500));
  REQUIRE(at_time.has_value());
  CHECK(at_time->seq == Seq{12});
  CHECK(at_time->now == LogTime{} + milliseconds(3500));
}

TEST_CASE("A snapshot with any bit flipped is passed over, and verify says so") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  take(log, store, Seq{3});
  const std::filesystem::path file = file_of(store);
  const std::string whole = read_bytes(file);
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += 5) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(file, damaged);
    const auto newest = store.newest(Seq{6});
    REQUIRE(newest.has_value());
    CHECK_FALSE(newest->has_value());
    const auto verdicts = verify_snapshots(log, store);
    REQUIRE(verdicts.has_value());
    REQUIRE(verdicts->size() == 1);
    CHECK_FALSE(verdicts->front().fault.empty());
    CHECK(store.list()->empty());
  }
  write_bytes(file, whole);
  CHECK(verify_snapshots(log, store)->front().fault == "");
  const auto state = state_at(log, &store, Seq{6});
  CHECK(*state == folded(log, Seq{6}));
}

TEST_CASE("A file that is cut short is passed over") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore store(directory.path());
  take(log, store, Seq{3});
  const std::filesystem::path file = file_of(store);
  const std::string whole = read_bytes(file);
  for (std::size_t size = 0; size < whole.size(); size += 11) {
    write_bytes(file, whole.substr(0, size));
    CHECK_FALSE(store.newest(Seq{6})->has_value());
  }
}

TEST_CASE("A snapshot of another log is not used") {
  const ScratchDirectory directory;
  MemoryLog log, other;
  fill(log, 3);
  for (int i = 0; i < 3; ++i)
    REQUIRE(other.append(drafts(100 + 3 * i, 3), LogTime{}, Epoch{1}).has_value());
  SnapshotStore store(directory.path());
  take(other, store, Seq{6});
  CHECK(*state_at(log, &store, Seq{9}) == folded(log, Seq{9}));
  CHECK_FALSE(newest_of(log, &store, Seq{9})->has_value());
  CHECK_FALSE(verify_snapshots(log, store)->front().fault.empty());
}

TEST_CASE("A snapshot whose state is not what the log folds to is found") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 3);
  SnapshotStore store(directory.path());
  State state = folded(log, Seq{6});
  state.clusters.begin()->second.presence.detached = true;
  REQUIRE(store.save(state, *log.chain_at(Seq{6})).has_value());
  CHECK(verify_snapshots(log, store)->front().fault ==
        "the Checkpoint behind it names another state");
  REQUIRE(store.remove(Seq{6}).has_value());
  State last = folded(log, Seq{9});
  last.clusters.begin()->second.presence.detached = true;
  REQUIRE(store.save(last, log.chain()).has_value());
  CHECK(verify_snapshots(log, store)->front().fault == "the log folds to another state");
}

TEST_CASE("A forged state is not believed, with a Checkpoint behind it or without") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 3);
  SnapshotStore store(directory.path());
  take(log, store, Seq{3});
  for (const Seq seq : {Seq{6}, Seq{9}}) {  // behind seq 9 nothing follows
    State state = folded(log, seq);
    state.clusters.begin()->second.presence.detached = true;
    REQUIRE(store.save(state, *log.chain_at(seq)).has_value());
    CHECK(*state_at(log, &store, seq) == folded(log, seq));
    CHECK((*newest_of(log, &store, seq))->info.seq == Seq{3});
  }
  const auto verdict = verify_with(log, store);
  CHECK(verdict->broken_at == Seq{6});
  CHECK(verdict->what.ends_with("holds another state than the Checkpoint behind it names"));
  CHECK(*without_voucher(log, store) == std::vector{Seq{9}});
  REQUIRE(store.remove(Seq{6}).has_value());
  CHECK_FALSE(verify_with(log, store)->broken_at);
}

TEST_CASE(
    "A snapshot that was saved while the hub went on counts with the Checkpoint that follows") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 1);
  SnapshotStore store(directory.path());
  const SnapshotInfo taken = take(log, store, Seq{3});
  const auto append = [&log](Fact fact) {
    const std::vector<EventDraft> one{{std::string(kSelf), Seq{}, std::move(fact)}};
    REQUIRE(log.append(one, log.last_time(), Epoch{1}).has_value());
  };
  append(Checkpoint{{}, 3, taken.log_digest});
  REQUIRE(log.append(drafts(3, 3), log.last_time() + seconds(1), Epoch{1}).has_value());
  CHECK(voucher_of(log, taken) == Voucher::none);
  SECTION("that names it") {
    append(Checkpoint{taken.state_digest, 3, taken.log_digest});
    CHECK(voucher_of(log, taken) == Voucher::given);
  }
  SECTION("that names another state") {
    append(Checkpoint{sha256("another"), 3, taken.log_digest});
    CHECK(voucher_of(log, taken) == Voucher::denied);
  }
  SECTION("unless another snapshot begins before it") {
    append(Checkpoint{{}, log.last_seq().value, log.chain()});
    append(Checkpoint{taken.state_digest, 3, taken.log_digest});
    CHECK(voucher_of(log, taken) == Voucher::none);
  }
  SECTION("unless the hub starts before it") {
    append(EpochStarted{"test", "1", kFoldVersion, 1});
    append(Checkpoint{taken.state_digest, 3, taken.log_digest});
    CHECK(voucher_of(log, taken) == Voucher::none);
  }
}

TEST_CASE("A pruned log cannot be folded from a snapshot for which it does not vouch") {
  const ScratchDirectory directory;
  auto log = *RocksdbLog::open(directory.path(), OpenMode::write);
  fill(*log, 1);
  REQUIRE(log->append(drafts(3, 3), LogTime{} + seconds(1), Epoch{1}).has_value());
  SnapshotStore store(directory.path());
  REQUIRE(store.save(folded(*log, Seq{3}), *log->chain_at(Seq{3})).has_value());
  REQUIRE(log->prune_before(Seq{4}).has_value());
  CHECK(state_at(*log, &store, Seq{6}).error().code == ErrorCode::not_found);
  CHECK(verify_snapshots(*log, store)->front().fault == "no Checkpoint behind it names its state");
}

TEST_CASE("Pruning leaves the newest, thinning leaves the past covered") {
  const ScratchDirectory directory;
  MemoryLog log;
  fill(log, 8);
  SnapshotStore store(directory.path());
  for (std::uint64_t seq = 3; seq <= 24; seq += 3) take(log, store, Seq{seq});
  CHECK(store.apply_retention(log, 8)->empty());
  CHECK(*store.apply_retention(log, 7) == std::vector{Seq{6}, Seq{12}});
  CHECK(store.prune(log, 2)->removed == std::vector{Seq{3}, Seq{9}, Seq{15}, Seq{18}});
  CHECK(store.list()->size() == 2);
  CHECK(store.list()->back().seq == Seq{24});
  CHECK(store.bytes(Seq{3}).has_error());
}

/// A data directory with a log of seq 1 to 24 that was pruned before seq 10, and snapshots of
/// every third event.
struct PrunedLog {
  const ScratchDirectory directory;
  std::unique_ptr<RocksdbLog> log;
  SnapshotStore store{directory.path()};

  PrunedLog() {
    MemoryLog whole;
    fill(whole, 8);
    auto opened = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(opened.has_value());
    log = *std::move(opened);
    fill(*log, 8);
    for (std::uint64_t seq = 3; seq <= 24; seq += 3) take(whole, store, Seq{seq});
    REQUIRE(log->prune_before(Seq{10}).has_value());
    REQUIRE(log->first_seq() == Seq{10});
  }
  void damage(Seq seq) const {
    const std::filesystem::path file = store.directory() / snapshot_file_name(seq);
    std::string bytes = read_bytes(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 16);
    write_bytes(file, bytes);
  }
  std::vector<Seq> left() const {
    std::vector<Seq> seqs;
    for (const SnapshotVerdict& verdict : store.survey()) seqs.push_back(verdict.info.seq);
    return seqs;
  }
  bool has_every_state() const {
    for (std::uint64_t seq = 9; seq <= 24; ++seq)
      if (!state_at(*log, &store, Seq{seq})) return false;
    return true;
  }
};

TEST_CASE("Pruning snapshots leaves the one that a pruned log begins with") {
  for (const std::size_t keep : {0u, 1u, 3u}) {
    PrunedLog place;
    const auto pruning = place.store.prune(*place.log, keep);
    REQUIRE(pruning.has_value());
    CHECK(pruning->needed == std::vector{Seq{9}});
    CHECK(pruning->faulty.empty());
    CHECK(pruning->removed.size() == 7 - keep);
    CHECK(place.left().front() == Seq{9});
    CHECK(place.has_every_state());
    CHECK(place.store.prune(*place.log, keep)->removed.empty());
  }
  PrunedLog place;
  CHECK(place.store.prune(*place.log, 6)->needed.empty());  // it is among the newest
  CHECK(place.left() == std::vector{Seq{9}, Seq{12}, Seq{15}, Seq{18}, Seq{21}, Seq{24}});
}

TEST_CASE("Pruning neither counts nor removes a damaged snapshot") {
  PrunedLog place;
  place.damage(Seq{24});
  place.damage(Seq{15});
  const auto pruning = place.store.prune(*place.log, 1);
  REQUIRE(pruning.has_value());
  REQUIRE(pruning->faulty.size() == 2);
  CHECK(pruning->faulty[1].info.seq == Seq{24});
  CHECK(pruning->faulty[1].fault == "its bytes are not what was written");
  CHECK(pruning->removed == std::vector{Seq{3}, Seq{6}, Seq{12}, Seq{18}});
  CHECK(place.left() == std::vector{Seq{9}, Seq{15}, Seq{21}, Seq{24}});
  CHECK(place.has_every_state());
}

TEST_CASE("Where the snapshot of a pruned log's beginning is damaged, the next one is the first") {
  PrunedLog place;
  place.damage(Seq{9});
  const auto pruning = place.store.prune(*place.log, 0);
  REQUIRE(pruning.has_value());
  CHECK(pruning->needed == std::vector{Seq{12}});
  CHECK(place.left() == std::vector{Seq{9}, Seq{12}});
  CHECK(state_at(*place.log, &place.store, Seq{24}).has_value());
}

TEST_CASE("Thinning leaves the snapshot that a pruned log begins with") {
  PrunedLog place;
  REQUIRE(place.store.remove(Seq{3}).has_value());  // 6, 9, 12, ...: the second is the beginning
  CHECK(place.store.apply_retention(*place.log, 3)->empty());
  REQUIRE(place.store.remove(Seq{6}).has_value());  // 9, 12, 15, ...
  CHECK(*place.store.apply_retention(*place.log, 3) == std::vector{Seq{12}});
  CHECK(place.has_every_state());
}

TEST_CASE("Large states are taken less often than small ones") {
  CHECK(snapshot_spacing(25'000, 0) == 25'000);
  CHECK(snapshot_spacing(25'000, (2u << 20) - 1) == 25'000);
  CHECK(snapshot_spacing(25'000, 2u << 20) == 40'000);
  CHECK(snapshot_spacing(25'000, 13u << 20) == 260'000);
  CHECK(snapshot_spacing(5, (1u << 20) - 1) == 5);
  CHECK(snapshot_spacing(1'000'000'000, 13u << 20) == 1'000'000'000);
}

TEST_CASE("Bytes of one store can be kept in another") {
  const ScratchDirectory here, there;
  MemoryLog log;
  fill(log, 2);
  SnapshotStore from(here.path()), to(there.path());
  const SnapshotInfo info = take(log, from, Seq{6});
  const auto bytes = from.bytes(Seq{6});
  REQUIRE(bytes.has_value());
  REQUIRE(to.keep(*bytes).has_value());
  CHECK(*to.list() == std::vector{info});
  CHECK(to.keep("no snapshot").has_error());
}

}  // namespace
}  // namespace fairlead
