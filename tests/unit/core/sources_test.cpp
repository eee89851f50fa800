// Which streams there should be, and what follows where there is none.
#include "engine/core/sources.h"

#include "engine/fold/multikueue/names.h"
#include "tests/unit/core/hand_driver.h"

namespace fairlead {
namespace {

using Breadth = WatchScope::Breadth;

CoreSettings settings_by_state() {
  CoreSettings settings;
  settings.watching = Watching::by_state;
  return settings;
}

Configuration with_pool(Configuration configuration) {
  configuration.pool.clusters.push_back({"cluster2", 100, {}, {}, false});
  return configuration;
}

/// A SmallWorld and a core that knows by itself what is watched.
struct SourcesWorld : HandDriver {
  SourcesWorld() : HandDriver(settings_by_state()) {
    world.at_once();
    world.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
  }
  /// Begins to lead. What is offered before is of no stream.
  std::vector<Event> begin(const Configuration& configuration) {
    REQUIRE(core.configure(configuration));
    return turned();
  }
  /// The events that a turn appends.
  std::vector<Event> turned() {
    const std::size_t before = log.size();
    last = turn();
    return {log.begin() + static_cast<std::ptrdiff_t>(before), log.end()};
  }
  SmallWorld world;
  Ready last;
};

/// "source kind" of each SourceLost.
std::vector<std::string> lost_in(const std::vector<Event>& events) {
  std::vector<std::string> lost;
  for (const Event& event : events)
    if (const auto* fact = std::get_if<SourceLost>(&event.fact))
      lost.push_back(event.source + " " + (fact->kind ? std::string(info(*fact->kind).name) : ""));
  return lost;
}

State state_under(const Configuration& configuration) {
  State state;
  state.configuration = configuration;
  return state;
}

TEST_CASE("a kind is watched where its rules read it, and in one namespace where that suffices") {
  Configuration configuration;
  const Watch usual = watch_of(state_under(configuration));
  CHECK(usual.hub.kinds.at(Kind::claim).breadth == Breadth::everywhere);
  CHECK(usual.hub.kinds.at(Kind::secret) ==
        WatchScope{Breadth::one_namespace, configuration.kueue_namespace});
  CHECK(usual.hub.kinds.at(Kind::placement) ==
        WatchScope{Breadth::everywhere_if_allowed, configuration.kueue_namespace});
  CHECK_FALSE(usual.hub.reads(Kind::virtual_cluster));
  CHECK_FALSE(usual.hub.kinds.contains(Kind::node));
  CHECK(usual.member.reads(Kind::node));
  CHECK_FALSE(usual.member.reads(Kind::pod));
  CHECK_FALSE(usual.member.kinds.contains(Kind::namespace_));
  CHECK(usual.tenant.reads(Kind::resource_quota));

  configuration.record = true;
  const Watch recording = watch_of(state_under(configuration));
  CHECK(recording.hub.reads(Kind::cohort));
  CHECK_FALSE(recording.hub.reads(Kind::claim));
}

TEST_CASE("a super cluster has the streams of its tenants' objects, and its id by name") {
  SmallWorld world;
  const Watch plain = watch_of(state_under(world.configuration));
  const Watch super = watch_of(state_under(with_pool(world.configuration)));
  CHECK_FALSE(plain.members.at("cluster2").super);
  REQUIRE(super.members.at("cluster2").super);
  const Streams& streams = super.of(super.members.at("cluster2"));
  CHECK(streams.reads(Kind::namespace_));
  CHECK(streams.kinds.at(Kind::pod).part == ObjectPart::metadata);
  CHECK(streams.object == ObjectKey{Kind::config_map, "kube-system", "supercluster-info"});
  CHECK_FALSE(streams.kinds.contains(Kind::config_map));
  CHECK(super.hub.reads(Kind::virtual_cluster));
}

TEST_CASE("planning begins by itself once every kind of the hub was listed and is stored") {
  SourcesWorld hub;
  hub.begin(hub.world.configuration);
  REQUIRE(hub.last.idle());
  CHECK(hub.core.awaited().contains(Kind::cohort));
  CHECK_FALSE(hub.core.synced());
  for (WatchFact& fact : lists_of(hub.world))
    if (const auto* list = std::get_if<ListCompleted>(&fact.said);
        !list || list->kind != Kind::cohort)
      hub.core.offer(std::move(fact));
  CHECK(hub.append_all(Durability::pending).flush == hub.core.state().seq);
  CHECK_FALSE(hub.core.synced());
  CHECK(hub.core.absent(Kind::cohort));
  CHECK_FALSE(hub.core.absent(Kind::cohort));
  Ready next = hub.append_all(Durability::pending);
  CHECK(next.flush == hub.core.state().seq);
  CHECK_FALSE(hub.core.synced());
  hub.core.durable(next.flush);
  hub.turned();
  CHECK(hub.core.synced());
  CHECK(hub.count<PatchIntended>() > 0);
}

TEST_CASE("the streams are named when they change, and facts of others are dropped") {
  SourcesWorld hub;
  REQUIRE(hub.core.configure(hub.world.configuration));
  const Ready begun = hub.append_all(Durability::durable);
  REQUIRE(begun.watch != nullptr);
  CHECK(*begun.watch == watch_of(hub.core.state()));
  CHECK(begun.watch->members.contains("cluster2"));
  CHECK(hub.append_all(Durability::durable).watch == nullptr);

  hub.core.offer({"cluster7", StreamLost{Kind::node}});
  CHECK(hub.turned().empty());
  Configuration without = hub.world.configuration;
  without.member_kubeconfigs.clear();
  REQUIRE(hub.core.configure(without));
  CHECK(hub.core.next_deadline() == LogTime{});
  const Ready changed = hub.append_all(Durability::durable);
  REQUIRE(changed.watch != nullptr);
  CHECK(changed.watch->members.empty());
  hub.core.offer(hub.world.member.remove(SmallWorld::node("spot-0")));
  CHECK(hub.turned().empty());
}

TEST_CASE("the id of a new super cluster is lost before anything that it reports") {
  SourcesWorld hub;
  CHECK(lost_in(hub.begin(with_pool(hub.world.configuration))) ==
        std::vector<std::string>{"cluster2 ConfigMap"});
}

// Its streams are others, and begin with lists.
TEST_CASE("what vanished while a member became a super cluster is gone after its first list") {
  SourcesWorld hub;
  hub.begin(hub.world.configuration);
  hub.offer(hub.world.member.list({Kind::node}));
  hub.turned();
  REQUIRE(hub.core.state().clusters.at("cluster2").reports.nodes.size() == 10);
  hub.begin(with_pool(hub.world.configuration));
  (void)hub.world.member.remove(SmallWorld::node("spot-0"));
  hub.offer(hub.world.member.list({Kind::node}));
  hub.turned();
  CHECK(hub.core.state().clusters.at("cluster2").reports.nodes.size() == 9);
}

TEST_CASE("a hub that only records has lost what it does not read any more") {
  SourcesWorld hub;
  hub.begin(hub.world.configuration);
  hub.offer(lists_of(hub.world));
  hub.turned();
  Configuration recording = hub.world.configuration;
  recording.record = true;
  CHECK(lost_in(hub.begin(recording)) == std::vector<std::string>{"hub ClusterResourceClaim"});
  CHECK(hub.core.synced());  // all that it reads was listed
}

TEST_CASE("a tenant's streams are named where a step ends, and dropped with its entry") {
  SourcesWorld hub;
  Configuration configuration = with_pool(hub.world.configuration);
  configuration.pool.tenants.push_back({"t1", "", "t1.kubeconfig"});
  REQUIRE(hub.core.configure(configuration));
  const Ready begun = hub.append_all(Durability::durable);
  REQUIRE(begun.watch != nullptr);
  CHECK(begun.watch->tenants.at(tenant_source("t1")).file == "t1.kubeconfig");
  CHECK(begun.next_deadline == LogTime{});  // its streams are lost
  hub.turned();
  configuration.pool.tenants.clear();
  REQUIRE(hub.core.configure(configuration));
  const Ready ended = hub.append_all(Durability::durable);
  REQUIRE(ended.watch != nullptr);
  CHECK(ended.watch->tenants.empty());
}

TEST_CASE("a tenant counts as lost until its first lists were taken up") {
  Configuration configuration = with_pool(SmallWorld().configuration);
  configuration.pool.tenants.push_back({"t1", "", "t1.kubeconfig"});
  State state = state_under(configuration);
  state.configuration_seq = state.pool.tenancy_seq = Seq{1};
  Sources sources;
  FirstLists lists;
  const WatchFact fact{tenant_source("t1"), ListCompleted{Kind::pod, ""}};
  (void)sources.follow_configuration(state, lists);
  CHECK_FALSE(sources.note(fact));
  CHECK(sources.follow_tenants(state, lists).size() == 3);
  CHECK(sources.note(fact));
  CHECK(sources.follow_tenants(state, lists).empty());
  // Reached in another way, once it is known.
  state.pool.tenants["t1"].first_seen = true;
  state.configuration.pool.tenants[0].file = "other.kubeconfig";
  state.pool.tenancy_seq = Seq{2};
  CHECK(sources.follow_tenants(state, lists).empty());
  CHECK(sources.watch().tenants.at(fact.source).file == "other.kubeconfig");
}

TEST_CASE("a kind that cannot be read is reported, and waited for where the hub writes it") {
  SourcesWorld hub;
  hub.world.configuration.member_mode = MemberMode::binding_policy;
  hub.begin(hub.world.configuration);
  for (const Kind kind : {Kind::workload, Kind::binding_policy, Kind::claim})
    hub.core.offer({std::string(kHub), StreamLost{kind}});
  CHECK(hub.ready().refused == std::vector<Kind>{Kind::workload});
  CHECK_FALSE(hub.core.awaited().contains(Kind::workload));
  CHECK(hub.core.awaited().contains(Kind::binding_policy));
  CHECK(hub.core.awaited().contains(Kind::claim));
}

// ---- Workloads of members ----

WatchFact check_of(const std::string& controller) {
  ObjectSeen seen;
  seen.key = {Kind::admission_check, "", "check"};
  seen.uid = "u";
  seen.resource_version = "1";
  AdmissionCheckFacts facts;
  facts.controller_name = controller;
  seen.facts = facts;
  return {std::string(kHub), std::move(seen)};
}

/// Whether a member's Workloads are read, and a super cluster's, and the Cohorts of both.
bool reads_workloads(const Watch& watch) {
  const bool read = watch.member.reads(Kind::workload);
  for (const Streams* streams : {&watch.member, &watch.super_cluster})
    for (const Kind kind : {Kind::workload, Kind::cohort}) CHECK(streams->reads(kind) == read);
  for (const Kind kind : {Kind::cluster_queue, Kind::local_queue}) CHECK(watch.member.reads(kind));
  return read;
}

TEST_CASE("Workloads and Cohorts of members are read where Workloads are sent there") {
  State state;
  CHECK_FALSE(reads_workloads(watch_of(state)));
  state.multikueue.checks["c"].seen.facts.controller_name = "example.com/other";
  CHECK_FALSE(reads_workloads(watch_of(state)));
  for (const auto controller : {kMultiKueueController, kPlacementController}) {
    state.multikueue.checks["c"].seen.facts.controller_name = controller;
    CHECK(reads_workloads(watch_of(state)));
  }
  state.configuration.workloads.of_members = MemberWorkloads::no;
  CHECK_FALSE(reads_workloads(watch_of(state)));

  State plain;
  plain.configuration.multikueue.dispatcher = true;
  CHECK(reads_workloads(watch_of(plain)));
  plain.configuration.multikueue.dispatcher = false;
  plain.configuration.workloads.of_members = MemberWorkloads::yes;
  CHECK(reads_workloads(watch_of(plain)));
}

TEST_CASE("a hub that only records reads Workloads of members where MultiKueue has workers") {
  State state;
  state.configuration.record = true;
  state.multikueue.checks["c"].seen.facts.controller_name = kMultiKueueController;
  CHECK_FALSE(reads_workloads(watch_of(state)));
  state.multikueue.clusters["w1"] = {};
  CHECK(reads_workloads(watch_of(state)));
}

TEST_CASE(
    "an AdmissionCheck that comes opens the streams of members' Workloads, and its end closes "
    "them") {
  SourcesWorld hub;
  REQUIRE(hub.core.configure(hub.world.configuration));
  Ready ready = hub.append_all(Durability::durable);
  REQUIRE(ready.watch != nullptr);
  CHECK_FALSE(reads_workloads(*ready.watch));

  hub.core.offer(check_of(std::string(kMultiKueueController)));
  ready = hub.append_all(Durability::durable);
  REQUIRE(ready.watch != nullptr);
  CHECK(reads_workloads(*ready.watch));
  CHECK(*ready.watch == watch_of(hub.core.state()));
  CHECK(hub.append_all(Durability::durable).watch == nullptr);

  hub.core.offer({"cluster2", ListCompleted{Kind::workload, "1"}});
  CHECK(hub.turned().size() == 1);
  hub.core.offer({std::string(kHub), ObjectMissing{{Kind::admission_check, "", "check"}, "u", ""}});
  ready = hub.append_all(Durability::durable);
  REQUIRE(ready.watch != nullptr);
  CHECK_FALSE(reads_workloads(*ready.watch));
  CHECK(ready.next_deadline == LogTime{});
  // From then on nothing is known of them.
  CHECK(lost_in(hub.turned()) == std::vector<std::string>{"cluster2 Workload"});
}

TEST_CASE("the Workloads of a member that is watched no more are lost") {
  SourcesWorld hub;
  hub.world.configuration.workloads.of_members = MemberWorkloads::yes;
  hub.begin(hub.world.configuration);
  hub.core.offer({"cluster2", ListCompleted{Kind::workload, "1"}});
  CHECK(hub.turned().size() == 1);
  Configuration without = hub.world.configuration;
  without.member_kubeconfigs.clear();
  CHECK(lost_in(hub.begin(without)) == std::vector<std::string>{"cluster2 Workload"});
  CHECK(lost_in(hub.begin(hub.world.configuration)).empty());
}

}  // namespace
}  // namespace fairlead
