// What must hold of use in any log: random queues of a hub and two workers, with silence, restarts
// and observations that were held back.
#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "engine/fold/usage/queue_use.h"
#include "tests/unit/replay/usage/usage_log.h"

namespace fairlead {
namespace {

constexpr std::int64_t kMinutes = 600;

std::int64_t up_to(std::int64_t most) { return *rc::gen::inRange<std::int64_t>(0, most + 1); }

// A log of `kMinutes` minutes with an event in most of them.
UsageLog random_log() {
  UsageLog log;
  const std::vector<SourceName> sources{SourceName(kHub), "w1", "w2"};
  std::map<std::string, std::int64_t> made;  // how often each queue was made
  std::set<std::pair<SourceName, std::string>> there;
  for (std::int64_t minute = 0; minute < kMinutes; minute += 1 + up_to(8)) {
    const SourceName source = sources.at(static_cast<std::size_t>(up_to(2)));
    const std::string name = up_to(1) == 0 ? "a" : "b";
    const auto what = up_to(11);
    if (what == 0) {
      log.silent(minute, Kind::cluster_queue, source);
    } else if (what <= 2) {
      log.heard(minute, Kind::cluster_queue, source);
    } else if (what == 3) {
      log.start(minute);
    } else if (what == 4) {
      log.queue_gone(minute, name);
      there.erase({SourceName(kHub), name});
      ++made[name];
    } else {
      ClusterQueueFacts facts = queue_of(
          {.nominal = up_to(9), .used = up_to(12), .reserved = up_to(12), .borrowed = up_to(3)});
      facts.cohort = up_to(1) == 0 ? "left" : "right";
      ObjectObserved seen =
          UsageLog::seen({Kind::cluster_queue, "", name}, name + std::to_string(made[name]), facts);
      const bool known = !there.emplace(source, name).second;
      if (what >= 9 && known && minute > 10) seen.read = UsageLog::at(minute - up_to(9));
      log.fact(minute, source, seen);
    }
  }
  log.tick(kMinutes);
  return log;
}

UsageRows sum_of(const UsageReport& report) {
  UsageRows rows;
  for (const UsageReportRow& row : report.rows) rows[row.key] += row.totals;
  return rows;
}

std::vector<std::int64_t> random_cuts() {
  std::set<std::int64_t> cuts{0, kMinutes};
  for (auto count = up_to(6); count > 0; --count) cuts.insert(up_to(kMinutes));
  return {cuts.begin(), cuts.end()};
}

TEST_CASE("What is used is own or borrowed, and what is granted own or idle") {
  CHECK(rc::check([] {
    const UsageReport report = random_log().report({0, kMinutes});
    for (const UsageReportRow& row : report.rows) {
      const UsageTotals& of = row.totals;
      RC_ASSERT(of.sums.used == of.own() + of.sums.borrowed);
      RC_ASSERT(of.sums.granted == of.own() + of.sums.idle);
      RC_ASSERT(of.own() >= 0);
      RC_ASSERT(of.unknown >= 0);
      RC_ASSERT(of.unknown <= of.existed);
      RC_ASSERT(of.existed <= kMinutes * 60'000);
    }
  }));
}

TEST_CASE("The parts of any cut of a span add up to the whole, bit for bit") {
  CHECK(rc::check([] {
    const UsageLog log = random_log();
    const auto cuts = random_cuts();
    for (const UsageBy by :
         {UsageBy::queue, UsageBy::cohort, UsageBy::flavor, UsageBy::resource, UsageBy::cluster}) {
      const UsageRows whole = sum_of(log.report({0, kMinutes}, {by, {}}));
      RC_ASSERT(sum_of(log.report(cuts, {by, {}})) == whole);
      UsageRows parts;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        add_rows(parts, sum_of(log.report({cuts[i], cuts[i + 1]}, {by, {}})));
      RC_ASSERT(parts == whole);
    }
  }));
}

TEST_CASE("Coarser rows are the sums of the queues'") {
  CHECK(rc::check([] {
    const UsageLog log = random_log();
    std::map<std::pair<std::string, std::string>, UsageRates> queues;  // by side and cluster
    for (const UsageReportRow& row : log.report({0, kMinutes}).rows)
      queues[{row.key.side, row.key.cluster}] += row.totals.sums;
    for (const UsageBy by :
         {UsageBy::cohort, UsageBy::flavor, UsageBy::resource, UsageBy::cluster}) {
      std::map<std::pair<std::string, std::string>, UsageRates> coarse;
      for (const UsageReportRow& row : log.report({0, kMinutes}, {by, {}}).rows)
        coarse[{row.key.side, row.key.cluster}] += row.totals.sums;
      RC_ASSERT(coarse == queues);
    }
  }));
}

TEST_CASE("The counters of a hub are what its log adds up to") {
  CHECK(rc::check([] {
    const UsageLog log = random_log();
    const auto state = state_at(log.log(), nullptr, log.log().last_seq());
    RC_ASSERT(state.has_value());
    std::map<std::string, UsageTotals> rows;  // by uid: a queue that is gone has no counter
    for (const UsageReportRow& row : log.report({0, kMinutes}).rows)
      if (row.key.side == kHubSide) rows[row.key.uid] += row.totals;
    for (const QueueCounter& of : queue_counters(state->usage, state->now)) {
      const UsageTotals& row = rows[state->queues.by_name.at(of.queue).uid];
      RC_ASSERT(of.sums.granted == row.sums.granted);
      RC_ASSERT(of.sums.used == row.sums.used);
      RC_ASSERT(of.sums.borrowed == row.sums.borrowed);
      RC_ASSERT(of.sums.idle == row.sums.idle);
      RC_ASSERT(of.unknown == row.unknown);
    }
  }));
}

}  // namespace
}  // namespace fairlead
