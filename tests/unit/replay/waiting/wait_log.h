// Logs about Workloads in few words. Times are seconds after midnight of a day.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/memory_log.h"
#include "replay/waiting/waiting.h"
#include "tests/unit/replay/waiting/quota_samples.h"

namespace fairlead::waiting {

inline LogTime at(std::int64_t second) {
  return LogTime{} + seconds(1'764'460'800) + seconds(second);  // 2025-11-30T00:00:00Z
}
inline std::string time_at(std::int64_t second) { return to_rfc3339(at(second)); }

inline WorkloadCondition condition(const char* type, ConditionStatus status, const char* reason) {
  return {type, status, reason, ""};
}
inline WorkloadCondition pending(const char* reason) {
  return condition("QuotaReserved", ConditionStatus::no, reason);
}

class WaitLog {
 public:
  WaitLog() { append(0, kSelf, ConfigChanged{without_coalescing()}); }

  Seq append(std::int64_t second, std::string_view source, Fact fact) {
    const auto events =
        log.append(std::vector<EventDraft>{{SourceName(source), {}, std::move(fact)}}, at(second),
                   Epoch{1}, Durability::durable);
    REQUIRE(events.has_value());
    return events->back().seq;
  }
  Seq observe(std::int64_t second, std::string_view source, const ObjectKey& key, Facts facts,
              const std::string& uid = "uid") {
    ObjectObserved seen;
    seen.key = key;
    seen.version = "v1beta2";
    seen.uid = uid;
    seen.facts = std::move(facts);
    return append(second, source, std::move(seen));
  }
  Seq queue(std::int64_t second, const ClusterQueueFacts& facts, const std::string& name = "q",
            std::string_view source = kHub) {
    return observe(second, source, {Kind::cluster_queue, "", name}, facts);
  }
  Seq local_queue(std::int64_t second, const std::string& to = "q",
                  std::string_view source = kHub) {
    return observe(second, source, {Kind::local_queue, "team", "main"},
                   LocalQueueFacts{to, "", {}});
  }
  Seq workload(std::int64_t second, const WorkloadFacts& facts, std::string_view source = kHub,
               const std::string& uid = "uid") {
    return observe(second, source, {Kind::workload, "team", "job"}, facts, uid);
  }
  Seq gone(std::int64_t second, std::string_view source = kHub, const std::string& uid = "uid") {
    return append(second, source, ObjectGone{{Kind::workload, "team", "job"}, uid, ""});
  }

  /// Answers about team/job.
  Json ask(std::optional<AuditPosition> as_of = std::nullopt,
           std::optional<AuditPosition> from = {}, std::optional<AuditPosition> to = {}) const {
    const auto answer =
        audit_waiting({log, nullptr}, {NamespacedName{"team", "job"}, "",
                                       as_of.value_or(AuditPosition(log.last_seq())), from, to});
    INFO((answer ? "" : answer.error().message));
    REQUIRE(answer.has_value());
    return without_words(answer->document);
  }

  MemoryLog log;

 private:
  static Configuration without_coalescing() {
    Configuration configuration;
    configuration.usage.interval = {};
    return configuration;
  }
};

/// A Workload of LocalQueue team/main, created at `created`, that asks for `gpus` of gpu.
inline WorkloadFacts job(std::int64_t created, std::int64_t gpus,
                         std::vector<WorkloadCondition> conditions) {
  WorkloadFacts facts;
  facts.created = at(created);
  WorkloadProgress progress;
  progress.queue = "main";
  progress.requests = std::map<std::string, Amount>{{"gpu", gpus}};
  for (const WorkloadCondition& one : conditions) {
    if (one.type == "QuotaReserved") {
      facts.quota_reserved = one.status == ConditionStatus::yes;
      progress.quota_since = at(created);
    }
    if (one.type == "Finished") facts.finished = one.status == ConditionStatus::yes;
  }
  progress.conditions = std::move(conditions);
  facts.progress = std::move(progress);
  return facts;
}
inline WorkloadFacts admitted(std::int64_t created, std::int64_t gpus) {
  return job(created, gpus,
             {condition("QuotaReserved", ConditionStatus::yes, "QuotaReserved"),
              condition("Admitted", ConditionStatus::yes, "Admitted")});
}
inline WorkloadFacts nominated(std::int64_t created, std::vector<std::string> workers) {
  WorkloadFacts facts =
      job(created, 8,
          {condition("QuotaReserved", ConditionStatus::yes, "QuotaReserved"),
           condition("Admitted", ConditionStatus::no, "UnsatisfiedAdmissionChecks")});
  facts.nominated_clusters = std::move(workers);
  facts.checks = {{"multikueue", "Pending"}};
  return facts;
}
inline WorkloadFacts copy_of(WorkloadFacts facts) {
  facts.progress->origin = "multikueue";
  return facts;
}

/// "10-20 quota WaitingForQuota no" of each interval, in seconds of the day.
inline std::vector<std::string> lines_of(const Json& intervals) {
  std::vector<std::string> lines;
  const auto second = [](const Json& time) {
    return std::to_string((parse_rfc3339(time.get<std::string>())->ns - at(0).ns) / 1'000'000'000);
  };
  for (const Json& one : intervals) {
    std::string line =
        second(one["from"]) + "-" + second(one["to"]) + " " + one["class"].get<std::string>();
    if (one["reason"] != "") line += " " + one["reason"].get<std::string>();
    if (!one["fit"].is_null()) line += " " + one["fit"].get<std::string>();
    if (one["changes"] != 0) line += " x" + to_text(one["changes"]);
    lines.push_back(std::move(line));
  }
  return lines;
}
using Lines = std::vector<std::string>;

}  // namespace fairlead::waiting
