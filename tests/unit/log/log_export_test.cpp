// An export over HTTP: page by page, and the same file as where the log is.
#include "engine/main/client/log_export.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/fold/evolve.h"
#include "replay/bundle/bundle_page.h"
#include "replay/bundle/bundle_receiver.h"
#include "schema/codec.h"
#include "snapshots/snapshot_source.h"
#include "snapshots/snapshot_store.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// Drafts whose names do not compress: some commits of them are longer than a page.
std::vector<EventDraft> bulky_drafts(int from, int count) {
  std::vector<EventDraft> made = drafts(from, count);
  std::uint64_t random = static_cast<std::uint64_t>(from) + 1;
  for (EventDraft& draft : made) {
    auto& key = std::get<ObjectObserved>(draft.fact).key;
    for (int i = 0; i < 4000; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      key.name += static_cast<char>('!' + (random >> 33U) % 90);
    }
  }
  return made;
}

/// A data directory whose commits and snapshots need several pages.
struct LongHistory {
  LongHistory() {
    log = open_log(data());
    const std::vector<EventDraft> start{
        {"self", {}, EpochStarted{"hub-0", "0.1.0", kFoldVersion, kSchemaVersion}},
        {"self", {}, ConfigChanged{}}};
    REQUIRE(log->append(start, LogTime{5}, Epoch{1}).has_value());
    for (int commit = 0; commit < 6; ++commit) {
      REQUIRE(log->append(bulky_drafts(commit * 1000, commit % 2 == 0 ? 50 : 500),
                          LogTime{10 + commit}, Epoch{1})
                  .has_value());
      if (commit % 2 == 0) continue;
      const auto state = state_at(*log, nullptr, log->last_seq());
      REQUIRE(state.has_value());
      REQUIRE(SnapshotStore(data()).save(*state, log->chain()).has_value());
    }
  }
  fs::path data() const { return directory.path() / "data"; }
  fs::path file(const char* name) const { return directory.path() / name; }
  SnapshotStore snapshots() const { return SnapshotStore(data()); }
  AskHub hub() {
    return [this](const std::string& target) {
      ++pages;
      auto page = answer_export_target(*log, snapshots(), target);
      if (page) longest = std::max(longest, page->size());
      return page;
    };
  }

  ScratchDirectory directory;
  std::unique_ptr<RocksdbLog> log;
  int pages = 0;
  std::size_t longest = 0;
};

TEST_CASE("An export over HTTP is the file that an export where the log is writes") {
  LongHistory history;
  REQUIRE(export_bundle(*history.log, history.snapshots(), history.log->last_seq(),
                        history.file("here"), {})
              .has_value());
  const auto report = export_from_hub(history.hub(), history.file("there"), "", {});
  if (!report) FAIL(report.error().message);
  CHECK(contents(history.file("there")) == contents(history.file("here")));
  CHECK(report->bytes == fs::file_size(history.file("here")));
  CHECK(report->last == history.log->last_seq());
  CHECK(report->snapshots == 3);
  CHECK(report->commits == 7);
  CHECK(static_cast<std::uint64_t>(history.pages) > report->bytes / kBundlePageBytes);
  CHECK(history.longest < kBundlePageBytes + 64 * 1024);
  const auto bundle = open_bundle(history.file("there"));
  REQUIRE(bundle.has_value());
  CHECK((*bundle)->snapshots.size() == 3);
}

TEST_CASE("What is appended between two pages is not in the export") {
  LongHistory history;
  const Seq end = history.log->last_seq();
  const AskHub ask = history.hub();
  const auto report = export_from_hub(
      [&](const std::string& target) {
        auto page = ask(target);
        REQUIRE(history.log->append(drafts(history.pages, 1), LogTime{100}, Epoch{1}).has_value());
        return page;
      },
      history.file("x"), "", {});
  REQUIRE(report.has_value());
  CHECK(report->last == end);
  CHECK(history.log->last_seq() > end);
}

TEST_CASE("An export over HTTP ends at the group commit of --to") {
  LongHistory history;
  REQUIRE(export_bundle(*history.log, history.snapshots(), Seq{60}, history.file("here"), {})
              .has_value());
  const auto report = export_from_hub(history.hub(), history.file("there"), "seq:60", {});
  REQUIRE(report.has_value());
  CHECK(contents(history.file("there")) == contents(history.file("here")));
}

TEST_CASE("Pages that are not those of one bundle make no file") {
  LongHistory history;
  const AskHub ask = history.hub();
  const auto first = read_bundle_page(*ask("/log/export"));
  REQUIRE(first.has_value());
  REQUIRE(first->next.has_value());
  const auto second = read_bundle_page(*ask("/log/export?from=" + to_text(*first->next)));
  REQUIRE(second.has_value());
  const auto broken = [&](const auto& change) {
    BundlePage page = *second;
    auto receiver = BundleReceiver::begin(history.file("x"));
    REQUIRE(receiver.has_value());
    REQUIRE((*receiver)->add(*first).has_value());
    change(page);
    auto added = (*receiver)->add(page);
    return added ? (*receiver)->finish().error() : added.error();
  };
  CHECK(broken([](BundlePage&) {}).code == ErrorCode::corrupt);  // the rest is missing
  CHECK(broken([](BundlePage& page) { page.parts.erase(page.parts.begin()); }).code ==
        ErrorCode::corrupt);
  CHECK(broken([](BundlePage& page) { page.parts.front().offset += 1; }).code ==
        ErrorCode::corrupt);
  CHECK(broken([](BundlePage& page) { page.parts.front().bytes[7] ^= 1; }).code ==
        ErrorCode::corrupt);
  auto receiver = BundleReceiver::begin(history.file("x"));
  REQUIRE(receiver.has_value());
  CHECK((*receiver)->add(*second).has_error());
  receiver->reset();
  CHECK_FALSE(fs::exists(history.file("x")));
  CHECK_FALSE(fs::exists(history.file("x.partial")));
}

TEST_CASE("A snapshot that is removed between two of its pieces ends the export") {
  LongHistory history;
  const AskHub ask = history.hub();
  std::string target = "/log/export";
  for (;;) {
    const auto page = read_bundle_page(*ask(target));
    REQUIRE(page.has_value());
    REQUIRE(page->next.has_value());
    target = "/log/export?from=" + to_text(*page->next);
    if (page->next->stage == BundleCursor::Stage::snapshots && page->next->offset > 0) break;
  }
  fs::remove_all(history.snapshots().directory());
  const auto page = ask(target);
  REQUIRE(page.has_error());
  CHECK(page.error().code == ErrorCode::not_found);
}

TEST_CASE("What no export can be asked for is named") {
  LongHistory history;
  for (const char* query :
       {"?from=7", "?from=pack:x:0", "?from=pack:0:0", "?from=page:1:0", "?from=pack:2:0",
        "?from=pack:1:99999999", "?to=never", "?colour=red"}) {
    CAPTURE(query);
    const auto page = history.hub()(std::string("/log/export") + query);
    REQUIRE(page.has_error());
    CHECK(page.error().code == ErrorCode::bad_input);
  }
}

TEST_CASE("An answer that is no page of an export fails with unavailable") {
  ScratchDirectory directory;
  for (const std::string answer :
       {"", "<html>", "{}", "{}\n", "{\"to\":1,\"parts\":[]}", "{\"to\":1,\"parts\":[]}\nx",
        "{\"to\":1,\"parts\":[{}]}\n", "{\"to\":1,\"parts\":[],\"next\":\"x\"}\n",
        "{\"to\":1,\"parts\":[{\"tag\":\"PACK\",\"seq\":1,\"size\":9,\"offset\":0,"
        "\"bytes\":9}]}\n12345678"}) {
    CAPTURE(answer);
    const auto page = read_bundle_page(answer);
    REQUIRE(page.has_error());
    CHECK(page.error().code == ErrorCode::unavailable);
  }
}

}  // namespace
}  // namespace fairlead
