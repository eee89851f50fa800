// Files of a data directory that are lost, cut or altered: each is noticed, and named where it can
// be, or what it held is not needed. Nothing wrong is ever read.
#include <algorithm>

#include "tests/support/sample.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

bool names(const Error& error, const std::string& words) {
  CAPTURE(error.message);
  return error.message.find(words) != std::string::npos;
}

/// Three commits of two events each; where the chain was after each.
std::vector<Digest> commit_three(RocksdbLog& log) {
  std::vector<Digest> chains;
  for (int commit = 0; commit < 3; ++commit) {
    REQUIRE(log.append(drafts(commit * 2, 2), LogTime{commit}, Epoch{1}).has_value());
    chains.push_back(log.chain());
  }
  return chains;
}

TEST_CASE("A log that ends before what a watermark source names, or differs from it, is damaged") {
  const ScratchDirectory directory;
  std::vector<Digest> chains;
  {
    const auto log = open_log(directory.path());
    chains = commit_three(*log);
  }
  const auto open = [&](OpenMode mode, const WatermarkSource& source) {
    return RocksdbLog::open(directory.path(), mode, {}, {&source, 1});
  };
  struct Case {
    WatermarkSource source;
    Seq broken_at;  // 0: whole
    std::string words;
  };
  const std::vector<Case> cases{
      {{{2}, chains[0], "one"}, {0}, ""},
      {{{6}, chains[2], "one"}, {0}, ""},
      {{{0}, {}, "one"}, {0}, ""},
      {{{8}, chains[2], "one"}, {7}, "acknowledged up to seq 8, as the file \"one\" says"},
      {{{4}, chains[2], "one"}, {3}, "up to seq 4 are not those"},
      {{{3}, chains[1], "one"}, {3}, "up to seq 3 are not those"},  // no commit ends there
      {{{6}, chains[1], "one"}, {5}, "the file \"one\" says"},
      {{{0}, chains[1], "one"}, {1}, "up to seq 0 are not those"},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.source.seq.value, expected.words);
    {
      const auto log = open(OpenMode::read, expected.source);
      REQUIRE(log.has_value());
      CHECK((*log)->verify()->broken_at.value_or(Seq{0}) == expected.broken_at);
      CHECK((*log)->damage().find(expected.words) != std::string::npos);
      if (expected.broken_at.value > 0)
        CHECK((*log)->last_seq() == Seq{expected.broken_at.value - 1});
    }
    const auto writing = open(OpenMode::write, expected.source);
    if (expected.broken_at.value == 0) {
      CHECK(writing.has_value());
      continue;
    }
    REQUIRE(writing.has_error());
    CHECK(writing.error().code == ErrorCode::corrupt);
    CHECK(names(writing.error(), "seq " + std::to_string(expected.broken_at.value)));
    CHECK(names(writing.error(), expected.words));
    CHECK(names(writing.error(), "operating.md"));
  }
}

TEST_CASE("A watermark source of pruned events is ignored") {
  const ScratchDirectory directory;
  const WatermarkSource wrong{{2}, sha256("another log"), "old"};
  std::vector<Digest> chains;
  {
    const auto log = open_log(directory.path());
    chains = commit_three(*log);
    REQUIRE(log->prune_before({5}).has_value());
  }
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write, {}, {&wrong, 1}).has_value());
  const WatermarkSource at_cut{{4}, chains[1], "cut"};
  CHECK(RocksdbLog::open(directory.path(), OpenMode::write, {}, {&at_cut, 1}).has_value());
  const WatermarkSource not_at_cut{{4}, chains[0], "cut"};
  const auto log = RocksdbLog::open(directory.path(), OpenMode::read, {}, {&not_at_cut, 1});
  REQUIRE(log.has_value());
  CHECK((*log)->verify()->broken_at == Seq{5});
}

TEST_CASE("Where a watermark source names a log that is gone, no new one is made") {
  const ScratchDirectory directory;
  const WatermarkSource source{{7}, {}, "snapshots/7"};
  for (const OpenMode mode : {OpenMode::read, OpenMode::write}) {
    const auto log = RocksdbLog::open(directory.path(), mode, {}, {&source, 1});
    REQUIRE(log.has_error());
    CHECK(log.error().code == ErrorCode::corrupt);
    CHECK(names(log.error(), "seq 1 to 7 were acknowledged, as the file \"snapshots/7\" says"));
  }
  CHECK_FALSE(fs::exists(directory.path() / "log"));
}

TEST_CASE("A log with events and without a mark may lack its end; one without events does not") {
  const ScratchDirectory directory;
  const fs::path mark = directory.path() / "acknowledged";
  {
    const auto empty = open_log(directory.path());
  }
  // A crash between making the log and making the mark.
  fs::remove(mark);
  {
    const auto empty = open_log(directory.path());
  }
  std::vector<Event> all;
  {
    const auto log = open_log(directory.path());
    CHECK(fs::file_size(mark) == 128);  // before the first commit
    commit_three(*log);
    all = read_all(*log);
  }
  for (const std::string& left : {std::string(), std::string(128, 'x')}) {
    write_bytes(mark, left);
    if (left.empty()) fs::remove(mark);
    const auto reading = open_log(directory.path(), OpenMode::read);
    std::optional<Error> error;
    CHECK(read_all(*reading, {1}, &error) == all);
    REQUIRE(error);
    CHECK(error->code == ErrorCode::corrupt);
    CHECK(reading->verify()->broken_at == Seq{7});
    const auto writing = RocksdbLog::open(directory.path(), OpenMode::write);
    REQUIRE(writing.has_error());
    CHECK(names(writing.error(), "\"acknowledged\" is gone or damaged"));
    CHECK(fs::exists(mark) != left.empty());  // nothing was repaired
  }
}

/// A log whose tables are several and whose write-ahead log holds something too.
std::vector<Event> make_tables(const fs::path& directory) {
  for (int round = 0; round < 2; ++round) {
    const auto log = open_log(directory);
    commit_three(*log);
    if (round == 0) REQUIRE(log->move_to_tables().has_value());
  }
  return read_all(*open_log(directory, OpenMode::read));
}

const ObjectKey kNode{Kind::node, "", "node-1"};

/// Whatever can be read of `directory` is right; what is wrong is said. Whether it is whole.
bool tells_the_truth(const fs::path& directory, const std::vector<Event>& all,
                     const std::vector<Seq>& history, const std::string& file) {
  const auto log = RocksdbLog::open(directory, OpenMode::read);
  const auto writing = RocksdbLog::open(directory, OpenMode::write);
  if (!log) {
    CHECK(log.error().code == ErrorCode::corrupt);
    CHECK(names(log.error(), "the log is damaged"));
    CHECK(names(log.error(), file.substr(0, file.find('-'))));
    CHECK(names(log.error(), "operating.md"));
    CHECK(writing.has_error());
    return false;
  }
  std::optional<Error> error;
  const std::vector<Event> events = read_all(**log, {1}, &error);
  CHECK(events.size() <= all.size());
  CHECK(std::equal(events.begin(), events.end(), all.begin()));
  const auto found = (*log)->history("cluster1", kNode);
  if (error || (*log)->verify()->broken_at) {
    CHECK((error || writing.has_error() || !found));
    return false;
  }
  CHECK(events == all);
  REQUIRE(found.has_value());
  CHECK(*found == history);
  return true;
}

TEST_CASE("Whatever file of the log is altered, cut or lost: it is reported, or not needed") {
  const ScratchDirectory original;
  const std::vector<Event> all = make_tables(original.path());
  const std::vector<Seq> history =
      *open_log(original.path(), OpenMode::read)->history("cluster1", kNode);
  REQUIRE_FALSE(history.empty());
  const ScratchDirectory scratch;
  const fs::path copy = scratch.path() / "copy";
  std::size_t harmless = 0;
  std::size_t reported = 0;
  const auto with = [&](const std::string& name, const std::optional<std::string>& bytes) {
    fs::remove_all(copy);
    fs::copy(original.path(), copy, fs::copy_options::recursive);
    if (bytes)
      write_bytes(copy / "log" / name, *bytes);
    else
      fs::remove(copy / "log" / name);
    return tells_the_truth(copy, all, history, name);
  };
  for (const auto& entry : fs::directory_iterator(original.path() / "log")) {
    const std::string name = entry.path().filename().string();
    const std::string bytes = read_bytes(entry.path());
    // RocksDB asks nothing of these.
    const bool not_needed = name == "IDENTITY" || name == "LOCK" || name.starts_with("OPTIONS-");
    std::vector<std::optional<std::string>> variants{std::nullopt};
    for (const std::size_t size : {std::size_t{0}, bytes.size() / 2})
      if (size < bytes.size()) variants.emplace_back(bytes.substr(0, size));
    for (std::size_t i = 0; i < bytes.size(); i += bytes.size() / sample(5) + 1) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 16);
      variants.emplace_back(std::move(flipped));
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
      CAPTURE(name, i);
      const bool whole = with(name, variants[i]);
      if (not_needed) CHECK(whole);
      ++(whole ? harmless : reported);
      if (name == "CURRENT" || name.starts_with("MANIFEST-")) CHECK_FALSE(whole);
    }
  }
  CHECK(harmless > 0);
  CHECK(reported > 20);
}

TEST_CASE("A manifest that was cut between two of its records loses nothing silently") {
  const ScratchDirectory original;
  {
    const auto log = open_log(original.path());
    commit_three(*log);
    REQUIRE(log->move_to_tables().has_value());
  }
  const auto whole = open_log(original.path(), OpenMode::read);
  const std::vector<Event> all = read_all(*whole);
  const std::vector<Seq> history = *whole->history("cluster1", kNode);
  fs::path manifest;
  for (const auto& entry : fs::directory_iterator(original.path() / "log"))
    if (entry.path().filename().string().starts_with("MANIFEST-")) manifest = entry.path();
  const std::string bytes = read_bytes(manifest);
  const ScratchDirectory scratch;
  fs::copy(original.path(), scratch.path() / "copy", fs::copy_options::recursive);
  const fs::path cut = scratch.path() / "copy" / "log" / manifest.filename();
  std::size_t reported = 0;
  std::size_t unlisted = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 24 / sample(8)) {
    CAPTURE(size);
    write_bytes(cut, bytes.substr(0, size));
    const auto log = RocksdbLog::open(scratch.path() / "copy", OpenMode::read);
    if (!log) {
      CHECK(log.error().code == ErrorCode::corrupt);
      ++reported;
      continue;
    }
    if (!(*log)->damage().empty()) {
      CHECK((*log)->verify()->broken_at == Seq{(*log)->last_seq().value + 1});
      if ((*log)->damage().find("does not list the table") != std::string::npos) ++unlisted;
      ++reported;
      continue;
    }
    CHECK(read_all(**log) == all);
    CHECK(*(*log)->history("cluster1", kNode) == history);
    CHECK((*log)->stat()->epochs == whole->stat()->epochs);
  }
  CHECK(reported > 0);
  CHECK(unlisted > 0);
}

}  // namespace
}  // namespace fairlead
