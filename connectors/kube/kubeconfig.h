// How to reach one API server, and as whom.
//
// Credentials come from a kubeconfig (a file or the text of a Secret) or from the service account
// of our own Pod. They are read once and checked at once, so that a typing error or an expired
// certificate is said at the start with file and field, not as a failed handshake later. Only a
// token file is read again: kubelets rotate it.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace fairlead {

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

/// Everything needed to talk to one API server. Holds secrets: never log one.
struct Credentials {
  ServerAddress server;
  std::string ca_pem;           ///< trusted roots; empty: those of the machine
  bool verify_server = true;    ///< false only where a kubeconfig says insecure-skip-tls-verify
  std::string tls_server_name;  ///< name to ask for and to verify; empty: the host
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::string token;
  std::string token_file;  ///< wins over `token`; read again now and then
};

/// Which context of a kubeconfig to use; empty: its current-context.
struct ContextName {
  std::string name;
};

/// Reads a kubeconfig file. bad_input names file and field.
Result<Credentials> load_kubeconfig(const std::string& path, const ContextName& context);
/// Reads a kubeconfig that came from elsewhere than a file (`origin` names it in errors). It may
/// not refer to files.
Result<Credentials> read_kubeconfig(std::string_view text, const std::string& origin,
                                    const ContextName& context);
/// The service account of the Pod we run in: the one place that reads KUBERNETES_SERVICE_HOST and
/// _PORT.
Result<Credentials> in_cluster_credentials();
/// As kubectl chooses: `path` if given, else the first readable of $KUBECONFIG, else
/// ~/.kube/config, else the Pod's.
Result<Credentials> find_credentials(const std::string& path, const ContextName& context);

/// The bearer token to send now: the token file's content, trimmed, else the token; empty if there
/// is none.
Result<std::string> current_token(const Credentials& credentials);

}  // namespace fairlead
