// `fairlead serve`: the audit page over a data directory, a bundle, or a hub that runs elsewhere.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/main/commands.h"
#include "engine/main/end_signals.h"
#include "engine/main/exit_code.h"
#include "engine/main/open_browser.h"
#include "engine/main/page_bundle.h"
#include "engine/main/page_server.h"
#include "engine/main/position.h"
#include "engine/main/saved_answers.h"
#include "engine/main/standard_streams.h"

namespace fairlead {

namespace {

struct ServeOptions {
  std::string data, bundle;
  HubPlace hub;
  HubBehindApiServer behind;
  std::string listen = "127.0.0.1:8787";
  bool open = false;
  std::string save;  ///< a file; empty: serve
  SavedQuestion saved;
};

Result<ServedLogSource> source_of(const ServeOptions& options) {
  const bool none = options.data.empty() && options.bundle.empty();
  return served_log_in(none ? "fairlead-data" : options.data, options.bundle);
}

Result<PageAnswers> answers_of(const ServeOptions& options) {
  const bool direct = !options.hub.server.empty();
  if (direct || !options.behind.kubeconfig.empty()) {
    auto route = direct ? route_to(options.hub) : route_through(options.behind);
    if (!route) return route.error();
    auto hub = RemoteHub::make(*std::move(route));
    if (!hub) return hub.error();
    return answers_from(*std::move(hub));
  }
  auto source = source_of(options);
  if (!source) return source.error();
  return answers_from(*std::move(source));
}

Result<void> save_page(const ServeOptions& options) {
  const SavedQuestion& question = options.saved;
  if (options.open)
    return Error{ErrorCode::bad_input, "--open is for a page that is served, --save serves none"};
  if (question.queue.empty() == question.namespace_.empty())
    return Error{ErrorCode::bad_input,
                 "--save: expected --queue, the ClusterQueue that the file is about, or "
                 "--pool-namespace, the tenant's namespace"};
  if (!options.hub.server.empty() || !options.behind.kubeconfig.empty())
    return Error{ErrorCode::bad_input,
                 "--save reads a data directory or a bundle (--data, --bundle)"};
  auto source = source_of(options);
  if (!source) return source.error();
  const QuestionService questions(*std::move(source));
  const auto answers = saved_answers(questions, question);
  if (!answers) return answers.error();
  const auto page = page_with_answers(answers->document);
  if (!page) return page.error();
  std::ofstream file(options.save, std::ios::binary);
  file << *page << std::flush;
  if (!file) return Error{ErrorCode::unavailable, "--save: cannot write " + options.save};
  std::cout << options.save << ": " << question.queue << question.namespace_ << " from "
            << answers->document["from"].get<std::string>() << " to "
            << answers->document["to"].get<std::string>() << ", " << page->size() << " bytes\n";
  return flush_output();
}

Result<void> run_serve(const ServeOptions& options) {
  if (!options.save.empty()) return save_page(options);
  const SavedQuestion& saved = options.saved;
  if (!saved.queue.empty() || !saved.namespace_.empty() || !saved.from.empty() || !saved.to.empty())
    return Error{ErrorCode::bad_input,
                 "--queue, --pool-namespace, --from and --to say what --save FILE holds"};
  const auto address = page_address(options.listen);
  if (!address) return address.error();
  auto answers = answers_of(options);
  if (!answers) return answers.error();
  const EndSignals signals;
  const auto server = PageServer::start(*address, *std::move(answers));
  if (!server) return server.error();
  std::cout << (*server)->url() << "\n";
  if (auto written = flush_output(); !written) return written;
  if (options.open)
    if (const auto opened = open_browser((*server)->url()); !opened)
      std::cerr << "fairlead serve: --open: " << printable_lines(opened.error().message) << '\n';
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
  serve->add_flag("--open", options->open, "Open the page in $BROWSER, else with xdg-open");
  serve->add_option("--save", options->save,
                    "Serve nothing: write the page with its answers about one queue and span as an "
                    "HTML file that opens without a server");
  serve->add_option("--queue", options->saved.queue, "Of --save: the ClusterQueue");
  serve->add_option("--pool-namespace", options->saved.namespace_,
                    "Of --save: instead of it a tenant's namespace, TENANT/NAME");
  serve->add_option("--from", options->saved.from,
                    std::string("Of --save: the span begins here: ") + kPositionHelp +
                        "; default: the log's beginning; without --to where something moves");
  serve->add_option("--to", options->saved.to,
                    "Of --save: the span ends here; default: the log's end");
  serve->callback([options, &exit_code] {
    const auto served = run_serve(*options);
    if (!served) std::cerr << "fairlead serve: " << printable_lines(served.error().message) << '\n';
    exit_code = served ? kDone : exit_code_for(served.error().code);
  });
}

}  // namespace fairlead
