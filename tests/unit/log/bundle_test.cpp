// Bundles: what goes in comes out, and not one bit of another.
#include "replay/bundle/bundle.h"

#include <sstream>

#include "engine/base/json.h"
#include "engine/fold/evolve.h"
#include "engine/log/writer_lock.h"
#include "engine/main/commands/log_command.h"
#include "replay/history.h"
#include "replay/verify.h"
#include "schema/codec.h"
#include "snapshots/snapshot_store.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// A data directory with a few commits and a snapshot in the middle.
class Exported {
 public:
  Exported() {
    log = open_log(data());
    const std::vector<EventDraft> start{
        {"self", {}, EpochStarted{"hub-0", "0.1.0", kFoldVersion, kSchemaVersion}},
        {"self", {}, ConfigChanged{}}};
    REQUIRE(log->append(start, LogTime{5}, Epoch{1}).has_value());
    for (int commit = 1; commit <= 4; ++commit) {
      std::vector<EventDraft> three = drafts(commit * 3, 3);
      if (log->last_seq() == Seq{8}) three.front() = take_snapshot();
      REQUIRE(log->append(three, LogTime{commit * 10}, Epoch{1}).has_value());
    }
    write();
  }

  void write(Seq to = {UINT64_MAX}) {
    const auto written = export_bundle(*log, SnapshotStore(data()), to, file(), {});
    if (!written) FAIL(written.error().message);
    report = *written;
  }
  fs::path data() const { return directory_.path() / "data"; }
  fs::path file() const { return directory_.path() / "x.bundle"; }
  fs::path other() const { return directory_.path() / "other"; }

  std::unique_ptr<RocksdbLog> log;
  BundleReport report;

 private:
  // Returns the Checkpoint of the snapshot that it takes at the end of the log.
  EventDraft take_snapshot() const {
    const auto state = state_at(*log, nullptr, log->last_seq());
    REQUIRE(state.has_value());
    const auto taken = SnapshotStore(data()).save(*state, log->chain());
    REQUIRE(taken.has_value());
    return {"self", {}, Checkpoint{taken->state_digest, taken->seq.value, taken->log_digest}};
  }

  ScratchDirectory directory_;
};

History open(const fs::path& file) {
  auto history = open_history({}, file);
  if (!history) FAIL(history.error().message);
  return *std::move(history);
}

/// Whether `log` reads as `original` does.
void check_reads(const ReadableLog& log, const ReadableLog& original) {
  const Seq last = original.last_seq();
  CHECK(log.first_seq() == original.first_seq());
  CHECK(log.last_seq() == last);
  CHECK(log.last_time() == original.last_time());
  CHECK(log.chain() == original.chain());
  CHECK(read_all(log, {0}) == read_all(original, {0}));
  for (Seq from = original.first_seq(); from <= last; from = next(from))
    CHECK(read_all(log, from) == read_all(original, from));
  CHECK(read_all(log, next(last)).empty());
  for (std::uint64_t seq = 0; seq <= last.value + 1; ++seq) {
    const auto expected = original.chain_at({seq});
    const auto found = log.chain_at({seq});
    REQUIRE(found.has_value() == expected.has_value());
    if (found) CHECK(*found == *expected);
  }
  for (std::int64_t time = 0; time <= original.last_time().ns + 1; ++time) {
    const auto expected = original.last_at({time});
    const auto found = log.last_at({time});
    REQUIRE(found.has_value() == expected.has_value());
    if (found) CHECK(*found == *expected);
  }
  for (int node = 0; node < 10; ++node) {
    const ObjectKey key{Kind::node, "", "node-" + std::to_string(node)};
    CHECK(*log.history("cluster1", key) == *original.history("cluster1", key));
    CHECK(log.history("hub", key)->empty());
  }
  const LogStat stat = *log.stat();
  const LogStat expected = *original.stat();
  CHECK(stat.first == expected.first);
  CHECK(stat.events == expected.events);
  CHECK(stat.first_time == expected.first_time);
  CHECK(stat.last_time == expected.last_time);
  CHECK(stat.epochs == expected.epochs);
  CHECK(stat.program_version == expected.program_version);
  CHECK_FALSE(log.verify()->broken_at);
  CHECK(log.verify()->events == expected.events);
  CHECK_FALSE(log.verify_chain()->broken_at);
}

TEST_CASE("A bundle reads as the log that it was made of, and takes no events") {
  Exported exported;
  CHECK(exported.report.events == 14);
  CHECK(exported.report.commits == 5);
  CHECK(exported.report.snapshots == 1);
  CHECK(exported.report.bytes == fs::file_size(exported.file()));
  CHECK(exported.report.chain == exported.log->chain());
  const History history = open(exported.file());
  check_reads(*history.log, *exported.log);
  const auto snapshots = history.snapshots->list();
  REQUIRE(snapshots->size() == 1);
  CHECK(*snapshots == *SnapshotStore(exported.data()).list());
  CHECK(*history.snapshots->bytes({8}) == *SnapshotStore(exported.data()).bytes({8}));
  CHECK(history.snapshots->bytes({7}).error().code == ErrorCode::not_found);
  CHECK((*history.snapshots->newest({9}))->info.seq == Seq{8});
  CHECK_FALSE(history.snapshots->newest({7})->has_value());
  const auto bundle = open_bundle(exported.file());
  CHECK((*bundle)->configuration["seq"] == 2);
  CHECK((*bundle)->configuration["configuration"].is_object());
  CHECK_FALSE(fs::exists(exported.file().string() + ".partial"));
}

TEST_CASE("What is in the place of the unfinished bundle is replaced, not written through") {
  Exported exported;
  const std::string bundle = read_bytes(exported.file());
  fs::create_directory(exported.other());
  const fs::path victim = exported.other() / "victim";
  write_bytes(victim, "years of work");
  const fs::path partial = exported.file().string() + ".partial";
  fs::create_symlink(victim, partial);
  exported.write();
  CHECK(read_bytes(victim) == "years of work");
  CHECK_FALSE(fs::exists(fs::symlink_status(partial)));
  CHECK(fs::is_regular_file(fs::symlink_status(exported.file())));
  CHECK(read_bytes(exported.file()) == bundle);
  CHECK(fs::status(exported.file()).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("The same log gives the same bundle, also while it is written") {
  Exported exported;
  const std::string before = read_bytes(exported.file());
  exported.write();
  CHECK(read_bytes(exported.file()) == before);
  const auto reading = open_log(exported.data(), OpenMode::read);
  REQUIRE(exported.log->append(drafts(9, 1), LogTime{99}, Epoch{1}).has_value());
  REQUIRE(export_bundle(*reading, SnapshotStore(exported.data()), {99}, exported.file(), {})
              .has_value());
  CHECK(read_bytes(exported.file()) == before);
}

TEST_CASE("An export up to a seq ends with the group commit that holds it") {
  Exported exported;
  exported.write({7});
  const History history = open(exported.file());
  CHECK(history.log->last_seq() == Seq{8});
  CHECK(history.log->chain() == *exported.log->chain_at({8}));
  CHECK(history.snapshots->list()->size() == 1);
  exported.write({5});
  CHECK(open(exported.file()).log->last_seq() == Seq{5});
  CHECK(open(exported.file()).snapshots->list()->empty());
}

TEST_CASE("No bit of a bundle can change unnoticed, and the place is named") {
  Exported exported;
  const std::string bytes = read_bytes(exported.file());
  std::size_t unnamed = 0;
  std::size_t unnoticed = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(exported.file(), damaged);
    const auto refused = open_history({}, exported.file());
    if (refused) ++unnoticed;
    if (refused || refused.error().message.find("at offset ") == std::string::npos) ++unnamed;
  }
  CHECK(unnoticed == 0);
  CHECK(unnamed == 0);
}

TEST_CASE("A bundle of any other length is refused") {
  Exported exported;
  const std::string bytes = read_bytes(exported.file());
  std::size_t unnoticed = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_bytes(exported.file(), bytes.substr(0, size));
    if (open_bundle(exported.file())) ++unnoticed;
  }
  write_bytes(exported.file(), bytes + '\0');
  if (open_bundle(exported.file())) ++unnoticed;
  CHECK(unnoticed == 0);
  CHECK(open_bundle(exported.file().string() + ".none").error().code == ErrorCode::not_found);
  CHECK(open_history({}, exported.data()).error().code == ErrorCode::bad_input);
}

/// The bundle at `file` with its sections changed and every digest made to fit.
void rewrite(const fs::path& file,
             const std::function<void(std::vector<std::pair<std::string, std::string>>&)>& change) {
  std::vector<std::pair<std::string, std::string>> sections;
  std::vector<Seq> seqs;
  {
    const auto opened = BundleFile::open(file);
    REQUIRE(opened.has_value());
    for (const BundleSection& section : (*opened)->sections()) {
      sections.emplace_back(section.tag, section.payload);
      seqs.push_back(section.seq);
    }
  }
  change(sections);
  const auto writer = BundleWriter::begin(file);
  REQUIRE(writer.has_value());
  for (std::size_t i = 0; i < sections.size(); ++i)
    REQUIRE((*writer)
                ->add(sections[i].first, i < seqs.size() ? seqs[i] : Seq{}, sections[i].second)
                .has_value());
  REQUIRE((*writer)->finish().has_value());
}

TEST_CASE("A bundle stitched together with fitting digests does not pass the hash chain") {
  Exported exported;
  using Sections = std::vector<std::pair<std::string, std::string>>;
  const std::string whole = read_bytes(exported.file());
  const std::vector<std::function<void(Sections&)>> changes{
      [](Sections& sections) { sections.pop_back(); },  // the last group commit
      [](Sections& sections) { sections.erase(sections.begin() + 4); },
      [](Sections& sections) { std::swap(sections[4], sections[5]); }};
  for (const auto& change : changes) {
    write_bytes(exported.file(), whole);
    rewrite(exported.file(), change);
    REQUIRE(open_bundle(exported.file()).error().code == ErrorCode::corrupt);
  }
}

/// A Zstandard frame of `blocks` blocks, each of which is four bytes and expands to 128 KiB of
/// zeros.
std::string frame_of_zeros(std::uint64_t blocks) {
  constexpr std::uint64_t kBlock = std::uint64_t{128} << 10;
  std::string frame("\x28\xb5\x2f\xfd\xe0", 5);  // one segment, whose size follows in 8 bytes
  for (unsigned i = 0; i < 8; ++i) frame += static_cast<char>(blocks * kBlock >> 8 * i & 0xFF);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t header = (i + 1 == blocks ? 1 : 0) | 1 << 1 | kBlock << 3;
    for (unsigned byte = 0; byte < 3; ++byte) frame += static_cast<char>(header >> 8 * byte & 0xFF);
    frame += '\0';
  }
  return frame;
}

TEST_CASE("A bundle whose snapshot decompresses to more than a log can hold is refused") {
  Exported exported;
  rewrite(exported.file(), [](auto& sections) {
    REQUIRE(sections[2].first == "SNAP");
    auto envelope = decode_snapshot(sections[2].second);
    REQUIRE(envelope.has_value());
    envelope->state = frame_of_zeros(std::uint64_t{4} << 13);  // 4 GiB in 128 KiB
    sections[2].second = encode(*envelope);
  });
  CHECK(fs::file_size(exported.file()) < std::uintmax_t{200'000});
  std::ostringstream out;
  std::ostringstream err;
  CHECK(log_import(exported.file(), exported.other(), LogOutput::text, out, err) != 0);
  INFO(err.str());
  CHECK(err.str().find(exported.file().string()) != std::string::npos);
  CHECK(err.str().find("section SNAP of seq 8 at offset ") != std::string::npos);
  CHECK(err.str().find("decompresses to 4294967296") != std::string::npos);
  CHECK_FALSE(fs::exists(exported.other()));
  CHECK(open_history({}, exported.file()).error().code == ErrorCode::corrupt);
}

TEST_CASE("A bundle of a newer program is refused as such") {
  for (const char* key : {"version", "schemaVersion"}) {
    Exported exported;
    rewrite(exported.file(), [key](auto& sections) {
      Json head = Json::parse(sections[0].second);
      head[key] = 99;
      sections[0].second = to_text(head);
    });
    CHECK(open_bundle(exported.file()).error().code == ErrorCode::incompatible);
    std::ostringstream out;
    std::ostringstream err;
    CHECK(log_import(exported.file(), exported.other(), LogOutput::text, out, err) == 2);
    CHECK(err.str().find("newer program") != std::string::npos);
    CHECK_FALSE(fs::exists(exported.other()));
  }
}

TEST_CASE("An imported log is the log that was exported, and goes on") {
  Exported exported;
  const auto bundle = open_bundle(exported.file());
  const auto report = import_bundle(**bundle, exported.other(), {});
  if (!report) FAIL(report.error().message);
  CHECK(report->events == 14);
  CHECK(report->chain == exported.log->chain());
  check_reads(*open_log(exported.other(), OpenMode::read), *exported.log);
  CHECK(*SnapshotStore(exported.other()).list() == *SnapshotStore(exported.data()).list());
  {
    const auto log = open_log(exported.other());
    const auto there = log->append(drafts(0, 2), LogTime{77}, Epoch{2});
    const auto here = exported.log->append(drafts(0, 2), LogTime{77}, Epoch{2});
    CHECK(*there == *here);
    CHECK(log->chain() == exported.log->chain());
    CHECK_FALSE(log->verify()->broken_at);
  }
  CHECK_FALSE(open_log(exported.other())->verify()->broken_at);
}

TEST_CASE("Only a new or empty directory is imported into") {
  Exported exported;
  const auto bundle = open_bundle(exported.file());
  CHECK(import_bundle(**bundle, exported.data(), {}).error().code == ErrorCode::bad_input);
  fs::create_directories(exported.other());
  write_bytes(exported.other() / "notes", "x");
  const auto refused = import_bundle(**bundle, exported.other(), {});
  CHECK(refused.error().code == ErrorCode::bad_input);
  CHECK(refused.error().message.find("notes") != std::string::npos);
  fs::remove(exported.other() / "notes");
  CHECK(import_bundle(**bundle, exported.other(), {}).has_value());
  CHECK(import_bundle(**bundle, exported.other(), {}).error().code == ErrorCode::bad_input);
}

TEST_CASE("An import that another one keeps out leaves that one's store alone") {
  Exported exported;
  const auto bundle = open_bundle(exported.file());
  fs::create_directories(exported.other() / "log.new");
  write_bytes(exported.other() / "log.new" / "CURRENT", "x");
  const auto lock = WriterLock::acquire(exported.other() / "writer.lock");
  REQUIRE(lock.has_value());
  CHECK(import_bundle(**bundle, exported.other(), {}).error().code == ErrorCode::conflict);
  CHECK(fs::exists(exported.other() / "log.new" / "CURRENT"));
}

TEST_CASE("An import that died is begun again") {
  Exported exported;
  const auto bundle = open_bundle(exported.file());
  REQUIRE(import_bundle(**bundle, exported.other(), {}).has_value());
  fs::remove_all(exported.other() / "snapshots");
  // Just before its store gets its name; the mark of another log shows that it is made anew.
  fs::rename(exported.other() / "log", exported.other() / "log.new");
  write_bytes(exported.other() / "acknowledged", "torn");
  const auto again = import_bundle(**bundle, exported.other(), {});
  if (!again) FAIL(again.error().message);
  CHECK_FALSE(open_log(exported.other())->verify()->broken_at);
  // After its first snapshot: what it kept, also of another bundle, is not taken for this one's.
  fs::rename(exported.other() / "log", exported.other() / "log.new");
  write_bytes(exported.other() / "snapshots" / snapshot_file_name({3}), "of another bundle");
  REQUIRE(import_bundle(**bundle, exported.other(), {}).has_value());
  CHECK(*SnapshotStore(exported.other()).list() == *SnapshotStore(exported.data()).list());
  CHECK_FALSE(fs::exists(exported.other() / "snapshots" / snapshot_file_name({3})));
  // A mark whose log is not there at all tells of a log that was lost.
  fs::remove_all(exported.other() / "snapshots");
  fs::remove_all(exported.other() / "log");
  CHECK(import_bundle(**bundle, exported.other(), {}).error().message.find("acknowledged") !=
        std::string::npos);
}

TEST_CASE("A damaged bundle leaves nothing behind where it was imported") {
  Exported exported;
  std::string bytes = read_bytes(exported.file());
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
  write_bytes(exported.file(), bytes);
  std::ostringstream out;
  std::ostringstream err;
  CHECK(log_import(exported.file(), exported.other(), LogOutput::text, out, err) == 1);
  CHECK(err.str().find("at offset ") != std::string::npos);
  CHECK_FALSE(fs::exists(exported.other()));
}

TEST_CASE("A pruned log is exported and imported as it is, and folded from its snapshot") {
  Exported exported;
  const auto whole = state_at(*exported.log, nullptr, Seq{14});
  std::ostringstream out;
  std::ostringstream err;
  // The writer's lock is held.
  CHECK(log_prune(exported.data(), "seq:9", LogOutput::text, out, err) == 3);
  exported.log.reset();
  CHECK(log_prune(exported.data(), "seq:12", LogOutput::text, out, err) == 2);
  CHECK(err.str().find("snapshot take") != std::string::npos);
  REQUIRE(log_prune(exported.data(), "seq:10", LogOutput::json, out, err) == 0);
  const Json pruned = Json::parse(out.str());
  CHECK(pruned["forgotten"] == 8);
  CHECK(pruned["first_seq"] == 9);
  CHECK(pruned["state_from_seq"] == 8);
  exported.log = open_log(exported.data(), OpenMode::read);
  exported.write();
  const History history = open(exported.file());
  check_reads(*history.log, *exported.log);
  CHECK(*state_at(*history.log, history.snapshots.get(), Seq{14}) == *whole);
  CHECK(state_at(*history.log, nullptr, Seq{14}).has_error());
  ReplayOptions options;
  options.comparison = Comparison::all;
  CHECK(replay(*history.log, history.snapshots.get(), options)->holds());
  REQUIRE(import_bundle(**open_bundle(exported.file()), exported.other(), {}).has_value());
  const auto imported = open_log(exported.other());
  check_reads(*imported, *exported.log);
  const SnapshotStore snapshots(exported.other());
  CHECK(*state_at(*imported, &snapshots, Seq{14}) == *whole);
}

TEST_CASE("An empty log can be moved too") {
  ScratchDirectory directory;
  const auto log = open_log(directory.path() / "data");
  const SnapshotStore snapshots(directory.path() / "data");
  const fs::path file = directory.path() / "x";
  REQUIRE(export_bundle(*log, snapshots, {9}, file, {}).has_value());
  REQUIRE(import_bundle(**open_bundle(file), directory.path() / "other", {}).has_value());
  const auto other = open_log(directory.path() / "other");
  CHECK(other->last_seq() == Seq{0});
  REQUIRE(other->append(drafts(0, 1), LogTime{1}, Epoch{1}).has_value());
}

TEST_CASE("The header of a section begins as the example in bundle_file.h says") {
  ScratchDirectory directory;
  const fs::path file = directory.path() / "x";
  {
    const auto writer = BundleWriter::begin(file);
    REQUIRE((*writer)->add("FLB1", {}, "").has_value());
    REQUIRE((*writer)->add("CONF", {}, "").has_value());
    REQUIRE((*writer)->add("PACK", {7}, std::string(500, 'x')).has_value());
    REQUIRE((*writer)->finish().has_value());
  }
  const std::string expected(
      "PACK\x00\x00\x00\x00\xf4\x01\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00"
      "\x02\x00\x00\x00\x00\x00\x00\x00",
      32);
  CHECK(read_bytes(file).substr(2 * kSectionHeaderBytes, 32) == expected);
}

TEST_CASE("The log command reads bundles") {
  Exported exported;
  std::ostringstream out;
  std::ostringstream err;
  const LogPlace place{.bundle = exported.file()};
  REQUIRE(log_stat(place, LogOutput::json, out, err) == 0);
  CHECK(Json::parse(out.str())["last_seq"] == 14);
  CHECK(Json::parse(out.str())["chain"] == "ok");
  out.str("");
  REQUIRE(log_verify(place, LogOutput::json, out, err) == 0);
  CHECK(Json::parse(out.str())["digest"] == exported.log->chain().hex());
  out.str("");
  REQUIRE(log_cat(place, {.from = "14"}, LogOutput::json, out, err) == 0);
  CHECK(Json::parse(out.str())["seq"] == 14);
}

}  // namespace
}  // namespace fairlead
