// Answers about moments that no hub observed.
#include "replay/audit/unseen.h"

#include <catch2/catch.hpp>

#include "engine/log/memory_log.h"
#include "replay/audit/audit.h"
#include "replay/verify.h"
#include "replay/whatif/what_if.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace unseen {
namespace {

LogTime at(std::int64_t minute) { return LogTime{} + seconds(60 * minute); }

EventDraft seen(const SourceName& source, Kind kind, const std::string& name, Facts facts) {
  return {source, {}, ObjectObserved{{kind, "", name}, "v1", name, "1", 1, std::move(facts), {}}};
}

NodeFacts node(Amount cpus) {
  NodeFacts facts;
  facts.ready = true;
  facts.allocatable = {{"cpu", 1000 * cpus}};
  return facts;
}

ClaimFacts claim(const std::string& cluster, const std::string& queue) {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = {{"cpu", "8"}};
  facts.spec.assignments = {{queue, "od", {{"cpu", "8"}}, {}, {}}};
  return facts;
}

// Two queues, each fed by a member of its own.
struct World {
  MemoryLog log;
  std::uint64_t epoch = 1;
  std::optional<LogTime> now;  // of the hub that answers

  World() {
    ClusterQueueFacts queue;
    queue.groups = {{{"cpu"}, {{"od", {{"cpu", Quantity(), {}, {}}}}}}};
    add(0, {start(),
            {"self", {}, ConfigChanged{}},
            seen("hub", Kind::resource_flavor, "od", ResourceFlavorFacts{}),
            seen("hub", Kind::cluster_queue, "qa", queue),
            seen("hub", Kind::cluster_queue, "qb", queue),
            seen("hub", Kind::claim, "ka", claim("c1", "qa")),
            seen("hub", Kind::claim, "kb", claim("c2", "qb")),
            seen("c1", Kind::node, "n1", node(8)),
            seen("c2", Kind::node, "n2", node(8))});
  }
  static EventDraft start() { return {"self", {}, EpochStarted{"hub-0", "1", 1, 1}}; }
  void add(std::int64_t minute, const std::vector<EventDraft>& drafts) {
    REQUIRE(log.append(drafts, at(minute), Epoch{epoch}).has_value());
  }
  AuditSource source() const { return {log, nullptr, nullptr, now}; }
};

// "what source kind from..to" of each stretch, and that the text of the answer names it.
std::string stretches(const Result<AuditAnswer>& answer) {
  REQUIRE(answer.has_value());
  const std::string text = audit_text(*answer);
  const auto seq = [](const Json& place) { return place.is_null() ? "?" : place["seq"].dump(); };
  std::string all;
  for (const Json& row : answer->document.at("unseen")) {
    CHECK(text.find("not seen: " + row["text"].get<std::string>() + "\n") != std::string::npos);
    all += (all.empty() ? "" : "; ") + row["what"].get<std::string>();
    for (const char* key : {"source", "kind"})
      if (!row[key].is_null()) all += " " + row[key].get<std::string>();
    all += " " + seq(row["from"]) + ".." + seq(row["to"]);
  }
  if (all.empty()) CHECK(text.find("not seen") == std::string::npos);
  return all;
}

std::string of_queue(const World& world, const std::string& queue, const AuditPosition& when) {
  const std::string all = stretches(audit_quota(world.source(), when, queue));
  CHECK(stretches(audit_why(world.source(), {queue, "od", "cpu"}, when)) == all);
  CHECK(stretches(audit_why_not(world.source(), {queue, "od", "cpu"}, when)) == all);
  CHECK(stretches(audit_diff(world.source(), when, when, queue)) == all);
  return all;
}

std::string history(const World& world, const AuditPosition& from, const AuditPosition& to) {
  return stretches(audit_history(world.source(), {"qa", "", ""}, from, to));
}

TEST_CASE(
    "a moment between the last event of a hub and the start of the next is reported as such") {
  World world;  // seq 1 to 9
  world.add(10, {seen("c1", Kind::node, "n1", node(7))});
  world.epoch = 2;
  world.add(30, {World::start()});  // 11
  world.add(31, {seen("c1", Kind::node, "n1", node(6))});
  CHECK(of_queue(world, "qa", at(9)).empty());
  CHECK(of_queue(world, "qa", at(10)).empty());
  CHECK(of_queue(world, "qa", at(20)) == "NoHub 10..11");
  CHECK(of_queue(world, "qa", at(30)).empty());
  CHECK(of_queue(world, "qa", Seq{10}).empty());
  CHECK(of_queue(world, "qa", Seq{11}).empty());

  const auto answer = audit_quota(world.source(), at(20), "qa");
  CHECK(answer->document["unseen"][0]["text"] ==
        "the log has no event from 1970-01-01T00:10:00Z (seq 10) to 1970-01-01T00:30:00Z (seq 11), "
        "when a hub started: for some or all of that time no hub ran, and what changed then was "
        "not seen before the start");
}

TEST_CASE("a moment behind the last event is reported as such, one of that event is not") {
  World world;
  CHECK(of_queue(world, "qa", at(0)).empty());
  CHECK(of_queue(world, "qa", Seq{9}).empty());
  CHECK(of_queue(world, "qa", at(1)) == "LogEnded 9..?");
}

TEST_CASE("a hub that answers saw every change until now, also behind its last event") {
  World world;
  world.now = at(60);
  CHECK(of_queue(world, "qa", at(1)).empty());
  CHECK(of_queue(world, "qa", at(60)).empty());
  CHECK(history(world, at(1), at(59)).empty());
  CHECK(of_queue(world, "qa", at(61)) == "LogEnded 9..?");
}

TEST_CASE("a silent member is reported for the queues that it feeds, from when it was heard last") {
  World world;
  world.add(20, {{"c1", {}, SourceStale{Kind::node, ""}}});       // 10
  world.add(30, {{"c1", {}, SourceLost{Kind::node, ""}}});        // 11
  world.add(40, {{"c1", {}, SourceSynced{Kind::node, "", ""}}});  // 12
  world.add(50, {seen("c2", Kind::node, "n2", node(7))});
  CHECK(of_queue(world, "qa", at(14)).empty());
  for (const int minute : {16, 20, 29, 35})
    CHECK(of_queue(world, "qa", at(minute)) == "Silent c1 Node 10..12");
  for (const int seq : {10, 11})
    CHECK(of_queue(world, "qa", Seq{static_cast<std::uint64_t>(seq)}) == "Silent c1 Node 10..12");
  CHECK(of_queue(world, "qa", at(40)).empty());
  CHECK(of_queue(world, "qb", at(25)).empty());
  CHECK(stretches(audit_quota(world.source(), at(25), "")) == "Silent c1 Node 10..12");
  CHECK(stretches(audit_diff(world.source(), at(10), at(25), "qa")) == "Silent c1 Node 10..12");
  // What moved the quota was seen in c1.
  CHECK(history(world, at(0), at(50)) == "Silent c1 Node 10..12");
  CHECK(history(world, at(41), at(50)).empty());

  const auto answer = audit_quota(world.source(), at(16), "qa");
  CHECK(answer->document["unseen"][0]["since"] == "1970-01-01T00:15:00Z");
  CHECK(answer->document["unseen"][0]["text"] ==
        "Nodes of c1 were silent from 1970-01-01T00:15:00Z (noticed at 1970-01-01T00:20:00Z "
        "(seq 10)) to 1970-01-01T00:40:00Z (seq 12): what changed there could not be seen");
}

TEST_CASE("what was heard of a member right before it became stale was heard") {
  World world;
  world.add(19, {seen("c1", Kind::node, "n1", node(7))});    // 10
  world.add(20, {seen("c1", Kind::node, "n3", node(7)),      // 11, one Node too many
                 {"c1", {}, SourceStale{Kind::node, ""}}});  // 12
  world.add(50, {seen("c2", Kind::node, "n2", node(7))});
  CHECK(of_queue(world, "qa", at(18)).empty());
  CHECK(of_queue(world, "qa", at(19)).empty());
  CHECK(of_queue(world, "qa", at(20)) == "Silent c1 Node 12..?");
  CHECK(of_queue(world, "qa", at(45)) == "Silent c1 Node 12..?");
}

TEST_CASE("a silent hub is reported in every answer, also in a history that reaches into it") {
  World world;
  world.add(20, {{"hub", {}, SourceStale{Kind::cluster_queue, ""}},
                 {"hub", {}, SourceStale{Kind::managed_cluster, ""}}});  // 10, 11
  world.add(40, {{"hub", {}, SourceSynced{Kind::cluster_queue, "", ""}}});
  world.add(60, {seen("c2", Kind::node, "n2", node(7))});
  const std::string silent = "Silent hub ClusterQueue 10..12";
  for (const char* queue : {"qa", "qb"}) CHECK(of_queue(world, queue, at(30)) == silent);
  CHECK(of_queue(world, "qa", at(41)).empty());
  CHECK(history(world, at(0), at(60)) == silent);
  CHECK(history(world, at(0), at(16)) == silent);
  CHECK(history(world, at(25), at(30)) == silent);
  CHECK(history(world, at(0), at(14)).empty());
  CHECK(history(world, at(41), at(60)).empty());
}

TEST_CASE("a history names each stretch without a hub that it reaches into") {
  World world;
  for (std::uint64_t restart = 1; restart <= 3; ++restart) {
    world.epoch = 1 + restart;
    world.add(static_cast<std::int64_t>(20 * restart), {World::start()});  // 10, 11, 12
  }
  CHECK(history(world, Seq{1}, Seq{12}) == "NoHub 9..10; NoHub 10..11; NoHub 11..12");
  CHECK(history(world, at(25), at(30)) == "NoHub 10..11");
  CHECK(history(world, at(20), at(20)) == "NoHub 9..10");
  CHECK(history(world, at(65), at(70)) == "LogEnded 12..?");
}

TEST_CASE(
    "a member that is known by its ManagedCluster alone is unseen while it is not Available") {
  World world;
  ManagedClusterFacts managed;
  managed.allocatable = {{"cpu", 4000}};
  world.add(1, {seen("hub", Kind::claim, "kc", claim("c3", "qa")),
                seen("hub", Kind::managed_cluster, "c3", managed)});  // 10, 11
  managed.available.status = ConditionStatus::unknown;
  world.add(20, {seen("hub", Kind::managed_cluster, "c3", managed)});  // 12
  managed.available.status = ConditionStatus::yes;
  world.add(40, {seen("hub", Kind::managed_cluster, "c3", managed)});  // 13
  CHECK(of_queue(world, "qa", at(19)).empty());
  CHECK(of_queue(world, "qa", at(30)) == "NotAvailable c3 ManagedCluster 12..13");
  CHECK(of_queue(world, "qb", at(30)).empty());
  CHECK(of_queue(world, "qa", at(40)).empty());
  CHECK(history(world, at(0), at(40)) == "NotAvailable c3 ManagedCluster 12..13");
  CHECK(history(world, at(0), at(19)).empty());
}

WhatIf counterfactual(const World& world, std::optional<Seq> from, std::optional<Seq> to,
                      std::optional<LogTime> to_time = {}) {
  WhatIfOptions options;
  options.configuration = [](const Configuration& actual) { return actual; };
  options.from = from;
  options.to = to;
  options.to_time = to_time;
  auto result = what_if(world.source(), options);
  REQUIRE(result.has_value());
  CHECK(to_json(*result).at("unseen") == result->unseen);
  return *std::move(result);
}

TEST_CASE("a report about a span names what all queues rest on, and what reaches into it alone") {
  World world;                                                    // seq 1 to 9
  world.add(20, {{"c1", {}, SourceStale{Kind::node, ""}}});       // 10
  world.add(40, {{"c1", {}, SourceSynced{Kind::node, "", ""}}});  // 11
  world.add(50, {seen("c2", Kind::node, "n2", node(7))});
  world.epoch = 2;
  world.add(70, {World::start()});  // 13
  world.add(80, {seen("c2", Kind::node, "n2", node(6))});
  const std::string silent = "Silent c1 Node 10..11", stopped = "NoHub 12..13";
  const auto checked = [](const Json& rows, const std::string& text) {
    std::string all;
    for (const Json& row : rows) {
      CHECK(text.find("not seen: " + row["text"].get<std::string>() + "\n") != std::string::npos);
      all += (all.empty() ? "" : "; ") + row["what"].get<std::string>();
      if (!row["source"].is_null())
        all += " " + row["source"].get<std::string>() + " " + row["kind"].get<std::string>();
      all += " " + row["from"]["seq"].dump() + ".." +
             (row["to"].is_null() ? "?" : row["to"]["seq"].dump());
    }
    if (rows.empty()) CHECK(text.find("not seen") == std::string::npos);
    return all;
  };
  const auto of = [&](std::optional<Seq> from, std::optional<Seq> to,
                      std::optional<LogTime> until = {}) {
    const WhatIf result = counterfactual(world, from, to, until);
    return checked(result.unseen, what_if_text(result));
  };
  CHECK(of({}, {}) == silent + "; " + stopped);
  CHECK(of(Seq{12}, {}) == stopped);
  CHECK(of({}, Seq{11}) == silent);
  CHECK(of({}, Seq{9}).empty());
  CHECK(of(Seq{14}, {}).empty());
  CHECK(of(Seq{14}, {}, at(90)) == "LogEnded 14..?");
}

}  // namespace
}  // namespace unseen
}  // namespace fairlead
