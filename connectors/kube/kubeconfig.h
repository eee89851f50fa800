// How to reach one API server, and as whom.
//
// Credentials come from kubeconfigs (files, merged as client-go merges them, or the text of a
// Secret) or from the service account of our own Pod. They are checked as they are read, so that a
// typing error or an expired certificate is said at the start with file and field, not as a failed
// handshake later. What may change while we run (files, the answer of an exec plugin) is kept
// current by identity.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace fairlead {

class JsonView;

/// The address of an API server, taken apart.
struct ServerAddress {
  bool tls = true;
  std::string host;  ///< without brackets
  std::string port;
  std::string
      path;  ///< prefix of every request path; empty or "/something" without a slash at the end

  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// Reads `https://host[:port][/path]` or `http://...`.
Result<ServerAddress> parse_server(std::string_view url);

/// How a proxy is asked for a tunnel: CONNECT of HTTP, or SOCKS 5 (RFC 1928).
enum class ProxyProtocol : std::uint8_t { http, socks5 };

/// The proxy of a `proxy-url`: connections are tunnelled through it.
struct ProxyAddress {
  bool tls = false;  ///< the proxy itself is spoken to with TLS
  std::string host;
  std::string port;
  /// Who we are to it; empty: nobody. A secret. The value of Proxy-Authorization, or (socks5) the
  /// request of RFC 1929.
  std::string authorization;
  ProxyProtocol protocol = ProxyProtocol::http;

  friend bool operator==(const ProxyAddress&, const ProxyAddress&) = default;
};

/// Reads `http://[user:password@]host[:port]`, `https://...` or `socks5://...` (also spelt socks5h:
/// as in Go the proxy resolves the server's name in either case). Other schemes are refused.
Result<ProxyAddress> parse_proxy(std::string_view url);

/// A credential plugin as a kubeconfig's `exec` describes it.
struct ExecPlugin {
  std::string api_version;  ///< client.authentication.k8s.io/v1 or /v1beta1
  std::string command;      ///< a path, or a name to be found in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< beside our own environment
  std::string install_hint;
  std::string cluster_info;  ///< JSON of spec.cluster for the plugin; empty: it is not told
  std::string origin;        ///< how errors call it: "FILE: users[NAME].exec"

  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

/// Everything needed to talk to one API server. Holds secrets: never log one.
struct Credentials {
  ServerAddress server;
  std::optional<ProxyAddress> proxy;
  std::string ca_pem;           ///< trusted roots; empty: those of the machine
  bool verify_server = true;    ///< false only where a kubeconfig says insecure-skip-tls-verify
  std::string tls_server_name;  ///< name to ask for and to verify; empty: the host
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string certificate_origin;  ///< how errors call the client certificate: its file or field
  std::string token;
  std::string token_file;  ///< wins over `token`; read again now and then
  std::optional<ExecPlugin> exec;

  std::vector<std::string> files;  ///< all that was read, to notice changes
  /// Reads the same again; empty where there is nothing to read again (the text of a Secret).
  std::function<Result<Credentials>()> reread;
};

/// Equal in everything that a connection uses.
bool same_access(const Credentials& a, const Credentials& b);

/// Which context of a kubeconfig to use; empty: its current-context.
struct ContextName {
  std::string name;
};

/// Reads a kubeconfig file. bad_input names file and field.
Result<Credentials> load_kubeconfig(const std::string& path, const ContextName& context);
/// Reads several as one, as client-go merges $KUBECONFIG: of each cluster, user and context the
/// first file that has it counts, of current-context the first that sets it; files that are not
/// there are left out (all of them missing is bad_input).
Result<Credentials> load_kubeconfigs(const std::vector<std::string>& paths,
                                     const ContextName& context);
/// Reads a kubeconfig that came from elsewhere than a file (`origin` names it in errors). It may
/// neither refer to files nor run programs: whoever may write a Secret must not run code here or
/// read our disk.
Result<Credentials> read_kubeconfig(std::string_view text, const std::string& origin,
                                    const ContextName& context);
/// Only where a server is and how to trust it: `cluster` is what stands under `clusters[].cluster`
/// of a kubeconfig, or in a ClusterProfile's access provider. It may not refer to files.
Result<Credentials> read_cluster_access(JsonView cluster, const std::string& origin);
/// The service account of the Pod we run in: the one place that reads KUBERNETES_SERVICE_HOST and
/// _PORT.
Result<Credentials> in_cluster_credentials();
/// As kubectl chooses: `path` if given, else $KUBECONFIG (merged), else ~/.kube/config, else the
/// Pod's.
Result<Credentials> find_credentials(const std::string& path, const ContextName& context);

/// The bearer token to send now: the token file's content, trimmed, else the token; empty if there
/// is none.
Result<std::string> current_token(const Credentials& credentials);

}  // namespace fairlead
