// `fairlead serve`: the audit page over a data directory or a bundle.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/main/commands.h"
#include "engine/main/end_signals.h"
#include "engine/main/exit_code.h"
#include "engine/main/log_page.h"
#include "engine/main/loopback_guard.h"
#include "engine/main/page_files.h"
#include "engine/main/question_service.h"
#include "engine/main/standard_streams.h"
#include "engine/runtime/http_endpoint.h"

namespace fairlead {

namespace {

struct ServeOptions {
  std::string data, bundle;
  std::string listen = "127.0.0.1:8787";
};

// A browser asks several questions at once, and each may need seconds of disk reads.
constexpr std::size_t kQuestionsMax = 64;
constexpr Duration kQuestionPatience = seconds(10);

Result<ListenAddress> address_of(const std::string& text) {
  auto address = parse_listen_address(text);
  if (!address) return in_context("--listen", address.error());
  if (address->host.empty()) address->host = "127.0.0.1";
  if (is_loopback(*address)) return *address;
  return Error{ErrorCode::bad_input,
               "--listen " + text +
                   ": expected an address of this machine alone (127.0.0.1:8787), because the page "
                   "asks for no token; from another machine use `ssh -L 8787:127.0.0.1:8787`"};
}

HttpReply reply_to_path(std::string_view path) {
  if (path == "/livez" || path == "/readyz" || path == "/healthz")
    return {200, "text/plain", "ok\n"};
  return page_reply(path.starts_with(kPagePath) ? path : "/ui/none");
}

HttpServing serving_of(const QuestionService& questions) {
  HttpServing serving;
  serving.handler = reply_to_path;
  serving.questions = {{std::string(kAuditPath), std::string(kLogPath), std::string(kPageApiPath)},
                       [&questions](std::string_view target) { return questions.reply(target); },
                       kQuestionsMax,
                       kQuestionPatience};
  serving.places.requests_of_address = serving.places.requests;
  serving.guard = loopback_guard();
  return serving;
}

Result<void> run_serve(const ServeOptions& options) {
  const auto address = address_of(options.listen);
  if (!address) return address.error();
  const bool none = options.data.empty() && options.bundle.empty();
  auto source = served_log_in(none ? "fairlead-data" : options.data, options.bundle);
  if (!source) return source.error();
  const EndSignals signals;
  const QuestionService questions(*std::move(source));
  const auto endpoint = HttpEndpoint::start(*address, serving_of(questions));
  if (!endpoint) return endpoint.error();
  const std::string host =
      address->host.find(':') == std::string::npos ? address->host : "[" + address->host + "]";
  std::cout << "http://" << host << ":" << (*endpoint)->port() << kPagePath << "\n";
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
