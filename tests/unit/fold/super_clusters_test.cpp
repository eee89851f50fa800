// When a super cluster is open, closed, away or gone. Which there are is in
// super_cluster_ids_test.cpp.
#include "engine/fold/pool/super_clusters.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::super_clusters {
namespace {

constexpr auto kOpen = ClusterStanding::open;
constexpr auto kClosed = ClusterStanding::closed;
constexpr auto kAway = ClusterStanding::away;
constexpr auto kGone = ClusterStanding::gone;

struct Members : PoolStage {
  explicit Members(const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {}
  ClusterStanding standing(const std::string& id) { return standing_of(state, id); }
  ClusterStanding standing_at(std::int64_t time, const std::string& id) {
    at(time);
    close();
    return standing(id);
  }
};

TEST_CASE("super clusters: from live over stale and lost to back, with the windows between") {
  Configuration configuration = undamped_pool();
  configuration.debounce.first_quiet = seconds(60);
  configuration.debounce.grow_window = minutes(5);
  configuration.pool.lost_grace = minutes(10);
  Members stage(configuration);
  stage.offer("r1", 1);
  CHECK(stage.standing_at(59, "r1") == kClosed);  // no value was accepted
  CHECK(stage.standing_at(60, "r1") == kOpen);
  stage.fold("r1", SourceStale{Kind::node, ""});
  CHECK(stage.standing_at(70, "r1") == kClosed);
  stage.at(100);
  stage.lose("r1");
  CHECK(stage.standing_at(100, "r1") == kAway);
  CHECK(next_super_cluster_deadline(stage.state) == second(700));
  stage.at(200);
  stage.fold("r1", SourceStale{Kind::node, ""});  // a lost one is lost until it is live
  CHECK(stage.standing_at(699, "r1") == kAway);
  CHECK(stage.standing_at(700, "r1") == kGone);
  CHECK(next_super_cluster_deadline(stage.state) == kForever);
  stage.at(800);
  stage.hear_from("r1");
  CHECK(stage.standing_at(800, "r1") == kClosed);
  CHECK(next_super_cluster_deadline(stage.state) == second(1100));
  CHECK(stage.standing_at(1099, "r1") == kClosed);
  CHECK(stage.standing_at(1100, "r1") == kOpen);
  CHECK(next_super_cluster_deadline(stage.state) == kForever);
}

TEST_CASE("super clusters: one that is back at the end of its grace was never gone") {
  Members stage;
  stage.offer("r1", 2);
  stage.tenant("acme");
  stage.want(acme("web"), 2);
  stage.run();
  stage.at(10);
  stage.offer("r2", 2);
  stage.lose("r1");
  stage.run();
  stage.at(610);
  stage.hear_from("r1");
  stage.run();
  CHECK(stage.standing("r1") == kOpen);
  CHECK(stage.placements(acme("web")) == SliceMap{{"r1", 2}});
}

TEST_CASE("super clusters: a drain makes one gone at once, and its end open again") {
  Configuration configuration = undamped_pool();
  Members stage(configuration);
  stage.offer("r1", 1);
  CHECK(stage.standing_at(1, "r1") == kOpen);
  configuration.pool.clusters.front().drain = true;
  stage.configure(configuration);
  CHECK(stage.standing_at(1, "r1") == kGone);
  configuration.pool.clusters.front().drain = false;
  stage.configure(configuration);
  CHECK(stage.standing_at(1, "r1") == kOpen);
}

TEST_CASE("super clusters: an id that no member has is away from when it is named, and then gone") {
  Members stage;
  stage.fold("r1", SourceLost{Kind::config_map, ""});
  stage.offer("r1", 1);
  stage.at(10);
  stage.tenant("acme");
  stage.placed(acme("web"), {{"r9", 1}});
  stage.placed(acme("other"), {{"r1", 1}});
  stage.run();
  CHECK(stage.pool().unknown.at("r9") == second(10));
  CHECK(stage.standing("r9") == kClosed);  // it may be that of r1, which is being read
  stage.at(20);
  stage.fold("r1", SourceSynced{Kind::config_map, "", ""});
  stage.run();
  CHECK(stage.standing("r9") == kAway);
  CHECK(next_super_cluster_deadline(stage.state) == second(610));
  CHECK(stage.standing_at(609, "r9") == kAway);
  CHECK(stage.standing_at(610, "r9") == kGone);
  CHECK(stage.placements(acme("web")) == SliceMap{{"r9", 1}});  // r1 has no room
  stage.quota(acme("other"), 0);
  stage.run();
  CHECK(stage.placements(acme("web")) == SliceMap{{"r1", 1}});
  CHECK(stage.pool().unknown.empty());
}

TEST_CASE("super clusters: only those that the moment changed are looked at, with their cause") {
  Members stage;
  stage.offer("r1", 1);
  stage.offer("r2", 1);
  stage.close();
  const Seq before = stage.pool().clusters.at("r2").seq;
  stage.offer("r1", 2);
  const Seq changed = stage.state.seq;
  stage.fold("r2", SourceSynced{Kind::node, "", ""});
  stage.close();
  CHECK(stage.pool().clusters.at("r1").seq == changed);
  CHECK(stage.pool().clusters.at("r1").accepted.at("cpu") == 2 * kDefaultSlice.cpu);
  CHECK(stage.pool().clusters.at("r2").seq == before);
  recompute_super_clusters(stage.state, {"r1", "r2"});
  CHECK(stage.pool().dirty_clusters.empty());
  stage.state.clusters.at("r2").pool.liveness = Liveness::stale;
  recompute_super_clusters(stage.state, {"r1", "r2"});
  CHECK(stage.pool().dirty_clusters == std::set<std::string>{"r2"});
}

}  // namespace
}  // namespace fairlead::pool_tests::super_clusters
