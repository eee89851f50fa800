#include "engine/fold/evolve.h"

#include <boost/pfr.hpp>
#include <catch2/catch.hpp>
#include <type_traits>
#include <utility>

namespace fairlead::evolve_test {
namespace {

const std::string kHubName(kHub);

// A log of events that are folded one by one.
struct Log {
  State state;
  DirtySet dirty;
  std::uint64_t seq = 0;

  void at(std::int64_t second, const std::string& source, Fact fact) {
    Event event;
    event.seq = Seq{++seq};
    event.log_time = LogTime{} + seconds(second);
    event.epoch = Epoch{2};
    event.source = source;
    event.fact = std::move(fact);
    evolve(state, event, dirty);
  }
};

ObjectObserved seen(Kind kind, const std::string& name, Facts facts, const std::string& uid = "u") {
  return {{kind, "", name}, "v1beta2", uid, "7", 1, std::move(facts), {}};
}

ObjectObserved claim_of(const std::string& cluster, const std::string& cpu,
                        const std::string& uid = "u") {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = {{"cpu", "100"}};
  facts.spec.assignments = {{"q", "od", {{"cpu", cpu}}, {}, {}}};
  return seen(Kind::claim, "k", facts, uid);
}

ObjectObserved node_with(Amount cpu) {
  NodeFacts facts;
  facts.ready = true;
  facts.allocatable = {{"cpu", cpu}};
  return seen(Kind::node, "n1", facts);
}

// Headroom 0 and no quiet time: a first value is accepted in its moment.
ConfigChanged at_once() {
  ConfigChanged changed;
  changed.configuration.headroom.percent.clear();
  changed.configuration.debounce.first_quiet = {};
  return changed;
}

TEST_CASE("evolve: a moment is decided when time passes, not within it") {
  Log log;
  log.at(0, std::string(kSelf), at_once());
  log.at(0, kHubName, seen(Kind::resource_flavor, "od", ResourceFlavorFacts{}));
  log.at(0, kHubName, claim_of("c1", "5"));
  log.at(0, "c1", node_with(9000));
  CHECK_FALSE(log.state.clusters.at("c1").known);
  CHECK(log.state.dirty_clusters == std::set<std::string>{"c1"});
  log.at(1, kHubName, seen(Kind::cluster_queue, "q", ClusterQueueFacts{}));
  CHECK(log.state.clusters.at("c1").known);
  CHECK(log.state.claims.by_name.at("k").grants.at(0).granted == 5000);
  CHECK(log.dirty.claims.contains("k"));
  CHECK(log.dirty.everything);  // the configuration changed
}

TEST_CASE("evolve: the order of the facts of one moment does not matter") {
  const std::vector<std::pair<std::string, ObjectObserved>> facts = {
      {kHubName, claim_of("c1", "5")},
      {"c1", node_with(9000)},
      {kHubName, seen(Kind::resource_flavor, "od", ResourceFlavorFacts{})}};
  std::vector<Amount> granted;
  using Order = std::array<std::size_t, 3>;
  for (const Order& order : {Order{0, 1, 2}, Order{2, 1, 0}, Order{1, 2, 0}}) {
    Log log;
    log.at(0, std::string(kSelf), at_once());
    for (const std::size_t each : order) log.at(0, facts[each].first, facts[each].second);
    close_moment(log.state, log.dirty);
    granted.push_back(log.state.claims.by_name.at("k").grants.at(0).granted);
  }
  CHECK(granted == std::vector<Amount>{5000, 5000, 5000});
}

TEST_CASE("evolve: deadlines run at their own times, in order, before a later event") {
  Log log;
  log.at(0, std::string(kSelf), at_once());
  log.at(0, kHubName, seen(Kind::resource_flavor, "od", ResourceFlavorFacts{}));
  log.at(0, "c1", node_with(9000));
  log.at(10, "c1", node_with(6000));
  log.at(100, kHubName, seen(Kind::cluster_queue, "q", ClusterQueueFacts{}));
  const CapacityValue& value = log.state.clusters.at("c1").capacity.at({"od", "cpu"});
  CHECK(value.damped.accepted == 6000);
  CHECK(value.moved == LogTime{} + seconds(25));  // 10 s and the shrink window
  CHECK(log.state.now == LogTime{} + seconds(100));
}

TEST_CASE("evolve: a deadline at the time of an event is decided after every event of that time") {
  Log log;
  log.at(0, std::string(kSelf), at_once());
  log.at(0, kHubName, seen(Kind::resource_flavor, "od", ResourceFlavorFacts{}));
  log.at(0, "c1", node_with(9000));
  log.at(10, "c1", node_with(6000));
  log.at(25, "c1", node_with(9000));  // back at the very moment of the deadline
  close_moment(log.state, log.dirty);
  CHECK(log.state.clusters.at("c1").capacity.at({"od", "cpu"}).damped.accepted == 9000);
}

TEST_CASE("evolve: run_until runs every deadline up to its time, and that one") {
  Log log;
  log.at(0, std::string(kSelf), at_once());
  log.at(0, kHubName, seen(Kind::resource_flavor, "od", ResourceFlavorFacts{}));
  log.at(0, "c1", node_with(9000));
  log.at(10, "c1", node_with(6000));
  const auto accepted = [&] {
    return log.state.clusters.at("c1").capacity.at({"od", "cpu"}).damped.accepted;
  };
  run_until(log.state, LogTime{} + seconds(24), log.dirty);
  CHECK(accepted() == 9000);
  run_until(log.state, LogTime{} + seconds(25), log.dirty);
  CHECK(accepted() == 6000);
}

TEST_CASE("evolve: our own events move no input_seq, and an epoch doubts what is outstanding") {
  Log log;
  log.at(0, kHubName, seen(Kind::cluster_queue, "q", ClusterQueueFacts{}));
  PatchIntended intent;
  intent.cluster = kHubName;
  intent.target = {Kind::cluster_queue, "", "q"};
  log.at(0, std::string(kSelf), intent);
  CHECK(log.state.seq == Seq{2});
  CHECK(log.state.input_seq == Seq{1});
  CHECK(log.state.writes.outstanding.contains(Seq{2}));
  log.at(1, std::string(kSelf), EpochStarted{});
  CHECK(log.state.epoch == Epoch{2});
  CHECK(log.state.writes.by_key.begin()->second.outstanding->doubted_until.has_value());
}

TEST_CASE("evolve: another object under the same name takes the writes of the old one along") {
  Log log;
  log.at(0, kHubName, claim_of("c1", "5"));
  PatchIntended intent;
  intent.cluster = kHubName;
  intent.target = {Kind::claim, "", "k"};
  log.at(0, std::string(kSelf), intent);
  log.at(1, kHubName, claim_of("c1", "5"));
  CHECK(log.state.writes.by_key.size() == 1);
  log.at(2, kHubName, claim_of("c1", "5", "another"));
  CHECK(log.state.writes.by_key.empty());
  CHECK(log.state.writes.outstanding.empty());
}

TEST_CASE(
    "evolve: an object is of its source: a member's Node is no hub's, a member's claim none") {
  Log log;
  log.at(0, kHubName, node_with(9000));
  CHECK(log.state.clusters.empty());
  log.at(0, "c1", claim_of("c1", "5"));
  CHECK(log.state.claims.by_name.empty());
  log.at(0, "c1", seen(Kind::cluster_queue, "q", ClusterQueueFacts{}));
  CHECK(log.state.queues.by_name.empty());
  CHECK(log.state.clusters.at("c1").member.queues.contains("q"));
  CHECK(log.state.kueue_versions.empty());
  log.at(0, kHubName, seen(Kind::cluster_queue, "q", ClusterQueueFacts{}));
  CHECK(log.state.kueue_versions == std::set<std::string>{"v1beta2"});
  log.at(0, "c1", ObjectGone{{Kind::cluster_queue, "", "q"}, "u", "8"});
  CHECK(log.state.clusters.at("c1").member.queues.empty());
  CHECK(log.state.queues.by_name.at("q").present);
}

TEST_CASE("evolve: a LocalQueue that moves concerns both queues") {
  Log log;
  const auto local_queue = [](const std::string& queue) {
    ObjectObserved facts = seen(Kind::local_queue, "lq", LocalQueueFacts{queue, {}, {}});
    facts.key.namespace_ = "team";
    return facts;
  };
  log.at(0, kHubName, local_queue("a"));
  close_moment(log.state, log.dirty);
  log.dirty = {};
  log.at(0, kHubName, local_queue("b"));
  close_moment(log.state, log.dirty);
  CHECK(log.dirty.queues == std::set<std::string>{"a", "b"});
  log.at(0, kHubName, ObjectGone{{Kind::local_queue, "team", "lq"}, "u", "8"});
  CHECK(log.state.queues.local.empty());
}

// A dirty set with a single mark is not empty, and another one takes the mark over.
template <std::size_t field>
void check_mark() {
  DirtySet one, all;
  auto& mark = boost::pfr::get<field>(one);
  if constexpr (std::is_same_v<decltype(one.everything), std::remove_reference_t<decltype(mark)>>)
    mark = true;
  else
    mark.emplace();
  INFO("field " << field);
  CHECK_FALSE(one.empty());
  all.merge(one);
  CHECK(boost::pfr::get<field>(all) == mark);
}

TEST_CASE("evolve: each set of a dirty set counts and is merged") {
  [&]<std::size_t... field>(std::index_sequence<field...>) {
    (check_mark<field>(), ...);
  }(std::make_index_sequence<boost::pfr::tuple_size_v<DirtySet>>{});
}

TEST_CASE("evolve: dirty sets are merged as sets") {
  DirtySet all, more;
  CHECK(all.empty());
  all.queues = {"a"};
  more.queues = {"a", "b"};
  more.checks = {"mk"};
  all.merge(more);
  CHECK(all.queues == std::set<std::string>{"a", "b"});
  CHECK(all.checks == std::set<std::string>{"mk"});
  CHECK_FALSE(all.empty());
  DirtySet everything;
  everything.everything = true;
  CHECK_FALSE(everything.empty());
}

}  // namespace
}  // namespace fairlead::evolve_test
