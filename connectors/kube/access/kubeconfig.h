// The address of one API server, and our credentials there.
//
// Credentials come from kubeconfigs (files, merged as client-go merges them, or the text of a
// Secret) or from the service account of our own Pod. They are checked as they are read, so that a
// typing error or an expired certificate is reported at the start with file and field, not as a
// failed handshake later. identity.h keeps current what may change while we run (files, the answer
// of an exec plugin).
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

/// The parts of an API server's address.
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

/// The protocol that asks a proxy for a tunnel: CONNECT of HTTP, or SOCKS 5 (RFC 1928).
enum class ProxyProtocol : std::uint8_t { http, socks5 };

/// The proxy of a `proxy-url`: connections are tunnelled through it.
struct ProxyAddress {
  bool tls = false;  ///< TLS to the proxy itself
  std::string host;
  std::string port;
  /// Our login at the proxy, a secret: the value of Proxy-Authorization, or (socks5) the request of
  /// RFC 1929. Empty: none.
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
  std::vector<std::pair<std::string, std::string>> env;  ///< beside the few of ours that it gets
  std::string install_hint;
  std::string cluster_info;  ///< JSON of spec.cluster for the plugin; empty: not passed to it
  std::string origin;        ///< its name in errors: "FILE: users[NAME].exec"

  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

/// Everything needed to talk to one API server. Holds secrets: never log one.
struct Credentials {
  ServerAddress server;
  std::optional<ProxyAddress> proxy;
  std::string ca_pem;           ///< trusted roots; empty: the machine's
  bool verify_server = true;    ///< false only where a kubeconfig says insecure-skip-tls-verify
  std::string tls_server_name;  ///< name to ask for and to verify; empty: the host
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string certificate_origin;  ///< the client certificate's file or field, for errors
  std::string token;
  std::string token_file;  ///< wins over `token`; identity.h reads it again from time to time
  std::optional<ExecPlugin> exec;

  std::vector<std::string> files;  ///< all files that were read, to notice changes
  /// Reads the same sources again; empty where there are none (the text of a Secret).
  std::function<Result<Credentials>()> reread;
};

/// Whether connections of `a` and `b` go to the same server, with the same trust and certificate.
bool same_target(const Credentials& a, const Credentials& b);
/// Whether `a` and `b` are equal in everything that a connection uses.
bool same_access(const Credentials& a, const Credentials& b);

/// Which context of a kubeconfig to use; empty: its current-context.
struct ContextName {
  std::string name;
};

/// Reads a kubeconfig file. Fails with `bad_input`, naming file and field.
Result<Credentials> load_kubeconfig(const std::string& path, const ContextName& context);
/// Reads several files as one, as client-go merges $KUBECONFIG: for each cluster, user and context
/// the first file that has it counts, for current-context the first that sets it. Missing files are
/// left out; if all are missing it fails with `bad_input`.
Result<Credentials> load_kubeconfigs(const std::vector<std::string>& paths,
                                     const ContextName& context);
/// Reads a kubeconfig that did not come from a file (`origin` names it in errors). It may neither
/// refer to files nor run programs: a writer of Secrets must not run code here or read our disk.
Result<Credentials> read_kubeconfig(std::string_view text, const std::string& origin,
                                    const ContextName& context);
/// Reads only the address of a server and how to trust it: `cluster` is the value of
/// `clusters[].cluster` in a kubeconfig, or of `cluster` in a ClusterProfile's access provider. It
/// may not refer to files. Errors name the object `origin` and a field below `where` in it.
Result<Credentials> read_cluster_access(JsonView cluster, const std::string& origin,
                                        const std::string& where);
/// Reads the service account of our own Pod. The only function that reads KUBERNETES_SERVICE_HOST
/// and _PORT.
Result<Credentials> in_cluster_credentials();
/// Finds credentials as kubectl does: `path` if given, else $KUBECONFIG (merged), else
/// ~/.kube/config, else the Pod's service account.
Result<Credentials> find_credentials(const std::string& path, const ContextName& context);

/// Returns the bearer token to send now: the token file's content, trimmed, else the token; empty
/// if there is none.
Result<std::string> current_token(const Credentials& credentials);

}  // namespace fairlead
