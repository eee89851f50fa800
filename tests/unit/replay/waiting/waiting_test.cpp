// Who waited and why, on small logs: the cases of the design, and the bounds of a wait.
#include "replay/waiting/waiting.h"

#include <catch2/catch.hpp>

#include "replay/waiting/wait_intervals.h"
#include "snapshots/snapshot_source.h"
#include "tests/unit/replay/waiting/wait_log.h"

namespace fairlead {
namespace {

using namespace waiting;

constexpr std::int64_t kMinute = 60;

ClusterQueueFacts gpus(std::int64_t nominal, std::int64_t reserved = 0) {
  ClusterQueueFacts facts = queue_of({group_of("a100", "gpu", nominal)});
  if (reserved > 0) facts.reserved = {{"a100", "gpu", reserved}};
  return facts;
}

TEST_CASE(
    "quota 48, then 40, needs 44: cut at the change, which is named with what it follows from") {
  WaitLog log;
  log.queue(1, gpus(48, 8));
  log.local_queue(1);
  log.workload(10, job(10, 44, {pending("WaitingForQuota")}));
  NodeFacts node;
  node.ready = false;
  const Seq lost = log.observe(90, "east", {Kind::node, "", "gpu-6"}, node);
  PatchIntended intent;
  intent.cluster = kHub;
  intent.verb = Verb::apply;
  intent.target = {Kind::cluster_queue, "", "q"};
  intent.reason = {"claims/shrink", {lost}, ""};
  intent.expected = gpus(40, 8);
  const Seq written = log.append(100, kSelf, intent);
  const Seq seen = log.queue(100, gpus(40, 8));
  log.queue(200, gpus(48));
  log.append(300, kHub, SourceSynced{Kind::node, "", ""});
  const Json answer = log.ask();
  const Json& intervals = answer["waits"][0]["intervals"];
  CHECK(lines_of(intervals) == Lines{"10-100 quota WaitingForQuota quota",
                                     "100-200 quota WaitingForQuota no",
                                     "200-300 quota WaitingForQuota now"});
  CHECK(intervals[0]["causes"] == Json::array());
  CHECK(intervals[0]["shortage"] ==
        Json::array(
            {{{"flavor", "a100"}, {"resource", "gpu"}, {"amount", "4"}, {"source", "quota"}}}));
  CHECK(intervals[1]["causes"] == Json::array({lost.value, written.value, seen.value}));
  CHECK(intervals[1]["shortage"][0]["amount"] == "12");
  CHECK(intervals[2]["shortage"] == Json::array());
  CHECK(answer["waited"] == "290");
  CHECK(answer["state"] == "waiting");
  CHECK(answer["clusterQueue"] == "q");

  const auto blocked =
      audit_blocked_by({log.log, nullptr}, "node/gpu-6", log.log.first_seq(), log.log.last_seq());
  REQUIRE(blocked.has_value());
  CHECK(without_words(blocked->document) ==
        Json{{"object", "node/gpu-6"},
             {"workloads", {{{"namespace", "team"}, {"name", "job"}, {"waited", "100"}}}},
             {"resourceSeconds", {{{"resource", "gpu"}, {"amount", "4400"}}}},
             {"quotas",
              {{{"clusterQueue", "q"},
                {"flavor", "a100"},
                {"resource", "gpu"},
                {"from", "48"},
                {"to", "40"},
                {"time", time_at(100)},
                {"seq", seen.value}}}}});
  const auto unknown =
      audit_blocked_by({log.log, nullptr}, "node/gpu-9", log.log.first_seq(), log.log.last_seq());
  REQUIRE(unknown.has_error());
  CHECK(unknown.error().code == ErrorCode::not_found);
}

TEST_CASE("deactivated while its queue is stopped: Deactivated") {
  WaitLog log;
  ClusterQueueFacts stopped = gpus(48);
  stopped.stop_policy = "HoldAndDrain";
  log.queue(1, stopped);
  log.local_queue(1);
  WorkloadFacts facts = job(10, 4, {pending("Suspended")});
  log.workload(10, facts);
  facts.progress->deactivated = true;
  log.workload(20, facts);
  log.append(30, kHub, SourceSynced{Kind::node, "", ""});
  CHECK(lines_of(log.ask()["waits"][0]["intervals"]) ==
        Lines{"10-20 hold Suspended", "20-30 hold Deactivated"});
}

// The hub nominates w1 and w2 at 20; both had queues before.
void add_two_workers(WaitLog& log) {
  log.queue(1, gpus(48));
  log.local_queue(1);
  for (const char* worker : {"w1", "w2"}) {
    log.queue(2, gpus(16, 12), "q", worker);
    log.local_queue(2, "q", worker);
  }
  log.workload(20, nominated(10, {"w1", "w2"}));
}

TEST_CASE("each nominated worker has a list with the reasons of its copy") {
  WaitLog log;
  add_two_workers(log);
  log.workload(21, copy_of(job(21, 8, {pending("WaitingForQuota")})), "w1");
  log.workload(22, copy_of(job(22, 8, {pending("NoMatchingFlavor")})), "w2");
  log.queue(30, gpus(16, 4), "q", "w1");
  log.workload(35, copy_of(admitted(21, 8)), "w1");
  log.workload(40, admitted(10, 8));
  const Json answer = log.ask();
  CHECK(lines_of(answer["waits"][0]["intervals"]) ==
        Lines{"10-40 worker UnsatisfiedAdmissionChecks"});
  CHECK(answer["waits"][0]["end"] == "admitted");
  CHECK(answer["waits"][0]["intervals"][0]["checks"] ==
        Json::array({{{"name", "multikueue"}, {"state", "Pending"}}}));
  REQUIRE(answer["workers"].size() == 2);
  CHECK(answer["workers"][0]["cluster"] == "w1");
  CHECK(lines_of(answer["workers"][0]["intervals"]) == Lines{"10-21 queue",
                                                             "21-30 quota WaitingForQuota quota",
                                                             "30-35 quota WaitingForQuota now"});
  CHECK(answer["workers"][0]["intervals"][0]["where"] == "worker");
  CHECK(answer["workers"][1]["cluster"] == "w2");
  CHECK(lines_of(answer["workers"][1]["intervals"]) ==
        Lines{"10-22 queue", "22-40 config NoMatchingFlavor"});
}

TEST_CASE("evicted on one worker and dispatched to another: two waits") {
  WaitLog log;
  add_two_workers(log);
  log.workload(21, copy_of(job(21, 8, {pending("Pending")})), "w1");
  log.workload(25, copy_of(admitted(21, 8)), "w1");
  WorkloadFacts running = admitted(10, 8);
  running.cluster_name = "w1";
  log.workload(26, running);
  log.workload(100, nominated(10, {"w2"}));
  log.gone(101, "w1");
  log.workload(103, copy_of(admitted(102, 8)), "w2");
  running.cluster_name = "w2";
  log.workload(105, running);
  const Json answer = log.ask();
  REQUIRE(answer["waits"].size() == 2);
  CHECK(answer["waits"][0]["from"] == time_at(10));
  CHECK(answer["waits"][0]["to"] == time_at(26));
  CHECK(answer["waits"][1]["from"] == time_at(100));
  CHECK(answer["waits"][1]["end"] == "admitted");
  CHECK(answer["waited"] == "21");
  REQUIRE(answer["workers"].size() == 2);
  CHECK(lines_of(answer["workers"][1]["intervals"]) == Lines{"10-26 queue", "100-102 queue"});
}

TEST_CASE("while a worker is silent, or before it was heard of, its reasons are unknown") {
  WaitLog log;
  add_two_workers(log);
  log.workload(21, copy_of(job(21, 8, {pending("WaitingForQuota")})), "w2");
  log.append(60, "w2", SourceStale{std::nullopt, "w2"});
  log.append(60 + 5 * kMinute, "w2", SourceLost{std::nullopt, "w2"});
  const Seq back = log.append(60 + 10 * kMinute, "w2", SourceSynced{std::nullopt, "w2", ""});
  log.workload(60 + 12 * kMinute, nominated(10, {"w2", "w9"}));
  log.append(60 + 13 * kMinute, kHub, SourceSynced{Kind::node, "", ""});
  const Json answer = log.ask();
  const Json& w2 = answer["workers"][1]["intervals"];
  CHECK(lines_of(w2) == Lines{"10-21 queue", "21-60 quota WaitingForQuota quota", "60-660 unknown",
                              "660-840 quota WaitingForQuota quota"});
  CHECK(w2[3]["causes"] == Json::array({back.value}));
  CHECK(answer["workers"][2]["cluster"] == "w9");
  CHECK(lines_of(answer["workers"][2]["intervals"]) == Lines{"780-840 unknown"});
}

TEST_CASE("silence of the hub is unknown, one of a kind that may stay unread is none") {
  WaitLog log;
  log.queue(1, gpus(48));
  log.local_queue(1);
  log.workload(10, job(10, 4, {pending("Pending")}));
  log.append(15, kHub, SourceLost{Kind::topology, ""});
  log.append(20, kHub, SourceStale{Kind::workload, ""});
  log.append(25, kHub, SourceStale{Kind::cluster_queue, ""});
  log.append(30, kHub, SourceSynced{Kind::workload, "", ""});
  log.append(40, kHub, SourceSynced{Kind::cluster_queue, "", ""});
  log.append(50, kHub, SourceSynced{Kind::node, "", ""});
  CHECK(lines_of(log.ask()["waits"][0]["intervals"]) ==
        Lines{"10-20 quota Pending now", "20-40 unknown", "40-50 quota Pending now"});
}

TEST_CASE("quota and preemption in turn, each for a short time, are one interval") {
  const auto swing = [](std::vector<std::int64_t> times, const char* first) {
    WaitLog log;
    log.queue(1, gpus(48, 48));
    log.local_queue(1);
    const char* const reasons[] = {"WaitingForQuota", "WaitingForPreemptedWorkloads"};
    std::size_t turn = std::string_view(first) == reasons[0] ? 0 : 1;
    for (const std::int64_t time : times)
      log.workload(time, job(times.front(), 4, {pending(reasons[turn++ % 2])}));
    log.workload(times.back() + 15, admitted(times.front(), 4));
    return lines_of(log.ask()["waits"][0]["intervals"]);
  };
  CHECK(swing({10, 27, 44, 61, 78, 95, 112}, "WaitingForQuota") ==
        Lines{"10-127 preemption WaitingForPreemptedWorkloads x6"});
  CHECK(
      swing({10, 27}, "WaitingForQuota") ==
      Lines{"10-27 quota WaitingForQuota quota", "27-42 preemption WaitingForPreemptedWorkloads"});
  // The first one is longer than two minutes.
  CHECK(swing({10, 131, 140, 150}, "WaitingForQuota") ==
        Lines{"10-131 quota WaitingForQuota quota",
              "131-165 preemption WaitingForPreemptedWorkloads x2"});
  CHECK(swing({10, 130, 251, 260}, "WaitingForQuota") ==
        Lines{"10-130 quota WaitingForQuota quota",
              "130-251 preemption WaitingForPreemptedWorkloads",
              "251-260 quota WaitingForQuota quota",
              "260-275 preemption WaitingForPreemptedWorkloads"});
}

TEST_CASE("quota that grew after Kueue wrote its reason: it fits now") {
  WaitLog log;
  log.queue(1, gpus(4));
  log.local_queue(1);
  log.workload(10, job(10, 8, {pending("Pending")}));
  const Seq grew = log.queue(20, gpus(8));
  log.append(30, kHub, SourceSynced{Kind::node, "", ""});
  const Json intervals = log.ask()["waits"][0]["intervals"];
  CHECK(lines_of(intervals) == Lines{"10-20 quota Pending no", "20-30 quota Pending now"});
  CHECK(intervals[1]["causes"] == Json::array({grew.value}));
}

TEST_CASE("at first sight a reason counts from lastTransitionTime on, and never after") {
  WaitLog log;
  log.queue(1, gpus(48, 48));
  log.local_queue(1);
  WorkloadFacts facts = job(10, 4, {pending("OnHold")});
  facts.progress->quota_since = at(40);
  log.workload(100, facts);
  facts.progress->conditions = {pending("Pending")};
  log.workload(120, facts);
  log.append(130, kHub, SourceSynced{Kind::node, "", ""});
  CHECK(lines_of(log.ask()["waits"][0]["intervals"]) ==
        Lines{"10-40 unknown", "40-120 hold OnHold", "120-130 quota Pending quota"});
  // Before the record began, it is as at first sight.
  CHECK(lines_of(log.ask(AuditPosition(at(100)))["waits"][0]["intervals"]) ==
        Lines{"10-40 unknown", "40-100 hold OnHold"});
}

TEST_CASE("first seen admitted: no wait is told, until it is evicted") {
  WaitLog log;
  log.workload(10, admitted(1, 4));
  CHECK(log.ask()["waits"] == Json::array());
  CHECK(log.ask()["state"] == "admitted");
  log.workload(20, job(1, 4, {pending("Pending")}));
  log.gone(30);
  const Json answer = log.ask();
  REQUIRE(answer["waits"].size() == 1);
  CHECK(answer["waits"][0]["from"] == time_at(20));
  CHECK(answer["waits"][0]["end"] == "deleted");
  CHECK(answer["state"] == "deleted");
}

TEST_CASE("another uid is another Workload; one answers about the last") {
  WaitLog log;
  log.workload(10, job(10, 4, {pending("Pending")}), kHub, "one");
  log.workload(20, job(20, 4, {pending("OnHold")}), kHub, "two");
  log.append(30, kHub, SourceSynced{Kind::node, "", ""});
  CHECK(log.ask()["uid"] == "two");
  CHECK(lines_of(log.ask()["waits"][0]["intervals"]) == Lines{"20-30 hold OnHold"});
  CHECK(log.ask(AuditPosition(at(15)))["uid"] == "one");
}

TEST_CASE("an answer is cut by a span, and ends `waiting` there") {
  WaitLog log;
  log.queue(1, gpus(4));
  log.local_queue(1);
  log.workload(10, job(10, 8, {pending("Pending")}));
  log.queue(20, gpus(8));
  log.workload(30, admitted(10, 8));
  log.append(40, kHub, SourceSynced{Kind::node, "", ""});
  const Json whole = log.ask();
  CHECK(whole["waits"][0]["end"] == "admitted");
  CHECK(whole["waits"][0]["to"] == time_at(30));
  const Json part = log.ask(std::nullopt, AuditPosition(at(15)), AuditPosition(at(25)));
  CHECK(part["waits"][0]["end"] == "waiting");
  CHECK(part["waits"][0]["waited"] == "10");
  CHECK(part["waited"] == "10");
  CHECK(lines_of(part["waits"][0]["intervals"]) ==
        Lines{"15-20 quota Pending no", "20-25 quota Pending now"});
  CHECK(part["firstSeq"] == 5);
  CHECK(part["lastSeq"] == 5);
  CHECK(part["digest"] == log.log.chain_at(Seq{5})->hex());
  CHECK(whole["firstSeq"] == 1);
  CHECK(whole["lastSeq"] == log.log.last_seq().value);
  CHECK(whole["digest"] == log.log.chain().hex());
  const Json none = log.ask(std::nullopt, AuditPosition(at(31)), AuditPosition(at(35)));
  CHECK(none["waits"] == Json::array());
  CHECK(none["firstSeq"] == 0);
}

TEST_CASE("the present waits, longest first, of all queues or of one") {
  WaitLog log;
  log.queue(1, gpus(4));
  log.local_queue(1);
  log.queue(1, gpus(4), "other");
  const auto add = [&log](std::int64_t time, const char* name, const WorkloadFacts& facts) {
    log.observe(time, kHub, {Kind::workload, "team", name}, facts, name);
  };
  add(10, "b", job(10, 8, {pending("Pending")}));
  add(20, "a", job(10, 4, {pending("Pending")}));
  add(30, "c", job(5, 4, {pending("OnHold")}));
  add(35, "d", admitted(1, 4));
  WorkloadFacts elsewhere = job(30, 4, {pending("Pending")});
  elsewhere.progress->cluster_queue = "other";
  add(40, "e", elsewhere);
  elsewhere.progress->cluster_queue = "missing";
  add(40, "f", elsewhere);
  const auto names = [&log](const std::string& queue) {
    const auto answer =
        audit_waiting({log.log, nullptr}, {std::nullopt, queue, log.log.last_seq(), {}, {}});
    REQUIRE(answer.has_value());
    std::string text;
    for (const Json& row : answer->document["workloads"]) {
      text += row["name"].get<std::string>() + " " + row["waited"].get<std::string>() + " " +
              row["class"].get<std::string>();
      text += row["fit"].is_null() ? ";" : " " + row["fit"].get<std::string>() + ";";
    }
    return text;
  };
  CHECK(names("") == "c 35 hold;a 30 quota now;b 30 quota no;e 10 quota now;f 10 quota;");
  CHECK(names("other") == "e 10 quota now;");
  CHECK(names("missing") == "f 10 quota;");
  const auto unknown =
      audit_waiting({log.log, nullptr}, {std::nullopt, "none", log.log.last_seq(), {}, {}});
  REQUIRE(unknown.has_error());
  CHECK(unknown.error().code == ErrorCode::not_found);
}

TEST_CASE("a LocalQueue that comes late or turns to another ClusterQueue changes the fit") {
  WaitLog log;
  log.queue(1, gpus(4));
  log.queue(1, gpus(16), "large");
  log.workload(10, job(10, 8, {pending("Pending")}));
  log.local_queue(20);
  const Seq turned = log.local_queue(30, "large");
  log.append(40, kHub, SourceSynced{Kind::node, "", ""});
  const Json intervals = log.ask()["waits"][0]["intervals"];
  CHECK(lines_of(intervals) ==
        Lines{"10-20 quota Pending", "20-30 quota Pending no", "30-40 quota Pending now"});
  CHECK(intervals[2]["causes"] == Json::array({turned.value}));
}

TEST_CASE("usage that was held back counts from when it was read") {
  WaitLog log;
  log.append(0, kSelf, ConfigChanged{});
  log.queue(1, gpus(8, 8));
  log.local_queue(1);
  log.workload(10, job(10, 4, {pending("Pending")}));
  ObjectObserved seen;
  seen.key = {Kind::cluster_queue, "", "q"};
  seen.uid = "uid";
  seen.facts = gpus(8, 2);
  seen.read = at(13);
  log.append(18, kHub, seen);
  log.append(60, kHub, SourceSynced{Kind::node, "", ""});
  CHECK(lines_of(log.ask()["waits"][0]["intervals"]) ==
        Lines{"10-13 quota Pending quota", "13-60 quota Pending now"});
}

TEST_CASE("where the log was pruned, what the snapshot holds counts as seen first then") {
  WaitLog log;
  log.queue(1, gpus(4, 1));
  log.local_queue(1);
  WorkloadFacts facts = job(10, 8, {pending("OnHold")});
  log.workload(10, facts);
  facts.progress->conditions = {pending("Pending")};
  facts.progress->quota_since = at(12);
  log.workload(20, facts);
  const auto state = state_at(log.log, nullptr, log.log.last_seq());
  REQUIRE(state.has_value());
  WaitRecorder record{WaitScope{}};
  record.begin_with(*state);
  record.end(at(30));
  const ServerWaits& hub = record.servers().at(SourceName(kHub));
  const WaitHistory& history = hub.workloads.at({"team", "job"}).back();
  REQUIRE(history.waits.size() == 1);
  const auto intervals = intervals_of(history.waits[0], hub.silences, at(30));
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].reason == WaitReason());
  CHECK(intervals[1].from == at(12));
  CHECK(intervals[1].reason.of == WaitClass::quota);
  CHECK(intervals[1].fit == QuotaFit::no);
  CHECK(intervals[1].causes.empty());
  REQUIRE(intervals[1].shortage.size() == 1);
  CHECK(intervals[1].shortage[0].amount == "5");
}

}  // namespace
}  // namespace fairlead
