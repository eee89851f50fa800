// The bytes of reports: columns, quoting, rounding and costs.
#include <catch2/catch.hpp>

#include "engine/fold/usage/queue_use.h"
#include "engine/runtime/queue_use_text.h"
#include "replay/usage/csv_line.h"
#include "replay/usage/idle_candidates.h"
#include "replay/usage/largest_remainder.h"
#include "replay/usage/usage_view.h"
#include "tests/unit/replay/usage/usage_log.h"

namespace fairlead {
namespace {

TEST_CASE("A field of CSV is quoted where RFC 4180 asks for it") {
  CHECK(csv_line({"a", "", "b"}) == "a,,b\r\n");
  CHECK(csv_line({"a,b", "say \"x\"", "two\nlines", "c\r"}) ==
        "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"c\r\"\r\n");
}

TEST_CASE("Rounded parts add up to the rounded sum, and the first of equal ones gets more") {
  const std::vector<ExactPart> thirds(3, {3333, 1});
  const auto cents = by_largest_remainder(thirds, 3);
  CHECK(cents == std::vector<Int128>{3334, 3333, 3333});
  const auto half = by_largest_remainder({{0, 2}, {0, 3}}, 10);
  CHECK(half == std::vector<Int128>{0, 1});
  CHECK(by_largest_remainder({{7, 0}}, 5) == std::vector<Int128>{7});
  CHECK(by_largest_remainder({}, 5).empty());
}

TEST_CASE("A view is read as it is written") {
  for (const char* text :
       {"queue", "cohort", "flavor", "resource", "cluster", "namespace", "owner", "label:team"}) {
    const auto view = parse_usage_view(text);
    REQUIRE(view.has_value());
    CHECK(text_of(*view) == text);
  }
  CHECK_FALSE(parse_usage_view("label:").has_value());
  CHECK_FALSE(parse_usage_view("team").has_value());
}

UsageLog worked_example() {
  UsageLog log;
  log.queue(0, "a,b", {.nominal = 40, .used = 44});
  log.tick(60);
  return log;
}

TEST_CASE("CSV has the columns of a report, each row ended by CRLF") {
  const UsageLog log = worked_example();
  const std::string digest = log.log().chain().hex();
  CHECK(usage_csv(log.report({0, 60}), UsageUnit::seconds) ==
        "from,to,side,cluster,key,uid,flavor,resource,granted,used,own,borrowed,idle,reserved,"
        "unknown,capacity,above,down,planned,firstSeq,lastSeq,digest\r\n"
        "2025-02-19T21:20:00Z,2025-02-19T22:20:00Z,hub,hub,\"a,b\",\"a,b-1\",od,gpu,144000,158400,"
        "144000,14400,0,0,0,,,,,1,2," +
            digest + "\r\n");
  CHECK(usage_csv(log.report({0, 60}, {UsageBy::resource, {}}), UsageUnit::hours)
            .find("hub,hub,gpu,,,gpu,40.00,44.00,40.00,4.00,0.00,0.00,0.00,,,,,1,2,") !=
        std::string::npos);
}

TEST_CASE("JSON has every key, and null where a column does not apply") {
  const UsageLog log = worked_example();
  Json document = usage_json(log.report({0, 60}, {UsageBy::flavor, {}}), UsageUnit::seconds);
  CHECK(to_text(document["rows"]) ==
        R"([{"above":"3600","borrowed":"14400","capacity":"0","cluster":"hub","down":"0",)"
        R"("flavor":"od","from":"2025-02-19T21:20:00Z","granted":"144000","idle":"0","key":"od",)"
        R"("own":"144000","planned":"0","reserved":"0","resource":"gpu","side":"hub",)"
        R"("to":"2025-02-19T22:20:00Z","uid":"","unknown":"0","used":"158400"}])");
  document.erase("rows");
  CHECK(to_text(document) ==
        R"({"borrowedDiffers":[],"by":"flavor","digest":")" + log.log().chain().hex() +
            R"(","every":null,"firstSeq":1,"from":"2025-02-19T21:20:00Z","lastSeq":2,)"
            R"("reconciliation":[],"timeZone":"UTC","to":"2025-02-19T22:20:00Z",)"
            R"("unit":"resource-seconds"})");
}

TEST_CASE("The table ends with the events and the chain of its span") {
  const UsageLog log = worked_example();
  CHECK(usage_text(log.report({0, 60})) ==
        "resource-hours from 2025-02-19T21:20:00Z to 2025-02-19T22:20:00Z\n"
        "SIDE  CLUSTER  QUEUE  FLAVOR  RESOURCE  GRANTED  USED   OWN    BORROWED  IDLE  RESERVED  "
        "UNKNOWN\n"
        "hub   hub      a,b    od      gpu       40.00    44.00  40.00  4.00      0.00  0.00      "
        "0.00\n"
        "seq 1 to 2, chain " +
            log.log().chain().hex() + "\n");
}

ConfigChanged priced(const std::string& per_hour, UsageAllocation allocation) {
  ConfigChanged changed;
  changed.configuration.usage.prices = {{"od", "gpu", per_hour, "EUR"}};
  changed.configuration.usage.allocation = allocation;
  return changed;
}

// 100.00 over 1:1:1.
TEST_CASE("What a flavor costs is divided to the cent") {
  UsageLog log;
  log.fact(0, SourceName(kSelf), priced("33.333333333333333333", UsageAllocation::granted_hours));
  for (const char* name : {"a", "b", "c"}) log.queue(0, name, {.nominal = 1, .used = 0});
  log.tick(60);
  const auto costs = usage_focus(log.report({0, 60}));
  REQUIRE(costs.has_value());
  CHECK(costs->starts_with(
      "BilledCost,BillingCurrency,ChargeCategory,ChargePeriodEnd,ChargePeriodStart,"
      "ConsumedQuantity,ConsumedUnit,ContractedCost,EffectiveCost,ListCost,ResourceId,"
      "SubAccountId,AllocatedMethodId,x_Flavor,x_Resource,x_FirstSeq,x_LastSeq,x_Digest\r\n"
      "33.34,EUR,Usage,2025-02-19T22:20:00Z,2025-02-19T21:20:00Z,1.00,gpu-Hours,33.34,33.34,33.34,"
      "a-1,a,fairlead/granted-hours/v1,od,gpu,1,5," +
      log.log().chain().hex() + "\r\n33.33,"));
  CHECK(costs->find("\r\n33.33,EUR,Usage,2025-02-19T22:20:00Z,2025-02-19T21:20:00Z,1.00,gpu-Hours,"
                    "33.33,33.33,33.33,c-1,c,") != std::string::npos);
}

TEST_CASE("Costs may follow what was used, and a price without cents is one") {
  UsageLog log;
  log.fact(0, SourceName(kSelf), priced("3", UsageAllocation::used_hours));
  log.queue(0, "a", {.nominal = 40, .used = 10});
  log.tick(60);
  const auto costs = usage_focus(log.report({0, 60}));
  REQUIRE(costs.has_value());
  CHECK(costs->find("\r\n30.00,EUR,Usage,") != std::string::npos);
  CHECK(costs->find("fairlead/used-hours/v1") != std::string::npos);
}

TEST_CASE("Counters are OpenMetrics with the time at which each began") {
  const UsageLog log = worked_example();
  const auto state = state_at(log.log(), nullptr, Seq{2});
  REQUIRE(state.has_value());
  const auto counters = queue_counters(state->usage, UsageLog::at(60));
  const std::string text = queue_use_text(counters, MetricsForm::open_metrics);
  CHECK(text.starts_with(
      "# HELP fairlead_queue_granted_resource_seconds Effective nominal quota of a ClusterQueue "
      "over time.\n"
      "# TYPE fairlead_queue_granted_resource_seconds counter\n"
      "fairlead_queue_granted_resource_seconds_total{cluster_queue=\"a,b\",flavor=\"od\","
      "resource=\"gpu\"} 144000\n"
      "fairlead_queue_granted_resource_seconds_created{cluster_queue=\"a,b\",flavor=\"od\","
      "resource=\"gpu\"} 1740000000\n"));
  CHECK(queue_use_text(counters, MetricsForm::prometheus)
            .find("# TYPE fairlead_queue_unknown_seconds_total counter\n") != std::string::npos);
}

TEST_CASE("Idle quota names the Workloads that it would have let run, the oldest first") {
  UsageLog log;
  log.queue(0, "training", {.nominal = 40, .used = 28});
  log.fact(0, SourceName(kHub),
           UsageLog::seen({Kind::local_queue, "team", "main"}, "lq",
                          LocalQueueFacts{"training", "", {}}));
  const auto wait = [&](const std::string& name, Amount amount, std::int64_t created,
                        const std::string& reason = "WaitingForQuota") {
    WorkloadFacts facts;
    facts.created = UsageLog::at(created);
    facts.progress = WorkloadProgress();
    facts.progress->queue = "main";
    facts.progress->requests = {{"gpu", amount}};
    facts.progress->conditions = {{"QuotaReserved", ConditionStatus::no, reason, ""}};
    log.workload(1, name, facts);
  };
  // Quota is not what these two lack.
  wait("misplaced", 4, 1, "Misconfigured");
  wait("suspended", 4, 2, "Suspended");
  wait("late", 4, 30);
  wait("large", 16, 10);
  wait("early", 8, 20);
  wait("latest", 4, 40);
  log.tick(60);
  const UsageReport report = log.report({0, 60});
  const auto state = state_at(log.log(), nullptr, report.last);
  REQUIRE(state.has_value());
  const auto pairs = idle_candidates(report, *state);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].workloads == std::vector<NamespacedName>{{"team", "early"}, {"team", "late"}});
  CHECK(idle_json(report, pairs, UsageUnit::hours)["rows"][0]["idle"] == "12.00");
}

}  // namespace
}  // namespace fairlead
