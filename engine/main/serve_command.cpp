// `fairlead serve`: the audit page over a data directory or a bundle.
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
  std::string listen = "127.0.0.1:8787";
};

Result<void> run_serve(const ServeOptions& options) {
  const auto address = page_address(options.listen);
  if (!address) return address.error();
  const bool none = options.data.empty() && options.bundle.empty();
  auto source = served_log_in(none ? "fairlead-data" : options.data, options.bundle);
  if (!source) return source.error();
  const EndSignals signals;
  const auto server = PageServer::start(*address, *std::move(source));
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
  serve->add_option("--data", options->data,
                    "Data directory, also of a running hub (default: fairlead-data)");
  serve->add_option("--bundle", options->bundle, "A file that `fairlead log export` wrote");
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
