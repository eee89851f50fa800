// A running hub as the command line names it, and how commands reach it.
#pragma once

#include <functional>
#include <string>

#include "engine/base/result.h"

namespace CLI {
class App;
class Option_group;
}  // namespace CLI

namespace fairlead {

struct HubPlace {
  std::string server;      ///< http://HOST:PORT of its --listen, https:// of its --listen-secure
  std::string token_file;  ///< holds the bearer token for the latter; empty: none is sent
  std::string ca_file;     ///< PEM; empty: the machine's roots
  std::string name;        ///< in its certificate; empty: HOST
};

/// Adds --server to `group`, and what goes with it to `command`. `place` outlives both.
void add_server_options(CLI::App& command, CLI::App& group, HubPlace& place);

/// Sends GET `target`, a path and a query, and returns the body of the answer 200. Fails with
/// `bad_input` if the hub answers that the question is bad, with `denied` if it does not let the
/// caller ask, with `unavailable` for every other answer.
using AskHub = std::function<Result<std::string>(const std::string& target)>;
/// Prepares questions to one hub; they share a connection. Fails with `bad_input`, naming the
/// option.
using ReachHub = std::function<Result<AskHub>(const HubPlace& place)>;

}  // namespace fairlead
