// `fairlead serve`: the audit page over a data directory, a bundle, or a hub that runs elsewhere.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/hub_route.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/end_signals.h"
#include "engine/main/commands/open_browser.h"
#include "engine/main/service/frame_ancestors.h"
#include "engine/main/service/page_bundle.h"
#include "engine/main/service/page_server.h"
#include "engine/main/service/saved_answers.h"

namespace fairlead {

namespace {

struct ServeOptions {
  LogPlace place;
  std::string listen = "127.0.0.1:8787";
  std::string frame_ancestors;
  bool open = false;
  std::string save;  ///< a file; empty: serve
  SavedQuestion saved;
};

Result<PageAnswers> answers_of(ServeOptions& options) {
  const auto hub = asks_hub(options.place);
  if (!hub) return hub.error();
  if (*hub) {
    auto route = route_of(options.place.hub);
    if (!route) return route.error();
    auto remote = RemoteHub::make(*std::move(route));
    if (!remote) return remote.error();
    return answers_from(*std::move(remote));
  }
  auto source = served_log_in(options.place.data, options.place.bundle);
  if (!source) return source.error();
  return answers_from(*std::move(source));
}

// The log that --save reads: of a running hub a copy, which the page names as the hub.
Result<ServedLogSource> saved_source(ServeOptions& options) {
  const auto hub = asks_hub(options.place);
  if (!hub) return hub.error();
  if (!*hub) return served_log_in(options.place.data, options.place.bundle);
  auto history = open_history_of(options.place, reach_hub, progress_of_copy());
  if (!history) return history.error();
  ServedLog copy;
  copy.log = std::move(history->log);
  copy.vouched_snapshots = std::move(history->snapshots);
  copy.snapshots = copy.vouched_snapshots;
  const HubPlace& place = options.place.hub;
  copy.option = place.server.empty() ? "--hub-namespace" : "--server";
  copy.path = place.server.empty() ? place.behind.namespace_ : place.server;
  return ServedLogSource{[copy]() -> Result<ServedLog> { return copy; }, [] { return "copy"; }};
}

Result<void> save_page(ServeOptions& options) {
  SavedQuestion& question = options.saved;
  if (options.open)
    return Error{ErrorCode::bad_input, "--open is for a page that is served, --save serves none"};
  if (question.queue.empty() == question.namespace_.empty())
    return Error{ErrorCode::bad_input,
                 "--save: expected --queue, the ClusterQueue that the file is about, or "
                 "--pool-namespace, the tenant's namespace"};
  auto source = saved_source(options);
  if (!source) return source.error();
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  const auto served = source->open();
  if (!served) return served.error();
  make_absolute({&question.from, &question.to}, frame_of(*served->log, *zone));
  const QuestionService questions(*std::move(source));
  auto progress = progress_on_terminal("answering what the file holds: ");
  const auto answers = saved_answers(questions, question);
  progress = {};
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

Result<void> run_serve(ServeOptions& options) {
  if (!options.save.empty()) return save_page(options);
  const SavedQuestion& saved = options.saved;
  if (!saved.queue.empty() || !saved.namespace_.empty() || !saved.from.empty() || !saved.to.empty())
    return Error{ErrorCode::bad_input,
                 "--queue, --pool-namespace, --from and --to say what --save FILE holds"};
  const auto address = page_address(options.listen);
  if (!address) return address.error();
  auto ancestors = frame_ancestors_of(options.frame_ancestors);
  if (!ancestors) return ancestors.error();
  auto answers = answers_of(options);
  if (!answers) return answers.error();
  answers->frame_ancestors = *std::move(ancestors);
  // Before the server has threads: they inherit the set of blocked signals.
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
  add_place_options(*serve, options->place);
  add_zone_options(*serve, options->place);
  serve
      ->add_option("--listen", options->listen,
                   "Where to listen, on this machine alone; port 0: any free one")
      ->capture_default_str();
  serve->add_option("--frame-ancestors", options->frame_ancestors, kFrameAncestorsHelp);
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
