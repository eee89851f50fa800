// `fairlead dev`: the hub against an API model in this process, with a small living fleet.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "engine/base/printable.h"
#include "engine/fleet/account.h"
#include "engine/fleet/model/model_server.h"
#include "engine/fleet/scaled_clock.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/configuration_options.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/end_signals.h"
#include "engine/main/service/dev_fleet.h"
#include "engine/main/service/dev_hub.h"
#include "engine/main/service/left_index.h"
#include "engine/main/service/page_server.h"
#include "engine/runtime/system_clock.h"
#include "replay/verify.h"

namespace fairlead {

namespace {

// The interval at which the script is played and the log is read.
constexpr Duration kTick = milliseconds(10);
// The clock stops this long after the last tick: on a slow machine the fleet is slow, but no
// deadline passes before the program could act.
constexpr Duration kPassMax = milliseconds(50);
// The clock also stops while a write of the hub is under way, for so many ticks at most.
constexpr int kStoppedTicksMax = 100;
// Servers send bookmarks each minute; here a minute is short, but not every stream needs 100 a
// second.
constexpr Duration kBookmarkIntervalMin = seconds(1);

struct DevOptions {
  std::string fleet = "claims";
  std::string length;
  std::int64_t speed = 60;
  std::uint64_t seed = 1;
  std::uint16_t port = 0;
  std::string data;
  std::string listen = "127.0.0.1:0";
  ConfigurationOptions configuration;
};

// The directory of the log and the kubeconfigs. Without --data it is removed at the end.
class DataDirectory {
 public:
  static Result<std::unique_ptr<DataDirectory>> make(const std::string& wanted) {
    std::error_code error;
    if (wanted.empty()) {
      std::string path = (std::filesystem::temp_directory_path(error) / "fairlead-dev-XXXXXX");
      if (error || ::mkdtemp(path.data()) == nullptr)
        return Error{ErrorCode::unavailable, "no temporary directory can be made"};
      return std::unique_ptr<DataDirectory>(new DataDirectory(path, Fate::removed));
    }
    std::filesystem::create_directories(wanted, error);
    if (error) return Error{ErrorCode::unavailable, wanted + ": " + error.message()};
    if (!std::filesystem::is_empty(wanted, error))
      return Error{
          ErrorCode::bad_input,
          "--data " + wanted + ": expected an empty directory, because a new fleet begins"};
    return std::unique_ptr<DataDirectory>(
        new DataDirectory(std::filesystem::absolute(wanted), Fate::kept));
  }
  ~DataDirectory() {
    std::error_code ignored;
    if (fate_ == Fate::removed) std::filesystem::remove_all(path_, ignored);
  }
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Result<std::string> write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream out(file, std::ios::binary);
    out << text << std::flush;
    if (!out) return Error{ErrorCode::unavailable, file.string() + ": cannot be written"};
    return file.string();
  }

 private:
  enum class Fate : std::uint8_t { kept, removed };
  DataDirectory(std::filesystem::path path, Fate fate) : path_(std::move(path)), fate_(fate) {}

  const std::filesystem::path path_;
  const Fate fate_;
};

// One API model, served for the hub and kubectl, and the kubeconfig for it.
struct Server {
  std::unique_ptr<model::ModelServer> model;
  std::string kubeconfig;
};

Result<Server> start_server(const DevOptions& options, const DataDirectory& data,
                            const std::string& name, std::uint16_t port, ScaledClock& clock) {
  model::ModelServerOptions how;
  how.http.port = port;
  how.http.bookmark_interval =
      std::max(clock.on_the_machine(how.http.bookmark_interval), kBookmarkIntervalMin);
  how.model.seed = options.seed;
  auto started = model::ModelServer::start(how, clock);
  if (!started) return started.error();
  const bool hub = name == kHub;
  auto written = data.write(hub ? "kubeconfig" : "kubeconfig-" + name,
                            model::kubeconfig_for(name, (*started)->url()));
  if (!written) return written.error();
  return Server{std::move(*started), *written};
}

// Everything that one run consists of, in the order in which it is made.
struct Play {
  std::unique_ptr<DataDirectory> data;
  std::unique_ptr<ScaledClock> clock;
  Server hub;
  std::map<std::string, Server> others;
  std::unique_ptr<RocksdbLog> log;
  std::unique_ptr<PageServer> page;
};

Result<Play> prepare(const DevOptions& options) {
  Play play;
  auto data = DataDirectory::make(options.data);
  if (!data) return data.error();
  play.data = std::move(*data);
  auto log = RocksdbLog::open(play.data->path(), OpenMode::write);
  if (!log) return log.error();
  play.log = std::move(*log);
  const auto address = page_address(options.listen);
  if (!address) return address.error();
  play.clock = std::make_unique<ScaledClock>(SystemClock().now(), options.speed);
  auto served = served_log_of_hub(*play.log, play.data->path(), nullptr);
  served.now = [clock = play.clock.get()] { return clock->now(); };
  auto page = PageServer::start(*address, answers_from(std::move(served)));
  if (!page) return page.error();
  play.page = std::move(*page);
  auto hub = start_server(options, *play.data, std::string(kHub), options.port, *play.clock);
  if (!hub) return hub.error();
  play.hub = std::move(*hub);
  for (const auto& [name, role] : fleet_servers(options.fleet)) {
    auto other = start_server(options, *play.data, name, 0, *play.clock);
    if (!other) return other.error();
    play.others.emplace(name, std::move(*other));
  }
  return play;
}

// How a shell in this folder runs this program.
std::string program_path() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "fairlead";
  const std::string near = std::filesystem::proximate(program, error).string();
  return error || near.starts_with("..") ? program.string()
         : near.find('/') == near.npos   ? "./" + near
                                         : near;
}

bool has_kubectl() {
  const char* const path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/kubectl").c_str(), X_OK) == 0) return true;
  return false;
}

void print_opening(const Play& play, const DevOptions& options,
                   const Configuration& configuration) {
  std::cout << "Look at it: " << play.page->url() << "\n\nfairlead dev: a hub at "
            << play.hub.model->url() << " and a fleet; one second here is " << options.speed
            << " s there (seed " << options.seed << ")\n\n";
  // What needs nothing comes first where there is no kubectl, and else behind its commands.
  std::string questions;
  for (const std::string& question : fleet_questions(options.fleet))
    questions +=
        "  " + program_path() + " audit " + question + " --server " + play.page->server() + "\n";
  questions += "  " + program_path() + " log cat --data " + play.data->path().string() + "\n";
  const bool kubectl = has_kubectl();
  FleetPlaces places{play.hub.kubeconfig, {}, "Try, while it runs:\n"};
  if (!kubectl)
    places.before_kubectl = "Try, while it runs, from another terminal:\n" + questions +
                            "\nWith kubectl, which is not in PATH here:\n";
  for (const auto& [name, other] : play.others) places.others[name] = other.kubeconfig;
  introduce_fleet(std::cout, options.fleet, places, configuration);
  if (kubectl) std::cout << "\nOr ask Fairlead itself, from another terminal:\n" << questions;
  std::cout << (options.length.empty() ? "\nCtrl-C ends it.\n\n" : "\n") << std::flush;
}

// Lines of the fleet that the account does not have yet.
struct FleetLine {
  LogTime at;
  std::string who;
  std::string what;
};

void report_fleet(std::deque<FleetLine>& lines, LogTime until, Account& account) {
  for (; !lines.empty() && lines.front().at <= until; lines.pop_front())
    account.log_fault(lines.front().at, lines.front().who, lines.front().what);
}

// Passes the events of the log behind `reported`, and the fleet's lines, to the account: by time,
// because the fleet sees a write only after it is in the log.
Result<void> report_log(const ReadableLog& log, Seq& reported, std::deque<FleetLine>& lines,
                        Account& account) {
  if (log.last_seq() > reported) {
    auto reader = log.read(next(reported));
    if (!reader) return reader.error();
    for (;;) {
      auto event = (*reader)->next();
      if (!event) return event.error();
      if (!*event) break;
      report_fleet(lines, (*event)->log_time, account);
      account.consume(**event);
      reported = (*event)->seq;
    }
  }
  report_fleet(lines, kForever, account);
  return {};
}

int print_summary(const Play& play, const Account& account, const HubStats& stats,
                  std::uint64_t fleet_writes) {
  const AccountCounts& counts = account.counts();
  const auto verdict = play.log->verify();
  const bool chain = verdict.has_value() && !verdict->broken_at;
  ReplayOptions how;
  how.comparison = Comparison::all;
  const auto report = replay(*play.log, nullptr, how);
  const bool same = report.has_value() && report->holds();
  if (!verdict.has_value())
    std::cerr << "fairlead dev: " << printable_lines(verdict.error().message) << '\n';
  if (!report.has_value())
    std::cerr << "fairlead dev: " << printable_lines(report.error().message) << '\n';
  const IngestCounts& ingest = stats.ingest;
  const std::uint64_t changes = ingest.logged + ingest.unchanged + ingest.older + ingest.foreign;
  std::cout << "\nIn " << to_elapsed(play.clock->now() - play.clock->start()) << " of the fleet:\n"
            << "  fleet changes    " << counts.faults << ", " << fleet_writes
            << " writes by the fleet and its administrator\n"
            << "  notifications    " << changes << ", " << ingest.logged
            << " of them changed something\n"
            << "  events logged    " << counts.events << '\n'
            << "  writes sent      " << counts.writes << ", " << counts.accepted << " accepted, "
            << counts.refused << " not\n"
            << "  chain ok         " << (chain ? "yes" : "no") << '\n'
            << "  replay verified  " << (same ? "yes" : "no") << '\n';
  if (report.has_value() && report->first)
    std::cout << "  differs at       " << report->first->seq.value << " in " << report->first->what
              << '\n';
  std::cout << std::flush;
  return chain && same ? 0 : 1;
}

// The configuration: defaults that suit the fleet, what its administrator has changed by now, then
// --config (in place of both) and --set, which overrides them.
Result<Configuration> configuration_for(const DevOptions& options,
                                        const std::vector<std::string>& changed) {
  ConfigurationOptions all = options.configuration;
  std::vector<std::string> needs = fleet_settings(options.fleet);
  needs.insert(needs.end(), changed.begin(), changed.end());
  if (all.file.empty()) all.settings.insert(all.settings.begin(), needs.begin(), needs.end());
  return effective_configuration(all);
}

void add_members(const DevOptions& options, const Play& play, Configuration& configuration) {
  for (const auto& [name, role] : fleet_servers(options.fleet))
    if (role == ServerRole::member)
      configuration.member_kubeconfigs.push_back({name, "", play.others.at(name).kubeconfig, ""});
}

// Hands the hub the settings that the fleet's administrator has changed since `current`.
Result<void> follow_settings(const DevOptions& options, const Play& play, const Fleet& fleet,
                             DevHub& hub, std::vector<std::string>& current) {
  std::vector<std::string> changed = fleet.settings();
  if (changed == current) return {};
  current = std::move(changed);
  auto configuration = configuration_for(options, current);
  if (!configuration) return configuration.error();
  add_members(options, play, *configuration);
  hub.reconfigure(std::move(*configuration));
  return {};
}

// Plays until a signal, the end of `length`, or the end of the hub.
Result<void> play_on(const DevOptions& options, const Play& play, DevHub& hub, Fleet& fleet,
                     const std::function<Result<void>()>& report, const EndSignals& signals,
                     std::optional<Duration> length) {
  ScaledClock& clock = *play.clock;
  int waited = 0;
  std::vector<std::string> settings;
  const auto began = std::chrono::steady_clock::now();
  while (!signals.within(kTick) && hub.running() && std::cout) {
    if (auto read = report(); !read) return read;
    const auto passed = std::chrono::steady_clock::now() - began;
    if (length && passed >= std::chrono::nanoseconds(length->ns)) break;
    if (!hub.ready()) continue;
    waited = hub.stats().writes_under_way > 0 ? waited + 1 : 0;
    const bool waits = waited > 0 && waited < kStoppedTicksMax;
    clock.let_pass(waits ? Duration{0} : kPassMax);
    fleet.advance(clock.now());
    if (auto done = follow_settings(options, play, fleet, hub, settings); !done) return done;
  }
  return {};
}

Result<int> run_dev(const DevOptions& options) {
  auto configuration = configuration_for(options, {});
  if (!configuration) return configuration.error();
  std::optional<Duration> length;
  if (!options.length.empty()) {
    length = parse_go_duration(options.length);
    if (!length)
      return Error{ErrorCode::bad_input,
                   "--for: expected a duration such as 90s or 5m, got \"" + options.length + "\""};
  }
  // Before any thread is made: each inherits the set of blocked signals.
  EndSignals signals;
  auto play = prepare(options);
  if (!play) return play.error();
  add_members(options, *play, *configuration);
  ScaledClock& clock = *play->clock;
  print_opening(*play, options, *configuration);

  Account account(std::cout, clock.start());
  std::deque<FleetLine> lines;
  Seq reported;
  const auto report = [&] { return report_log(*play->log, reported, lines, account); };
  std::map<std::string, model::SharedModel*> models;
  for (const auto& [name, other] : play->others) models[name] = &other.model->model();
  const std::unique_ptr<Fleet> fleet =
      make_fleet(options.fleet, play->hub.model->model(), models, options.seed, clock.start(),
                 [&](std::string_view who, const std::string& what) {
                   lines.push_back({clock.now(), std::string(who), what});
                 });
  if (auto begun = fleet->begin(); !begun) return in_context("the fleet", begun.error());
  auto hub =
      DevHub::start(*play->log, play->data->path(), clock, play->hub.kubeconfig, *configuration);
  if (!hub) return hub.error();

  if (auto played = play_on(options, *play, **hub, *fleet, report, signals, length); !played)
    return played.error();
  if (auto ended = (*hub)->stop(); !ended) return ended.error();
  if (auto read = report(); !read) return read.error();
  const auto every = static_cast<std::uint64_t>(configuration->snapshot_every);
  if (!options.data.empty())
    if (auto left = leave_index(*play->log, play->data->path(), kIndexedSnapshotsMin * every);
        !left)
      return left.error();
  return print_summary(*play, account, (*hub)->stats(), fleet->writes());
}

}  // namespace

void add_dev_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DevOptions>();
  CLI::App* dev = app.add_subcommand(
      "dev", "Try it: the hub against a Kubernetes API in memory, with a small fleet that lives");
  dev->add_option(
         "--fleet", options->fleet,
         "claims: machines fail and quotas follow; devices: quotas follow the GPUs that a driver "
         "publishes; fleet-claims: a driver gives a licence to one cluster at a time, jobs wait "
         "for "
         "it; multikueue: OCM Placements choose "
         "MultiKueue's workers, scores flip, jobs run; pool: tenants share super clusters, "
         "slices and pods move")
      ->check(CLI::IsMember(fleet_names()))
      ->capture_default_str();
  dev->add_option("--for", options->length, "Stop after this time (90s, 5m); default: Ctrl-C");
  dev->add_option("--speed", options->speed, "Seconds of the fleet in one second here")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
      ->capture_default_str();
  dev->add_option("--seed", options->seed, "Decides what happens to the fleet")
      ->capture_default_str();
  dev->add_option("--port", options->port, "Of the API on 127.0.0.1; 0: any free one")
      ->capture_default_str();
  dev->add_option("--listen", options->listen,
                  "Where the audit page is served, on this machine alone; port 0: any free one")
      ->capture_default_str();
  dev->add_option("--data", options->data,
                  "An empty directory that keeps the log; default: a temporary one");
  add_configuration_options(*dev, options->configuration);
  dev->callback([options, &exit_code] {
    const auto ended = run_dev(*options);
    if (ended) {
      exit_code = *ended;
      return;
    }
    std::cerr << "fairlead dev: " << printable_lines(ended.error().message) << '\n';
    exit_code = exit_code_for(ended.error().code);
  });
}

}  // namespace fairlead
