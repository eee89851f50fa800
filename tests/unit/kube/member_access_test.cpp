// Who we are at a member, as a ClusterProfile and the operator's file of providers say.
#include "connectors/kube/access/member_access.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "tests/unit/kube/tiny_server.h"

namespace fairlead {
namespace {

class ProviderFile {
 public:
  explicit ProviderFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("fairlead-providers-" + std::to_string(::getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  ~ProviderFile() { std::filesystem::remove(path_); }
  Result<std::shared_ptr<const AccessProviders>> load() const {
    return load_access_providers(path_.string());
  }

 private:
  std::filesystem::path path_;
};

std::string providers(const std::string& more) {
  return R"({"providers":[{"name":"cloud","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",
    "command":"/bin/cloud","args":["login"],"provideClusterInfo":true,
    "env":[{"name":"ZONE","value":"a"},{"name":"KEPT","value":"k"}]})" +
         more + "}]}";
}

std::string extension(const std::string& name, const std::string& value) {
  return R"({"name":")" + name + R"(","extension":)" + value + "}";
}
const std::string kArgs = "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-args";
const std::string kEnvs = "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs";

Result<Credentials> read(const std::string& more, const std::string& extensions) {
  const auto known = ProviderFile(providers(more)).load();
  REQUIRE(known.has_value());
  const auto profile = parse_json(
      R"({"status":{"accessProviders":[{"name":"cloud","cluster":{"server":"https://c2:6443","extensions":[)" +
      extensions + "]}}]}}");
  REQUIRE(profile.has_value());
  return read_cluster_profile(profile->root(), "profile", **known, "");
}

using Texts = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;
const std::string kAllow = R"(,"additionalCLIArgEnvVarExtensionFlag":"Allow")";

TEST_CASE("a file of providers that is a device is refused") {
  CHECK(load_access_providers("/dev/zero").error().message ==
        "cannot read /dev/zero: it is a device, expected a file");
}

TEST_CASE("a profile adds arguments and variables to its plugin where the operator lets it") {
  const std::string both =
      extension(kArgs, R"(["--tenant","t"])") + "," + extension(kEnvs, R"({"ZONE":"b","NEW":"n"})");
  for (const std::string& allowed :
       {kAllow, std::string(R"(,"additionalCLIArgEnvVarExtensionFlag":1)")}) {
    const auto found = read(allowed, both);
    REQUIRE(found.has_value());
    CHECK(found->exec->args == Texts{"login", "--tenant", "t"});
    Pairs env = found->exec->env;
    std::sort(env.begin(), env.end());
    CHECK(env == Pairs{{"KEPT", "k"}, {"NEW", "n"}, {"ZONE", "b"}});
  }
  for (const std::string& not_allowed :
       {std::string(), std::string(R"(,"additionalCLIArgEnvVarExtensionFlag":0)"),
        std::string(R"(,"additionalCLIArgEnvVarExtensionFlag":"Ignore")")}) {
    const auto found = read(not_allowed, both);
    REQUIRE(found.has_value());
    CHECK(found->exec->args == Texts{"login"});
    CHECK(found->exec->env == Pairs{{"ZONE", "a"}, {"KEPT", "k"}});
  }
}

// A ClusterProfile has room for 100,000 of them; comparing each with each takes half a minute.
TEST_CASE("more variables of a profile than a program can have are refused") {
  const auto variables = [](int count) {
    std::string map;
    for (int i = 0; i < count; ++i)
      map += (i == 0 ? "{\"V" : ",\"V") + std::to_string(i) + R"(":"v")";
    return extension(kEnvs, map + "}");
  };
  CHECK(read(kAllow, variables(256)).has_value());
  const auto refused = read(kAllow, variables(257));
  REQUIRE(refused.has_error());
  CHECK(refused.error().message.ends_with(": expected at most 256 names"));
}

TEST_CASE("policies of Kueue 0.19 say what a profile adds, each for itself") {
  const std::string prefix = "clusterprofiles.multicluster.x-k8s.io/exec/additional-";
  const std::string both = extension(prefix + "args", R"(["--tenant","t"])") + "," +
                           extension(prefix + "envs", R"({"ZONE":"b","NEW":"n"})");
  struct Case {
    std::string policies;
    Texts args;
    Pairs env;
  };
  const Case cases[] = {
      {R"(,"profileSourcedCLIArgsPolicy":"Append")",
       {"login", "--tenant", "t"},
       {{"KEPT", "k"}, {"ZONE", "a"}}},
      {R"(,"profileSourcedEnvVarsPolicy":"AppendIfNotExists")",
       {"login"},
       {{"KEPT", "k"}, {"NEW", "n"}, {"ZONE", "a"}}},
      {R"(,"profileSourcedCLIArgsPolicy":"Ignore","profileSourcedEnvVarsPolicy":"Replace")",
       {"login"},
       {{"KEPT", "k"}, {"NEW", "n"}, {"ZONE", "b"}}}};
  for (const Case& one : cases) {
    INFO(one.policies);
    const auto found = read(one.policies, both);
    REQUIRE(found.has_value());
    CHECK(found->exec->args == one.args);
    Pairs env = found->exec->env;
    std::sort(env.begin(), env.end());
    CHECK(env == one.env);
  }
}

TEST_CASE("a file of providers is refused where a field would be ignored") {
  const auto message = [](const std::string& text) {
    const auto loaded = ProviderFile(text).load();
    REQUIRE(loaded.has_error());
    return loaded.error().message;
  };
  CHECK(message(providers(R"(,"policy":1)")).find("providers[cloud]: unknown field policy") !=
        std::string::npos);
  CHECK(message(R"({"providers":[{"name":"c","execConfig":{"comand":"x"}}]})")
            .find("providers[c].execConfig: unknown field comand") != std::string::npos);
  CHECK(message(R"({"providers":[],"more":[]})").find("unknown field more") != std::string::npos);
  CHECK(message(providers(R"(,"profileSourcedCLIArgsPolicy":"Replace")"))
            .find("profileSourcedCLIArgsPolicy: expected one of Ignore, Append") !=
        std::string::npos);
  const std::string one =
      R"({"name":"c","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"/c"}})";
  CHECK(message(R"({"providers":[)" + one + "," + one + "]}").find("providers[c]: there are two") !=
        std::string::npos);
}

TEST_CASE("the cluster's own configuration reaches the plugin with what is known of the cluster") {
  const auto found =
      read("", extension("client.authentication.k8s.io/exec", R"({"clusterName":"c2"})"));
  REQUIRE(found.has_value());
  CHECK(found->exec->cluster_info ==
        R"({"config":{"clusterName":"c2"},"server":"https://c2:6443"})");
}

TEST_CASE("a fault in the cluster of an access provider is named with its path in the profile") {
  const auto fault = [](const std::string& cluster) {
    const auto profile = parse_json(
        R"({"status":{"accessProviders":[{"name":"secretreader","cluster":)" + cluster + "}]}}");
    const auto read = read_cluster_profile(profile->root(), "ClusterProfile team/x", {}, "");
    REQUIRE(read.has_error());
    return read.error().message;
  };
  const std::string at = "ClusterProfile team/x: status.accessProviders[secretreader].cluster";
  CHECK(fault("{}") == at + ".server is missing");
  CHECK(fault(R"({"server":"https://c2","certificate-authority-data":"bm8gUEVN"})") ==
        at + ".certificate-authority-data: expected PEM certificates");
  CHECK(fault(R"({"server":"https://c2","certificate-authority":"/etc/ca"})") ==
        at + ".certificate-authority may not refer to a file here");
}

TEST_CASE("a profile without a known provider: the error names the known ones and their file") {
  const auto fault = [](const AccessProviders& known) {
    const auto profile = parse_json(R"({"status":{"accessProviders":[{"name":"other"}]}})");
    const auto read = read_cluster_profile(profile->root(), "profile", known, "");
    REQUIRE(read.has_error());
    return read.error().message;
  };
  const std::string start = "profile: none of its access providers is known here (it has other; ";
  CHECK(fault({}) == start +
                         "known is secretreader alone: --clusterprofile-provider-file is not "
                         "given)");
  AccessProviders known{"/etc/p.json", *parse_json(R"({"providers":[]})")};
  CHECK(fault(known) == start +
                            "known are none of --clusterprofile-provider-file /etc/p.json, and "
                            "secretreader)");
  known.document = *parse_json(R"({"providers":[{"name":"cloud"},{"name":"site"}]})");
  CHECK(fault(known) == start +
                            "known are cloud, site of --clusterprofile-provider-file /etc/p.json, "
                            "and secretreader)");
}

TEST_CASE("an extension of another shape is named, and so is an unknown flag") {
  for (const char* bad : {R"("--tenant")", "[1]", "{}"}) {
    const auto found = read(kAllow, extension(kArgs, bad));
    REQUIRE(found.has_error());
    CHECK(found.error().message.find("cluster.extensions[" + kArgs + "]: expected a list") !=
          std::string::npos);
  }
  for (const char* bad : {R"(["A=b"])", R"({"A":1})", R"({"A=B":"c"})", R"({"":"c"})"})
    CHECK(read(kAllow, extension(kEnvs, bad)).has_error());
  const auto unknown =
      ProviderFile(providers(R"(,"additionalCLIArgEnvVarExtensionFlag":"Sometimes")")).load();
  REQUIRE(unknown.has_error());
  CHECK(unknown.error().message.find("expected Allow or Ignore") != std::string::npos);
}

std::string profile_of(const std::string& status, const std::string& type = "") {
  const std::string object =
      R"({"metadata":{"name":"x","resourceVersion":"7"},"status":{)" + status + "}}";
  return type.empty() ? object : R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// What use() gets while the profile has each of these statuses in turn: the server, or the error.
// Ends with the server "last".
Texts used(const Texts& statuses) {
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      std::string body, head = "HTTP/1.1 200 OK\r\n";
      if (text.find("watch=true") == std::string::npos) {
        body = R"({"metadata":{"resourceVersion":"6"},"items":[)" + profile_of(statuses[0]) + "]}";
        head += "Content-Length: " + std::to_string(body.size());
      } else {
        for (std::size_t i = 1; i < statuses.size(); ++i)
          body += profile_of(statuses[i], "MODIFIED");
        head += "Content-Length: 1000000";  // the stream stays open
      }
      write_all(socket, head + "\r\n\r\n" + body);
    }
  });
  Texts out;
  std::promise<void> over;
  IoLoop loop;
  auto hub = ApiServerConnection::make(loop, "hub", server.credentials(), {});
  REQUIRE(hub.has_value());
  const auto known = ProviderFile(providers("")).load();
  REQUIRE(known.has_value());
  MemberKubeconfig member;
  member.cluster_profile = "team/x";
  auto access = MemberAccess::follow(**hub, member, *known, [&](const Result<Credentials>& got) {
    out.push_back(got.has_error() ? got.error().message : got->server.host);
    if (out.back() == "last") over.set_value();
  });
  CHECK(over.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  access.reset();
  hub->reset();
  loop.stop();
  return out;
}

std::string offers(const std::string& server, const std::string& more = "") {
  return R"("accessProviders":[{"name":"cloud","cluster":{"server":"https://)" + server + "\"" +
         more + "}}]";
}

TEST_CASE("a change of a profile that does not concern its credentials is not passed on") {
  const std::string property = R"(,"properties":[{"name":"cpu","value":"8"}])";
  const std::string condition = R"(,"conditions":[{"type":"Joined","status":"True"}])";
  const std::string other = R"(,{"name":"other","cluster":{"server":"https://other"}}])";
  std::string two = offers("first");
  two.replace(two.size() - 1, 1, other);
  CHECK(used({offers("first"), offers("first") + property, offers("first") + condition, two,
              offers("last")}) == Texts{"first", "last"});
}

TEST_CASE("each part of the cluster that credentials are made of is passed on") {
  const std::string config =
      "," + std::string(R"("extensions":[{"name":"client.authentication.k8s.io/exec",)") +
      R"("extension":{"clusterName":"a"}}])";
  CHECK(used({offers("first"), offers("first", R"(,"tls-server-name":"n")"),
              offers("first", config), offers("last")}) ==
        Texts{"first", "first", "first", "last"});
}

TEST_CASE("a profile without usable credentials is reported once until that changes") {
  const std::string version = R"("version":{"kubernetes":"1.31"})";
  const Texts got = used({R"("conditions":[])", version, offers(""), offers("") + "," + version,
                          version, offers("last")});
  REQUIRE(got.size() == 4);
  CHECK(got[0].find("(it has none; ") != std::string::npos);
  CHECK(got[1] ==
        "ClusterProfile team/x: status.accessProviders[cloud].cluster.server: expected "
        "https://host[:port][/path] or http://..., got https://");
  CHECK(got[2] == got[0]);
  CHECK(got[3] == "last");
}

}  // namespace
}  // namespace fairlead
