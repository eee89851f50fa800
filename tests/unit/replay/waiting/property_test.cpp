// Properties of every answer, on random logs: the intervals of a wait are disjoint, have no gaps
// and differ from their neighbours, and what is recorded for many is what is recorded for one.
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/replay/waiting/wait_log.h"

namespace fairlead {
namespace {

using namespace waiting;

class RandomLog {
 public:
  explicit RandomLog(unsigned seed) : random_(seed) {
    for (int step = 0; step < 120; ++step) {
      if (draw(3) > 0) now_ += std::array{1, 7, 40, 130}[draw(3)];
      add();
    }
    log.append(now_ + 1, kHub, SourceSynced{Kind::topology, "", ""});
  }

  WaitLog log;

 private:
  std::size_t draw(std::size_t most) { return random_() % (most + 1); }
  void add() {
    const std::string source = draw(3) == 0 ? "w1" : std::string(kHub);
    const std::string queue = draw(1) == 0 ? "p" : "q";
    switch (draw(9)) {
      case 0: log.local_queue(now_, queue, source); return;
      case 1: log.append(now_, source, SourceStale{Kind::workload, ""}); return;
      case 2: log.append(now_, source, SourceSynced{Kind::workload, "", ""}); return;
      case 3:
      case 4: {
        ClusterQueueFacts facts =
            queue_of({group_of("a", "gpu", static_cast<std::int64_t>(draw(12)))},
                     draw(1) == 0 ? "cohort" : "");
        facts.reserved = {{"a", "gpu", static_cast<Amount>(draw(8))}};
        log.queue(now_, facts, queue, source);
        return;
      }
      default: add_workload(source);
    }
  }
  void add_workload(const std::string& source) {
    const char* const reasons[] = {"WaitingForQuota", "WaitingForPreemptedWorkloads", "Pending",
                                   "OnHold", "Inadmissible"};
    const std::string name = draw(1) == 0 ? "job" : "other";
    std::string& uid = uids_[source + name];
    if (uid.empty() || draw(15) == 0) uid = source + name + std::to_string(now_);
    const auto gpus = static_cast<std::int64_t>(1 + draw(9));
    WorkloadFacts facts =
        job(std::max<std::int64_t>(0, now_ - 20), gpus, {pending(reasons[draw(4)])});
    facts.progress->quota_since = at(std::max<std::int64_t>(0, now_ - static_cast<int>(draw(30))));
    if (draw(6) == 0) facts = admitted(now_, gpus);
    if (draw(6) == 0) facts = nominated(now_, {"w1", "w2"});
    if (source != kHub) facts = copy_of(std::move(facts));
    log.observe(now_, source, {Kind::workload, "team", name}, facts, uid);
  }

  std::mt19937 random_;
  std::int64_t now_ = 10;
  std::map<std::string, std::string> uids_;
};

LogTime time_in(const Json& object, const char* key) {
  return *parse_rfc3339(object[key].get<std::string>());
}

bool alike(const Json& a, const Json& b) {
  return a["class"] == b["class"] && a["reason"] == b["reason"] && a["fit"] == b["fit"];
}

void check_wait(const Json& wait) {
  LogTime at = time_in(wait, "from");
  const Json* before = nullptr;
  for (const Json& one : wait["intervals"]) {
    CHECK(time_in(one, "from") == at);
    at = time_in(one, "to");
    CHECK(time_in(one, "from") < at);
    if (before != nullptr) CHECK_FALSE(alike(*before, one));
    CHECK((one["fit"].is_null() || one["class"] == "quota"));
    CHECK((one["changes"] == 0 || one["reason"] == "WaitingForPreemptedWorkloads"));
    before = &one;
  }
  CHECK(at == time_in(wait, "to"));
}

TEST_CASE("the intervals of a wait are disjoint and without gaps, and waits follow each other") {
  std::size_t waits = 0, workers = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    RandomLog made(seed);
    const auto asked =
        audit_waiting({made.log.log, nullptr},
                      {NamespacedName{"team", "job"}, "", made.log.log.last_seq(), {}, {}});
    if (!asked) continue;  // no such Workload on the hub
    const Json answer = asked->document;
    LogTime at;
    std::int64_t waited = 0;
    for (const Json& wait : answer["waits"]) {
      CHECK(at <= time_in(wait, "from"));
      at = time_in(wait, "to");
      waited += at.ns - time_in(wait, "from").ns;
      check_wait(wait);
      ++waits;
    }
    CHECK(answer["waited"] == std::to_string(waited / 1'000'000'000));
    for (const Json& worker : answer["workers"]) {
      LogTime end;
      for (const Json& one : worker["intervals"]) {
        CHECK(end <= time_in(one, "from"));
        end = time_in(one, "to");
        CHECK(time_in(one, "from") < end);
        ++workers;
      }
    }
  }
  CHECK(waits > 60);
  CHECK(workers > 20);
}

TEST_CASE("one Workload has the same wait in the list of all as in its own answer") {
  std::size_t rows = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    RandomLog made(seed);
    const AuditSource source{made.log.log, nullptr};
    const auto list = audit_waiting(source, {std::nullopt, "", made.log.log.last_seq(), {}, {}});
    REQUIRE(list.has_value());
    for (const Json& row : list->document["workloads"]) {
      const auto one = audit_waiting(
          source,
          {NamespacedName{row["namespace"], row["name"]}, "", made.log.log.last_seq(), {}, {}});
      REQUIRE(one.has_value());
      CHECK(one->document["state"] == "waiting");
      const Json& wait = one->document["waits"].back();
      CHECK(wait["from"] == row["since"]);
      CHECK(wait["waited"] == row["waited"]);
      if (wait["intervals"].empty()) continue;
      const Json& last = wait["intervals"].back();
      CHECK(alike(last, row));
      CHECK(last["shortage"] == row["shortage"]);
      ++rows;
    }
  }
  CHECK(rows > 30);
}

TEST_CASE("parts of a span add up to the whole") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    RandomLog made(seed);
    const AuditSource source{made.log.log, nullptr};
    const LogTime cut = at(400);
    const auto waited = [&](std::optional<AuditPosition> from, std::optional<AuditPosition> to) {
      const auto answer = audit_waiting(
          source, {NamespacedName{"team", "job"}, "", made.log.log.last_seq(), from, to});
      return answer ? std::stoll(answer->document["waited"].get<std::string>()) : 0;
    };
    CHECK(waited({}, {}) == waited({}, AuditPosition(cut)) + waited(AuditPosition(cut), {}));
  }
}

}  // namespace
}  // namespace fairlead
