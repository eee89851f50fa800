#include "connectors/kube/access/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "connectors/kube/access/exec_plugin.h"
#include "connectors/kube/document/yaml_document.h"
#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/certificate.h"
#include "engine/base/base64.h"
#include "engine/base/bounded_file.h"

namespace fairlead {
namespace {

constexpr std::size_t kKubeconfigBytesMax = std::size_t{4} << 20;
// Of one that a cluster holds: the roots of the whole web have 300 KB in it. Reading as much takes
// 0.2 s on the thread that the hub's streams wait for.
constexpr std::size_t kHeldKubeconfigBytesMax = std::size_t{512} << 10;
constexpr int kPortMax = 65'535;
constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

Result<std::string> read_file(const std::string& path) {
  return read_bounded(path, kKubeconfigBytesMax);
}

std::string trimmed(std::string text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The origin of a kubeconfig: its name in errors, and whether it may refer to files.
struct Source {
  std::string name;
  std::optional<std::filesystem::path> folder;  // relative paths start here; none: no files
  JsonDocument document;
};

// A value and the kubeconfig that it is from.
struct Placed {
  JsonView value;
  const Source* source = nullptr;
};

class KubeconfigReader {
 public:
  explicit KubeconfigReader(const std::vector<Source>& sources) : sources_(sources) {}

  // Reads a cluster of the first source alone, which is at `where` in it.
  Result<Credentials> read_only(JsonView cluster, const std::string& where) {
    if (auto done = read_cluster({cluster, &sources_.front()}, where); done.has_error())
      return done.error();
    return std::move(out_);
  }

  Result<Credentials> read(const ContextName& wanted) {
    std::string name = wanted.name;
    for (const Source& source : sources_)
      if (name.empty()) name = source.document.root()["current-context"].string();
    const Source& first = sources_.front();
    if (name.empty()) return fail(first, "current-context is not set and no context was asked for");
    const Placed context = entry("contexts", name, "context");
    if (!context.value.given()) return fail(first, "there is no context \"" + name + "\"");
    const std::string cluster_name(context.value["cluster"].string());
    const Placed cluster = entry("clusters", cluster_name, "cluster");
    if (!cluster.value.given())
      return fail(*context.source,
                  "contexts[" + name + "]: there is no cluster \"" + cluster_name + "\"");
    const std::string user_name(context.value["user"].string());
    const Placed user = entry("users", user_name, "user");
    if (!user_name.empty() && !user.value.given())
      return fail(*context.source,
                  "contexts[" + name + "]: there is no user \"" + user_name + "\"");

    if (auto done = read_cluster(cluster, "clusters[" + cluster_name + "]"); done.has_error())
      return done.error();
    if (user.value.given())
      if (auto done = read_user(user, cluster, "users[" + user_name + "]"); done.has_error())
        return done.error();
    return std::move(out_);
  }

 private:
  static Error fail(const Source& source, const std::string& what) {
    return {ErrorCode::bad_input, source.name + ": " + what};
  }

  Placed entry(std::string_view list, std::string_view name, std::string_view member) const {
    for (const Source& source : sources_)
      for (JsonView row : source.document.root()[list])
        if (row["name"].string() == name) return {row[member], &source};
    return {};
  }

  Result<void> read_cluster(const Placed& cluster, const std::string& where) {
    const Source& source = *cluster.source;
    const std::string_view server = cluster.value["server"].string();
    if (server.empty()) return fail(source, where + ".server is missing");
    auto address = parse_server(server);
    if (address.has_error()) return fail(source, where + ".server: " + address.error().message);
    out_.server = *address;
    if (const std::string_view proxy = cluster.value["proxy-url"].string(); !proxy.empty()) {
      auto parsed = parse_proxy(proxy);
      if (parsed.has_error()) return fail(source, where + ".proxy-url: " + parsed.error().message);
      if (!out_.server.tls)
        return fail(source, where + ".proxy-url: a server without TLS is not reached by a proxy");
      out_.proxy = *parsed;
    }
    auto ca = data_or_file(cluster, "certificate-authority", where);
    if (ca.has_error()) return ca.error();
    out_.ca_pem = *ca;
    out_.verify_server = !cluster.value["insecure-skip-tls-verify"].is_true();
    if (!out_.verify_server && !out_.ca_pem.empty())
      return fail(source,
                  where + ": insecure-skip-tls-verify and a certificate-authority contradict");
    out_.tls_server_name = cluster.value["tls-server-name"].string();
    return check_roots(cluster, where);
  }

  // A certificate that cannot be read would otherwise fail in the TLS library, which knows no
  // field.
  Result<void> check_roots(const Placed& cluster, const std::string& where) const {
    if (out_.ca_pem.empty()) return {};
    const auto readable = check_authorities(out_.ca_pem);
    if (!readable.has_error()) return {};
    const std::string field = where + ".certificate-authority", why = readable.error().message;
    if (!cluster.value["certificate-authority-data"].text().empty())
      return fail(*cluster.source, field + "-data: " + why);
    // The authority's file was read last: the user's files come later.
    return fail(*cluster.source, field + ": " + out_.files.back() + ": " + why);
  }

  Result<void> read_user(const Placed& user, const Placed& cluster, const std::string& where) {
    const Source& source = *user.source;
    for (const char* unsupported : {"auth-provider", "username", "as", "as-uid", "as-groups"})
      if (user.value[unsupported].given())
        return fail(source, where + "." + unsupported +
                                " is not supported; use a client certificate, a token, a tokenFile "
                                "or exec");
    out_.token = user.value["token"].string();
    if (const std::string_view file = user.value["tokenFile"].string(); !file.empty()) {
      auto path = resolve(source, file, where + ".tokenFile");
      if (path.has_error()) return path.error();
      out_.token_file = *path;
      out_.files.push_back(*path);
      if (auto token = current_token(out_); token.has_error())
        return fail(source, where + ".tokenFile: " + token.error().message);
    }
    if (auto done = read_client_certificate(user, where); done.has_error()) return done;
    JsonView exec = user.value["exec"];
    if (!exec.given()) return {};
    if (!source.folder)
      return fail(source, where +
                              ".exec may not run a program here: any writer of this "
                              "kubeconfig would choose what runs on this machine");
    if (!out_.client_certificate_pem.empty() || !out_.token.empty() || !out_.token_file.empty())
      return fail(source, where + ": exec beside a token or a client certificate");
    auto plugin = read_exec_plugin(exec, cluster.value, out_, source.name + ": " + where + ".exec");
    if (plugin.has_error()) return plugin.error();
    if (const std::filesystem::path command = plugin->command;
        command.is_relative() && command.has_parent_path())
      plugin->command = (*source.folder / command).string();
    out_.exec = std::move(*plugin);
    return {};
  }

  Result<void> read_client_certificate(const Placed& user, const std::string& where) {
    const Source& source = *user.source;
    auto certificate = data_or_file(user, "client-certificate", where);
    if (certificate.has_error()) return certificate.error();
    auto key = data_or_file(user, "client-key", where);
    if (key.has_error()) return key.error();
    out_.client_certificate_pem = *certificate;
    out_.client_key_pem = *key;
    if (certificate->empty() && key->empty()) return {};
    if (certificate->empty())
      return fail(source, where + ".client-certificate is missing beside client-key");
    if (key->empty())
      return fail(source, where + ".client-key is missing beside client-certificate");
    const std::string_view file = user.value["client-certificate"].string();
    const bool inlined = !user.value["client-certificate-data"].text().empty();
    out_.certificate_origin = inlined ? source.name + ": " + where + ".client-certificate-data"
                                      : (*source.folder / std::filesystem::path(file)).string();
    if (auto valid = check_certificate_now(*certificate); valid.has_error())
      return fail(source, where + ".client-certificate: " + valid.error().message +
                              (inlined ? "" : " (" + out_.certificate_origin + ")"));
    if (auto pair = check_key_matches(*certificate, *key); pair.has_error())
      return fail(source, where + ".client-key: " + pair.error().message);
    return {};
  }

  static Result<std::string> resolve(const Source& source, std::string_view file,
                                     const std::string& field) {
    if (!source.folder) return fail(source, field + " may not refer to a file here");
    return (*source.folder / std::filesystem::path(file)).string();
  }

  // `<name>-data` in base64, else the file that `<name>` names; empty if neither is there.
  Result<std::string> data_or_file(const Placed& object, const std::string& name,
                                   const std::string& where) {
    const std::string field = where + "." + name;
    if (JsonView data = object.value[name + "-data"]; data.given() && !data.text().empty()) {
      auto decoded = decode_base64(data.string());
      if (decoded.has_error())
        return fail(*object.source, field + "-data: " + decoded.error().message);
      return *decoded;
    }
    const std::string_view file = object.value[name].string();
    if (file.empty()) return std::string();
    auto path = resolve(*object.source, file, field);
    if (path.has_error()) return path.error();
    out_.files.push_back(*path);
    auto text = read_file(*path);
    if (text.has_error()) return fail(*object.source, field + ": " + text.error().message);
    return *text;
  }

  const std::vector<Source>& sources_;
  Credentials out_;
};

Result<Source> source_of(std::string_view text, std::string name,
                         std::optional<std::filesystem::path> folder) {
  std::optional<JsonFault> fault;
  auto documents = parse_yaml(text, fault);
  if (fault)
    return Error{ErrorCode::bad_input,
                 name + ":" + std::to_string(fault->line) + ": expected YAML: " + fault->what};
  if (documents.empty() || !documents[0].document.root().is(JsonKind::object))
    return Error{ErrorCode::bad_input, name + ": expected a kubeconfig"};
  return Source{std::move(name), std::move(folder), std::move(documents[0].document)};
}

Error unreadable(const std::string& why) { return {ErrorCode::bad_input, "kubeconfig: " + why}; }

// `host[:port]`, the host perhaps in brackets; empty port if none is given.
std::optional<std::pair<std::string, std::string>> split_authority(std::string_view authority) {
  std::string host;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (!port.empty()) {
    // A colon and at most five digits, so std::stoi() below cannot overflow.
    if (port.size() < 2 || port.size() > 6 || port[0] != ':' ||
        port.find_first_not_of("0123456789", 1) != std::string_view::npos)
      return std::nullopt;
    port.remove_prefix(1);
    if (std::stoi(std::string(port)) > kPortMax) return std::nullopt;
  }
  if (host.empty() || host.find_first_of(" \t\r\n@?#") != std::string::npos) return std::nullopt;
  return std::pair{std::move(host), std::string(port)};
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
  if (slash != std::string_view::npos) out.path = url.substr(slash);
  while (out.path.ends_with('/')) out.path.pop_back();
  auto authority = split_authority(url.substr(0, slash));
  if (!authority || out.path.find_first_of(" \t\r\n?#") != std::string::npos) return bad;
  out.host = std::move(authority->first);
  out.port = !authority->second.empty() ? std::move(authority->second) : out.tls ? "443" : "80";
  return out;
}

namespace {

// "user:password" as the request of RFC 1929: each with its length before it, 1 to 255 bytes.
std::optional<std::string> socks_login(std::string_view user_and_password) {
  const std::size_t colon = user_and_password.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string out = "\x01";
  for (const std::string_view part :
       {user_and_password.substr(0, colon), user_and_password.substr(colon + 1)}) {
    const auto text = url_decode(part);
    if (!text || text->empty() || text->size() > 255) return std::nullopt;
    out += static_cast<char>(text->size());
    out += *text;
  }
  return out;
}

std::optional<std::string> http_login(std::string_view user_and_password) {
  const auto user = url_decode(user_and_password);
  return user ? std::optional("Basic " + encode_base64(*user)) : std::nullopt;
}

}  // namespace

Result<ProxyAddress> parse_proxy(std::string_view url) {
  ProxyAddress out;
  const std::size_t scheme = url.find("://");
  const Error bad{ErrorCode::bad_input,
                  "expected http://host[:port], https://host[:port] or socks5://host[:port]"};
  if (scheme == std::string_view::npos) return bad;
  const std::string_view word = url.substr(0, scheme);
  const bool socks = word == "socks5" || word == "socks5h";
  if (word != "http" && word != "https" && !socks)
    return Error{bad.code, bad.message + "; " + std::string(word) + " is not supported"};
  out.tls = word == "https";
  out.protocol = socks ? ProxyProtocol::socks5 : ProxyProtocol::http;
  url.remove_prefix(scheme + 3);
  while (url.ends_with('/')) url.remove_suffix(1);
  // The last one, since a password may hold others.
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    auto login = socks ? socks_login(url.substr(0, at)) : http_login(url.substr(0, at));
    if (!login) return bad;
    out.authorization = std::move(*login);
    url.remove_prefix(at + 1);
  }
  auto authority = split_authority(url);
  if (!authority || url.find('/') != std::string_view::npos) return bad;
  out.host = std::move(authority->first);
  out.port = socks ? "1080" : out.tls ? "443" : "80";
  if (!authority->second.empty()) out.port = std::move(authority->second);
  return out;
}

bool same_target(const Credentials& a, const Credentials& b) {
  const auto all = [](const Credentials& c) {
    return std::tie(c.server, c.proxy, c.ca_pem, c.verify_server, c.tls_server_name,
                    c.client_certificate_pem, c.client_key_pem);
  };
  return all(a) == all(b);
}

bool same_access(const Credentials& a, const Credentials& b) {
  const auto rest = [](const Credentials& c) { return std::tie(c.token, c.token_file, c.exec); };
  return same_target(a, b) && rest(a) == rest(b);
}

Result<Credentials> load_kubeconfigs(const std::vector<std::string>& paths,
                                     const ContextName& context) {
  std::vector<Source> sources;
  std::error_code ignored;
  for (const std::string& path : paths) {
    // As client-go: of several files some may be missing, a single one must exist.
    if (paths.size() > 1 && !std::filesystem::exists(path, ignored)) continue;
    auto text = read_file(path);
    if (text.has_error()) return unreadable(text.error().message);
    auto source = source_of(*text, path, std::filesystem::absolute(path).parent_path());
    if (source.has_error()) return source.error();
    sources.push_back(std::move(*source));
  }
  if (sources.empty()) {
    if (paths.empty()) return unreadable("no file is named");
    return unreadable("cannot read " + paths.front());
  }
  auto out = KubeconfigReader(sources).read(context);
  if (out.has_error()) return out;
  for (const std::string& path : paths) out->files.push_back(path);
  out->reread = [paths, context] { return load_kubeconfigs(paths, context); };
  return out;
}

Result<Credentials> load_kubeconfig(const std::string& path, const ContextName& context) {
  return load_kubeconfigs({path}, context);
}

Result<Credentials> read_kubeconfig(std::string_view text, const std::string& origin,
                                    const ContextName& context) {
  if (text.size() > kHeldKubeconfigBytesMax)
    return Error{ErrorCode::bad_input, origin + ": expected a kubeconfig of up to " +
                                           std::to_string(kHeldKubeconfigBytesMax) + " bytes"};
  auto source = source_of(text, origin, std::nullopt);
  if (source.has_error()) return source.error();
  const std::vector<Source> sources = [&] {
    std::vector<Source> one;
    one.push_back(std::move(*source));
    return one;
  }();
  return KubeconfigReader(sources).read(context);
}

Result<Credentials> read_cluster_access(JsonView cluster, const std::string& origin,
                                        const std::string& where) {
  std::vector<Source> sources;
  sources.push_back({origin, std::nullopt, {}});
  return KubeconfigReader(sources).read_only(cluster, where);
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
  if (auto readable = check_authorities(*ca); readable.has_error())
    return in_context("service account: " + folder + "ca.crt", readable.error());
  out.ca_pem = *ca;
  out.token_file = folder + "token";
  if (auto token = current_token(out); token.has_error())
    return in_context("service account", token.error());
  out.files = {folder + "ca.crt", out.token_file};
  out.reread = [] { return in_cluster_credentials(); };
  return out;
}

Result<Credentials> find_credentials(const std::string& path, const ContextName& context) {
  if (!path.empty()) return load_kubeconfig(path, context);
  std::error_code ignored;
  if (const char* variable = std::getenv("KUBECONFIG"); variable != nullptr && *variable != '\0') {
    std::vector<std::string> paths;
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find(':'));
      if (!one.empty()) paths.emplace_back(one);
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
    return load_kubeconfigs(paths, context);
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
