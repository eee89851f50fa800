// Which members are super clusters, and by which id.
#include <catch2/catch.hpp>

#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/pool/super_clusters.h"
#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::super_cluster_ids {
namespace {

const ObjectKey kInfo{Kind::config_map, "kube-system", "supercluster-info"};
using Names = std::vector<std::string>;

struct NamedMembers : PoolStage {
  explicit NamedMembers(const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {}
  void name(const SourceName& member, const std::string& id) {
    ConfigMapFacts facts;
    facts.id = id;
    observe(member, kInfo, facts);
  }
  // "id=member" of each super cluster.
  Names ids() {
    close();
    Names all;
    for (const auto& [id, cluster] : pool().clusters) all.push_back(id + "=" + cluster.cluster);
    return all;
  }
};

TEST_CASE("super clusters: the id is that of the ConfigMap, else the member's name") {
  NamedMembers stage;
  stage.offer("r1", 1);
  stage.offer("r2", 1);
  CHECK(stage.ids() == Names{"r1=r1", "r2=r2"});
  stage.name("r1", "west");
  CHECK(stage.ids() == Names{"r2=r2", "west=r1"});
  stage.name("r2", "no id");
  CHECK(stage.ids() == Names{"west=r1"});
  ConfigMapFacts other;
  other.id = "east";
  stage.observe("r2", {Kind::config_map, "kube-system", "another"}, other);
  stage.observe("r2", {Kind::config_map, "default", "supercluster-info"}, other);
  CHECK(stage.ids() == Names{"west=r1"});
  stage.gone("r2", kInfo);
  CHECK(stage.ids() == Names{"r2=r2", "west=r1"});
}

TEST_CASE("super clusters: of members with one id the first by name keeps it") {
  NamedMembers stage;
  for (const char* member : {"r1", "r2", "r3"}) stage.offer(member, 1);
  stage.name("r3", "east");
  stage.name("r2", "east");
  CHECK(stage.ids() == Names{"east=r2", "r1=r1"});
  stage.name("r1", "east");
  CHECK(stage.ids() == Names{"east=r1"});
  stage.name("r1", "west");
  CHECK(stage.ids() == Names{"east=r2", "west=r1"});
}

TEST_CASE("super clusters: a member takes part when its id was read once, or when it is lost") {
  NamedMembers stage;
  for (const char* member : {"r1", "r2", "r3"})
    stage.fold(member, SourceLost{Kind::config_map, ""});
  for (const char* member : {"r1", "r2", "r3"}) stage.offer(member, 1);
  CHECK(stage.ids().empty());
  CHECK(awaits_id(stage.state, "r1"));
  stage.fold("r1", SourceSynced{Kind::config_map, "", ""});  // there is no such ConfigMap
  stage.name("r2", "east");
  CHECK(stage.ids() == Names{"east=r2", "r1=r1"});
  stage.fold("r1", SourceLost{Kind::config_map, ""});  // what was read once stays known
  CHECK(stage.ids() == Names{"east=r2", "r1=r1"});
  stage.lose("r3");
  CHECK(stage.ids() == Names{"east=r2", "r1=r1", "r3=r3"});
  CHECK_FALSE(awaits_id(stage.state, "r3"));
}

TEST_CASE("super clusters: a member's own entry of pool.clusters comes before that of all") {
  PoolSettings settings;
  settings.clusters.resize(2);
  settings.clusters[0].name = "*";
  settings.clusters[1].name = "r1";
  CHECK(pool_entry_of(settings, "r1") == &settings.clusters[1]);
  CHECK(pool_entry_of(settings, "r2") == &settings.clusters[0]);
  settings.clusters.erase(settings.clusters.begin());
  CHECK(pool_entry_of(settings, "r2") == nullptr);
  Configuration configuration = undamped_pool();
  configuration.pool = settings;
  NamedMembers stage(configuration);
  stage.offer("r1", 1);
  stage.offer("r2", 1);
  CHECK(stage.ids() == Names{"r1=r1"});
}

}  // namespace
}  // namespace fairlead::pool_tests::super_cluster_ids
