#include "replay/whatif/what_if.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "replay/whatif/counterfactual_world.h"
#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

MemoryLog& rehearsed(MemoryLog& log, const std::string& scenario) {
  rehearse(read_trace("tests/scenarios/" + scenario), log);
  return log;
}

TEST_CASE("under the configuration that was in force nothing differs") {
  for (const std::filesystem::path& path : scenario_files()) {
    DYNAMIC_SECTION(scenario_name(path)) {
      const AuditTrace trace = read_trace(path);
      const auto& arguments = trace.head.arguments;
      // A history in which writes are not answered is none that a VirtualHub would have.
      if (std::find(arguments.begin(), arguments.end(), "--no-feedback") != arguments.end())
        continue;
      MemoryLog log;
      rehearse(trace, log);
      const WhatIf result = asked(log, under({}));
      INFO(what_if_text(result));
      CHECK(result.differences.empty());
      CHECK(result.same == result.baseline.writes + result.baseline.nominations);
      CHECK(to_json(result.baseline) == to_json(result.counterfactual));
      // Statuses tell of answers, which come in another order where several things happen at once.
      Json history = to_json(result.history), baseline = to_json(result.baseline);
      for (Json* totals : {&history, &baseline})
        for (const char* of_statuses : {"nominations", "statusWrites"}) totals->erase(of_statuses);
      CHECK(history == baseline);
    }
  }
}

TEST_CASE("without a grow window a flapping node writes its queue again and again") {
  MemoryLog log;
  const WhatIf result = asked(
      rehearsed(log, "debounce/flapping-node-is-suppressed.txt"),
      under({"debounce.growWindow=0s", "debounce.flapPenalty=0", "debounce.minGrowInterval=0s"}));
  CHECK(result.counterfactual.queue_writes > 2 * result.history.queue_writes);
  CHECK_FALSE(result.counterfactual.under.contains("cpu"));
  CHECK(result.history.under.at("cpu") > 0);
  CHECK(result.counterfactual.over_quota > result.history.over_quota);
}

TEST_CASE("where a Workload goes is reported, and where it would have gone") {
  MemoryLog log;
  rehearsed(log, "dispatch/a-gang-goes-where-all-of-it-fits.txt");
  const WhatIf result = asked(log, under({"dra.dispatch=false"}));
  Json differences = to_json(result)["differences"];
  REQUIRE(differences.size() == 3);
  const auto texts = [&](std::size_t at) {
    const Json& whatIf = differences[at]["whatIf"];
    return std::pair(differences[at]["history"]["text"].get<std::string>(),
                     whatIf.is_null() ? "" : whatIf["text"].get<std::string>());
  };
  CHECK(differences[0]["object"] == "Workload team/train");
  CHECK(differences[0]["history"]["seq"].is_number());
  CHECK(texts(0) ==
        std::pair<std::string, std::string>("nominated gpu-w2", "nominated gpu-w1, gpu-w2"));
  CHECK(texts(1) == std::pair<std::string, std::string>(
                        "nominated nowhere: NoCluster (gpu-w1: NoDevices g/gpu; "
                        "gpu-w2: NoDevices g/gpu)",
                        "nominated gpu-w1, gpu-w2"));
  CHECK(texts(2) == std::pair<std::string, std::string>("nominated gpu-w2", ""));
}

TEST_CASE("a longer shrink window promises longer what is not there") {
  MemoryLog log;
  const WhatIf result = asked(rehearsed(log, "division/lower-tier-loses-first.txt"),
                              under({"debounce.shrinkWindow=60s"}));
  REQUIRE(result.differences.size() == 2);  // two queues; the log ends before the longer window
  CHECK(result.differences[0].kind() == WriteDiffers::only_history);
  CHECK(to_rfc3339(result.differences[0].time()) == "1970-01-01T00:01:55Z");
  REQUIRE(result.differences[0].made);
  CHECK(result.differences[0].made->time == result.differences[0].time());
  // Two cpu too many for 15 s, or to the end of the log, 20 s after the fall.
  CHECK(result.history.over_quota == seconds(15));
  CHECK(result.counterfactual.over_quota == seconds(20));
  CHECK(result.history.over.at("cpu") == Int128{2000} * seconds(15).ns);
  CHECK(result.counterfactual.slowest_shrink == seconds(20));
  CHECK(result.counterfactual.safe_shrinks == 0);
}

TEST_CASE("without a move window the worker list follows every decision") {
  MemoryLog log;
  const WhatIf result = asked(rehearsed(log, "multikueue/a-b-a-writes-nothing.txt"),
                              under({"multikueue.moveWindow=0s"}));
  INFO(what_if_text(result));
  CHECK(std::none_of(result.differences.begin(), result.differences.end(),
                     [](const auto& each) { return each.baseline.has_value(); }));
  CHECK(std::count_if(result.differences.begin(), result.differences.end(), [](const auto& each) {
          return each.counterfactual->intent.target.kind == Kind::multikueue_config;
        }) == 3);
  CHECK(result.counterfactual.writes > result.history.writes);
}

TEST_CASE("the worlds may part in the middle of history") {
  MemoryLog log;
  rehearsed(log, "division/lower-tier-loses-first.txt");
  WhatIfOptions options = under({"debounce.shrinkWindow=60s"});
  options.from = next(*log.last_at(LogTime{minutes(1).ns}));
  const WhatIf result = asked(log, options);
  CHECK(result.differences.size() == 2);
  CHECK(result.history.over_quota == seconds(15));
  CHECK(result.counterfactual.over_quota == seconds(20));
}

TEST_CASE("worlds that part at a time differ from then on, not from the event before") {
  MemoryLog log;
  rehearsed(log, "division/lower-tier-loses-first.txt");
  // The node is lost at 1:40 and the queues shrink at 1:55: between, nothing happens.
  WhatIfOptions options = under({"debounce.shrinkWindow=0s"});
  const LogTime parting{seconds(110).ns};
  options.from = next(*log.last_at({parting.ns - 1}));
  options.from_time = parting;
  const WhatIf result = asked(log, options);
  CHECK(result.first_time == parting);
  CHECK(result.same == 0);
  REQUIRE(result.differences.size() == 2);
  for (const WriteDifference& difference : result.differences) {
    CHECK(difference.kind() == WriteDiffers::time);
    CHECK(difference.baseline->time - difference.counterfactual->time == seconds(5));
  }
  CHECK(to_json(result.history)["overQuotaSeconds"] == 5);
  CHECK(to_json(result.counterfactual)["overQuotaSeconds"] == 0);
}

TEST_CASE("a bad setting is named") {
  MemoryLog log;
  const auto result = what_if({rehearsed(log, "capacity/cordon-shrinks-at-once.txt"), nullptr},
                              under({"debounce.no=1"}));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::bad_input);
}

// ---- the merge of lists ----

ResourceQuota cpu(std::int64_t cores) { return {"cpu", to_quantity("cpu", cores * 1000), {}, {}}; }

std::vector<ResourceGroup> list(std::vector<std::pair<std::string, std::int64_t>> flavors) {
  ResourceGroup group{{"cpu"}, {}};
  for (const auto& [name, cores] : flavors) group.flavors.push_back({name, {cpu(cores)}});
  return {group};
}

TEST_CASE("an administrator's edit is laid over the current value in the other world") {
  const auto base = list({{"a", 10}, {"b", 3}});
  // Nothing was changed: our value stays.
  CHECK(merge_lists(base, base, list({{"a", 7}, {"b", 3}})) == list({{"a", 7}, {"b", 3}}));
  // b was edited, a only carried our old value.
  CHECK(merge_lists(base, list({{"a", 10}, {"b", 5}}), list({{"a", 7}, {"b", 3}})) ==
        list({{"a", 7}, {"b", 5}}));
  // a was edited over us: that is his doing.
  CHECK(merge_lists(base, list({{"a", 1}, {"b", 3}}), list({{"a", 7}, {"b", 3}})) ==
        list({{"a", 1}, {"b", 3}}));
  // The order is his.
  CHECK(merge_lists(base, list({{"b", 3}, {"a", 10}}), list({{"a", 7}, {"b", 3}})) ==
        list({{"b", 3}, {"a", 7}}));
}

TEST_CASE("a flavor that only we appended is in its own world") {
  const auto before = list({{"a", 1}, {"ours", 4}});
  CHECK(merge_lists(before, list({{"a", 2}, {"ours", 4}}), list({{"a", 1}})) == list({{"a", 2}}));
  CHECK(merge_lists(list({{"a", 1}}), list({{"a", 2}}), list({{"a", 1}, {"ours", 4}})) ==
        list({{"a", 2}, {"ours", 4}}));
}

}  // namespace
}  // namespace fairlead
