// A running hub as the command line names it, and how commands reach it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/base/result.h"

namespace CLI {
class App;
class Option_group;
}  // namespace CLI

namespace fairlead {

/// A hub behind the service proxy of its API server.
struct HubBehindApiServer {
  std::string kubeconfig{};  ///< empty: as kubectl finds one
  std::string context{};     ///< empty: its current-context
  std::string namespace_ = "fairlead";
};

/// A hub by its URL, or without one behind its API server.
struct HubPlace {
  std::string server{};      ///< http://HOST:PORT of its --listen, https:// of its --listen-secure
  std::string token_file{};  ///< holds the bearer token for the latter; empty: none is sent
  std::string ca_file{};     ///< PEM; empty: the machine's roots
  std::string name{};        ///< in its certificate; empty: HOST
  HubBehindApiServer behind{};
};

/// What --namespace names in a command: the hub's, or a namespace that is asked about.
enum class NamespaceOption : std::uint8_t { of_hub, asked_about };

/// Adds --server and --kubeconfig to `group`, and what goes with them to `command`. `place`
/// outlives both.
void add_hub_options(CLI::App& command, CLI::App& group, HubPlace& place,
                     NamespaceOption meaning = NamespaceOption::of_hub);

/// Sends GET `target`, a path and a query, and returns the body of the answer 200. Fails with
/// `bad_input` if the hub answers that the question is bad, with `denied` if it does not let the
/// caller ask, with `unavailable` for every other answer.
using AskHub = std::function<Result<std::string>(const std::string& target)>;
/// Prepares questions to one hub; they share a connection. Fails with `bad_input`, naming the
/// option.
using ReachHub = std::function<Result<AskHub>(const HubPlace& place)>;

}  // namespace fairlead
