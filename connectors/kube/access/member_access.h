// Credentials of member clusters that are held in objects of the hub.
//
// A Secret holds a kubeconfig; a ClusterProfile holds the address of its cluster, and an access
// provider gives our credentials there: an exec plugin of the operator's own file, or a Secret by
// convention. The objects are watched, so a rotation reaches the member's connection at once. Their
// content stays in memory and is in no diagnostic.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/kube/api_server_connection.h"
#include "schema/configuration.h"

namespace fairlead {

/// The exec plugins that may be run for access providers of ClusterProfiles, in the file format of
/// cluster-inventory-api's --clusterprofile-provider-file: {"providers": [{"name", "execConfig"}]}.
/// "profileSourcedCLIArgsPolicy": "Append" and "profileSourcedEnvVarsPolicy": "AppendIfNotExists"
/// or "Replace" let a ClusterProfile's extensions add arguments and environment variables to the
/// plugin; so does the former "additionalCLIArgEnvVarExtensionFlag": "Allow" (or 1) with both.
struct AccessProviders {
  std::string origin;
  JsonDocument document;
};
/// Reads the file. Fails with `bad_input`, naming file and field, also for an unknown field.
Result<std::shared_ptr<const AccessProviders>> load_access_providers(const std::string& path);

/// The name of the access provider whose token is in a Secret of the profile's namespace and name,
/// under the key `token`.
inline constexpr std::string_view kSecretReader = "secretreader";

/// Reads what the access providers of `profile` offer: the server, its CA, and a plugin; a token
/// only where `token` (of the Secret by convention; may be empty) is needed. The first known
/// provider counts: accessProviders before credentialProviders, each in its order.
Result<Credentials> read_cluster_profile(JsonView profile, const std::string& origin,
                                         const AccessProviders& providers,
                                         const std::string& token);

/// Watches the objects that `member` refers to on the hub, until it is destroyed.
class MemberAccess {
 public:
  virtual ~MemberAccess() = default;
  /// Starts the watch. `use` gets the credentials at once and when they change (not when only other
  /// parts of the objects do), and an error, once, when they are gone or cannot be used; on the
  /// hub's I/O thread. `hub` outlives it. Null if the
  /// member's kubeconfig is a file.
  static std::unique_ptr<MemberAccess> follow(ApiServerConnection& hub,
                                              const MemberKubeconfig& member,
                                              std::shared_ptr<const AccessProviders> providers,
                                              std::function<void(Result<Credentials>)> use);
  /// Follows a kubeconfig under `key` in the Secret `reference` (namespace/name).
  static std::unique_ptr<MemberAccess> follow_secret(ApiServerConnection& hub,
                                                     const std::string& reference,
                                                     const std::string& key,
                                                     std::function<void(Result<Credentials>)> use);
};

}  // namespace fairlead
