// Questions about a log whose beginning was pruned: an answer is that of the whole log about the
// same time, or says that it cannot be given.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/verify.h"
#include "snapshots/snapshot_store.h"
#include "tests/support/sample.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"
#include "tests/unit/snapshots/own_snapshots.h"

namespace fairlead {
namespace {

// A copy on disk of a rehearsed log, with the group commits that it has.
void copy_commits(const MemoryLog& whole, RocksdbLog& copy) {
  std::vector<EventDraft> commit;
  for (const Event& event : read_all(whole)) {
    commit.push_back({event.source, event.cause, event.fact});
    if (!whole.chain_at(event.seq)) continue;
    REQUIRE(copy.append(commit, event.log_time, event.epoch).has_value());
    commit.clear();
  }
  REQUIRE(commit.empty());
  REQUIRE(copy.chain() == whole.chain());
}

// A rehearsed scenario, pruned so that `first` is the first event, with snapshots at `states`.
struct Pruned {
  ScratchDirectory directory;
  MemoryLog whole;
  std::unique_ptr<RocksdbLog> log;
  SnapshotStore snapshots{directory.path()};
  const OwnSnapshots own{snapshots};

  Pruned(const AuditTrace& trace, Seq first, const std::vector<Seq>& states) {
    rehearse(trace, whole);
    log = open_log(directory.path());
    copy_commits(whole, *log);
    for (const Seq seq : states) {
      const auto state = state_at(whole, nullptr, seq);
      REQUIRE(state.has_value());
      REQUIRE(snapshots.save(*state, *whole.chain_at(seq)).has_value());
    }
    REQUIRE(log->prune_before(first).has_value());
    REQUIRE(log->first_seq() == first);
  }
  AuditSource source() const { return {*log, &own}; }
};

// Where a log may be cut: behind each group commit, but the last.
std::vector<Seq> cuts_of(const AuditTrace& trace) {
  MemoryLog log;
  rehearse(trace, log);
  std::vector<Seq> cuts;
  for (Seq seq{1}; seq < log.last_seq(); seq = next(seq))
    if (log.chain_at(seq)) cuts.push_back(seq);
  return cuts;
}

std::vector<Seq> sample_of(const std::vector<Seq>& cuts) {
  std::vector<Seq> tried;
  for (std::size_t i = 0; i < cuts.size(); i += cuts.size() / sample(cuts.size()))
    tried.push_back(cuts[i]);
  return tried;
}

AuditTrace scenario(const char* name) { return read_trace(std::string("tests/scenarios/") + name); }

Json history_rows(const AuditSource& source, const std::string& subject) {
  const auto history =
      audit_history(source, {subject, "", ""}, source.log.first_seq(), source.log.last_seq());
  REQUIRE(history.has_value());
  return history->document["rows"];
}

Json rows_since(const Json& rows, Seq first) {
  Json kept = Json::array();
  for (const Json& row : rows)
    if (row["seq"].get<std::uint64_t>() >= first.value) kept.push_back(row);
  return kept;
}

std::uint64_t intents_since(const ReadableLog& log, Seq first) {
  const std::vector<Event> events = read_all(log);
  return static_cast<std::uint64_t>(
      std::count_if(events.begin(), events.end(), [first](const Event& event) {
        return event.seq >= first && std::holds_alternative<PatchIntended>(event.fact);
      }));
}

ReplayReport verified(const Pruned& pruned, ReplayOptions options = {}) {
  options.comparison = Comparison::all;
  auto report = replay(*pruned.log, &pruned.own, options);
  REQUIRE(report.has_value());
  return *std::move(report);
}

TEST_CASE("the history of a pruned log is the end of the whole one's, wherever it was cut") {
  std::size_t rows = 0;
  for (const char* name : {"queues/foreign-overwrite-is-fought-three-times.txt",
                           "works/unanswered-write-is-not-sent-again.txt"}) {
    const AuditTrace trace = scenario(name);
    for (const Seq cut : sample_of(cuts_of(trace))) {
      INFO(name << " cut behind " << cut.value);
      const Pruned with_state(trace, next(cut), {cut});
      const Pruned without_state(trace, next(cut), {with_state.whole.last_seq()});
      if (with_state.log->history(kHub, {Kind::cluster_queue, "", "qa"})->empty()) continue;
      const Json whole =
          rows_since(history_rows({with_state.whole, nullptr}, "qa"), with_state.log->first_seq());
      CHECK(history_rows(with_state.source(), "qa") == whole);
      rows += whole.size();
      // Without a state at the cut the first observation may be no change; none is made up.
      for (const Json& row : history_rows(without_state.source(), "qa"))
        CHECK(std::find(whole.begin(), whole.end(), row) != whole.end());
    }
  }
  CHECK(rows >= sample(21));
}

TEST_CASE(
    "the history of a pruned worker list names no other writer of a list that was there before") {
  std::size_t rows = 0;
  const AuditTrace trace = scenario("multikueue/hand-edits.txt");
  for (const Seq cut : sample_of(cuts_of(trace))) {
    INFO("cut behind " << cut.value);
    const Pruned with_state(trace, next(cut), {cut});
    const Pruned without_state(trace, next(cut), {with_state.whole.last_seq()});
    const Json whole = rows_since(history_rows({with_state.whole, nullptr}, "multikueueconfig/gpu"),
                                  with_state.log->first_seq());
    Json expected = Json::array();  // without those whose intent was pruned
    for (const Json& row : whole)
      if (row["writer"] == "foreign" || row["intent"].get<std::uint64_t>() > cut.value)
        expected.push_back(row);
    CHECK(history_rows(with_state.source(), "multikueueconfig/gpu") == expected);
    rows += expected.size();
    for (const Json& row : history_rows(without_state.source(), "multikueueconfig/gpu")) {
      Json known = row;
      if (row["old"].is_null())
        for (const Json& other : whole)
          if (other["seq"] == row["seq"]) known["old"] = other["old"];
      CHECK(std::find(whole.begin(), whole.end(), known) != whole.end());
    }
  }
  CHECK(rows >= sample(21));
}

TEST_CASE("verify compares every write behind the first state that a pruned log has") {
  const AuditTrace trace = scenario("capacity/cordon-shrinks-at-once.txt");
  std::uint64_t compared = 0, left = 0;
  for (const Seq cut : sample_of(cuts_of(trace))) {
    INFO("cut behind " << cut.value);
    const Pruned at_cut(trace, next(cut), {cut});
    const ReplayReport all = verified(at_cut);
    CHECK(all.holds());
    CHECK(all.compared == intents_since(at_cut.whole, next(cut)));
    CHECK(all.not_compared == 0);
    CHECK(all.begin == next(cut));
    compared += all.compared;

    const Seq last = at_cut.whole.last_seq();
    const Pruned at_end(trace, next(cut), {last});
    for (const Seq from : {Seq{1}, next(cut)}) {
      ReplayOptions options;
      options.from = from;
      const ReplayReport none = verified(at_end, options);
      CHECK(none.compared == 0);
      CHECK(none.not_compared == all.compared);
      CHECK(none.tells_nothing() == (all.compared > 0));
      CHECK(none.begin == next(last));
    }
    left += all.compared;

    const Pruned without(trace, next(cut), {});
    ReplayOptions options;
    options.comparison = Comparison::all;
    const auto refused = replay(*without.log, &without.own, options);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("no good snapshot holds their state") != std::string::npos);
  }
  CHECK(compared >= sample(11));
  CHECK(left >= sample(11));
}

TEST_CASE("a snapshot behind the cut leaves the writes between uncounted as compared") {
  const AuditTrace trace = scenario("capacity/cordon-shrinks-at-once.txt");
  const std::vector<Seq> cuts = cuts_of(trace);
  const Seq cut = cuts[cuts.size() / 3], state = cuts[cuts.size() / 2];
  const Pruned pruned(trace, next(cut), {state, cuts.back()});
  const ReplayReport report = verified(pruned);
  CHECK(report.holds());
  CHECK(report.begin == next(state));
  CHECK(report.compared == intents_since(pruned.whole, next(state)));
  CHECK(report.compared > 0);
  CHECK(report.compared + report.not_compared == intents_since(pruned.whole, next(cut)));
}

TEST_CASE("what was pruned is named as pruned, and a place before the first state is bad input") {
  const AuditTrace trace = scenario("capacity/cordon-shrinks-at-once.txt");
  const std::vector<Seq> cuts = cuts_of(trace);
  const Seq cut = cuts[cuts.size() / 2], state = cuts[cuts.size() / 2 + 3];
  const Pruned pruned(trace, next(cut), {state});
  const auto why = audit_why(pruned.source(), {"qa", "od", "cpu"}, pruned.log->last_seq());
  REQUIRE(why.has_value());
  const Json& configuration = why->document["configuration"];
  CHECK(configuration["pruned"] == true);
  CHECK(configuration["time"].is_null());
  const Json& claim = why->document["grants"][0]["claim"];
  CHECK(claim["editedPruned"] == true);
  const std::string text = audit_text(*why);
  CHECK(text.find("configuration seq 2, pruned, digest ") != std::string::npos);
  CHECK(text.find(" at -") == std::string::npos);
  const auto of_whole = audit_why({pruned.whole, nullptr}, {"qa", "od", "cpu"}, state);
  REQUIRE(of_whole.has_value());
  CHECK(to_text(of_whole->document).find("runed") == std::string::npos);

  for (const AuditPosition& place :
       {AuditPosition(cut), AuditPosition(next(cut)), AuditPosition(Seq{1})}) {
    const auto answer = audit_quota(pruned.source(), place, "");
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::bad_input);
    CHECK(answer.error().message.find("begins at seq " + std::to_string(next(cut).value)) !=
          std::string::npos);
    CHECK(answer.error().message.find("known state is that of seq " +
                                      std::to_string(state.value)) != std::string::npos);
  }
  CHECK(audit_quota(pruned.source(), state, "").has_value());
}

// The one setting that the layer of the pair's capacity names.
Json setting_at(const AuditSource& source, const AuditPosition& place) {
  const auto why = audit_why(source, {"batch", "a100", "cpu"}, place);
  REQUIRE(why.has_value());
  const Json settings = why->document["grants"][0]["capacity"][0]["layer"]["settings"];
  REQUIRE(settings.size() == 1);
  return settings[0];
}

TEST_CASE(
    "the event that set a claim's annotation is reported while it is kept, and else as pruned") {
  const AuditTrace trace = read_trace("tests/unit/replay/audit/claim-annotation.txt");
  const AuditPosition held = *parse_rfc3339("2026-03-02T09:13:30Z");
  std::size_t kept = 0, gone = 0;
  for (const Seq cut : sample_of(cuts_of(trace))) {
    INFO("cut behind " << cut.value);
    const Pruned pruned(trace, next(cut), {cut});
    const Json whole = setting_at({pruned.whole, nullptr}, held);
    CHECK(whole["name"] == "shrinkWindow");
    CHECK(whole["value"] == "1m0s");
    CHECK(whole["claim"] == "north-claim");
    if (pruned.log->last_at(std::get<LogTime>(held)).has_error()) break;
    const Json setting = setting_at(pruned.source(), held);
    if (whole["seq"] > cut.value) {
      CHECK(setting == whole);
      ++kept;
    } else {
      CHECK(setting["seq"].is_null());
      CHECK(setting["pruned"] == true);
      ++gone;
    }
  }
  CHECK(kept >= sample(4));
  CHECK(gone >= sample(2));
}

TEST_CASE("a what-if of a pruned log begins where it can be folded, and says so") {
  const AuditTrace trace = scenario("capacity/cordon-shrinks-at-once.txt");
  const std::vector<Seq> cuts = cuts_of(trace);
  const Seq cut = cuts[cuts.size() / 3], state = cuts[cuts.size() / 2];
  const Pruned pruned(trace, next(cut), {state, cuts.back()});
  WhatIfOptions options = under({"debounce.shrinkWindow=1s"});
  WhatIfOptions of_whole = options;
  of_whole.from = next(state);
  const Json expected = to_json(asked(pruned.whole, of_whole));
  for (const std::optional<Seq> from : {std::optional<Seq>(), std::optional(Seq{1}),
                                        std::optional(next(cut)), std::optional(next(state))}) {
    options.from = from;
    const auto result = what_if(pruned.source(), options);
    REQUIRE(result.has_value());
    CHECK(result->from == next(state));
    CHECK(result->from_pruned == (from != next(state)));
    Json document = to_json(*result);
    document["from"].erase("pruned");
    CHECK(document == expected);
    CHECK((what_if_text(*result).find("the log was pruned") != std::string::npos) ==
          result->from_pruned);
  }
  options.to = state;
  const auto before = what_if(pruned.source(), options);
  REQUIRE_FALSE(before.has_value());
  CHECK(before.error().code == ErrorCode::bad_input);

  const Pruned without(trace, next(cut), {});
  const auto refused = what_if(without.source(), under({}));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("no good snapshot holds their state") != std::string::npos);
}

}  // namespace
}  // namespace fairlead
