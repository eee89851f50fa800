#include "connectors/kube/kubeconfig.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "connectors/kube/certificate.h"
#include "connectors/kube/yaml_document.h"

namespace fairlead {
namespace {

constexpr std::size_t kKubeconfigBytesMax = std::size_t{4} << 20;
constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, ignored))
    return Error{ErrorCode::bad_input, "cannot read " + path};
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() > kKubeconfigBytesMax) return Error{ErrorCode::bad_input, path + " is too long"};
  return text;
}

std::string trimmed(std::string text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Where a kubeconfig came from: how errors name it, and whether it may point to files.
struct Origin {
  std::string name;
  std::optional<std::filesystem::path> folder;  // relative paths start here; none: no files
};

class KubeconfigReader {
 public:
  KubeconfigReader(JsonView root, const Origin& origin) : root_(root), origin_(origin) {}

  Result<Credentials> read(const ContextName& wanted) {
    std::string name = wanted.name;
    if (name.empty()) name = root_["current-context"].string();
    if (name.empty()) return fail("current-context is not set and no context was asked for");
    JsonView context = entry("contexts", name)["context"];
    if (!context.given()) return fail("there is no context \"" + name + "\"");
    const std::string cluster_name(context["cluster"].string());
    JsonView cluster = entry("clusters", cluster_name)["cluster"];
    if (!cluster.given())
      return fail("contexts[" + name + "]: there is no cluster \"" + cluster_name + "\"");
    const std::string user_name(context["user"].string());
    JsonView user = entry("users", user_name)["user"];
    if (!user_name.empty() && !user.given())
      return fail("contexts[" + name + "]: there is no user \"" + user_name + "\"");

    Credentials out;
    if (auto done = read_cluster(cluster, "clusters[" + cluster_name + "]", out); done.has_error())
      return done.error();
    if (auto done = read_user(user, "users[" + user_name + "]", out); done.has_error())
      return done.error();
    return out;
  }

 private:
  Error fail(const std::string& what) const {
    return {ErrorCode::bad_input, origin_.name + ": " + what};
  }

  JsonView entry(std::string_view list, std::string_view name) const {
    for (JsonView row : root_[list])
      if (row["name"].string() == name) return row;
    return {};
  }

  Result<void> read_cluster(JsonView cluster, const std::string& where, Credentials& out) {
    const std::string_view server = cluster["server"].string();
    if (server.empty()) return fail(where + ".server is missing");
    auto address = parse_server(server);
    if (address.has_error()) return fail(where + ".server: " + address.error().message);
    out.server = *address;
    if (cluster["proxy-url"].given()) return fail(where + ".proxy-url is not supported yet");
    auto ca = data_or_file(cluster, "certificate-authority", where);
    if (ca.has_error()) return ca.error();
    out.ca_pem = *ca;
    out.verify_server = !cluster["insecure-skip-tls-verify"].is_true();
    if (!out.verify_server && !out.ca_pem.empty())
      return fail(where + ": insecure-skip-tls-verify and a certificate-authority contradict");
    out.tls_server_name = cluster["tls-server-name"].string();
    return {};
  }

  Result<void> read_user(JsonView user, const std::string& where, Credentials& out) {
    for (const char* unsupported : {"exec", "auth-provider"})
      if (user[unsupported].given())
        return fail(where + "." + unsupported +
                    ": credential plugins are not supported yet; use a client certificate, a token "
                    "or a tokenFile");
    out.token = user["token"].string();
    if (const std::string_view file = user["tokenFile"].string(); !file.empty()) {
      auto path = resolve(file, where + ".tokenFile");
      if (path.has_error()) return path.error();
      out.token_file = *path;
      if (auto token = current_token(out); token.has_error())
        return fail(where + ".tokenFile: " + token.error().message);
    }
    return read_client_certificate(user, where, out);
  }

  Result<void> read_client_certificate(JsonView user, const std::string& where, Credentials& out) {
    auto certificate = data_or_file(user, "client-certificate", where);
    if (certificate.has_error()) return certificate.error();
    auto key = data_or_file(user, "client-key", where);
    if (key.has_error()) return key.error();
    out.client_certificate_pem = *certificate;
    out.client_key_pem = *key;
    if (certificate->empty() && key->empty()) return {};
    if (certificate->empty())
      return fail(where + ".client-certificate is missing beside client-key");
    if (key->empty()) return fail(where + ".client-key is missing beside client-certificate");
    if (auto valid = check_certificate_now(*certificate); valid.has_error())
      return fail(where + ".client-certificate: " + valid.error().message);
    if (auto pair = check_key_matches(*certificate, *key); pair.has_error())
      return fail(where + ".client-key: " + pair.error().message);
    return {};
  }

  Result<std::string> resolve(std::string_view file, const std::string& field) const {
    if (!origin_.folder) return fail(field + " may not refer to a file here");
    return (*origin_.folder / std::filesystem::path(file)).string();
  }

  // `<name>-data` in base64, else the file that `<name>` names; empty if neither is there.
  Result<std::string> data_or_file(JsonView object, const std::string& name,
                                   const std::string& where) {
    const std::string field = where + "." + name;
    if (JsonView data = object[name + "-data"]; data.given() && !data.text().empty()) {
      auto decoded = decode_base64(data.string());
      if (decoded.has_error()) return fail(field + "-data: " + decoded.error().message);
      return *decoded;
    }
    const std::string_view file = object[name].string();
    if (file.empty()) return std::string();
    auto path = resolve(file, field);
    if (path.has_error()) return path.error();
    auto text = read_file(*path);
    if (text.has_error()) return fail(field + ": " + text.error().message);
    return *text;
  }

  JsonView root_;
  const Origin& origin_;
};

Result<Credentials> read(std::string_view text, const Origin& origin, const ContextName& context) {
  std::optional<JsonFault> fault;
  auto documents = parse_yaml(text, fault);
  if (fault)
    return Error{ErrorCode::bad_input, origin.name + ":" + std::to_string(fault->line) +
                                           ": expected YAML: " + fault->what};
  if (documents.empty() || !documents[0].document.root().is(JsonKind::object))
    return Error{ErrorCode::bad_input, origin.name + ": expected a kubeconfig"};
  return KubeconfigReader(documents[0].document.root(), origin).read(context);
}

}  // namespace

Result<ServerAddress> parse_server(std::string_view url) {
  ServerAddress out;
  const Error bad{ErrorCode::bad_input,
                  "expected https://host[:port][/path] or http://..., got " + std::string(url)};
  if (url.starts_with("https://")) {
    url.remove_prefix(8);
  } else if (url.starts_with("http://")) {
    url.remove_prefix(7);
    out.tls = false;
  } else {
    return bad;
  }
  const std::size_t slash = url.find('/');
  std::string_view authority = url.substr(0, slash);
  if (slash != std::string_view::npos) out.path = url.substr(slash);
  while (out.path.ends_with('/')) out.path.pop_back();
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad;
    out.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    out.host = authority.substr(0, authority.find(':'));
    port = authority.substr(out.host.size());
  }
  out.port = out.tls ? "443" : "80";
  if (!port.empty()) {
    if (port.size() < 2 || port.size() > 6 || port[0] != ':' ||
        port.find_first_not_of("0123456789", 1) != std::string_view::npos)
      return bad;
    out.port = port.substr(1);
  }
  if (out.host.empty() || out.host.find_first_of(" \t\r\n@?#") != std::string::npos ||
      out.path.find_first_of(" \t\r\n?#") != std::string::npos)
    return bad;
  return out;
}

Result<Credentials> load_kubeconfig(const std::string& path, const ContextName& context) {
  auto text = read_file(path);
  if (text.has_error()) return Error{ErrorCode::bad_input, "kubeconfig: " + text.error().message};
  return read(*text, {path, std::filesystem::absolute(path).parent_path()}, context);
}

Result<Credentials> read_kubeconfig(std::string_view text, const std::string& origin,
                                    const ContextName& context) {
  return read(text, {origin, std::nullopt}, context);
}

Result<Credentials> in_cluster_credentials() {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr || *host == '\0' || *port == '\0')
    return Error{
        ErrorCode::bad_input,
        "not running in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"};
  Credentials out;
  out.server = {true, host, port, ""};
  const std::string folder(kServiceAccount);
  auto ca = read_file(folder + "ca.crt");
  if (ca.has_error()) return in_context("service account", ca.error());
  out.ca_pem = *ca;
  out.token_file = folder + "token";
  if (auto token = current_token(out); token.has_error())
    return in_context("service account", token.error());
  return out;
}

Result<Credentials> find_credentials(const std::string& path, const ContextName& context) {
  if (!path.empty()) return load_kubeconfig(path, context);
  std::error_code ignored;
  if (const char* variable = std::getenv("KUBECONFIG"); variable != nullptr && *variable != '\0') {
    std::string_view rest = variable;
    const std::string first(rest.substr(0, rest.find(':')));
    while (!rest.empty()) {
      const std::string one(rest.substr(0, rest.find(':')));
      if (std::filesystem::exists(one, ignored)) return load_kubeconfig(one, context);
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
    return load_kubeconfig(first, context);
  }
  if (const char* home = std::getenv("HOME"); home != nullptr) {
    const std::string usual = std::string(home) + "/.kube/config";
    if (std::filesystem::exists(usual, ignored)) return load_kubeconfig(usual, context);
  }
  auto pod = in_cluster_credentials();
  if (pod.has_error())
    return Error{ErrorCode::bad_input,
                 "no kubeconfig: give --kubeconfig, set KUBECONFIG or write ~/.kube/config (" +
                     pod.error().message + ")"};
  return pod;
}

Result<std::string> current_token(const Credentials& credentials) {
  if (credentials.token_file.empty()) return credentials.token;
  auto text = read_file(credentials.token_file);
  if (text.has_error()) return text.error();
  std::string token = trimmed(*text);
  if (token.empty()) return Error{ErrorCode::bad_input, credentials.token_file + " holds no token"};
  return token;
}

}  // namespace fairlead
