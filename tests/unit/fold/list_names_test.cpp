#include "engine/fold/multikueue/list_names.h"

#include <catch2/catch.hpp>

#include "engine/fold/multikueue/names.h"
#include "engine/fold/state.h"

namespace fairlead::list_names_test {
namespace {

using Names = std::vector<std::string>;

struct Hub {
  State state;
  MultiKueue& multikueue = state.multikueue;
  WorkerList& list = multikueue.lists["gpu"];

  void has_config(Names names) {
    auto& config = multikueue.configs["gpu"].facts;
    config.clusters = std::move(names);
    config.mark = config_mark("gpu");
  }
};

TEST_CASE("list names: those of a config that is ours") {
  Hub hub;
  CHECK(names_in_config(hub.state, "gpu").empty());
  hub.has_config({"gpu-a", "gpu-b"});
  CHECK(names_in_config(hub.state, "gpu") == Names{"gpu-a", "gpu-b"});
  hub.multikueue.configs["gpu"].facts.mark = {};
  CHECK(names_in_config(hub.state, "gpu").empty());
  CHECK(contains({"a", "b"}, "b"));
  CHECK_FALSE(contains({"a", "b"}, "c"));
}

TEST_CASE("list names: who took a worker out: a foreign write, or ours") {
  for (const bool ours : {true, false}) {
    Hub hub;
    hub.has_config({"gpu-a", "gpu-b"});
    assign_names(hub.state, "gpu", hub.list);
    hub.list.workers["gpu-a"];
    hub.list.written = ours ? Names{"gpu-b"} : Names{"gpu-a", "gpu-b"};
    hub.has_config({"gpu-b"});
    assign_names(hub.state, "gpu", hub.list);
    CHECK(hub.list.names == Names{"gpu-b"});
    CHECK(hub.list.workers["gpu-a"].taken_out == !ours);
  }
}

TEST_CASE("list names: the decisions of a Placement are its shards in Kueue's namespace") {
  Hub hub;
  CHECK(decided_by(hub.state, "gpu").empty());
  const auto shard = [&](const std::string& namespace_, const std::string& name, Names clusters) {
    hub.multikueue.decisions[{namespace_, name}].facts.clusters = std::move(clusters);
    hub.multikueue.decisions_of["gpu"].insert({namespace_, name});
  };
  shard("kueue-system", "1", {"a", "b"});
  shard("kueue-system", "2", {"b", "c"});
  shard("elsewhere", "1", {"d"});
  CHECK(decided_by(hub.state, "gpu") == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE("list names: one worker for each decided cluster and for each name in the list") {
  Hub hub;
  hub.list.use = ListUse::live;
  hub.list.decided = {"a"};
  hub.list.names = {"gpu-b", "stray"};
  refresh_names(hub.state, "gpu", hub.list);
  REQUIRE(hub.list.workers.size() == 3);
  CHECK(hub.list.workers["gpu-a"].decided);
  CHECK(hub.list.workers["gpu-a"].cluster == "a");
  CHECK_FALSE(hub.list.workers["gpu-b"].decided);
  CHECK(hub.list.workers["stray"].cluster.empty());
  CHECK(hub.multikueue.claimed["gpu-a"] == std::set<std::string>{"gpu"});
  // Neither decided nor listed any more: the name is free, and its object looked at.
  hub.list.decided.clear();
  hub.list.names.clear();
  refresh_names(hub.state, "gpu", hub.list);
  CHECK(hub.list.workers.empty());
  CHECK(hub.multikueue.claimed.empty());
  CHECK(hub.multikueue.dirty_workers == std::set<std::string>{"gpu-a", "gpu-b", "stray"});
}

TEST_CASE("list names: a leaver of before is known by the mark of its MultiKueueCluster") {
  Hub hub;
  hub.list.names = {"gpu-b"};
  auto& current = hub.multikueue.clusters["gpu-b"].facts;
  current.mark = {true, "placement/other"};
  refresh_names(hub.state, "gpu", hub.list);
  CHECK(hub.list.workers["gpu-b"].cluster.empty());
  current.mark = worker_mark(hub.state.configuration, "gpu", "b");
  refresh_names(hub.state, "gpu", hub.list);
  CHECK(hub.list.workers["gpu-b"].cluster == "b");
}

TEST_CASE("list names: a list that no check uses holds no name") {
  Hub hub;
  hub.list.decided = {"a"};
  refresh_names(hub.state, "gpu", hub.list);
  CHECK(hub.list.workers.size() == 1);
  CHECK(hub.multikueue.claimed.empty());
}

TEST_CASE("list names: why a name is of no use") {
  Hub hub;
  const auto why = [&](const std::string& name) {
    return left_out_by_name(hub.state, "gpu", name);
  };
  CHECK(why("gpu-a") == LeftOut::no);
  CHECK(why("gpu-A") == LeftOut::name_invalid);
  hub.multikueue.clusters["gpu-a"].facts.mark = {};  // another owner's
  CHECK(why("gpu-a") == LeftOut::name_taken);
  hub.multikueue.clusters["gpu-a"].facts.mark = worker_mark(hub.state.configuration, "gpu", "a");
  CHECK(why("gpu-a") == LeftOut::no);
  // Of several Placements that come to one name the first by name has it.
  hub.multikueue.claimed["gpu-a"] = {"gpu", "gpu-x"};
  CHECK(why("gpu-a") == LeftOut::no);
  hub.multikueue.claimed["gpu-a"] = {"a-first", "gpu"};
  CHECK(why("gpu-a") == LeftOut::name_taken);
  hub.state.configuration.multikueue.profile = NamingProfile::cluster;  // there names are shared
  CHECK(why("gpu-a") == LeftOut::no);
}

}  // namespace
}  // namespace fairlead::list_names_test
