// The audit page's lines against `audit quota`, on every audit scenario and at every moment of it.
#include "replay/timeline/timeline.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "replay/timeline/moments_span.h"
#include "replay/timeline/timeline_answers.h"
#include "tests/support/sample.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenarios() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("tests/unit/replay/audit"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Event> all_events_of(const ReadableLog& log) {
  std::vector<Event> events;
  const auto reader = log.read(Seq{});
  REQUIRE(reader.has_value());
  for (;;) {
    const auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) return events;
    events.push_back(**event);
  }
}

/// The value of a line at a time, as a step gives it.
Int128 value_at(const StepSeries& series, LogTime time) {
  const auto steps = steps_between(series.steps(), time, time, kStepsMax);
  return steps.empty() ? kNoValue : steps.back().value;
}

Json text_at(const PairSeries& pair, PairLine line, LogTime time, const std::string& resource) {
  const Int128 value = value_at(pair.lines.at(static_cast<std::size_t>(line)), time);
  return value == kNoValue ? Json() : Json(amount_text(resource, value));
}

Json sum_of(const Json& grants, const char* field, const std::string& resource) {
  if (grants.empty()) return nullptr;
  Int128 sum = 0;
  for (const Json& grant : grants)
    sum += to_amount(resource, *Quantity::parse(grant[field].get<std::string>()));
  return amount_text(resource, sum);
}

/// Compares every pair of every queue at `time` with `audit quota`. Returns how many there were.
std::size_t compare_at(const Timeline& timeline, const ReadableLog& log, LogTime time) {
  const auto answer = audit_quota({log, nullptr}, time, "");
  REQUIRE(answer.has_value());
  std::size_t compared = 0;
  for (const Json& row : answer->document["rows"]) {
    const std::string resource = row["resource"];
    const std::string canonical =
        canonical_resource(timeline.state().configuration.resource_aliases, resource);
    const auto queue = timeline.values().queues().find(row["queue"].get<std::string>());
    REQUIRE(queue != timeline.values().queues().end());
    const auto pair = queue->second.find({row["flavor"], resource});
    REQUIRE(pair != queue->second.end());
    INFO(row.dump() + " at " + to_rfc3339(time));
    const auto line = [&](PairLine which) { return text_at(pair->second, which, time, canonical); };
    CHECK(line(PairLine::nominal) == row["nominal"]);
    CHECK(line(PairLine::desired) == row["desired"]);
    CHECK(line(PairLine::assigned) == sum_of(row["grants"], "assigned", canonical));
    CHECK(line(PairLine::granted) == sum_of(row["grants"], "granted", canonical));
    ++compared;
  }
  return compared;
}

/// Whether a line of a worker is set; null: the list did not know the name.
Json flag_at(const WorkerSeries& worker, WorkerLine line, LogTime time) {
  const Int128 value = value_at(worker.lines.at(static_cast<std::size_t>(line)), time);
  return value == kNoValue ? Json() : Json(value != 0);
}

/// Compares every name of every worker list at `time` with `audit why`. Returns how many there
/// were.
std::size_t compare_lists_at(const Timeline& timeline, const ReadableLog& log, LogTime time,
                             std::size_t& frozen) {
  std::size_t compared = 0;
  for (const auto& [placement, workers] : timeline.values().lists()) {
    const auto answer = audit_why_workers({log, nullptr}, placement, "", time);
    if (!answer) continue;  // there was no such list yet
    const bool is_frozen = !answer->document["frozenSince"].is_null();
    for (const Json& row : answer->document["workers"]) {
      const WorkerSeries& worker = workers.at(row["multiKueueCluster"]);
      INFO(row.dump() + " at " + to_rfc3339(time));
      const bool listed = row["listed"], selected = row["selected"];
      CHECK(flag_at(worker, WorkerLine::selected, time) == selected);
      CHECK(flag_at(worker, WorkerLine::listed, time) == listed);
      CHECK(flag_at(worker, WorkerLine::frozen, time) == (listed && is_frozen));
      CHECK(flag_at(worker, WorkerLine::draining, time) == (listed && !selected && !is_frozen));
      if (listed && is_frozen) ++frozen;
      ++compared;
    }
  }
  return compared;
}

Result<AuditAnswer> answer_of(const Timeline& timeline, const SeriesQuestion& question,
                              const TimelineSpan& span) {
  return series_answer(timeline.values(), timeline.state().configuration.resource_aliases, question,
                       span, kStepsMax);
}

/// Each time of an event, one nanosecond before it and halfway to the next one.
std::vector<LogTime> times_of(const std::vector<Event>& events) {
  std::set<LogTime> times;
  for (std::size_t i = 0; i < events.size(); ++i) {
    times.insert(events[i].log_time);
    if (i == 0 || events[i].log_time == events[i - 1].log_time) continue;
    const Duration between = events[i].log_time - events[i - 1].log_time;
    times.insert(LogTime{events[i].log_time.ns - 1});
    times.insert(events[i - 1].log_time + Duration{between.ns / 2});
  }
  return {times.begin(), times.end()};
}

TEST_CASE("every step of the timeline is what audit quota and audit why answer") {
  const auto files = scenarios();
  REQUIRE_FALSE(files.empty());
  std::size_t compared = 0, workers = 0, frozen = 0;
  for (const fs::path& path : files) {
    INFO(path.string());
    MemoryLog log;
    rehearse(read_trace(path), log);
    Timeline timeline;
    const auto ended = timeline.advance(log, nullptr, UINT64_MAX);
    REQUIRE(ended.has_value());
    CHECK(*ended);
    const auto events = all_events_of(log);
    CHECK(timeline.counts().total().events == events.size());
    const std::vector<LogTime> times = times_of(events);
    const std::size_t stride = 1 + times.size() / sample(80);
    for (std::size_t i = 0; i < times.size(); i += stride) {
      compared += compare_at(timeline, log, times[i]);
      workers += compare_lists_at(timeline, log, times[i], frozen);
    }
  }
  CHECK(compared > sample(1000));
  CHECK(workers > sample(100));
  CHECK(frozen > 0);
}

TEST_CASE("a timeline that follows a growing log is that of the whole log") {
  for (const char* name : {"why-at-14-07", "mass-loss-held", "two-claims", "ownership-conflict"}) {
    INFO(name);
    MemoryLog whole, growing;
    rehearse(read_trace(fs::path("tests/unit/replay/audit") / (std::string(name) + ".txt")), whole);
    Timeline at_once, followed;
    REQUIRE(at_once.advance(whole, nullptr, UINT64_MAX).has_value());
    std::vector<EventDraft> commit;
    for (const Event& event : all_events_of(whole)) {
      commit.push_back({event.source, event.cause, event.fact});
      if (!whole.chain_at(event.seq)) continue;
      REQUIRE(growing.append(commit, event.log_time, event.epoch).has_value());
      commit.clear();
      const auto ended = followed.advance(growing, nullptr, UINT64_MAX);
      REQUIRE(ended.has_value());
      CHECK(*ended);
    }
    CHECK(followed.state() == at_once.state());
    const TimelineSpan all{at_once.begin(), whole.last_time()};
    CHECK(overview_answer(followed, all, 100) == overview_answer(at_once, all, 100));
    for (const auto& [queue, pairs] : at_once.values().queues()) {
      const SeriesQuestion question{.queue = queue};
      const auto here = answer_of(followed, question, all);
      const auto there = answer_of(at_once, question, all);
      REQUIRE(here.has_value());
      REQUIRE(there.has_value());
      CHECK(here->document == there->document);
    }
  }
}

TEST_CASE("another log in the place of the one that was folded begins the timeline anew") {
  MemoryLog one, other;
  rehearse(read_trace("tests/unit/replay/audit/two-claims.txt"), one);
  rehearse(read_trace("tests/unit/replay/audit/ownership-conflict.txt"), other);
  Timeline timeline, fresh;
  REQUIRE(timeline.advance(one, nullptr, UINT64_MAX).has_value());
  REQUIRE(timeline.advance(other, nullptr, UINT64_MAX).has_value());
  REQUIRE(fresh.advance(other, nullptr, UINT64_MAX).has_value());
  CHECK(timeline.state() == fresh.state());
  CHECK(timeline.counts().total() == fresh.counts().total());
}

// Losses of a source at these seconds, each of which is a moment.
TimelineSpan span_of_losses(const std::vector<std::int64_t>& at, std::int64_t end) {
  MemoryLog log;
  const auto add = [&](std::int64_t second, Fact fact) {
    const std::vector<EventDraft> drafts{{"self", {}, std::move(fact)}};
    REQUIRE(log.append(drafts, LogTime{} + seconds(second), Epoch{1}).has_value());
  };
  add(0, EpochStarted{"hub-0", "1", 1, 1});
  for (const std::int64_t second : at) add(second, SourceLost{Kind::node, "c1"});
  add(end, TimerFired{});
  Timeline timeline;
  REQUIRE(timeline.advance(log, nullptr, UINT64_MAX).has_value());
  return span_of_moments(timeline, {timeline.begin(), log.last_time()});
}

TEST_CASE("a page that was asked for no span draws where something moves") {
  struct Row {
    std::vector<std::int64_t> at;
    std::int64_t end, from, to;
  };
  constexpr std::int64_t kWeek = 604'800;
  for (const Row& row : {
           Row{{}, 100, 0, 100},            // nothing moved: all of it
           Row{{10, 40, 90}, 100, 0, 100},  // it moved all the time
           Row{{kWeek, kWeek + 600, kWeek + 1000}, kWeek + 1000, kWeek - 50, kWeek + 1000},
           Row{{0, kWeek, kWeek + 600, kWeek + 1000}, kWeek + 1000, kWeek - 50, kWeek + 1000},
           Row{{100, 600, 1100}, kWeek, 0, 1155},  // and was quiet for a week
           Row{{0, kWeek, kWeek + 600, kWeek + 1000}, 99 * kWeek, kWeek - 50, kWeek + 1050},
           Row{{kWeek}, kWeek + 5, kWeek - 300, kWeek + 5},  // one moment alone
       }) {
    const TimelineSpan span = span_of_losses(row.at, row.end);
    INFO(row.at.size() << " to " << row.end);
    CHECK(span.from == LogTime{} + seconds(row.from));
    CHECK(span.to == LogTime{} + seconds(row.to));
  }
}

TEST_CASE("a queue whose write is refused, unanswered or missing is not steady") {
  const auto states_of = [](const char* file) {
    MemoryLog log;
    rehearse(read_trace(fs::path("tests/unit/replay/audit") / file), log);
    Timeline timeline;
    REQUIRE(timeline.advance(log, nullptr, UINT64_MAX).has_value());
    const Json overview = overview_answer(timeline, {timeline.begin(), log.last_time()}, 10);
    Json all = Json::array();
    for (const Json& row : overview["queues"]) all.push_back(row["states"]);
    return to_text(all);
  };
  CHECK(states_of("unanswered.txt") == R"([["write unanswered"],["steady"]])");
  CHECK(states_of("invalid-claim.txt") == R"([["claim not in force"],["claim not in force"]])");
  CHECK(states_of("two-claims.txt") == R"([["steady"],["steady"]])");
}

TEST_CASE("a series of what never was is refused and names what was") {
  MemoryLog log;
  rehearse(read_trace("tests/unit/replay/audit/two-claims.txt"), log);
  Timeline timeline;
  REQUIRE(timeline.advance(log, nullptr, UINT64_MAX).has_value());
  const TimelineSpan all{timeline.begin(), log.last_time()};
  const std::string queue = timeline.values().queues().begin()->first;
  const auto unknown = answer_of(timeline, {.queue = queue + "x"}, all);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == ErrorCode::bad_input);
  CHECK(unknown.error().message.find("known: " + queue) != std::string::npos);
  const auto flavor = answer_of(timeline, {.queue = queue, .flavor = "gold"}, all);
  REQUIRE_FALSE(flavor.has_value());
  CHECK(flavor.error().message.find("gold") != std::string::npos);
  CHECK_FALSE(answer_of(timeline, {}, all).has_value());
}

}  // namespace
}  // namespace fairlead
