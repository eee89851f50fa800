// The section `pool` of the configuration file.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/configuration.h"
#include "schema/event_json.h"

using namespace fairlead;

namespace {

PoolSettings pool_of(const std::string& section) {
  const Result<Configuration> read = read_configuration("pool: " + section, "f.yaml");
  INFO(section);
  if (read.has_error()) FAIL(read.error().message);
  return read->pool;
}

std::string pool_refusal(const std::string& section) {
  const Result<Configuration> read = read_configuration("pool: " + section, "f.yaml");
  INFO(section);
  REQUIRE(read.has_error());
  CHECK(read.error().code == ErrorCode::bad_input);
  return read.error().message;
}

// Checks the message, behind the file and its line, for each text of the section.
void check_refusals(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [section, expected] : cases) {
    INFO(section);
    const std::string place = expected.front() == '.' ? "f.yaml:1: pool" : "f.yaml:1: pool: ";
    CHECK(pool_refusal(section).substr(0, place.size() + expected.size()) == place + expected);
  }
}

constexpr const char* kEverySetting = R"(
  clusters:
  - {cluster: r1, percent: 60, headroom: {percent: {cpu: 10}, reserved: {memory: 1024Mi}}}
  - {cluster: r2, percent: 0, drain: true}
  - {cluster: "*", headroom: {percent: {}}}
  tenants:
  - {name: default-1a2b3c-acme, secretRef: tenants/acme}
  - {name: bolt, file: /etc/bolt.kubeconfig}
  policy: spread
  partial: true
  quotas: max
  tenantLimit: {cpu: 1500m, memory: 0.5Ki}
  tolerations:
  - {key: dedicated, value: tenants, effect: NoSchedule}
  - {key: gpu, operator: Exists}
  - {operator: Exists, effect: NoExecute}
  lostGrace: 1m
  settle: 0
  slicesMax: 7
  tenantObjectsMax: 9
)";

}  // namespace

TEST_CASE("every setting of the pool is read, and printed as it can be read again") {
  const PoolSettings pool = pool_of(kEverySetting);
  const std::map<std::string, std::int64_t> tenth{{"cpu", 10}};
  const std::map<std::string, std::string> one_gi{{"memory", "1Gi"}};
  CHECK(pool.clusters == std::vector<PoolCluster>{{"r1", 60, tenth, one_gi, false},
                                                  {"r2", 0, {}, {}, true},
                                                  {"*", 100, {{}}, {}, false}});
  CHECK(pool.clusters[2].headroom_percent.has_value());
  CHECK_FALSE(pool.clusters[2].headroom_reserved.has_value());
  CHECK(pool.tenants == std::vector<PoolTenantAccess>{{"default-1a2b3c-acme", "tenants/acme", ""},
                                                      {"bolt", "", "/etc/bolt.kubeconfig"}});
  CHECK(pool.policy == PoolPolicy::spread);
  CHECK(pool.partial);
  CHECK(pool.quotas == PoolQuotas::max);
  CHECK(pool.tenant_limit == std::map<std::string, std::int64_t>{{"cpu", 1500}, {"memory", 512}});
  CHECK(pool.tolerations ==
        std::vector<PoolToleration>{{"dedicated", "Equal", "tenants", "NoSchedule"},
                                    {"gpu", "Exists", "", ""},
                                    {"", "Exists", "", "NoExecute"}});
  CHECK(pool.lost_grace == minutes(1));
  CHECK(pool.settle == seconds(0));
  CHECK(pool.slices_max == 7);
  CHECK(pool.tenant_objects_max == 9);

  Configuration whole;
  whole.pool = pool;
  const Result<Configuration> again = read_configuration(to_yaml(whole), "again.yaml");
  REQUIRE(again.has_value());
  CHECK(*again == whole);
}

TEST_CASE("what the section does not name is the default") {
  CHECK(pool_of("{}") == PoolSettings{});
  CHECK(pool_of("") == PoolSettings{});
  CHECK(pool_of("{clusters: , tenants: , tenantLimit: , tolerations: }") == PoolSettings{});
  CHECK(pool_of("{clusters: [{cluster: r1}]}").clusters ==
        std::vector<PoolCluster>{{"r1", 100, {}, {}, false}});
  CHECK_FALSE(to_json(Configuration{}).contains("pool"));
}

TEST_CASE("a bad entry of pool.clusters is refused with its path") {
  check_refusals({
      {"[]", "expected a map"},
      {"{cluster: []}",
       ".cluster: unknown key; expected one of clusters, tenants, policy, partial, "
       "quotas, tenantLimit, tolerations, lostGrace, settle, slicesMax, "
       "tenantObjectsMax"},
      {"{clusters: r1}", ".clusters: expected a list"},
      {"{clusters: [r1]}", ".clusters[0]: expected {cluster, percent, headroom, drain}"},
      {"{clusters: [{percent: 5}]}",
       ".clusters[0]: expected a cluster; expected {cluster, percent, headroom, drain}"},
      {"{clusters: [{name: r1}]}", ".clusters[0].name: unknown key; expected {cluster, "},
      {"{clusters: [{cluster: }]}", ".clusters[0].cluster: expected the name of a member, or *"},
      {"{clusters: [{cluster: hub}]}", ".clusters[0].cluster: expected the name of a member other"},
      {"{clusters: [{cluster: self}]}",
       ".clusters[0].cluster: expected the name of a member other"},
      {"{clusters: [{cluster: tenant/a}]}", ".clusters[0].cluster: expected the name of a member"},
      {"{clusters: [{cluster: a, cluster: a}]}", ".clusters[0].cluster: expected it only once"},
      {"{clusters: [{cluster: a}, {cluster: a}]}",
       ".clusters[1].cluster: expected each name only once"},
      {"{clusters: [{cluster: a, percent: 101}]}",
       ".clusters[0].percent: expected a whole number from 0 to 100"},
      {"{clusters: [{cluster: a, percent: -1}]}",
       ".clusters[0].percent: expected a whole number from 0 to 100"},
      {"{clusters: [{cluster: a, drain: maybe}]}",
       ".clusters[0].drain: expected one of true, false"},
      {"{clusters: [{cluster: a, headroom: 5}]}",
       ".clusters[0].headroom: expected {percent, reserved}"},
      {"{clusters: [{cluster: a, headroom: {percents: {}}}]}",
       ".clusters[0].headroom.percents: unknown key; expected {percent, reserved}"},
      {"{clusters: [{cluster: a, headroom: {percent: {cpu: 200}}}]}",
       ".clusters[0].headroom.percent.cpu: expected a whole number from 0 to 100"},
      {"{clusters: [{cluster: a, headroom: {reserved: {cpu: -1}}}]}",
       ".clusters[0].headroom.reserved.cpu: expected a Quantity of at least 0"},
      {"{clusters: [{cluster: a, headroom: {reserved: {a b: 1}}}]}",
       ".clusters[0].headroom.reserved.a b: expected a resource name"},
  });
}

TEST_CASE("a bad tenant, limit or toleration of the pool is refused with its path") {
  const std::string deep = std::string(254, 'a');
  check_refusals({
      {"{tenants: [{name: a}]}", ".tenants[0]: expected {name, and one of secretRef, file}"},
      {"{tenants: [{file: f}]}", ".tenants[0]: expected {name, and one of secretRef, file}"},
      {"{tenants: [{name: a, file: f, secretRef: n/s}]}",
       ".tenants[0]: expected {name, and one of secretRef, file}"},
      {"{tenants: [{name: a/b, file: f}]}", ".tenants[0].name: expected the name of a tenant"},
      {"{tenants: [{name: " + deep + ", file: f}]}",
       ".tenants[0].name: expected the name of a tenant"},
      {"{tenants: [{name: a, secretRef: s}]}", ".tenants[0].secretRef: expected namespace/name"},
      {"{tenants: [{name: a, file: ''}]}", ".tenants[0].file: expected a path"},
      {"{tenants: [{name: a, key: k}]}", ".tenants[0].key: unknown key; expected {name, "},
      {"{tenants: [{name: a, file: f}, {name: a, file: g}]}",
       ".tenants[1].name: expected each name only once"},
      {"{policy: random}", ".policy: expected one of pack, spread"},
      {"{partial: 2}", ".partial: expected one of true, false"},
      {"{quotas: sum}", ".quotas: expected one of min, max"},
      {"{tenantLimit: 5}", ".tenantLimit: expected {cpu, memory}"},
      {"{tenantLimit: {pods: 5}}", ".tenantLimit.pods: unknown key; expected {cpu, memory}"},
      {"{tenantLimit: {cpu: 0}}", ".tenantLimit.cpu: expected a Quantity above 0"},
      {"{tenantLimit: {memory: -1Gi}}", ".tenantLimit.memory: expected a Quantity"},
      {"{tenantLimit: {memory: much}}", ".tenantLimit.memory: expected a Quantity"},
      {"{tolerations: {}}", ".tolerations: expected a list"},
      {"{tolerations: [{key: a, operator: Lt}]}",
       ".tolerations[0].operator: expected one of Equal, Exists"},
      {"{tolerations: [{key: a, operator: Exists, value: v}]}",
       ".tolerations[0].value: expected none where operator is Exists"},
      {"{tolerations: [{value: v}]}",
       ".tolerations[0].key: expected one unless operator is Exists"},
      {"{tolerations: [{key: a, effect: Never}]}",
       ".tolerations[0].effect: expected one of NoSchedule, NoExecute, PreferNoSchedule"},
      {"{tolerations: [{key: a, tolerationSeconds: 5}]}",
       ".tolerations[0].tolerationSeconds: unknown key; expected {key, "},
      {"{tolerations: [{key: []}]}", ".tolerations[0].key: expected a text"},
      {"{lostGrace: 5}", ".lostGrace: expected a duration"},
      {"{settle: -1s}", ".settle: expected a duration"},
      {"{slicesMax: 0}", ".slicesMax: expected a whole number from 1 to "},
      {"{tenantObjectsMax: 1.5}", ".tenantObjectsMax: expected a whole number from 1 to "},
  });
}

TEST_CASE("--set changes one setting of the pool and keeps the others") {
  Configuration c;
  for (const char* setting :
       {R"(pool.clusters=[{cluster: "*"}])", "pool.policy=spread", "pool.tenantLimit.cpu=100",
        "pool.tenantLimit.memory=1Ki", "pool.lostGrace=1m"})
    REQUIRE(apply_setting(c, setting).has_value());
  CHECK(c.pool.policy == PoolPolicy::spread);
  CHECK(c.pool.clusters.size() == 1);
  CHECK(c.pool.tenant_limit ==
        std::map<std::string, std::int64_t>{{"cpu", 100'000}, {"memory", 1024}});
  CHECK(c.pool.lost_grace == minutes(1));
  const Configuration before = c;
  const Result<void> refused = apply_setting(c, "pool.tenantLimit.pods=1");
  REQUIRE(refused.has_error());
  CHECK(refused.error().message.find("pool.tenantLimit.pods: unknown key") == 0);
  CHECK(apply_setting(c, "pool.tenantLimit={memory: 2Ki}").has_value());
  CHECK(c.pool.tenant_limit == std::map<std::string, std::int64_t>{{"memory", 2048}});
  CHECK(apply_setting(c, "pool.policy=best").has_error());
  CHECK(before != c);
}
