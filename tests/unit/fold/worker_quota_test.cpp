// The quota of a hub queue that follows its workers:
// docs/decisions/0028-a-quota-that-follows-workers.md.
#include "engine/fold/queues/worker_quota.h"

#include <catch2/catch.hpp>

#include "engine/fold/state.h"

namespace fairlead::worker_quota_test {
namespace {

const QuotaKey kPair{"od", "cpu"};

// A hub queue q that follows the workers of Placement gpu, by the hub's LocalQueue team/main. A
// value falls after 15 s and grows after 300 s; a first value counts after 60 s without a change.
struct Hub {
  State state;
  Queue& queue = state.queues.by_name["q"];
  WorkerList& list = state.multikueue.lists["gpu"];

  Hub() {
    DebounceSettings& settings = state.configuration.debounce;
    settings.shrink_window = seconds(15);
    settings.grow_window = seconds(300);
    settings.first_quiet = seconds(60);
    settings.min_grow_interval = {};
    settings.grow_deadband_percent = 0;
    CheckRecord& check = state.multikueue.checks["mk"];
    check.ours = check.good = true;
    check.placement = "gpu";
    queue.present = queue.workers.asked = true;
    queue.facts.admission_checks = {"mk"};
    state.queues.local[{"team", "main"}] = {"q", {}, {}};
    list.use = ListUse::live;
    at(1000);
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  // A member of the list.
  Worker& works(const std::string& cluster) {
    Worker& worker = list.workers["gpu-" + cluster];
    worker.cluster = cluster;
    worker.selected = worker.listed = true;
    worker.standing = Standing::member;
    worker.causes = {Seq{5}};
    return worker;
  }
  // The worker's ClusterQueue x behind team/main has that quota.
  Cluster& reports(const std::string& cluster, Amount cpu) {
    Cluster& member = state.clusters[cluster];
    member.member.local_queues[{"team", "main"}] = {"x", {}, {}};
    member.member.queues["x"] = {{quota("cpu", cpu)}, {}, Seq{7}, {}, {}, {}, {}, {}, {}, {}, {}};
    return member;
  }
  static ResourceGroup quota(const std::string& resource, Amount amount) {
    return {{resource}, {{"od", {{resource, to_quantity(resource, amount), {}, {}}}}}};
  }
  void close() {
    mark_follower_dirty(state, "q");
    recompute_worker_quotas(state);
  }
  LogTime deadline() const {
    const auto found = state.deadlines.all().find(QuotaDeadline{"q"});
    return found == state.deadlines.all().end() ? kForever : found->second;
  }
  // Evaluates the queue at each of its deadlines up to that second.
  void until(std::int64_t second) {
    const LogTime end = LogTime{} + seconds(second);
    while (deadline() <= end) {
      state.now = deadline();
      state.deadlines.clear(QuotaDeadline{"q"});
      close();
    }
    state.now = end;
  }
  Amount share(const std::string& cluster, const QuotaKey& pair = kPair) const {
    const auto found = queue.workers.shares.find(cluster);
    return found == queue.workers.shares.end()
               ? -1
               : share_of(state.clusters, cluster, found->second, pair);
  }
  // Worker a has 4 cpu, accepted at 1060 s.
  Hub& with_a() {
    works("a");
    reports("a", 4000);
    close();
    until(1060);
    REQUIRE(share("a") == 4000);
    return *this;
  }
};

std::set<std::string> related(const Hub& hub, const Cluster& member) {
  std::set<std::string> names;
  for (const auto& [name, stopped] : related_queues(hub.state.queues, "q", member))
    names.insert(name);
  return names;
}

TEST_CASE("worker quota: related queues are behind LocalQueues of the same namespace and name") {
  Hub hub;
  Cluster& member = hub.reports("a", 4000);
  member.member.local_queues[{"team", "other"}] = {"y", {}, {}};
  member.member.local_queues[{"elsewhere", "main"}] = {"z", {}, {}};
  hub.state.queues.local[{"elsewhere", "main"}] = {"another", {}, {}};
  CHECK(related(hub, member) == std::set<std::string>{"x"});
  hub.state.queues.local[{"team", "other"}] = {"q", {}, {}};
  CHECK(related(hub, member) == std::set<std::string>{"x", "y"});
  member.member.local_queues[{"team", "other"}] = {"x", {}, {}};  // two of them lead to one queue
  CHECK(related(hub, member) == std::set<std::string>{"x"});
}

TEST_CASE("worker quota: a queue that admits nothing says why and adds nothing") {
  Hub hub;
  hub.with_a();
  Cluster& member = hub.state.clusters["a"];
  member.member.local_queues[{"team", "second"}] = {"x", {}, {}};
  LocalQueueFacts& local = member.member.local_queues[{"team", "main"}];
  MemberQueue& queue = member.member.queues["x"];
  std::string why;
  SECTION("a held ClusterQueue") {
    queue.stop_policy = "Hold";
    why = "ClusterQueue x has stopPolicy Hold";
  }
  SECTION("a ClusterQueue that Kueue holds for inactive, which its LocalQueues follow") {
    queue.active = ConditionStatus::no;
    queue.reason = "FlavorNotFound";
    local.active = {ConditionStatus::no, "ClusterQueueIsInactive", 0};
    why = "ClusterQueue x is inactive: FlavorNotFound";
  }
  SECTION("a drained LocalQueue") {
    local.stop_policy = "HoldAndDrain";
    why = "LocalQueue team/main has stopPolicy HoldAndDrain";
  }
  SECTION("an inactive LocalQueue") {
    local.active = {ConditionStatus::no, "", 0};
    why = "LocalQueue team/main is inactive";
  }
  SECTION("None stops nothing, nor does an unknown condition") {
    queue.stop_policy = local.stop_policy = "None";
    queue.active = local.active.status = ConditionStatus::unknown;
  }
  CHECK(related_queues(hub.state.queues, "q", member).at("x") == why);
  const Amount counts = why.empty() ? 4000 : 0;
  hub.close();
  CHECK(hub.share("a") == 4000);  // for shrinkWindow
  hub.until(1075);
  CHECK(hub.share("a") == counts);
  if (local.stop_policy.empty() && local.active.status == ConditionStatus::absent) return;
  if (!queue.stop_policy.empty() || queue.active != ConditionStatus::absent) return;
  // One LocalQueue that admits is enough.
  hub.state.queues.local[{"team", "second"}] = {"q", {}, {}};
  CHECK(related_queues(hub.state.queues, "q", member).at("x").empty());
}

TEST_CASE("worker quota: a share is the sum over the related queues, by canonical resource") {
  Hub hub;
  hub.works("a");
  Cluster& member = hub.reports("a", 4000);
  member.member.queues["x"].groups.push_back(Hub::quota("gpu", 2));
  member.member.queues["y"] = {{Hub::quota("cpu", 1000), Hub::quota("nvidia.com/gpu", 3)},
                               {},
                               Seq{8},
                               {},
                               {},
                               {},
                               {},
                               {},
                               {},
                               {},
                               {}};
  member.member.queues["z"] = {
      {Hub::quota("cpu", 9000)}, {}, Seq{9}, {}, {}, {}, {}, {}, {}, {}, {}};
  member.member.local_queues[{"team", "second"}] = {"y", {}, {}};
  hub.state.queues.local[{"team", "second"}] = {"q", {}, {}};
  hub.close();
  hub.until(1060);
  CHECK(hub.share("a") == 5000);
  CHECK(hub.share("a", {"od", "nvidia.com/gpu"}) == 5);
  CHECK(hub.share("a", {"spot", "cpu"}) == 0);
  CHECK(hub.queue.workers.shares["a"].causes == std::vector<Seq>{Seq{5}, Seq{7}, Seq{8}});
}

TEST_CASE("worker quota: a quota is known once every worker of the list has a first value") {
  Hub hub;
  hub.works("a");
  hub.works("b");  // is not watched, and no claim names the queue for it: waits for growWindow
  hub.reports("a", 4000);
  hub.close();
  CHECK(hub.deadline() == LogTime{} + seconds(1060));
  hub.until(1060);
  CHECK(hub.share("a") == 4000);
  CHECK_FALSE(hub.queue.workers.known);
  SECTION("the last one after growWindow") {
    hub.until(1299);
    CHECK_FALSE(hub.queue.workers.known);
    hub.until(1300);
    CHECK(hub.queue.workers.known);
    CHECK(hub.share("b") == 0);
  }
  SECTION("a newcomer is not waited for") {
    hub.list.workers["gpu-b"].listed = false;
    hub.close();
    CHECK(hub.queue.workers.known);
  }
}

TEST_CASE("worker quota: a first value that keeps changing is the least of growWindow") {
  Hub hub;
  hub.works("a");
  for (std::int64_t second = 1000; second < 1300; second += 30) {
    hub.until(second);
    hub.reports("a", second == 1060 ? 2000 : second * 10);
    hub.close();
    CHECK(hub.share("a") == 0);
  }
  hub.until(1299);
  CHECK(hub.share("a") == 0);
  hub.until(1300);
  CHECK(hub.share("a") == 2000);
}

TEST_CASE("worker quota: a share falls after shrinkWindow and grows after growWindow") {
  Hub hub;
  hub.with_a();
  hub.at(1100);
  hub.reports("a", 3000);
  hub.close();
  hub.until(1114);
  CHECK(hub.share("a") == 4000);
  hub.until(1115);
  CHECK(hub.share("a") == 3000);
  hub.reports("a", 5000);
  hub.close();
  hub.until(1414);
  CHECK(hub.share("a") == 3000);
  hub.until(1415);
  CHECK(hub.share("a") == 5000);
  CHECK(hub.deadline() == kForever);
}

TEST_CASE("worker quota: a pair that appears after the first values grows from zero") {
  Hub hub;
  hub.with_a();
  hub.at(1100);
  hub.reports("a", 4000).member.queues["x"].groups.push_back(Hub::quota("memory", 1 << 30));
  hub.close();
  hub.until(1399);
  CHECK(hub.share("a", {"od", "memory"}) == 0);
  hub.until(1400);
  CHECK(hub.share("a", {"od", "memory"}) == 1 << 30);
}

TEST_CASE("worker quota: a stale worker falls and does not grow, and then waits for growWindow") {
  Hub hub;
  hub.with_a();
  hub.at(1100);
  hub.reports("a", 3000).liveness_at_close = Liveness::stale;
  hub.close();
  hub.until(1115);
  CHECK(hub.share("a") == 3000);
  hub.reports("a", 9000);
  hub.close();
  hub.until(2000);
  CHECK(hub.share("a") == 3000);
  hub.reports("a", 9000).liveness_at_close = Liveness::live;
  hub.close();
  hub.until(2299);
  CHECK(hub.share("a") == 3000);
  hub.until(2300);
  CHECK(hub.share("a") == 9000);
}

TEST_CASE("worker quota: a lost worker keeps its value, which the hub does not count meanwhile") {
  Hub hub;
  hub.with_a();
  hub.at(1100);
  Cluster& member = hub.reports("a", 2000);
  member.liveness_at_close = Liveness::lost;
  hub.close();
  hub.until(1200);
  CHECK(hub.share("a") == 4000);
  member.counted_again_at = kForever;
  CHECK(hub.share("a") == 0);
  member.counted_again_at.reset();
  member.liveness_at_close = Liveness::live;
  hub.close();
  CHECK(hub.share("a") == 2000);
}

TEST_CASE("worker quota: a newcomer is measured while it waits and counts as it enters") {
  Hub hub;
  hub.works("a").listed = false;
  hub.reports("a", 4000);
  hub.close();
  hub.until(1060);
  REQUIRE(hub.queue.workers.shares.at("a").known);
  CHECK(hub.share("a") == 0);
  hub.list.workers["gpu-a"].listed = true;
  hub.close();
  CHECK(hub.share("a") == 4000);
}

TEST_CASE("worker quota: a leaver counts until it only stays for the Workloads that run there") {
  Hub hub;
  Worker& worker = hub.with_a().list.workers["gpu-a"];
  worker.selected = false;
  worker.standing = Standing::leaving;
  worker.causes = {Seq{9}};
  hub.close();
  CHECK(hub.share("a") == 4000);
  hub.queue.contributed = {{"a", "od", "cpu", 4000}};
  worker.standing = Standing::held;
  SECTION("it stops at once, by the events that removed it") {
    hub.close();
    CHECK(hub.share("a") == -1);
    CHECK(hub.queue.workers.left.at("a") == std::vector<Seq>{Seq{9}});
    hub.queue.contributed.clear();  // a write without it: the reason is not needed any more
    hub.close();
    CHECK(hub.queue.workers.left.empty());
  }
  SECTION("a list that is kept as it is counts all of its workers") {
    hub.list.use = ListUse::kept;
    hub.close();
    CHECK(hub.share("a") == 4000);
  }
  SECTION("a cluster that is detached does not count") {
    worker.standing = Standing::leaving;
    hub.state.clusters["a"].presence.detached = true;
    hub.close();
    CHECK(hub.share("a") == -1);
  }
}

TEST_CASE("worker quota: of a worker that is not watched the claims count, until it is watched") {
  Hub hub;
  hub.works("a");
  Claim& claim = hub.state.claims.by_name["k"];
  claim.terms = ClaimTerms{};
  claim.terms->cluster = "a";
  hub.state.claims.of_queue["q"] = {"k"};
  hub.close();
  const WorkerShare& share = hub.queue.workers.shares.at("a");
  CHECK(share.from == ShareFrom::claims);
  CHECK_FALSE(hub.queue.workers.known);
  claim.known = true;
  hub.close();
  CHECK(hub.queue.workers.known);
  claim.terms->cluster = "b";  // a claim of another cluster says nothing of this worker
  hub.close();
  CHECK(share.from == ShareFrom::none);
  hub.reports("a", 4000);
  hub.close();
  CHECK(share.from == ShareFrom::member);
  CHECK_FALSE(share.known);
  hub.until(1060);
  CHECK(hub.share("a") == 4000);
}

TEST_CASE("worker quota: a queue that stops following leaves its quota to the administrator") {
  Hub hub;
  hub.with_a();
  hub.queue.written = {{kPair, 4000}, {{"spot", "cpu"}, 1000}};
  Claim& claim = hub.state.claims.by_name["k"];
  claim.terms = ClaimTerms{};
  claim.terms->cluster = "c1";
  claim.terms->rows = {{"q", "spot", "cpu", "cpu", 1000, 0, 0}};
  claim.winner = true;
  hub.state.claims.of_queue["q"] = {"k"};
  ++*hub.state.claims.terms_changes;
  hub.state.queues.dirty.clear();
  SECTION("the annotation is removed") { hub.queue.workers.asked = false; }
  SECTION("its check is not ours any more") { hub.state.multikueue.checks["mk"].ours = false; }
  SECTION("the queue is gone") { hub.queue.present = false; }
  hub.close();
  CHECK_FALSE(hub.queue.workers.follows);
  CHECK_FALSE(hub.queue.workers.known);
  CHECK(hub.queue.workers.shares.empty());
  CHECK(hub.deadline() == kForever);
  CHECK(hub.queue.written == std::map<QuotaKey, Amount>{{{"spot", "cpu"}, 1000}});
  CHECK(hub.state.queues.dirty == std::set<std::string>{"q"});
}

TEST_CASE("worker quota: only a queue with the annotations is evaluated, and once after they go") {
  Hub hub;
  MultiKueue& all = hub.state.multikueue;
  hub.queue.workers.asked = false;
  mark_follower_dirty(hub.state, "q");
  mark_follower_dirty(hub.state, "none");
  CHECK(all.dirty_followers.empty());
  hub.queue.workers.malformed = "percent";  // its last good terms may not ask for it
  mark_follower_dirty(hub.state, "q");
  CHECK(all.followers == std::set<std::string>{"q"});
  recompute_worker_quotas(hub.state);
  CHECK_FALSE(hub.queue.workers.follows);
  mark_followers_dirty(hub.state.multikueue);
  CHECK(all.dirty_followers == std::set<std::string>{"q"});
  all.dirty_followers.clear();
  hub.queue.workers.malformed.clear();
  mark_follower_dirty(hub.state, "q");
  CHECK(all.dirty_followers == std::set<std::string>{"q"});
  CHECK(all.followers.empty());
}

TEST_CASE("worker quota: a follower whose quota is compared is evaluated with it") {
  Hub hub;
  hub.works("a");
  hub.reports("a", 4000);
  hub.state.multikueue.followers = {"q"};
  recompute_worker_quotas(hub.state);
  CHECK_FALSE(hub.queue.workers.follows);
  SECTION("the queue changed") { hub.state.queues.dirty = {"q"}; }
  SECTION("its quota has to be compared") { hub.state.queues.dirty_quotas = {"q"}; }
  recompute_worker_quotas(hub.state);
  CHECK(hub.queue.workers.follows);
}

}  // namespace
}  // namespace fairlead::worker_quota_test
