#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/configuration.h"
#include "schema/event_json.h"

using namespace fairlead;

namespace {

HubRoleSettings roles(std::string_view text, const std::vector<std::string>& settings = {}) {
  const Result<HubRoleSettings> result = read_role_settings(text, "f.yaml", settings);
  INFO(text);
  if (result.has_error()) FAIL(result.error().message);
  return *result;
}

std::string roles_refusal(std::string_view text, const std::vector<std::string>& settings = {}) {
  const Result<HubRoleSettings> result = read_role_settings(text, "f.yaml", settings);
  INFO(text);
  REQUIRE(result.has_error());
  CHECK(result.error().code == ErrorCode::bad_input);
  return result.error().message;
}

const std::string kLease = "leaderElection.lease=fairlead-system/fairlead";

constexpr std::string_view kEtcd = R"(kind: Configuration
log:
  snapshotEvery: 5
  replication:
    etcd:
      endpoints: [https://etcd-0:2379, "https://[::1]:2379"]
      prefix: /hub/fairlead/
      tls: {ca: /tls/ca, certificate: /tls/crt, key: /tls/key}
    window: 64
    pace: {burst: 7}
    create: true
leaderElection: {lease: ns/one, leaseDuration: 5s, renewDeadline: 3s, retryPeriod: 500ms}
)";

}  // namespace

TEST_CASE("without its sections a process takes no part in a replicated log") {
  CHECK(roles("") == HubRoleSettings{});
  CHECK(roles("kind: Configuration\nlog: {snapshotEvery: 5}\n", {"record=true"}) ==
        HubRoleSettings{});
  CHECK(roles("log: {replication: }\nleaderElection:\n") == HubRoleSettings{});
  CHECK_FALSE(roles("").replication.on());
}

TEST_CASE("every setting of the process can be set in the file") {
  const HubRoleSettings s = roles(kEtcd);
  REQUIRE(s.replication.etcd.has_value());
  CHECK_FALSE(s.replication.kubernetes);
  CHECK(*s.replication.etcd == EtcdRing{{"https://etcd-0:2379", "https://[::1]:2379"},
                                        "/hub/fairlead/",
                                        "/tls/ca",
                                        "/tls/crt",
                                        "/tls/key"});
  CHECK(s.replication.window == 64);
  CHECK(s.replication.pace == ReplicationPace{50, 7, 4 << 20});  // of an etcd, where not set
  CHECK(s.replication.create);
  CHECK(s.election == LeaderElectionSettings{"ns/one", seconds(5), seconds(3), milliseconds(500)});
}

TEST_CASE("--set of a setting of the process goes over the file") {
  CHECK(roles(kEtcd, {"log.replication.window=128"}).replication.window == 128);
  const HubRoleSettings s =
      roles("", {kLease, "log.replication.kubernetes.name=hub", "log.replication.create=true",
                 "log.replication.pace.bytesPerSecond=1Mi"});
  CHECK(*s.replication.kubernetes == KubernetesRing{"fairlead-system", "hub"});
  CHECK(s.replication.pace == ReplicationPace{5, 50, 1 << 20});
  CHECK(s.election.lease == "fairlead-system/fairlead");
  CHECK(*roles("", {kLease, "log.replication.kubernetes={}"}).replication.kubernetes ==
        KubernetesRing{});
  CHECK(roles_refusal("", {"leaderElection.lease=one"}) ==
        "--set leaderElection.lease=one: leaderElection.lease: expected namespace/name");
}

TEST_CASE("what a process is started with is no part of the logged configuration") {
  const auto read = read_configuration(kEtcd, "f.yaml");
  REQUIRE(read.has_value());
  Configuration expected;
  expected.snapshot_every = 5;
  CHECK(*read == expected);
  CHECK(to_json(*read) == to_json(expected));
  Configuration set;
  CHECK_FALSE(apply_setting(set, "log.replication.window=128").has_error());
  CHECK(set == Configuration{});
  CHECK(apply_setting(set, "log.replication.window=1").has_error());
}

TEST_CASE("settings of the process that contradict each other are refused") {
  const std::string k = "log: {replication: {kubernetes: {}}}\n";
  CHECK(roles_refusal(k) ==
        "f.yaml:1: log.replication: expected leaderElection.lease too, such as "
        "fairlead-system/fairlead: who appends is elected");
  CHECK(roles(k, {kLease}).replication.on());
  CHECK(roles_refusal("log:\n  replication:\n    window: 64\n", {kLease}) ==
        "f.yaml:3: log.replication: expected one of kubernetes, etcd; kubernetes: {} takes its "
        "defaults");
  CHECK(
      roles_refusal("log:\n  replication:\n    kubernetes:\n", {kLease}).find("expected one of") !=
      std::string::npos);
  CHECK(roles_refusal(kEtcd, {"log.replication.kubernetes={}"}) ==
        "f.yaml:5: log.replication: expected only one of kubernetes, etcd");
  CHECK(roles_refusal("log: {replication: {etcd: {}}}", {kLease}) ==
        "f.yaml:1: log.replication.etcd: expected endpoints: [https://HOST:PORT, ...]");
  CHECK(roles_refusal("", {kLease, "log.replication.etcd.endpoints=[https://a:1]",
                           "log.replication.etcd.tls.key=k"}) ==
        "--set: log.replication.etcd.tls: expected both certificate and key");
  CHECK(roles_refusal("\nleaderElection: {lease: a/b, leaseDuration: 5s}\n") ==
        "f.yaml:2: leaderElection.renewDeadline: expected less than leaseDuration, 5s");
  CHECK(roles_refusal("", {kLease, "leaderElection.retryPeriod=8400ms"}) ==
        "--set: leaderElection.retryPeriod: expected that 1.2 times it is less than renewDeadline, "
        "10s");
  CHECK(roles_refusal("leaderElection: {retryPeriod: 1s}") ==
        "f.yaml:1: leaderElection: expected lease: NAMESPACE/NAME; without one nobody is elected");
}

TEST_CASE("a bad value of the process is refused with its key and what was expected") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"log.replication.window=7", "expected a whole number from 8 to 8192"},
      {"log.replication.pace.perSecond=0", "expected a whole number from 1 to 10000"},
      {"log.replication.pace.burst=many", "expected a whole number from 1 to 100000"},
      {"log.replication.pace.bytesPerSecond=1023", "expected bytes from 1Ki to 1Gi"},
      {"log.replication.pace.bytesPerSecond=2Gi", "expected bytes from 1Ki to 1Gi"},
      {"log.replication.create=yes", "expected one of true, false"},
      {"log.replication.kubernetes.namespace=A", "expected a namespace"},
      {"log.replication.kubernetes.name=a/b", "expected the name of an object, at most 240 bytes"},
      {"log.replication.etcd.endpoints=[]", "expected 1 to 9 of https://HOST:PORT"},
      {"log.replication.etcd.endpoints=https://a:1", "expected a list"},
      {"log.replication.etcd.endpoints[0]=['http://a:1']", "expected https://HOST:PORT"},
      {"log.replication.etcd.endpoints[0]=['https://a']", "expected https://HOST:PORT"},
      {"log.replication.etcd.prefix=fairlead", "expected a prefix such as /fairlead/"},
      {"log.replication.etcd.tls.ca=''", "expected a path"},
      {"leaderElection.leaseDuration=1500ms", "expected whole seconds, at least 1s"},
      {"leaderElection.renewDeadline=0s", "expected at least 10ms"},
      {"leaderElection.lease=fairlead", "expected namespace/name"},
  };
  for (const auto& [setting, expected] : cases) {
    std::string given = setting, key = setting.substr(0, setting.find('='));
    if (const auto item = given.find("[0]"); item != std::string::npos) given.erase(item, 3);
    CHECK(roles_refusal("", {kLease, given}) == "--set " + given + ": " + key + ": " + expected);
  }
  CHECK(roles_refusal("log: {replication: {windows: 5}}") ==
        "f.yaml:1: log.replication.windows: unknown key; expected one of kubernetes, etcd, window, "
        "pace, copies, create");
}

TEST_CASE("the settings of the process that a file changes are named") {
  const auto changed = [](std::string_view text) {
    return changed_role_settings(roles(kEtcd), roles(text));
  };
  CHECK(changed(kEtcd).empty());
  std::string other(kEtcd);
  other.replace(other.find("window: 64"), 10, "window: 65");
  other.replace(other.find("500ms"), 5, "400ms");
  CHECK(changed(other) ==
        std::vector<std::string>{"log.replication.window", "leaderElection.retryPeriod"});
  const std::string lease = "leaderElection: {lease: ns/one}\n";
  CHECK(
      changed_role_settings(roles(lease), roles(lease + "log: {replication: {kubernetes: {}}}")) ==
      std::vector<std::string>{"log.replication.kubernetes"});
}

TEST_CASE("docs/configuration.md shows the settings of the process with their defaults") {
  std::ifstream file("docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("log:\n  replication:");
  REQUIRE(begin != std::string::npos);
  HubRoleSettings expected;
  expected.replication.kubernetes = KubernetesRing{};
  expected.election.lease = "fairlead-system/fairlead";
  CHECK(roles(text.substr(begin, text.find("```", begin) - begin)) == expected);
}
