#include "connectors/kube/access/kubeconfig.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/base/base64.h"

using namespace fairlead;

namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

struct Pair {
  std::string certificate, key;
};

// A self-signed certificate that is valid from and until so many seconds from now.
Pair certificate(long from, long until) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* made = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), from);
  X509_gmtime_adj(X509_getm_notAfter(made), until);
  X509_set_pubkey(made, key);
  X509_sign(made, key, EVP_sha256());
  BIO* certificate_out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_out, made);
  BIO* key_out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_out, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(made);
  EVP_PKEY_free(key);
  return {text_of(certificate_out), text_of(key_out)};
}

const std::string kSomeRoots = certificate(-60, 3600).certificate;
const std::string kOtherRoots = certificate(-60, 3600).certificate;

const std::string kHead = R"(apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u}}
- {name: two, context: {cluster: d, user: ""}}
- {name: three, context: {cluster: gone, user: u}}
- {name: four, context: {cluster: c, user: gone}}
clusters:
- {name: d, cluster: {server: "http://127.0.0.1:8001/prefix/"}}
)";

std::string config(const std::string& cluster, const std::string& user) {
  return kHead + "- {name: c, cluster: {" + cluster + "}}\nusers:\n- {name: u, user: {" + user +
         "}}\n";
}

Result<Credentials> read(const std::string& cluster, const std::string& user,
                         const std::string& context = "") {
  return read_kubeconfig(config(cluster, user), "conf", {context});
}

std::string fault(const std::string& cluster, const std::string& user,
                  const std::string& context = "") {
  auto out = read(cluster, user, context);
  REQUIRE(out.has_error());
  CHECK(out.error().code == ErrorCode::bad_input);
  return out.error().message;
}

const std::string kServer = "server: 'https://hub:6443'";

}  // namespace

TEST_CASE("server addresses are taken apart, and only http and https are taken") {
  CHECK(*parse_server("https://hub") == ServerAddress{true, "hub", "443", ""});
  CHECK(*parse_server("http://127.0.0.1:8001/a/b/") ==
        ServerAddress{false, "127.0.0.1", "8001", "/a/b"});
  CHECK(*parse_server("https://[::1]:6443") == ServerAddress{true, "::1", "6443", ""});
  for (const char* bad : {"", "hub:6443", "ftp://x", "https://", "https://hub:", "https://hub:port",
                          "https://[::1", "https://u@hub", "https://hub:6443/?x",
                          "https://hub:1234567", "https://hub:65536", "https://a b"})
    CHECK(parse_server(bad).has_error());
}

TEST_CASE("contexts choose cluster and user") {
  auto one = read(kServer, "token: t");
  REQUIRE(one.has_value());
  CHECK(one->server == ServerAddress{true, "hub", "6443", ""});
  CHECK(one->token == "t");
  CHECK(one->verify_server);
  auto two = read(kServer, "token: t", "two");
  REQUIRE(two.has_value());
  CHECK(two->server == ServerAddress{false, "127.0.0.1", "8001", "/prefix"});
  CHECK(two->token.empty());
  auto named = read(kServer + ", insecure-skip-tls-verify: true, tls-server-name: other", "");
  REQUIRE(named.has_value());
  CHECK_FALSE(named->verify_server);
  CHECK(named->tls_server_name == "other");
  CHECK(read(kServer + ", insecure-skip-tls-verify: 'true'", "")
            ->verify_server);  // only when it says so
}

TEST_CASE("what is missing or wrong is said with file and field") {
  CHECK(fault(kServer, "", "nine") == "conf: there is no context \"nine\"");
  CHECK(fault(kServer, "", "three") == "conf: contexts[three]: there is no cluster \"gone\"");
  CHECK(fault(kServer, "", "four") == "conf: contexts[four]: there is no user \"gone\"");
  CHECK(fault("a: 1", "") == "conf: clusters[c].server is missing");
  CHECK(fault("server: hub", "") ==
        "conf: clusters[c].server: expected https://host[:port][/path] or http://..., got hub");
  CHECK(fault(kServer + ", proxy-url: x", "") ==
        "conf: clusters[c].proxy-url: expected http://host[:port], https://host[:port] or "
        "socks5://host[:port]");
  CHECK(fault(kServer + ", proxy-url: 'socks4://p:1080'", "") ==
        "conf: clusters[c].proxy-url: expected http://host[:port], https://host[:port] or "
        "socks5://host[:port]; socks4 is not supported");
  CHECK(fault("server: 'http://hub', proxy-url: 'http://p'", "")
            .find("conf: clusters[c].proxy-url: a server without TLS") == 0);
  CHECK(fault(kServer + ", certificate-authority-data: '***'", "") ==
        "conf: clusters[c].certificate-authority-data: expected base64");
  CHECK(fault(kServer + ", certificate-authority-data: " + encode_base64("no PEM"), "") ==
        "conf: clusters[c].certificate-authority-data: expected PEM certificates");
  const std::string half = kSomeRoots.substr(0, kSomeRoots.size() / 2);
  CHECK(
      fault(kServer + ", certificate-authority-data: " + encode_base64(kSomeRoots + half), "") ==
      "conf: clusters[c].certificate-authority-data: its PEM certificate number 2 cannot be read");
  CHECK(fault(kServer + ", certificate-authority: ca.crt", "") ==
        "conf: clusters[c].certificate-authority may not refer to a file here");
  CHECK(fault(kServer + ", insecure-skip-tls-verify: true, certificate-authority-data: " +
                  encode_base64("x"),
              "") ==
        "conf: clusters[c]: insecure-skip-tls-verify and a certificate-authority contradict");
  CHECK(
      fault(kServer, "exec: {command: x}").find("conf: users[u].exec may not run a program here") ==
      0);
  for (const char* field : {"auth-provider", "username", "as", "as-groups"})
    CHECK(fault(kServer, std::string(field) + ": x")
              .find("conf: users[u]." + std::string(field) + " is not supported") == 0);
  CHECK(fault(kServer, "tokenFile: x") == "conf: users[u].tokenFile may not refer to a file here");
  CHECK(read_kubeconfig("a: [", "conf", {}).error().message.find("conf:1: expected YAML: ") == 0);
  CHECK(read_kubeconfig("7", "conf", {}).error().message == "conf: expected a kubeconfig");
  CHECK(read_kubeconfig("kind: Config", "conf", {}).error().message ==
        "conf: current-context is not set and no context was asked for");
}

// A Secret's kubeconfig is read on the thread that the hub's streams wait for.
TEST_CASE("a kubeconfig that takes long to be read is refused with its line") {
  std::string text = "m0: &m0 {k: v}\n";
  for (int level = 1; level <= 12; ++level) {
    const std::string before = "*m" + std::to_string(level - 1);
    text += "m" + std::to_string(level) + ": &m" + std::to_string(level) + " {<<: [" + before;
    for (int i = 0; i < 9; ++i) text += ", " + before;
    text += "]}\n";
  }
  CHECK(read_kubeconfig(text, "Secret a/b", {}).error().message ==
        "Secret a/b:7: expected YAML: aliases that stand for more than 500000 values");
  CHECK(read_kubeconfig(std::string((512 << 10) + 1, '\n'), "Secret a/b", {}).error().message ==
        "Secret a/b: expected a kubeconfig of up to 524288 bytes");
}

TEST_CASE("client certificates are checked when they are read") {
  const Pair good = certificate(-60, 3600);
  const Pair other = certificate(-60, 3600);
  const Pair expired = certificate(-7200, -3600);
  const Pair early = certificate(3600, 7200);
  auto user = [](const std::string& crt, const std::string& key) {
    return "client-certificate-data: " + encode_base64(crt) +
           ", client-key-data: " + encode_base64(key);
  };
  auto read_good = read(kServer, user(good.certificate, good.key));
  REQUIRE(read_good.has_value());
  CHECK(read_good->client_certificate_pem == good.certificate);
  CHECK(read_good->client_key_pem == good.key);
  CHECK(fault(kServer, user(expired.certificate, expired.key))
            .find("conf: users[u].client-certificate: the certificate expired at ") == 0);
  CHECK(fault(kServer, user(early.certificate, early.key))
            .find("conf: users[u].client-certificate: the certificate is not valid before ") == 0);
  CHECK(fault(kServer, user(good.certificate, other.key)) ==
        "conf: users[u].client-key: the key does not belong to the client certificate");
  CHECK(fault(kServer, user("x", good.key)) ==
        "conf: users[u].client-certificate: expected a PEM certificate");
  CHECK(fault(kServer, user(good.certificate, "x")) ==
        "conf: users[u].client-key: expected a PEM private key without a password");
  CHECK(fault(kServer, "client-certificate-data: " + encode_base64(good.certificate)) ==
        "conf: users[u].client-key is missing beside client-certificate");
  CHECK(fault(kServer, "client-key-data: " + encode_base64(good.key)) ==
        "conf: users[u].client-certificate is missing beside client-key");
}

TEST_CASE("files are relative to the kubeconfig, and a token file is read again") {
  const auto folder = std::filesystem::temp_directory_path() / "fairlead-kubeconfig-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "config").string();
  std::ofstream(path) << config(kServer + ", certificate-authority: ca.crt",
                                "token: old, tokenFile: token");
  CHECK(load_kubeconfig(path, {}).error().message.find(
            path + ": clusters[c].certificate-authority: cannot read ") == 0);
  std::ofstream(folder / "ca.crt") << "roots";
  CHECK(load_kubeconfig(path, {}).error().message ==
        path + ": clusters[c].certificate-authority: " + (folder / "ca.crt").string() +
            ": expected PEM certificates");
  std::ofstream(folder / "ca.crt") << kSomeRoots;
  CHECK(load_kubeconfig(path, {}).error().message.find(path +
                                                       ": users[u].tokenFile: cannot read ") == 0);
  std::ofstream(folder / "token") << "\n";
  CHECK(load_kubeconfig(path, {}).error().message.find("holds no token") != std::string::npos);
  std::ofstream(folder / "token") << "first\n";
  auto out = load_kubeconfig(path, {});
  REQUIRE(out.has_value());
  CHECK(out->ca_pem == kSomeRoots);
  CHECK(*current_token(*out) == "first");
  std::ofstream(folder / "token") << "second";
  CHECK(*current_token(*out) == "second");
  CHECK(load_kubeconfig(folder.string(), {}).error().message.find("kubeconfig: cannot read ") == 0);
  CHECK(load_kubeconfig("/dev/zero", {}).error().message ==
        "kubeconfig: cannot read /dev/zero: it is a device, expected a file");

  setenv("KUBECONFIG", ((folder / "none").string() + ":" + path).c_str(), 1);
  CHECK(find_credentials("", {}).has_value());
  setenv("KUBECONFIG", (folder / "none").string().c_str(), 1);
  CHECK(find_credentials("", {}).error().message ==
        "kubeconfig: cannot read " + (folder / "none").string() + ": No such file or directory");
  unsetenv("KUBECONFIG");
  unsetenv("KUBERNETES_SERVICE_HOST");
  setenv("HOME", folder.string().c_str(), 1);
  CHECK(find_credentials("", {}).error().message.find(
            "no kubeconfig: give --kubeconfig, set KUBECONFIG or write ~/.kube/config") == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a proxy has a scheme, an address and perhaps a user") {
  CHECK(*parse_proxy("http://proxy") == ProxyAddress{false, "proxy", "80", ""});
  CHECK(*parse_proxy("https://proxy:8443/") == ProxyAddress{true, "proxy", "8443", ""});
  CHECK(*parse_proxy("http://[::1]:3128") == ProxyAddress{false, "::1", "3128", ""});
  CHECK(parse_proxy("http://me:p%40ss@proxy:3128")->authorization == "Basic bWU6cEBzcw==");
  const ProxyAddress socks = *parse_proxy("socks5://proxy");
  CHECK(socks == ProxyAddress{false, "proxy", "1080", "", ProxyProtocol::socks5});
  CHECK(*parse_proxy("socks5h://proxy/") == socks);
  CHECK(parse_proxy("socks5://me:p%3Ass@[::1]:9")->authorization == "\x01\x02me\x04p:ss");
  for (const char* bad :
       {"", "proxy:3128", "socks4://proxy", "socks5://me@proxy", "socks5://me:@proxy", "http://",
        "http://a/b", "http://a:b", "http://%zz@proxy"})
    CHECK(parse_proxy(bad).has_error());
}

namespace {

// A folder with files, removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("of several kubeconfigs the first that has a name counts") {
  const Folder folder("fairlead-merge-test");
  const std::string one = folder.write("a/one", R"(
clusters:
- {name: c, cluster: {server: "https://first", certificate-authority: ca}}
users:
- {name: u, user: {tokenFile: token}}
)");
  folder.write("a/ca", kSomeRoots);
  const std::string two = folder.write("b/two", R"(
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u}}
- {name: other, context: {cluster: d, user: u}}
clusters:
- {name: c, cluster: {server: "https://second"}}
- {name: d, cluster: {server: "https://third"}}
users:
- {name: u, user: {token: second}}
)");
  CHECK(load_kubeconfigs({one, two}, {})
            .error()
            .message.find(one + ": users[u].tokenFile: cannot read ") == 0);
  folder.write("a/token", "first");
  auto merged = load_kubeconfigs({one, folder / "none", two}, {});
  REQUIRE(merged.has_value());
  CHECK(merged->server.host == "first");
  CHECK(merged->ca_pem == kSomeRoots);  // relative to the file that names it
  CHECK(*current_token(*merged) == "first");
  CHECK(load_kubeconfigs({two, one}, {})->server.host == "second");
  CHECK(load_kubeconfigs({one, two}, {"other"})->server.host == "third");
  CHECK(load_kubeconfigs({folder / "none", folder / "nothing"}, {}).error().message ==
        "kubeconfig: cannot read " + (folder / "none"));

  folder.write("a/token", "renewed");
  folder.write("a/ca", kOtherRoots);
  auto again = merged->reread();
  REQUIRE(again.has_value());
  CHECK(again->ca_pem == kOtherRoots);
  CHECK_FALSE(same_access(*again, *merged));
  setenv("KUBECONFIG", (one + ":" + two).c_str(), 1);
  CHECK(find_credentials("", {})->server.host == "first");
  unsetenv("KUBECONFIG");
}

TEST_CASE("an exec entry is read whole, and refused where it cannot work") {
  const Folder folder("fairlead-exec-test");
  const auto load = [&](const std::string& exec, const std::string& cluster = "") {
    return load_kubeconfig(
        folder.write("config", config(kServer + cluster, "exec: {" + exec + "}")), {});
  };
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  auto read =
      load(v1 + "command: bin/plugin, args: [a, 'b c'], env: [{name: VAR, value: v}], "
                "installHint: get it, interactiveMode: IfAvailable, provideClusterInfo: true",
           ", tls-server-name: api, certificate-authority-data: " + encode_base64(kSomeRoots) +
               ", extensions: [{name: client.authentication.k8s.io/exec, extension: "
               "{audience: me}}]");
  INFO((read.has_error() ? read.error().message : ""));
  REQUIRE(read.has_value());
  REQUIRE(read->exec.has_value());
  CHECK(read->exec->command == folder / "bin/plugin");
  CHECK(read->exec->args == std::vector<std::string>{"a", "b c"});
  CHECK(read->exec->env == std::vector<std::pair<std::string, std::string>>{{"VAR", "v"}});
  CHECK(read->exec->install_hint == "get it");
  CHECK(read->exec->cluster_info ==
        R"({"certificate-authority-data":")" + encode_base64(kSomeRoots) +
            R"(","config":{"audience":"me"},"server":"https://hub:6443","tls-server-name":"api"})");
  CHECK(load("apiVersion: client.authentication.k8s.io/v1beta1, command: plugin")->exec->command ==
        "plugin");  // found in PATH
  const auto why = [&](const std::string& exec) { return load(exec).error().message; };
  CHECK(why("apiVersion: client.authentication.k8s.io/v1alpha1, command: x").find("expected") !=
        std::string::npos);
  CHECK(why(v1 + "args: []").find("users[u].exec.command is missing") != std::string::npos);
  CHECK(why(v1 + "command: x, interactiveMode: Always").find("needs a terminal") !=
        std::string::npos);
  CHECK(why(v1 + "command: x, env: [{value: v}]").find(".env") != std::string::npos);
}
