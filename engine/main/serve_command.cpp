// `fairlead serve`: the audit page over a data directory, a bundle, or a hub that runs elsewhere.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/main/commands.h"
#include "engine/main/end_signals.h"
#include "engine/main/exit_code.h"
#include "engine/main/page_server.h"
#include "engine/main/standard_streams.h"

namespace fairlead {

namespace {

struct ServeOptions {
  std::string data, bundle;
  HubPlace hub;
  HubBehindApiServer behind;
  std::string listen = "127.0.0.1:8787";
};

Result<PageAnswers> answers_of(const ServeOptions& options) {
  const bool direct = !options.hub.server.empty();
  if (direct || !options.behind.kubeconfig.empty()) {
    auto route = direct ? route_to(options.hub) : route_through(options.behind);
    if (!route) return route.error();
    auto hub = RemoteHub::make(*std::move(route));
    if (!hub) return hub.error();
    return answers_from(*std::move(hub));
  }
  const bool none = options.data.empty() && options.bundle.empty();
  auto source = served_log_in(none ? "fairlead-data" : options.data, options.bundle);
  if (!source) return source.error();
  return answers_from(*std::move(source));
}

Result<void> run_serve(const ServeOptions& options) {
  const auto address = page_address(options.listen);
  if (!address) return address.error();
  auto answers = answers_of(options);
  if (!answers) return answers.error();
  const EndSignals signals;
  const auto server = PageServer::start(*address, *std::move(answers));
  if (!server) return server.error();
  std::cout << (*server)->url() << "\n";
  if (auto written = flush_output(); !written) return written;
  while (!signals.within(hours(1))) continue;
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve = app.add_subcommand(
      "serve",
      "The audit page in a browser: what a quota was, what moved it, and why. It changes nothing");
  CLI::Option_group* place = serve->add_option_group("Log", "Where the log is");
  place->add_option("--data", options->data,
                    "Data directory, also of a running hub (default: fairlead-data)");
  place->add_option("--bundle", options->bundle, "A file that `fairlead log export` wrote");
  add_server_options(*serve, *place, options->hub);
  CLI::Option* kubeconfig = place->add_option(
      "--kubeconfig", options->behind.kubeconfig,
      "Kubeconfig of a hub's cluster: a running hub, through the API server's service proxy");
  place->require_option(0, 1);
  serve
      ->add_option("--context", options->behind.context,
                   "Context of it; default: its current-context")
      ->needs(kubeconfig);
  serve->add_option("--namespace", options->behind.name_space, "Namespace of the hub")
      ->needs(kubeconfig)
      ->capture_default_str();
  serve
      ->add_option("--listen", options->listen,
                   "Where to listen, on this machine alone; port 0: any free one")
      ->capture_default_str();
  serve->callback([options, &exit_code] {
    const auto served = run_serve(*options);
    if (!served) std::cerr << "fairlead serve: " << served.error().message << '\n';
    exit_code = served ? kDone : exit_code_for(served.error().code);
  });
}

}  // namespace fairlead
