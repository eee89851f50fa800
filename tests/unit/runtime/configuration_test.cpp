#include "engine/runtime/configuration.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "schema/event_json.h"

using namespace fairlead;

namespace {

Configuration read(std::string_view text) {
  const Result<Configuration> result = read_configuration(text, "f.yaml");
  INFO(text);
  if (result.has_error()) FAIL(result.error().message);
  return *result;
}

/// The message of the error that reading `text` must give.
std::string refusal(std::string_view text) {
  const Result<Configuration> result = read_configuration(text, "f.yaml");
  INFO(text);
  REQUIRE(result.has_error());
  CHECK(result.error().code == ErrorCode::bad_input);
  return result.error().message;
}

Configuration with(const std::vector<std::string>& settings) {
  Configuration configuration;
  for (const std::string& setting : settings) {
    const Result<void> result = apply_setting(configuration, setting);
    INFO(setting);
    if (result.has_error()) FAIL(result.error().message);
  }
  return configuration;
}

std::string set_refusal(const std::string& setting) {
  Configuration configuration;
  const Result<void> result = apply_setting(configuration, setting);
  INFO(setting);
  REQUIRE(result.has_error());
  CHECK(configuration == Configuration{});
  return result.error().message;
}

constexpr std::string_view kDocumented = R"(apiVersion: fairlead.io/v1alpha1
kind: Configuration
kueue: {namespace: kueue-system}
resourceAliases: {gpu: nvidia.com/gpu}
capacity:
  sources: [nodes, clusterMetrics, managedCluster]     # the first that knows a cluster wins
  headroom: {percent: {cpu: 5, memory: 5}, reserved: {}}
  overbookPercent: 100
claims: {create: true, statusInterval: 10m}
members:
  mode: auto
  kubeconfigs: []
  nodesMax: 20000
  changesPerMinute: 3000
  workloads: auto
debounce: {}
multikueue:
  profile: placement
  settle: 2s
  moveWindow: 120s
  drainTimeout: 1h
  emptyGrace: 10m
  credentialGrace: 10m
  adoptOcmAddon: false
  accessProviders: []
  dispatcher: false
  clearedBy: policy
pool:
  clusters: []
  tenants: []
  policy: pack
  partial: false
  quotas: min
  tenantLimit: {}
  tolerations: []
  lostGrace: 10m
  settle: 2s
  slicesMax: 10000
  tenantObjectsMax: 100000
dra: {quota: true, dispatch: false, fleetClaims: false, deviceClassMappings: [], policy: order,
  poolHold: 5m, admitTimeout: 5m, placeTimeout: 5m, stepsMax: 100000}
workloads: {max: 200000, keepFinished: 1h}
usage: {interval: 10s, labels: [], prices: [], allocation: granted-hours}
writes: {inflightMax: 64, qps: 300, burst: 500}
webhook: {rules: {}}
record: false
log: {snapshotEvery: 25000, rawRetention: 168h, exportBeforeUpgrade: true}
)";

}  // namespace

TEST_CASE("an empty file is refused: it would mean every default") {
  CHECK(refusal("") == "f.yaml: the file is empty; expected at least kind: Configuration");
  CHECK(refusal("# nothing\n") == refusal(""));
}

TEST_CASE("the documented file spells out the defaults") {
  CHECK(read(kDocumented) == Configuration{});
  CHECK(read("kind: Configuration") == Configuration{});
  CHECK(read("debounce:\n") == Configuration{});
}

TEST_CASE("docs/configuration.md shows the defaults") {
  std::ifstream file("docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("apiVersion: fairlead.io/v1alpha1");
  REQUIRE(begin != std::string::npos);
  const std::string shown = text.substr(begin, text.find("```", begin) - begin);
  CHECK(read(shown) == Configuration{});
  const Json every = to_json(Configuration{})["debounce"];
  for (const auto& [name, value] : every.items())
    CHECK(shown.find("  " + name + ": ") != std::string::npos);
  Configuration with_pool;
  with_pool.pool.clusters.push_back({"*", 100, {}, {}, false});
  const std::string pool = shown.substr(shown.find("\npool:"));
  const Json of_pool = to_json(with_pool)["pool"];
  REQUIRE(of_pool.size() == 11);
  for (const auto& [name, value] : of_pool.items())
    CHECK(pool.find("\n  " + name + ": ") != std::string::npos);
  Configuration with_dra;
  with_dra.dra.dispatch = true;
  const std::string dra = shown.substr(shown.find("\ndra:"));
  const Json of_dra = to_json(with_dra)["dra"];
  REQUIRE(of_dra.size() == 9);
  for (const auto& [name, value] : of_dra.items())
    CHECK(dra.find("\n  " + name + ": ") != std::string::npos);
}

TEST_CASE("every setting can be changed in the file") {
  const Configuration c = read(R"(
kueue: {namespace: queues}
resourceAliases: {npu: huawei.com/npu}
capacity:
  sources: [managedCluster, nodes]
  headroom: {percent: {nvidia.com/gpu: 10}, reserved: {memory: 1024Mi}}
  overbookPercent: 120
claims: {create: false, statusInterval: 1m}
members:
  nodesMax: 7
  changesPerMinute: 0
  mode: bindingPolicy
  kubeconfigs:
  - {cluster: cluster2, secretRef: default/cluster2}
  - {cluster: cluster3, file: /etc/c3}
debounce: {growWindow: 1h30m, flapPenalty: 0, growDeadbandPercent: 7}
multikueue: {profile: cluster, settle: 0s, accessProviders: [a, b], dispatcher: true,
             clearedBy: mergePatch}
writes: {qps: 7}
webhook: {rules: {ownedQuota: deny, claimInvalid: warn, unknownTarget: off}}
record: true
log: {snapshotEvery: 5, rawRetention: 1h, exportBeforeUpgrade: false}
)");
  CHECK(c.kueue_namespace == "queues");
  CHECK(c.resource_aliases == std::map<std::string, std::string>{{"npu", "huawei.com/npu"}});
  CHECK(c.capacity_sources ==
        std::vector<CapacitySource>{CapacitySource::managed_cluster, CapacitySource::nodes});
  CHECK(c.headroom.percent == std::map<std::string, std::int64_t>{{"nvidia.com/gpu", 10}});
  CHECK(c.headroom.reserved == std::map<std::string, std::string>{{"memory", "1Gi"}});
  CHECK(c.overbook_percent == 120);
  CHECK_FALSE(c.create_claims);
  CHECK(c.status_interval == minutes(1));
  CHECK(c.member_nodes_max == 7);
  CHECK(c.member_changes_per_minute == 0);
  CHECK(c.multikueue.cleared_by == ClearedBy::merge_patch);
  CHECK(c.member_mode == MemberMode::binding_policy);
  REQUIRE(c.member_kubeconfigs.size() == 2);
  CHECK(c.member_kubeconfigs[0].secret_ref == "default/cluster2");
  CHECK(c.member_kubeconfigs[1].file == "/etc/c3");
  CHECK(c.debounce.grow_window == minutes(90));
  CHECK(c.debounce.flap_penalty == 0);
  CHECK(c.debounce.grow_deadband_percent == 7);
  CHECK(c.debounce.shrink_window == seconds(15));
  CHECK(c.multikueue.profile == NamingProfile::cluster);
  CHECK(c.multikueue.settle == seconds(0));
  CHECK(c.multikueue.access_providers == std::vector<std::string>{"a", "b"});
  CHECK(c.multikueue.dispatcher);
  CHECK(c.writes.qps == 7);
  CHECK(c.webhook_rules ==
        std::map<AdmissionRule, RuleAction>{{AdmissionRule::claim_invalid, RuleAction::warn},
                                            {AdmissionRule::unknown_target, RuleAction::off},
                                            {AdmissionRule::owned_quota, RuleAction::deny}});
  CHECK(c.record);
  CHECK(c.snapshot_every == 5);
  CHECK(c.raw_retention == hours(1));
}

TEST_CASE("what is printed reads back as the same configuration") {
  const Configuration changed = with({
      R"(capacity.headroom.percent."nvidia.com/gpu"=10)",
      "capacity.headroom.reserved={cpu: 1500m}",
      "members.kubeconfigs=[{cluster: c2, clusterProfile: ns/c2}]",
      "multikueue.accessProviders=[eks]",
      "debounce.growWindow=0s",
      "claims.create=false",
      "webhook.rules.ownedQuota=deny",
  });
  for (const Configuration& c : {Configuration{}, changed}) {
    CHECK(read(to_yaml(c)) == c);
    CHECK(read(to_text(to_json(c))) == c);
  }
  CHECK(to_json(changed)["capacity"]["headroom"]["percent"]["nvidia.com/gpu"] == 10);
  CHECK(to_json(Configuration{})["debounce"]["growWindow"] == "5m0s");
}

TEST_CASE("an unknown key is refused with file, line and the keys that exist") {
  CHECK(
      refusal("claims:\n  create: true\ndebounces: {}\n") ==
      "f.yaml:3: debounces: unknown key; expected one of kueue, resourceAliases, capacity, claims, "
      "members, debounce, multikueue, pool, dra, workloads, usage, record, writes, webhook, log, "
      "leaderElection");
  CHECK(refusal("capacity:\n  headroom:\n    percents: {}\n") ==
        "f.yaml:3: capacity.headroom.percents: unknown key; expected one of percent, reserved");
  CHECK(refusal("debounce.growWindow: 1s\n").find("unknown key") != std::string::npos);
  CHECK(
      refusal("debounce: {growWindows: 1s}").find("f.yaml:1: debounce.growWindows: unknown key") ==
      0);
  CHECK(refusal("\"\": {}\n").find("unknown key") != std::string::npos);
}

TEST_CASE("a bad value is refused with file, line, key and what was expected") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"kind: Config\n", "f.yaml:1: kind: expected Configuration"},
      {"\napiVersion: v1\n", "f.yaml:2: apiVersion: expected fairlead.io/v1alpha1"},
      {"debounce: [1]\n", "f.yaml:1: debounce: expected a map"},
      {"debounce:\n  growWindow: 5\n", "f.yaml:2: debounce.growWindow: expected a duration"},
      {"debounce:\n  growWindow: -5s\n", "f.yaml:2: debounce.growWindow: expected a duration"},
      {"debounce:\n  growWindow: 300y\n", "f.yaml:2: debounce.growWindow: expected a duration"},
      {"debounce:\n  growWindow: 999999h\n", "f.yaml:2: debounce.growWindow: expected a duration"},
      {"debounce: {massShrinkPercent: 101}\n",
       "f.yaml:1: debounce.massShrinkPercent: expected a whole number from 0 to 100"},
      {"debounce: {flapPenalty: 1.5}\n", "f.yaml:1: debounce.flapPenalty: expected a whole number"},
      {"debounce: {flapPenalty: {}}\n", "f.yaml:1: debounce.flapPenalty: expected a whole number"},
      {"capacity:\n  overbookPercent: 0\n",
       "f.yaml:2: capacity.overbookPercent: expected a whole number from 1 to"},
      {"capacity: {sources: []}\n", "f.yaml:1: capacity.sources: expected a list"},
      {"capacity: {sources: [nodes, pods]}\n", "f.yaml:1: capacity.sources: expected one of nodes"},
      {"capacity: {sources: [nodes, nodes]}\n",
       "f.yaml:1: capacity.sources: expected nodes only once"},
      {"capacity:\n headroom:\n  percent:\n   cpu: 5\n   memory: 200\n",
       "f.yaml:5: capacity.headroom.percent.memory: expected a whole number from 0 to 100"},
      {"capacity: {headroom: {percent: 5}}\n",
       "f.yaml:1: capacity.headroom.percent: expected a map"},
      {"capacity: {headroom: {reserved: {cpu: -1}}}\n",
       "f.yaml:1: capacity.headroom.reserved.cpu: expected a Quantity"},
      {"capacity: {headroom: {reserved: {cpu: 1 Gi}}}\n",
       "f.yaml:1: capacity.headroom.reserved.cpu: expected a Quantity"},
      {"resourceAliases: {gpu: gpu}\n",
       "f.yaml:1: resourceAliases.gpu: expected the resource name"},
      {"resourceAliases: {'a b': gpu}\n",
       "f.yaml:1: resourceAliases.a b: expected a resource name"},
      {"kueue: {namespace: Kueue}\n", "f.yaml:1: kueue.namespace: expected a namespace"},
      {"claims: {create: maybe}\n", "f.yaml:1: claims.create: expected one of true, false"},
      {"claims: {create: true, create: false}\n", "f.yaml:1: claims.create: expected it only once"},
      {"members: {mode: magic}\n", "f.yaml:1: members.mode: expected one of auto, manifestWork"},
      {"members:\n  kubeconfigs:\n  - {cluster: a}\n",
       "f.yaml:3: members.kubeconfigs[0]: expected {"},
      {"members: {kubeconfigs: [{cluster: a, file: f, secretRef: n/s}]}\n",
       "f.yaml:1: members.kubeconfigs[0]: expected {"},
      {"members: {kubeconfigs: [{cluster: hub, file: f}]}\n",
       "f.yaml:1: members.kubeconfigs[0].cluster: expected the name of a member"},
      {"members: {kubeconfigs: [{cluster: a, secretRef: s}]}\n",
       "f.yaml:1: members.kubeconfigs[0].secretRef: expected namespace/name"},
      {"members: {kubeconfigs: [{cluster: a, file: f}, {cluster: a, file: g}]}\n",
       "f.yaml:1: members.kubeconfigs[1].cluster: expected each cluster only once"},
      {"writes: {inflightMax: 0}\n",
       "f.yaml:1: writes.inflightMax: expected a whole number from 1"},
      {"log: {snapshotEvery: ten}\n",
       "f.yaml:1: log.snapshotEvery: expected a whole number from 1"},
      {"webhook: {rules: {ownedQuotas: deny}}\n",
       "f.yaml:1: webhook.rules.ownedQuotas: unknown key; expected one of claimInvalid, "},
      {"webhook: {rules: {ownedQuota: no}}\n",
       "f.yaml:1: webhook.rules.ownedQuota: expected one of deny, warn, off"},
      {"webhook: {rules: {claimInvalid: off}}\n",
       "f.yaml:1: webhook.rules.claimInvalid: expected one of deny, warn"},
      {"webhook: {rules: {badBase: off, badBase: deny}}\n",
       "f.yaml:1: webhook.rules.badBase: expected it only once"},
      {"webhook: {rules: deny}\n", "f.yaml:1: webhook.rules: expected a map of rules"},
      {"webhook: {rule: {}}\n", "f.yaml:1: webhook.rule: unknown key; expected one of rules"},
      {"multikueue: {profile: both}\n",
       "f.yaml:1: multikueue.profile: expected one of placement, cluster"},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    CHECK(refusal(text).substr(0, expected.size()) == expected);
  }
}

TEST_CASE("text that is no single YAML map is refused with its line") {
  CHECK(refusal("claims: {create: true\n").find("expected YAML") != std::string::npos);
  CHECK(refusal("a: b: c\n").find("f.yaml:1: expected YAML") == 0);
  CHECK(refusal("- 1\n").find("f.yaml:1: expected a map") == 0);
  CHECK(refusal("just text\n").find("f.yaml:1: expected a map") == 0);
  CHECK(refusal("claims: {}\n---\nclaims: {}\n").find("expected one document") !=
        std::string::npos);
  CHECK(refusal(std::string(100000, '[')).find("expected YAML") != std::string::npos);
}

TEST_CASE("0 is refused for the parameters that have no off") {
  for (const std::string name : {"flapSuppress", "flapReuse"}) {
    CHECK(set_refusal("debounce." + name + "=0").find("from 1 to") != std::string::npos);
  }
  for (const std::string name : {"flapHalfLife", "flapSuppressMax", "staleAfter", "lostAfter"}) {
    CHECK(set_refusal("debounce." + name + "=0s").find("more than 0s") != std::string::npos);
    CHECK(set_refusal("debounce." + name + "=0").find("more than 0s") != std::string::npos);
  }
}

TEST_CASE("0 switches every other debounce parameter off") {
  const Configuration c = with(
      {"debounce.ingestCoalesce=0s", "debounce.shrinkWindow=0s", "debounce.growWindow=0s",
       "debounce.firstQuiet=0", "debounce.minGrowInterval=0s", "debounce.growDeadbandPercent=0",
       "debounce.deadbandMaxAge=0s", "debounce.flapPenalty=0", "debounce.massShrinkPercent=0",
       "debounce.massShrinkHold=0s", "debounce.writeInterval=0s"});
  CHECK(c.debounce.ingest_coalesce == seconds(0));
  CHECK(c.debounce.first_quiet == seconds(0));
  CHECK(c.debounce.write_interval == seconds(0));
  CHECK(c.debounce.mass_shrink_percent == 0);
  CHECK(c.debounce.lost_after == seconds(900));
}

TEST_CASE("--set of an entry keeps the other entries, --set of the map replaces it") {
  using Percents = std::map<std::string, std::int64_t>;
  CHECK(with({R"(capacity.headroom.percent."nvidia.com/gpu"=10)"}).headroom.percent ==
        Percents{{"cpu", 5}, {"memory", 5}, {"nvidia.com/gpu", 10}});
  CHECK(with({"capacity.headroom.percent={nvidia.com/gpu: 10}"}).headroom.percent ==
        Percents{{"nvidia.com/gpu", 10}});
  CHECK(with({"capacity.headroom.percent={}"}).headroom.percent == Percents{});
  CHECK(
      with({"webhook.rules.badBase=warn", "webhook.rules.ownedQuota=deny"}).webhook_rules.size() ==
      2);
  CHECK(with({"webhook.rules.badBase=warn", "webhook.rules={}"}).webhook_rules.empty());
  CHECK(with({"debounce={growWindow: 1s}", "debounce={firstQuiet: 2s}"}).debounce.grow_window ==
        seconds(1));
}

TEST_CASE("--set refuses what is no path, no value or no setting") {
  CHECK(set_refusal("debounce.growWindow") == "expected PATH=VALUE");
  CHECK(set_refusal("debounce..growWindow=1s").find("expected a dotted path") != std::string::npos);
  CHECK(set_refusal("=1s").find("expected a dotted path") != std::string::npos);
  CHECK(set_refusal("a.\"b=1").find("expected PATH=VALUE") != std::string::npos);
  CHECK(set_refusal("debounce.growWindow=").find("expected a duration") != std::string::npos);
  CHECK(set_refusal("debounce=").find("expected a map") != std::string::npos);
  CHECK(set_refusal("debounce.grow=1s")
            .find("debounce.grow: unknown key; expected one of ingestCoalesce") !=
        std::string::npos);
  CHECK(set_refusal("debounce.growWindow.x=1s").find("unknown key") != std::string::npos);
  CHECK(set_refusal("nothing.here=1").find("unknown key; expected one of kueue") !=
        std::string::npos);
  CHECK(set_refusal("claims={create: [").find("expected YAML after the =") != std::string::npos);
}
