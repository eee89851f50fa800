// What a real Kueue and a real OCM said while Placements moved and a worker failed, line by line.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/watch_decoder.h"

using namespace fairlead;

namespace {

struct Line {
  WatchEventType type{};
  ObjectSeen seen;
};

// Every line of a recorded stream, decoded and projected. Empty where the recording is not there.
std::vector<Line> lines_of(const std::string& name) {
  const std::filesystem::path file = "../shared/records/" + name + ".jsonl";
  if (!std::filesystem::exists(file)) {
    WARN(file.string() + " is not there: this stream was not run");
    return {};
  }
  std::ifstream in(file);
  WatchDecoder decoder;
  decoder.feed(std::string(std::istreambuf_iterator<char>(in), {}));
  std::vector<Line> lines;
  for (WatchStep step = decoder.next(); step.kind != WatchStep::Kind::need_more;
       step = decoder.next()) {
    INFO(name << " " << lines.size() << " " << step.fault);
    REQUIRE(step.kind == WatchStep::Kind::event);
    auto object = project(step.event->object());
    REQUIRE(object.has_value());
    REQUIRE(object->has_value());
    CHECK(!(*object)->uid.empty());
    CHECK(!(*object)->resource_version.empty());
    lines.push_back({step.event->type, std::move(**object)});
  }
  return lines;
}

template <class F>
const F& facts(const Line& line) {
  return std::get<F>(line.seen.facts);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("recorded PlacementDecisions: the clusters of each, as the scores moved them") {
  const auto lines = lines_of("i-placementdecisions-scores");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 29);
  const auto said = [&](std::size_t at) { return facts<PlacementDecisionFacts>(lines[at]); };
  CHECK(said(0) == PlacementDecisionFacts{"all", {"alpha", "mike", "zeta"}});
  CHECK(said(1) == PlacementDecisionFacts{"best", {"alpha"}});
  CHECK(said(4) == PlacementDecisionFacts{"best", {"zeta"}});
  CHECK(said(14) == PlacementDecisionFacts{"best2", {"alpha", "mike"}});
  CHECK(said(21) == PlacementDecisionFacts{"all", {"mike", "zeta"}});
  CHECK(said(28) == PlacementDecisionFacts{"all", {"alpha", "zeta"}});
  CHECK(lines[28].seen.key ==
        ObjectKey{Kind::placement_decision, "kueue-system", "all-decision-1"});
  // The top-1 Placement, in order.
  Names best;
  for (const Line& line : lines)
    if (const auto& decision = facts<PlacementDecisionFacts>(line); decision.placement == "best") {
      REQUIRE(decision.clusters.size() == 1);
      best.push_back(decision.clusters[0]);
    }
  CHECK(best == Names{"alpha", "zeta", "mike", "zeta", "alpha", "zeta", "alpha", "mike", "zeta",
                      "mike", "zeta", "mike", "zeta"});
}

TEST_CASE("recorded AddOnPlacementScores: none yet, negative, and with an end") {
  const auto lines = lines_of("i-scores");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 14);
  const auto score = [&](std::size_t at) { return facts<AddOnPlacementScoreFacts>(lines[at]); };
  const auto value = [&](std::size_t at) { return score(at).scores.at("gpuClusterAvailable"); };
  CHECK(score(0) == AddOnPlacementScoreFacts{});
  CHECK(lines[0].seen.key ==
        ObjectKey{Kind::addon_placement_score, "zeta", "resource-usage-score"});
  CHECK(value(1) == 50);
  CHECK(value(4) == -20);
  CHECK_FALSE(score(8).valid_until);
  CHECK(value(9) == 90);
  CHECK(score(9).valid_until == parse_rfc3339("2026-11-21T00:00:00Z"));
  CHECK(score(10).valid_until == parse_rfc3339("2026-11-21T14:22:56Z"));
  CHECK_FALSE(score(12).valid_until);
  CHECK(value(12) == 10);
  CHECK(lines[13].type == WatchEventType::deleted);
}

TEST_CASE("recorded Placements: only those that rank by a score name one") {
  const auto lines = lines_of("i-placements");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 11);
  const ScorePrioritizer gpu{"resource-usage-score", "gpuClusterAvailable", 1};
  for (std::size_t at = 0; at < lines.size(); ++at) {
    INFO(at);
    const bool ranks = lines[at].seen.key.name.starts_with("best");
    CHECK(ranks == (at == 1 || at == 2));
    CHECK(facts<PlacementFacts>(lines[at]).prioritizers ==
          (ranks ? std::vector{gpu} : std::vector<ScorePrioritizer>{}));
  }
}

TEST_CASE("recorded Workloads: from a stalled check to a second run elsewhere") {
  const auto lines = lines_of("e-workloads-hub");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 64);
  using Checks = std::vector<WorkloadCheck>;
  const auto workload = [&](std::size_t at) { return facts<WorkloadFacts>(lines[at]); };
  const Checks waiting{{"mkc", "Pending"}, {"place", "Pending"}};
  const Checks answered{{"mkc", "Pending"}, {"place", "Ready"}};
  const Checks ready{{"mkc", "Ready"}, {"place", "Ready"}};
  WorkloadFacts fresh;
  fresh.created = workload(0).created;
  CHECK(fresh.created != LogTime{});
  fresh.progress = workload(0).progress;
  CHECK(workload(0) == fresh);
  REQUIRE(fresh.progress);
  CHECK(fresh.progress->conditions.empty());
  CHECK(fresh.progress->owner_kind == "Job");
  CHECK(workload(1).checks == waiting);
  CHECK_FALSE(workload(1).quota_reserved);
  CHECK(workload(2).quota_reserved);
  CHECK(workload(4).checks == answered);
  CHECK(workload(5).nominated_clusters == Names{"pl-w1", "pl-w2"});
  CHECK(workload(6).checks == ready);
  CHECK(workload(6).cluster_name == "pl-w1");
  CHECK(workload(6).nominated_clusters.empty());
  CHECK(workload(12).checks == Checks{{"place", "Ready"}});  // a merge patch dropped the other
  CHECK(workload(33).checks == Checks{{"mkc", "Ready"}, {"nosuch", "Ready"}, {"place", "Ready"}});
  CHECK(workload(35).finished);
  CHECK(workload(36).deleting);
  CHECK(workload(52).checks == Checks{{"mkc", "Retry"}, {"place", "Ready"}});
  CHECK(workload(52).cluster_name == "pl-w1");
  CHECK_FALSE(workload(52).evicted);
  CHECK(workload(53).checks == waiting);  // the eviction reset both
  CHECK(workload(53).cluster_name.empty());
  CHECK(workload(53).evicted);
  CHECK(workload(53).quota_reserved);
  CHECK_FALSE(workload(56).quota_reserved);
  CHECK(workload(58).quota_reserved);
  CHECK_FALSE(workload(58).evicted);
  CHECK(workload(59).cluster_name == "pl-w2");
  CHECK(workload(61).finished);
  CHECK(lines[63].type == WatchEventType::deleted);
  Names ran;
  for (const Line& line : lines)
    if (const auto& at = facts<WorkloadFacts>(line).cluster_name;
        line.seen.key == ObjectKey{Kind::workload, "mk", "job-m1-86289"} &&
        (ran.empty() || ran.back() != at))
      ran.push_back(at);
  CHECK(ran == Names{"", "pl-w1", "", "pl-w2"});
}

TEST_CASE("recorded Workloads without any check project too") {
  const auto lines = lines_of("b-workloads");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 17);
  for (const Line& line : lines) {
    CHECK(facts<WorkloadFacts>(line).checks.empty());
    CHECK(facts<WorkloadFacts>(line).cluster_name.empty());
  }
  CHECK(facts<WorkloadFacts>(lines[1]).quota_reserved);
  CHECK_FALSE(facts<WorkloadFacts>(lines[8]).quota_reserved);
}

TEST_CASE("recorded MultiKueueClusters: what Active says when a worker's API server dies") {
  const auto lines = lines_of("y-multikueueclusters-outage");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 5);
  const auto cluster = [&](std::size_t at) { return facts<MultiKueueClusterFacts>(lines[at]); };
  CHECK(cluster(0).secret == "kueue-admin-w1-kubeconfig");
  CHECK(cluster(0).path.empty());
  CHECK(cluster(0).cluster_profile.empty());
  CHECK(cluster(0).mark == OwnerMark{});
  CHECK(cluster(1).secret == "kueue-admin-w2-kubeconfig");
  CHECK(cluster(1).active == ConditionFacts{ConditionStatus::yes, "Active", 1});
  CHECK(cluster(2).active == ConditionFacts{ConditionStatus::no, "ClientConnectionFailed", 1});
  CHECK(cluster(3) == cluster(2));  // only the message differs
  CHECK(cluster(4) == cluster(1));
}

TEST_CASE("recorded MultiKueueConfigs: the list keeps its order") {
  const auto lines = lines_of("f-multikueueconfigs");
  if (lines.empty()) return;
  REQUIRE(lines.size() == 7);
  const auto clusters = [&](std::size_t at) {
    return facts<MultiKueueConfigFacts>(lines[at]).clusters;
  };
  CHECK(clusters(0) == Names{"pl-w1", "pl-w2"});
  CHECK(clusters(1) == Names{"pl-w1"});
  CHECK(clusters(3) == Names{"pl-w2", "pl-w1"});
  CHECK(clusters(6) == Names{"pl-w2", "pl-w1"});
}
