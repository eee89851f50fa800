// What-ifs over the logs of hubs whose API server was slow, refused, or was still to answer: none
// of that is a difference between configurations.
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/sample.h"
#include "tests/unit/replay/what_if_asked.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

// Longer than it was; nothing falls silent here.
const std::vector<std::string> kWithoutEffect{"debounce.staleAfter=20m"};

void check_no_difference(const WhatIf& result) {
  INFO(what_if_text(result));
  CHECK(result.differences.empty());
  CHECK(result.same == result.baseline.writes);
  CHECK(to_json(result.baseline) == to_json(result.counterfactual));
}

// A node is lost and its queue written; the server has the request and does not answer.
struct Waiting {
  HubBench bench;
  Seq intent;

  Waiting() {
    bench.at_once();
    bench.run();
    bench.advance(minutes(1));
    bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
    bench.step();
    for (const WriteRequest& request : bench.requests)
      if (request.target.kind == Kind::cluster_queue) intent = request.intent;
    REQUIRE(intent != Seq{});
  }
  void refuse() {
    WriteAnswer answer;
    answer.intent = intent;
    answer.result = WriteResult::refused;
    answer.http_code = 403;
    answer.reason = "Forbidden";
    std::erase_if(bench.requests,
                  [this](const WriteRequest& request) { return request.intent == intent; });
    bench.leader->answer(std::move(answer));
  }
};

TEST_CASE("a server that was silent is no difference, and history tells what it cost") {
  Waiting waiting;
  waiting.bench.clock.time = waiting.bench.clock.time + seconds(15);
  waiting.bench.advance(minutes(1));
  REQUIRE(waiting.bench.quota("high", "on-demand") == "400");
  const WhatIf result = asked(*waiting.bench.log, under(kWithoutEffect));
  check_no_difference(result);
  CHECK(result.history.over_quota == seconds(15));
  CHECK(result.baseline.over_quota == Duration{});
  const Json totals = to_json(result)["totals"];
  CHECK(totals["history"]["overQuotaSeconds"] == 15);
  CHECK(totals["sameConfiguration"]["overQuotaSeconds"] == 0);
  // A longer window is compared in a run without that silence.
  const WhatIf longer = asked(*waiting.bench.log, under({"debounce.shrinkWindow=5s"}));
  INFO(what_if_text(longer));
  CHECK(longer.counterfactual.over_quota == seconds(5));
  REQUIRE(longer.differences.size() == 1);
  CHECK(longer.differences[0].kind() == WriteDiffers::time);
  CHECK(longer.differences[0].made->seq == waiting.intent);
}

TEST_CASE("a write that was refused is no difference, and names when it was made at last") {
  Waiting waiting;
  waiting.refuse();
  waiting.bench.advance(minutes(10));
  REQUIRE(waiting.bench.quota("high", "on-demand") == "400");
  const WhatIf result = asked(*waiting.bench.log, under(kWithoutEffect));
  check_no_difference(result);
  CHECK(result.history.writes > result.baseline.writes);
  CHECK(result.history.over_quota > result.baseline.over_quota);
  const WhatIf never = asked(*waiting.bench.log, under({"debounce.shrinkWindow=1h"}));
  REQUIRE(never.differences.size() == 1);
  CHECK(never.differences[0].kind() == WriteDiffers::only_history);
  CHECK(never.differences[0].made->seq == waiting.intent);
}

TEST_CASE("a write that history never made has no seq") {
  HubBench bench;
  bench.at_once();
  bench.run(WriteMode::recommend);
  bench.advance(minutes(1));
  REQUIRE(facts_in<PatchIntended>(*bench.log).empty());
  const WhatIf result = asked(*bench.log, under({"capacity.overbookPercent=120"}));
  INFO(what_if_text(result));
  REQUIRE_FALSE(result.differences.empty());
  for (const WriteDifference& difference : result.differences) CHECK_FALSE(difference.made);
  const Json row = to_json(result)["differences"][0];
  CHECK(row["history"]["seq"].is_null());
  CHECK(row["history"]["writtenTime"].is_null());
  CHECK(what_if_text(result).find("(not written)") != std::string::npos);
}

TEST_CASE("worlds that part between a write and its answer both plan it anew") {
  Waiting waiting;
  waiting.bench.clock.time = waiting.bench.clock.time + seconds(15);
  waiting.bench.advance(minutes(1));
  WhatIfOptions options = under(kWithoutEffect);
  options.from = next(waiting.intent);
  const WhatIf same = asked(*waiting.bench.log, options);
  check_no_difference(same);
  CHECK(same.same == 1);
  options.configuration = under({"capacity.overbookPercent=200"}).configuration;
  const WhatIf other = asked(*waiting.bench.log, options);
  INFO(what_if_text(other));
  bool found = false;
  for (const WriteDifference& difference : other.differences)
    if (difference.baseline && difference.made && difference.made->seq == waiting.intent)
      found = true;
  CHECK(found);  // it was made before the worlds parted, and is reported as made then
}

// ---- any history ----

// Nodes that come, go and change while writes are answered late, refused or lost.
void live(HubBench& bench, std::mt19937_64& random) {
  const auto one_of = [&](std::uint64_t count) { return random() % count; };
  DebounceSettings& debounce = bench.configuration.debounce;
  bench.at_once();
  debounce.shrink_window = seconds(static_cast<std::int64_t>(one_of(8)));
  debounce.grow_window = seconds(static_cast<std::int64_t>(one_of(30)));
  debounce.write_interval = seconds(static_cast<std::int64_t>(one_of(4)));
  bench.run();
  std::vector<WriteRequest> waiting;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "on-demand-" + std::to_string(one_of(5));
    if (one_of(3) == 0) {
      if (bench.member.has(HubBench::node(name)))
        bench.leader->offer(bench.member.remove(HubBench::node(name)));
      else
        bench.leader->offer(bench.add_node(name, "on-demand"));
    }
    bench.step();
    for (WriteRequest& request : std::exchange(bench.requests, {}))
      waiting.push_back(std::move(request));
    while (!waiting.empty() && one_of(2) == 0) {
      const WriteRequest request = waiting.front();
      waiting.erase(waiting.begin());
      WriteAnswer answer;
      answer.intent = request.intent;
      switch (one_of(5)) {
        case 0:
          answer.result = WriteResult::refused;
          answer.http_code = 403;
          bench.leader->answer(std::move(answer));
          break;
        case 1:
          answer.result = WriteResult::unknown;
          bench.leader->answer(std::move(answer));
          break;
        default: bench.carry_out(request);
      }
    }
    bench.clock.time =
        bench.clock.time + milliseconds(static_cast<std::int64_t>(one_of(4) * one_of(6'000)));
  }
}

std::uint64_t reported_writes(const WhatIf& result,
                              std::optional<PlannedWrite> WriteDifference::* side) {
  std::uint64_t count = result.same;
  for (const WriteDifference& difference : result.differences) count += bool{difference.*side};
  return count;
}

TEST_CASE("whatever happened, an unchanged configuration makes no difference from any place on") {
  std::uint64_t same = 0, differing = 0;
  for (std::uint64_t seed = 0; seed < sample(40); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    HubBench bench;
    live(bench, random);
    const Seq last = bench.log->last_seq();
    for (int place = 0; place < 4; ++place) {
      WhatIfOptions options = under(place == 0 ? kWithoutEffect : std::vector<std::string>{});
      if (place > 1) options.from = Seq{1 + random() % last.value};
      if (place > 2) options.to_time = bench.log->last_time() + minutes(10);
      INFO("from " << options.from.value_or(Seq{}).value);
      const WhatIf result = asked(*bench.log, options);
      check_no_difference(result);
      same += result.same;

      options.configuration =
          under({"debounce.shrinkWindow=" + std::to_string(random() % 12) + "s"}).configuration;
      const WhatIf other = asked(*bench.log, options);
      CHECK(reported_writes(other, &WriteDifference::baseline) == other.baseline.writes);
      CHECK(reported_writes(other, &WriteDifference::counterfactual) ==
            other.counterfactual.writes);
      CHECK(to_json(other.baseline) == to_json(result.baseline));
      CHECK(to_json(other.history) == to_json(result.history));
      differing += other.differences.size();
    }
  }
  CHECK(same > sample(200));
  CHECK(differing > sample(50));
}

}  // namespace
}  // namespace fairlead
