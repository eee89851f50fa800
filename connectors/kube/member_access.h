// Credentials of member clusters that stand in objects of the hub.
//
// A Secret holds a kubeconfig; a ClusterProfile says where its cluster is, and a provider who we
// are there: an exec plugin of the operator's own file, or a Secret by convention. The objects are
// followed, so a rotation reaches the member's connection at once. Their content stays in memory:
// what is told to an operator is a name, a resourceVersion and a keyed hash.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/kube/api_server.h"
#include "schema/configuration.h"

namespace fairlead {

/// The exec plugins that may be run for access providers of ClusterProfiles, in the file format of
/// cluster-inventory-api's --clusterprofile-provider-file: {"providers": [{"name", "execConfig"}]}.
/// A provider with "additionalCLIArgEnvVarExtensionFlag": "Allow" (or 1) lets a ClusterProfile's
/// extensions add arguments and environment variables to its plugin.
struct AccessProviders {
  std::string origin;
  JsonDocument document;
};
/// Reads the file; bad_input names file and field.
Result<std::shared_ptr<const AccessProviders>> load_access_providers(const std::string& path);

/// The name of the access provider whose token stands in a Secret of the profile's namespace and
/// name, under the key `token`.
inline constexpr std::string_view kSecretReader = "secretreader";

/// What the access providers of `profile` offer: the server, its CA, and a plugin; a token only
/// where `token` (of the Secret by convention; may be empty) is needed. The first provider counts
/// that is known: accessProviders before credentialProviders, each in its order.
Result<Credentials> read_cluster_profile(JsonView profile, const std::string& origin,
                                         const AccessProviders& providers,
                                         const std::string& token);

/// Follows what `member` refers to on the hub. Destroying it ends that.
class MemberAccess {
 public:
  virtual ~MemberAccess() = default;
  /// `use` hears of the credentials at once and after each change; of an error when they are gone
  /// or cannot be used. On the hub's I/O thread. `hub` outlives it. Null if the member's kubeconfig
  /// is a file.
  static std::unique_ptr<MemberAccess> follow(ApiServerConnection& hub,
                                              const MemberKubeconfig& member,
                                              std::shared_ptr<const AccessProviders> providers,
                                              std::function<void(Result<Credentials>)> use);
};

}  // namespace fairlead
