// What `why` and `why-not` tell of the bars: each case is a small history whose times are worked
// out by hand from the debounce parameters.
#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/log/memory_log.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

/// A hub with two queues and the flavors od and spot, a claim of 500 cpu of od of c1 for qa.
class BarHistory {
 public:
  explicit BarHistory(const std::vector<std::string>& settings) {
    for (const std::string& set : settings) head_ += "args: --set " + set + "\n";
    head_ += "args: --set capacity.headroom.percent={}\ninclude: small.yaml\n";
    hub(0, "ClusterResourceClaim", "galaxy.kubestellar.io/v1alpha1", "k",
        R"("spec":{"clusterName":"c1","nominalResources":{"cpu":"1000"},"resourceAssignments":)"
        R"([{"clusterQueueName":"qa","flavor":"od","resources":{"cpu":"500"}}]})");
  }

  BarHistory& node(int second, const std::string& name, int cpu, bool ready = true,
                   const std::string& flavor = "od") {
    return line(second, "c1", "Node", "v1",
                R"("metadata":{"name":")" + name + R"(","labels":{"type":")" + flavor +
                    R"("}},"status":{"allocatable":{"cpu":")" + std::to_string(cpu) +
                    R"("},"conditions":[{"type":"Ready","status":")" + (ready ? "True" : "False") +
                    R"("}]})");
  }
  BarHistory& source(int second, const std::string& type) {
    lines_ += R"({"type":")" + type + R"(","cluster":"c1","time":")" + time(second) + "\"}\n";
    return *this;
  }
  BarHistory& hub(int second, const std::string& kind, const std::string& api,
                  const std::string& name, const std::string& rest,
                  const std::string& type = "MODIFIED") {
    return line(second, "hub", kind, api, R"("metadata":{"name":")" + name + R"("},)" + rest, type);
  }
  BarHistory& totals(int second, int cpu, const std::string& type = "MODIFIED") {
    return hub(second, "ManagedCluster", "cluster.open-cluster-management.io/v1", "c1",
               R"("status":{"conditions":[{"type":"ManagedClusterConditionAvailable",)"
               R"("status":"True"}],"allocatable":{"cpu":")" +
                   std::to_string(cpu) + R"("}})",
               type);
  }
  BarHistory& metrics(int second, int cpu) {
    return hub(second, "ClusterMetrics", "galaxy.kubestellar.io/v1alpha1", "c1",
               R"("status":{"nodes":[{"name":"m1","labels":{"type":"od"},"allocatableResources":)"
               R"({"cpu":)" +
                   std::to_string(cpu) + "}}]}");
  }

  Json ask_at(const std::string& verb, int second) {
    if (!log_) {
      std::istringstream text(head_ + lines_ + "----\n");
      log_ = std::make_unique<MemoryLog>();
      rehearse(read_trace(text), *log_);
    }
    return Json::parse(ask(*log_, verb + " qa od cpu --as-of " + time(second) + " -o json"));
  }
  /// What `why` tells of the flavor od of c1.
  Json capacity(int second, const std::string& flavor = "od") {
    const Json document = ask_at("why", second);
    for (const Json& row : document.at("grants").at(0).at("capacity"))
      if (row["flavor"] == flavor) return row;
    return nullptr;
  }
  Json moved(int second) { return capacity(second)["moved"]; }
  Json presence(int second) { return ask_at("why", second).at("grants").at(0).at("presence"); }
  /// The guard of that name; null if it is not listed.
  Json guard(int second, const std::string& name) {
    const Json document = ask_at("why-not", second);
    for (const Json& row : document.at("guards"))
      if (row["guard"] == name) return row;
    return nullptr;
  }
  Event event(std::uint64_t seq) {
    const auto reader = log_->read(Seq{seq});
    REQUIRE(reader.has_value());
    const auto read = (*reader)->next();
    REQUIRE(read.has_value());
    REQUIRE(read->has_value());
    return **read;
  }

  static std::string time(int second) { return to_rfc3339(LogTime{} + seconds(second)); }

 private:
  BarHistory& line(int second, const std::string& cluster, const std::string& kind,
                   const std::string& api, const std::string& rest,
                   const std::string& type = "MODIFIED") {
    lines_ += R"({"type":")" + type + R"(","time":")" + time(second) + R"(","cluster":")" +
              cluster + R"(","object":{"apiVersion":")" + api + R"(","kind":")" + kind + R"(",)" +
              rest + "}}\n";
    return *this;
  }

  std::string head_, lines_;
  std::unique_ptr<MemoryLog> log_;
};

const std::vector<std::string> kAtOnce{"debounce.firstQuiet=0s"};

void check_moved(const Json& moved, const char* from, const char* to, int second, const char* by) {
  INFO(to_text(moved));
  REQUIRE(moved.is_object());
  CHECK(moved["from"] == from);
  CHECK(moved["to"] == to);
  CHECK(moved["at"] == BarHistory::time(second));
  CHECK(moved["by"] == by);
}

TEST_CASE("why: a growth that the deadband held until the gap was old") {
  BarHistory history(kAtOnce);
  history.node(0, "n1", 100).node(100, "n1", 101);
  CHECK(history.capacity(2199)["layer"]["name"] == "deadband");
  CHECK(history.capacity(2199)["layer"]["until"] == BarHistory::time(100 + 300 + 1800));
  CHECK(history.moved(2199).is_null());
  check_moved(history.moved(2200), "100", "101", 2200, "deadbandMaxAge");
}

TEST_CASE("why: a growth that the interval held since the one before") {
  BarHistory history({"debounce.firstQuiet=0s", "debounce.growWindow=10s"});
  history.node(0, "n1", 10).node(100, "n2", 10).node(120, "n3", 10);
  check_moved(history.moved(150), "10", "20", 110, "growWindow");
  CHECK(history.capacity(150)["layer"]["name"] == "minGrowInterval");
  check_moved(history.moved(170), "20", "30", 170, "minGrowInterval");
}

TEST_CASE("why: a growth that a later observation lifted out of the deadband") {
  BarHistory history(kAtOnce);
  history.node(0, "n1", 100).node(100, "n1", 101).node(500, "n1", 110);
  CHECK(history.capacity(799)["layer"]["name"] == "deadband");
  check_moved(history.moved(800), "100", "110", 800, "growWindow");
}

TEST_CASE("why: a growth that a held loss of another flavor kept back") {
  BarHistory history(kAtOnce);
  history.node(0, "n1", 10).node(0, "s1", 100, true, "spot").node(100, "n2", 10);
  history.node(395, "s1", 100, false, "spot");
  SECTION("until the hold is over") {
    CHECK(history.capacity(401)["layer"]["name"] == "massShrinkHold");
    check_moved(history.moved(455), "10", "20", 455, "massShrinkHold");
  }
  SECTION("until it was seen again") {
    history.node(430, "n3", 1);
    check_moved(history.moved(430), "10", "20", 430, "secondObservation");
  }
}

TEST_CASE(
    "why and why-not: since when nodes that flap are left out, and until when at the latest") {
  BarHistory history(kAtOnce);
  history.node(0, "n1", 10);
  // Each falls four times, 30 s apart: the fourth suppresses, with a penalty of 3872 after it. 125
  // steps of 1/64 of 900 s are the fewest after which that is below 1000: 1757.8125 s.
  for (int i = 0; i < 4; ++i) {
    history.node(100 + 30 * i, "f1", 5).node(101 + 30 * i, "f1", 5, false);
    history.node(110 + 30 * i, "f2", 3).node(112 + 30 * i, "f2", 3, false);
  }
  history.node(300, "f1", 5).node(300, "f2", 3);
  const Json layer = history.capacity(600)["layer"];
  CHECK(layer["name"] == "flapSuppress");
  CHECK(layer["since"] == BarHistory::time(191));
  CHECK(layer["until"] == to_rfc3339(LogTime{} + seconds(202) + Duration{1'757'812'500'000}));
  const Json guard = history.guard(600, "FlapSuppress");
  REQUIRE(guard.is_object());
  CHECK(guard["since"] == layer["since"]);
  CHECK(guard["until"] == layer["until"]);
}

TEST_CASE("why: a suppression ends by flapSuppressMax, if that is first") {
  BarHistory history({"debounce.firstQuiet=0s", "debounce.flapSuppressMax=10m"});
  history.node(0, "n1", 10);
  for (int i = 0; i < 4; ++i)
    history.node(100 + 30 * i, "f1", 5).node(101 + 30 * i, "f1", 5, false);
  history.node(300, "f1", 5);
  const Json layer = history.capacity(600)["layer"];
  CHECK(layer["name"] == "flapSuppress");
  CHECK(layer["since"] == BarHistory::time(191));
  CHECK(layer["until"] == BarHistory::time(191 + 600));
  CHECK(history.capacity(790)["layer"]["name"] == "flapSuppress");
  CHECK(history.capacity(791)["layer"]["name"] == "growWindow");
}

TEST_CASE("why: where the source is stale that bars a growth longer than nodes that flap") {
  BarHistory history(kAtOnce);
  history.node(0, "n1", 10);
  for (int i = 0; i < 4; ++i)
    history.node(100 + 30 * i, "f1", 5).node(101 + 30 * i, "f1", 5, false);
  history.node(300, "f1", 5).source(400, "SOURCE_STALE").source(500, "SOURCE_SYNCED");
  CHECK(history.capacity(399)["layer"]["name"] == "flapSuppress");
  CHECK(history.capacity(450)["layer"]["name"] == "frozen");
  CHECK(history.capacity(500)["layer"]["name"] == "flapSuppress");
}

TEST_CASE("why: a first value of another source says what it took the place of") {
  BarHistory history({"debounce.firstQuiet=20s"});
  history.totals(0, 6).node(100, "n1", 10);
  CHECK(history.presence(99)["sourceChange"].is_null());
  const Json waits = history.capacity(110)["layer"];
  CHECK(waits["name"] == "firstQuiet");
  CHECK(waits["until"] == BarHistory::time(120));
  const Json change = history.presence(110)["sourceChange"];
  REQUIRE(change.is_object());
  CHECK(change["from"] == "managedCluster");
  CHECK(change["to"] == "nodes");
  CHECK(change["at"] == BarHistory::time(100));
  const Event cause = history.event(change["seq"].get<std::uint64_t>());
  CHECK(std::get<ObjectObserved>(cause.fact).key.name == "n1");
  CHECK(waits["text"].get<std::string>().starts_with(
      "the source changed from managedCluster to nodes by seq " + to_text(change["seq"]) + " at " +
      BarHistory::time(100) + ": its first value must hold still"));
  const Json moved = history.moved(120);
  REQUIRE(moved.is_object());
  CHECK(moved["from"].is_null());
  CHECK(moved["to"] == "10");
  CHECK(moved["at"] == BarHistory::time(120));
  CHECK(moved["by"] == "sourceChange");
  CHECK(moved["source"] == change);
}

TEST_CASE("why: a value that another source of the same kind moved names the change") {
  BarHistory history({"debounce.firstQuiet=0s", "debounce.growWindow=10s"});
  history.metrics(0, 20).node(100, "n1", 10);
  check_moved(history.moved(115), "20", "10", 115, "shrinkWindow");
  const Json change = history.presence(115)["sourceChange"];
  CHECK(change["from"] == "clusterMetrics");
  CHECK(change["to"] == "nodes");
  CHECK(change["at"] == BarHistory::time(100));
  const Json because = history.capacity(115)["because"];
  REQUIRE(because.size() == 1);
  CHECK(because[0]["seq"] == change["seq"]);
  CHECK(because[0]["text"].get<std::string>().ends_with(
      "; the source changed from clusterMetrics to nodes"));
}

TEST_CASE("why: a source without an accepted value yet is no change") {
  BarHistory history({});
  history.totals(0, 6).node(10, "n1", 10);
  CHECK(history.presence(200)["sourceChange"].is_null());
  CHECK(history.moved(200).is_null());
  CHECK(history.capacity(20)["layer"]["text"].get<std::string>().starts_with("the first value"));
}

TEST_CASE("why: a flavor that appears after the source changed has no first value of it") {
  BarHistory history({"debounce.firstQuiet=20s"});
  history.totals(0, 6).node(100, "n1", 10).node(200, "s1", 5, true, "spot");
  CHECK(history.moved(210)["by"] == "sourceChange");
  CHECK(history.capacity(210, "spot")["moved"].is_null());
}

TEST_CASE("why-not: writeInterval names the write that it counts from") {
  BarHistory history(
      {"debounce.firstQuiet=0s", "debounce.growWindow=0s", "debounce.minGrowInterval=0s"});
  history.node(0, "n1", 10).node(100, "n2", 10).node(102, "n3", 10);
  const Json guard = history.guard(103, "WriteInterval");
  REQUIRE(guard.is_object());
  CHECK(guard["since"] == BarHistory::time(100));
  CHECK(guard["until"] == BarHistory::time(105));
  const std::uint64_t seq = guard["seq"].get<std::uint64_t>();
  const Event write = history.event(seq);
  REQUIRE(std::holds_alternative<PatchIntended>(write.fact));
  CHECK(std::get<PatchIntended>(write.fact).target.name == "qa");
  CHECK(to_rfc3339(write.log_time) == BarHistory::time(100));
  CHECK(guard["text"].get<std::string>().ends_with("since write " + std::to_string(seq)));
}

}  // namespace
}  // namespace fairlead
