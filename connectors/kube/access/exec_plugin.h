// Credential plugins: programs that print our credentials (client.authentication.k8s.io).
//
// A plugin is started without a shell, with its input closed, its output bounded and its time
// limited; a timer of the I/O loop polls it, so no thread ever waits for it. What it prints holds
// secrets: neither its output nor its error output is ever logged, only how it ended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kube/access/kubeconfig.h"
#include "connectors/kube/transport/io_loop.h"
#include "engine/base/time.h"

namespace fairlead {

/// How long a plugin may run, and how much it may print.
inline constexpr Duration kPluginTimeMax = seconds(30);
inline constexpr std::size_t kPluginOutputMax = std::size_t{1} << 20;

/// Reads the `exec` of a kubeconfig's user (or of an access provider). `cluster` is the entry of
/// the cluster, whose extension `client.authentication.k8s.io/exec` is passed to the plugin with
/// provideClusterInfo; `known` holds the credentials read so far, with the address and the CA.
/// Errors name `origin`. Fails with `bad_input` for what cannot work here: interactiveMode Always,
/// an apiVersion other than v1 and v1beta1 (whose answers are alike), no command.
Result<ExecPlugin> read_exec_plugin(JsonView exec, JsonView cluster, const Credentials& known,
                                    const std::string& origin);

/// The credentials that a plugin printed.
struct PluginAnswer {
  std::string token;
  std::string client_certificate_pem;
  std::string client_key_pem;
  std::optional<LogTime> expires;  ///< since 1970
};

/// Reads an ExecCredential of `api_version`. Errors name fields, never values.
Result<PluginAnswer> read_exec_credential(std::string_view text, const std::string& api_version);

/// One run of a plugin; destroying it kills the program with all that it started. On the loop's
/// thread.
class PluginRun {
 public:
  virtual ~PluginRun() = default;
  /// Starts `plugin` and calls `done` once, later, on the loop's thread, unless the run is
  /// destroyed before. It fails with `denied` if the plugin could not be started, failed, took too
  /// long or printed no ExecCredential; the message says which, with the plugin's install hint.
  static std::unique_ptr<PluginRun> start(IoLoop& loop, const ExecPlugin& plugin, Duration time_max,
                                          std::function<void(Result<PluginAnswer>)> done);
};

}  // namespace fairlead
