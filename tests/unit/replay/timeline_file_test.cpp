// The index of the audit page: a Timeline that is saved and goes on is that of the whole log, and
// what cannot be used is not.
#include "replay/timeline/timeline_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "engine/fold/canonical_bytes.h"
#include "engine/main/service/left_index.h"
#include "engine/runtime/build_commit.h"
#include "replay/bundle/bundle.h"
#include "replay/history.h"
#include "replay/verify.h"
#include "snapshots/data_directory.h"
#include "snapshots/snapshot_store.h"
#include "tests/support/sample.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// The commits of a log, to be appended to another one by one.
class Commits {
 public:
  explicit Commits(const ReadableLog& log) : log_(log), reader_(*log.read(Seq{})) {}
  /// Appends the next one to `other`; false after the last.
  bool append_next(EventLog& other) {
    std::vector<EventDraft> drafts;
    for (;;) {
      const auto event = reader_->next();
      REQUIRE(event.has_value());
      if (!*event) return false;
      drafts.push_back({(*event)->source, (*event)->cause, (*event)->fact});
      if (!log_.chain_at((*event)->seq)) continue;
      REQUIRE(other.append(drafts, (*event)->log_time, (*event)->epoch).has_value());
      return true;
    }
  }

 private:
  const ReadableLog& log_;
  std::unique_ptr<EventReader> reader_;
};

Timeline timeline_of(const ReadableLog& log) {
  Timeline timeline;
  REQUIRE(timeline.advance(log, nullptr, UINT64_MAX).has_value());
  return timeline;
}

TEST_CASE("a timeline that was saved goes on to be that of the whole log") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("tests/unit/replay/audit"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const std::size_t stride = 1 + files.size() / sample(60);
  std::size_t restarts = 0;
  for (std::size_t i = 0; i < files.size(); i += stride) {
    INFO(files[i].string());
    const ScratchDirectory data;
    MemoryLog whole, growing;
    rehearse(read_trace(files[i]), whole);
    Commits commits(whole);
    Timeline followed;
    for (std::size_t commit = 0; commits.append_next(growing); ++commit) {
      REQUIRE(followed.follow(growing, nullptr, UINT64_MAX).has_value());
      if (commit % 7 != i % 7) continue;
      REQUIRE(save_timeline(followed, data.path()).has_value());
      auto loaded = saved_timeline(data.path(), growing, nullptr);
      REQUIRE(loaded.has_value());
      CHECK(loaded->seq() == growing.last_seq());
      followed = *std::move(loaded);
      ++restarts;
    }
    const auto ended = followed.advance(growing, nullptr, UINT64_MAX);
    REQUIRE(ended.has_value());
    CHECK(*ended);
    const Timeline at_once = timeline_of(whole);
    CHECK(followed.state() == at_once.state());
    CHECK(followed.contents().held == at_once.contents().held);
    CHECK(canonical_bytes(followed.values()) == canonical_bytes(at_once.values()));
    CHECK(canonical_bytes(followed.counts()) == canonical_bytes(at_once.counts()));
  }
  CHECK(restarts > sample(60));
}

TEST_CASE("an index that is missing, damaged, of another log or ahead of it is not used") {
  const ScratchDirectory data;
  MemoryLog log, other, shorter;
  rehearse(read_trace("tests/unit/replay/audit/two-claims.txt"), log);
  rehearse(read_trace("tests/unit/replay/audit/ownership-conflict.txt"), other);
  REQUIRE(Commits(log).append_next(shorter));
  CHECK_FALSE(saved_timeline(data.path(), log, nullptr).has_value());
  const auto size = save_timeline(timeline_of(log), data.path());
  REQUIRE(size.has_value());
  const fs::path file = timeline_file(data.path());
  CHECK(*size == fs::file_size(file));
  CHECK(saved_timeline(data.path(), log, nullptr).has_value());
  CHECK_FALSE(saved_timeline(data.path(), other, nullptr).has_value());
  CHECK_FALSE(saved_timeline(data.path(), shorter, nullptr).has_value());
  const std::string good = read_bytes(file);
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 64) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    std::ofstream(file, std::ios::binary) << bytes;
    INFO("byte " << at);
    CHECK_FALSE(saved_timeline(data.path(), log, nullptr).has_value());
    std::ofstream(file, std::ios::binary) << good.substr(0, at);
    CHECK_FALSE(saved_timeline(data.path(), log, nullptr).has_value());
  }
  fs::remove(file);
  fs::create_directory(file);
  CHECK_FALSE(saved_timeline(data.path(), log, nullptr).has_value());
  CHECK_FALSE(save_timeline(timeline_of(log), data.path()).has_value());
}

TEST_CASE("an imported log is left with an index and states, and is the log that it was") {
  const ScratchDirectory place;
  const fs::path original = place.path() / "original", copy = place.path() / "copy",
                 file = place.path() / "x.bundle";
  Digest chain;
  {
    constexpr int kCommits = 40, kEvents = 100;
    const auto log = open_log(original);
    for (int i = 0; i < kCommits; ++i)
      REQUIRE(
          log->append(drafts(i * kEvents, kEvents), LogTime{} + seconds(i), Epoch{1}).has_value());
    chain = log->chain();
    REQUIRE(export_bundle(*log, SnapshotStore(original), Seq{UINT64_MAX}, file, {}).has_value());
  }
  const auto bundle = open_bundle(file);
  REQUIRE(bundle.has_value());
  REQUIRE(import_bundle(**bundle, copy, {}).has_value());
  constexpr std::uint64_t kFewEvents = 2048;
  REQUIRE(leave_index(*open_log(copy, OpenMode::read), copy, kFewEvents).has_value());

  const auto history = open_history(copy, "", build_identity());
  REQUIRE(history.has_value());
  const ReadableLog& log = *history->log;
  CHECK(log.chain() == chain);
  CHECK_FALSE(verify_with(log, *history->snapshots)->broken_at.has_value());
  CHECK(saved_timeline(copy, log, history->for_questions()).has_value());
  const auto states = history->for_questions()->list();
  REQUIRE(states.has_value());
  CHECK(states->size() > 4);
  CHECK(states->back().seq == log.last_seq());
  for (std::uint64_t seq = 1; seq <= log.last_seq().value; seq += 331)
    CHECK(*state_at(log, history->for_questions(), Seq{seq}) == *state_at(log, nullptr, Seq{seq}));
  // What verifies begins with the first event.
  ReplayOptions from_the_end;
  from_the_end.from = log.last_seq();
  CHECK(history->snapshots->list()->empty());
  CHECK(replay(log, history->snapshots.get(), from_the_end)->begin == Seq{1});
  // Another program does not use them.
  CHECK(open_history(copy, "", "another")->for_questions()->list()->empty());
}

TEST_CASE("a log whose own snapshots are near is left with an index alone") {
  const ScratchDirectory data;
  const auto log = open_log(data.path());
  SnapshotStore store(data.path());
  for (int i = 0; i < 8; ++i) {
    REQUIRE(log->append(drafts(i * 300, 300), LogTime{} + seconds(2 * i), Epoch{1}).has_value());
    const auto saved = store.save(*state_at(*log, &store, log->last_seq()), log->chain());
    REQUIRE(saved.has_value());
    const std::vector<EventDraft> voucher{
        {std::string(kSelf),
         {},
         Checkpoint{saved->state_digest, saved->seq.value, saved->log_digest}}};
    REQUIRE(log->append(voucher, LogTime{} + seconds(2 * i + 1), Epoch{1}).has_value());
  }
  REQUIRE(leave_index(*log, data.path(), 2048).has_value());
  CHECK(fs::exists(timeline_file(data.path())));
  CHECK_FALSE(fs::exists(data.path() / "folded"));
  // A short one is left with nothing.
  fs::remove(timeline_file(data.path()));
  REQUIRE(leave_index(*log, data.path()).has_value());
  CHECK_FALSE(fs::exists(timeline_file(data.path())));
}

/// The steps of a line within a span, the one in force at its beginning counted as there.
std::vector<Step> steps_in(const StepSeries& line, LogTime from, LogTime to) {
  std::vector<Step> steps = steps_between(line.steps(), from, to, kStepsMax);
  if (!steps.empty() && steps.front().time <= from) steps.front() = {from, {}, steps.front().value};
  for (Step& step : steps) step.writer = StepWriter::none;
  if (!steps.empty() && steps.front().value == kNoValue) steps.erase(steps.begin());
  return steps;
}

TEST_CASE("the values of a span alone are those of the whole log") {
  std::size_t compared = 0, steps = 0;
  for (const char* name : {"why-at-14-07", "mass-loss-held", "two-claims", "ownership-conflict"}) {
    INFO(name);
    MemoryLog log;
    rehearse(read_trace(fs::path("tests/unit/replay/audit") / (std::string(name) + ".txt")), log);
    const Timeline whole = timeline_of(log);
    const Duration all = log.last_time() - whole.begin();
    for (std::int64_t part = 0; part < 12; ++part) {
      const LogTime from = whole.begin() + Duration{all.ns / 12 * part};
      const LogTime to = from + Duration{all.ns / 7};
      const auto exact = exact_values(log, nullptr, from, to);
      REQUIRE(exact.has_value());
      REQUIRE(exact->has_value());
      for (const auto& [queue, pairs] : whole.values().queues())
        for (const auto& [pair, series] : pairs)
          for (std::size_t i = 0; i < series.lines.size(); ++i) {
            INFO(queue << " " << pair.first << " " << pair.second << " " << kPairLines.at(i));
            const auto expected = steps_in(series.lines.at(i), from, to);
            const auto named = (*exact)->queues().find(queue);
            const bool there = named != (*exact)->queues().end() && named->second.contains(pair);
            const auto found = there ? steps_in(named->second.at(pair).lines.at(i), from, to)
                                     : std::vector<Step>();
            REQUIRE(found == expected);
            ++compared;
            steps += found.size();
          }
    }
  }
  CHECK(compared > 500);
  CHECK(steps > 500);
}

TEST_CASE("all series together keep a bounded number of steps, and each its dip") {
  constexpr std::size_t kClusters = 40, kMoments = 3000, kMost = 20'000;
  const CapacityKey key{"od", "cpu"};
  ValueSeries series(StepSeqs::of_log, kMost);
  State state;
  for (std::size_t moment = 1; moment <= kMoments; ++moment) {
    state.now = LogTime{seconds(static_cast<std::int64_t>(moment)).ns};
    state.seq = Seq{moment};
    DirtySet dirty;
    for (std::size_t i = 0; i < kClusters; ++i) {
      const std::string name = "c" + std::to_string(i);
      const bool dips = moment == 1000 + i;
      state.clusters[name].capacity[key].offered = dips ? 1 : Int128{100} + (moment % 7);
      dirty.clusters.insert(name);
    }
    series.sample(state, dirty, {});
    std::size_t steps = 0;
    for (const auto& [name, values] : series.clusters())
      for (const StepSeries& line : values.at(key).lines) steps += line.steps().size();
    REQUIRE(steps == series.contents().steps);
    REQUIRE(steps <= kMost);
  }
  CHECK(series.contents().most < kStepsMax);
  for (const auto& [name, values] : series.clusters()) {
    const StepSeries& offered = values.at(key).lines.front();
    CHECK(offered.reduced());
    CHECK(std::count_if(offered.steps().begin(), offered.steps().end(),
                        [](const Step& step) { return step.value == 1; }) == 1);
  }
}

}  // namespace
}  // namespace fairlead
