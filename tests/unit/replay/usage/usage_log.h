// Small logs about use, for tests: a line of code per event, in minutes of log time.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/memory_log.h"
#include "replay/usage/usage_report.h"

namespace fairlead {

/// A pair of a queue: flavor "od", resource "gpu".
struct PairOf {
  Amount nominal = 0;
  Amount used = 0;
  Amount reserved = 0;
  Amount borrowed = 0;
};

/// A quota of one pair.
inline std::vector<ResourceGroup> quota_of(Amount nominal) {
  const Quantity amount(Int128{nominal} * 1'000'000'000, QuantityFormat::decimal_si);
  ResourceQuota quota{"gpu", amount, std::nullopt, std::nullopt};
  return {{{"gpu"}, {{"od", {quota}}}}};
}

inline ClusterQueueFacts queue_of(const PairOf& pair) {
  ClusterQueueFacts facts;
  facts.groups = quota_of(pair.nominal);
  facts.usage = {{"od", "gpu", pair.used}};
  facts.reserved = {{"od", "gpu", pair.reserved}};
  if (pair.borrowed != 0) facts.borrowed = {{"od", "gpu", pair.borrowed}};
  return facts;
}

/// Appends to a log in memory.
class UsageLog {
 public:
  const MemoryLog& log() const { return *log_; }
  AuditSource source() const { return {*log_}; }

  static LogTime at(std::int64_t minute) { return LogTime{} + minutes(minute + kBegin); }

  void fact(std::int64_t minute, const SourceName& source, Fact fact) {
    append(at(minute), source, std::move(fact));
  }
  void append(LogTime time, const SourceName& source, Fact fact) {
    std::vector<EventDraft> drafts;
    drafts.push_back({source, Seq{}, std::move(fact), {}});
    REQUIRE(log_->append(drafts, time, epoch_).has_value());
  }
  void start(std::int64_t minute) {
    ++epoch_.value;
    fact(minute, SourceName(kSelf), EpochStarted{"test", "1", 1, 1});
  }
  void queue(std::int64_t minute, const std::string& name, const ClusterQueueFacts& facts,
             const SourceName& source = SourceName(kHub), const std::string& uid = "1") {
    fact(minute, source, seen({Kind::cluster_queue, "", name}, name + "-" + uid, facts));
  }
  void queue(std::int64_t minute, const std::string& name, const PairOf& pair) {
    queue(minute, name, queue_of(pair));
  }
  void queue_gone(std::int64_t minute, const std::string& name) {
    fact(minute, SourceName(kHub), ObjectGone{{Kind::cluster_queue, "", name}, "", ""});
  }
  /// A Workload in namespace "team" with all of its quota in one pod.
  void workload(std::int64_t minute, const std::string& name, const WorkloadFacts& facts,
                const SourceName& source = SourceName(kHub)) {
    fact(minute, source, seen({Kind::workload, "team", name}, name, facts));
  }
  void silent(std::int64_t minute, Kind kind = Kind::cluster_queue,
              const SourceName& source = SourceName(kHub)) {
    fact(minute, source, SourceStale{kind, "", StaleCause::silence});
  }
  void heard(std::int64_t minute, Kind kind = Kind::cluster_queue,
             const SourceName& source = SourceName(kHub)) {
    fact(minute, source, SourceSynced{kind, "", "1"});
  }
  /// An event that says nothing about use: the log goes on until then.
  void tick(std::int64_t minute) { fact(minute, SourceName(kSelf), TimerFired{at(minute)}); }

  static ObjectObserved seen(ObjectKey key, std::string uid, Facts facts) {
    ObjectObserved object;
    object.key = std::move(key);
    object.version = "v1beta2";
    object.uid = std::move(uid);
    object.resource_version = "1";
    object.facts = std::move(facts);
    return object;
  }

  UsageReport report(std::vector<std::int64_t> cuts, UsageView view = {}) const {
    UsageRequest request{std::move(view), {}, "", "UTC"};
    for (const std::int64_t cut : cuts) request.cuts.push_back(at(cut));
    auto report = usage_report(source(), request);
    REQUIRE(report.has_value());
    return *std::move(report);
  }

 private:
  static constexpr std::int64_t kBegin = 29'000'000;  // minutes since 1970: in 2025

  std::unique_ptr<MemoryLog> log_ = std::make_unique<MemoryLog>();
  Epoch epoch_{1};
};

/// The text of a column of a row, in hours.
inline std::string hours_in(const UsageReport& report, const std::string& column,
                            std::size_t row = 0) {
  const auto columns = usage_columns(report, UsageUnit::hours);
  const auto& names = usage_column_names();
  const auto at = std::find(names.begin(), names.end(), column) - names.begin();
  REQUIRE(row < columns.size());
  return columns[row].at(static_cast<std::size_t>(at)).value_or("");
}

}  // namespace fairlead
