// Which tenants there are, how they are reached, and which of them take part.
#include "engine/fold/pool/tenants.h"

#include <catch2/catch.hpp>

#include "tests/unit/fold/pool_stage.h"

namespace fairlead::pool_tests::tenants {
namespace {

const PoolNamespaceKey kWeb = acme("web");
const std::string kHubName(kHub);

struct TenantPool : PoolStage {
  explicit TenantPool(const Configuration& configuration = undamped_pool())
      : PoolStage(configuration) {
    offer("r1", 10);
    offer("r2", 10);
  }
  bool is_tenant_now(const std::string& name) { return pool().tenants.contains(name); }
  bool takes_part(const std::string& name) {
    const auto at = pool().tenants.find(name);
    return at != pool().tenants.end() && at->second.takes_part;
  }
  void virtual_cluster(const std::string& name, VirtualClusterFacts facts,
                       const std::string& uid = "") {
    observe(kHubName, {Kind::virtual_cluster, "tenants", name}, std::move(facts), uid);
  }
  std::vector<std::string> watched() {
    std::vector<std::string> names;
    for (const TenantAccess& access : tenants_to_watch(state))
      names.push_back(access.tenant + " by " + access.secret_ref + access.file);
    return names;
  }
};

TEST_CASE("pool tenants: one is admitted once its VirtualCluster ran, and Error disconnects it") {
  TenantPool stage;
  struct Row {
    const char* phase;
    bool admitted;
    bool connected;
  };
  const Row rows[] = {{"Pending", false, false}, {"Error", false, false}, {"Running", true, true},
                      {"Updating", true, true},  {"Error", true, false},  {"Pending", true, false},
                      {"Running", true, true}};
  for (const Row& row : rows) {
    INFO(row.phase);
    stage.tenant("acme", std::nullopt, row.phase);
    stage.close();
    CHECK(stage.is_tenant_now("acme") == row.admitted);
    CHECK(stage.takes_part("acme") == row.connected);
    CHECK(stage.watched().size() == (row.connected ? 1 : 0));
    const auto& known = stage.pool().virtual_clusters.at({"tenants", "acme"});
    CHECK(known.failed == (row.admitted && !row.connected));
  }
}

TEST_CASE("pool tenants: the name is the syncer's cluster key") {
  TenantPool stage;
  VirtualClusterFacts facts;
  facts.phase = "Running";
  stage.virtual_cluster("vc", facts, "uid-1");
  stage.close();
  CHECK(stage.is_tenant_now("tenants-4a49ac-vc"));  // of the SHA-256 of the uid
  facts.cluster_namespace = "acme";
  stage.virtual_cluster("vc", facts, "uid-1");
  stage.close();
  CHECK(stage.is_tenant_now("acme"));
  CHECK_FALSE(stage.is_tenant_now("tenants-4a49ac-vc"));
  CHECK(stage.watched() == std::vector<std::string>{"acme by acme/admin-kubeconfig"});
  facts.secret = "kubeconfig";
  stage.virtual_cluster("vc", facts, "uid-1");
  CHECK(stage.watched() == std::vector<std::string>{"acme by acme/kubeconfig"});
  CHECK(tenants_to_watch(stage.state).front().secret_key == "value");
}

TEST_CASE("pool tenants: of several VirtualClusters of a tenant the first that ran counts") {
  TenantPool stage;
  VirtualClusterFacts facts;
  facts.cluster_namespace = "acme";
  stage.virtual_cluster("a", facts);
  facts.phase = "Running";
  stage.virtual_cluster("c", facts);
  stage.virtual_cluster("b", facts);
  CHECK(virtual_cluster_of(stage.pool(), "acme")->first == NamespacedName("tenants", "b"));
  stage.gone(kHubName, {Kind::virtual_cluster, "tenants", "b"});
  CHECK(virtual_cluster_of(stage.pool(), "acme")->first == NamespacedName("tenants", "c"));
  stage.gone(kHubName, {Kind::virtual_cluster, "tenants", "c"});
  CHECK(virtual_cluster_of(stage.pool(), "acme") == nullptr);
}

TEST_CASE("pool tenants: an entry of the configuration admits, and decides how one is reached") {
  Configuration configuration = undamped_pool();
  configuration.pool.tenants = {{"acme", "", "acme.kubeconfig"}, {"solo", "ns/secret", ""}};
  TenantPool stage(configuration);
  stage.tenant("acme");
  stage.want({"solo", "web"}, 1);
  stage.close();
  CHECK(stage.watched() ==
        std::vector<std::string>{"acme by acme.kubeconfig", "solo by ns/secret"});
  CHECK(stage.takes_part("solo"));
  stage.tenant("acme", std::nullopt, "Error");
  CHECK(stage.watched() == std::vector<std::string>{"solo by ns/secret"});
  configuration.pool.clusters.clear();  // the pool is off
  stage.configure(configuration);
  stage.close();
  CHECK(stage.watched().empty());
  CHECK_FALSE(stage.is_tenant_now("solo"));
}

TEST_CASE("pool tenants: one takes part while every kind that it must serve is live") {
  TenantPool stage;
  stage.tenant("acme");
  stage.want(kWeb, 2);
  stage.run();
  stage.fold("tenant/acme", SourceLost{Kind::resource_claim, ""});  // need not be served
  stage.close();
  CHECK(stage.takes_part("acme"));
  stage.fold("tenant/acme", SourceStale{Kind::pod, ""});
  stage.fold("tenant/acme", SourceLost{Kind::namespace_, ""});
  stage.fold("tenant/acme", SourceSynced{Kind::pod, "", ""});
  stage.quota(kWeb, 1);
  stage.close();
  CHECK_FALSE(stage.takes_part("acme"));
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 2}});  // it keeps what it has
  CHECK(stage.dirty.pool_namespaces.empty());
  stage.fold("tenant/acme", SourceSynced{Kind::namespace_, "", ""});
  stage.close();
  CHECK(stage.takes_part("acme"));
  CHECK(stage.placements(kWeb) == SliceMap{{"r1", 1}});
  CHECK(stage.dirty.pool_namespaces == std::set{kWeb});
}

TEST_CASE("pool tenants: one with more than pool.tenantObjectsMax objects is not connected") {
  Configuration configuration = undamped_pool();
  configuration.pool.tenant_objects_max = 3;
  TenantPool stage(configuration);
  stage.tenant("acme");
  stage.tenant("bolt");
  stage.want(kWeb, 1);
  stage.want(bolt("db"), 1);
  stage.pod(kWeb, "p", pod_asking(1000, kGi));
  stage.close();
  CHECK(stage.takes_part("acme"));
  stage.pod(kWeb, "q", pod_asking(1000, kGi));
  stage.close();
  CHECK_FALSE(stage.takes_part("acme"));
  CHECK(stage.takes_part("bolt"));
  stage.gone("tenant/acme", {Kind::pod, "web", "p"});
  stage.close();
  CHECK(stage.takes_part("acme"));
}

}  // namespace
}  // namespace fairlead::pool_tests::tenants
