#include "engine/main/client/hub_place.h"

#include <CLI/CLI.hpp>

namespace fairlead {

void add_hub_options(CLI::App& command, CLI::App& group, HubPlace& place, NamespaceOption meaning) {
  CLI::Option* server =
      group.add_option("--server", place.server,
                       "A running hub: http://HOST:PORT of its --listen, or https://HOST:PORT of "
                       "its --listen-secure");
  command
      .add_option("--server-token-file", place.token_file,
                  "File with the bearer token of an account that may ask; for https://")
      ->needs(server);
  command
      .add_option(
          "--server-ca", place.ca_file,
          "PEM file of the authorities that the hub's certificate is checked with; default: "
          "those of the machine")
      ->needs(server);
  command
      .add_option("--server-name", place.name,
                  "Name in the hub's certificate, where HOST is another (a forwarded port)")
      ->needs(server);
  HubBehindApiServer& behind = place.behind;
  group.add_option("--kubeconfig", behind.kubeconfig,
                   "Kubeconfig of a hub's cluster: its running hub, through the API server's "
                   "service proxy; default: as kubectl finds one");
  command.add_option("--context", behind.context,
                     "Context of the kubeconfig; default: its current-context");
  command
      .add_option(meaning == NamespaceOption::of_hub ? "-n,--namespace,--hub-namespace"
                                                     : "-n,--hub-namespace",
                  behind.namespace_, "Namespace of the hub in that cluster")
      ->capture_default_str();
}

}  // namespace fairlead
