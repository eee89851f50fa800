// `fairlead hub`: watches API servers, appends to the log, and sends the writes that follow from
// it.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "engine/base/descriptors.h"
#include "engine/base/digest.h"
#include "engine/base/printable.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/configuration_options.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/upgrade_export.h"
#include "engine/main/commands/write_line.h"
#include "engine/main/service/frame_ancestors.h"
#include "engine/main/service/hub_connections.h"
#include "engine/main/service/hub_listeners.h"
#include "engine/main/service/log_copy.h"
#include "engine/main/service/log_replication.h"
#include "engine/main/service/question_service.h"
#include "engine/runtime/configuration.h"
#include "engine/runtime/hub_loop.h"
#include "engine/runtime/loop_watch.h"
#include "engine/runtime/role_loop.h"
#include "engine/runtime/system_clock.h"
#include "snapshots/data_directory.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

namespace {

struct HubCommandOptions {
  std::string kubeconfig;
  std::string context;
  std::string data = "fairlead-data";
  ConfigurationOptions configuration;
  ListenOptions listen;
  WebhookOptions webhook;
  std::string access_providers;
  HubPlace copy_from;
  std::string advertise;
  bool recommend_only = false;
  bool record = false;
};

// The configuration of the file and --set, with what --record says.
Result<Configuration> configuration_of(const HubCommandOptions& options) {
  auto configuration = effective_configuration(options.configuration);
  if (!configuration) return configuration;
  configuration->record = configuration->record || options.record;
  if (configuration->record && options.recommend_only)
    return Error{ErrorCode::bad_input,
                 "--recommend-only: the configuration says record: true, so nothing is planned"};
  if (!options.webhook.listen.empty() && (configuration->record || options.recommend_only))
    return Error{ErrorCode::bad_input,
                 "--webhook-listen: a hub that writes nothing cannot say what will be set back"};
  return configuration;
}

std::string host_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return host.data();
}

std::string identity() { return host_name() + "_" + std::to_string(::getpid()); }

// The same after a restart: a Pod has its name and its volume's place.
std::string replica_name(const std::string& data) {
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(data, ignored).string();
  return host_name() + "-" + sha256(path).hex().substr(0, 8);
}

// Blocks signals for a thread that waits for them. No code runs inside a handler.
class Signals {
 public:
  // Made before any other thread: threads inherit the set of blocked signals.
  Signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  const sigset_t& set() const { return set_; }

 private:
  sigset_t set_{};
};

// The thread, which posts signals to the inbox. While the log is folded, nothing is written and the
// inbox is not read, so a signal ends the process at once.
class SignalThread {
 public:
  SignalThread(const Signals& signals, Inbox& inbox, LoopWatch& watch, Logger logger)
      : thread_([this, set = signals.set(), &inbox, &watch, logger = std::move(logger)] {
          int number = 0;
          while (::sigwait(&set, &number) == 0) {
            if (ended_) return;
            if (number == SIGHUP) inbox.ask_for_configuration();
            if (number != SIGTERM && number != SIGINT) continue;
            if (folding_) {
              logger({Severity::info, "stopped while the log was folded", {}});
              ::_exit(kDone);
            }
            inbox.ask_to_stop();
            watch.ask_to_end();
          }
        }) {}
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;
  template <class Start>
  auto while_folding(const Start& start) {
    folding_ = true;
    auto started = start();
    folding_ = false;
    return started;
  }
  ~SignalThread() {
    ended_ = true;
    ::pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

 private:
  std::atomic<bool> ended_{false};
  std::atomic<bool> folding_{false};
  std::thread thread_;
};

// For a process that does not end otherwise: no thread is waited for, and no destructor runs. The
// log needs none.
[[noreturn]] void end_process(const std::string& why) {
  say_at_once(why + ": the process ends at once");
  ::_exit(3);
}

// Whether a hub that has ended goes without freeing what it holds: of a million nodes that takes
// seconds, and the kernel does it at once. Nothing is lost, because what is kept was flushed
// before. Where memory or threads are checked, all of it is destroyed in order.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLeavesMemory = false;
#elif defined(__has_feature)
constexpr bool kLeavesMemory =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kLeavesMemory = true;
#endif

[[noreturn]] void leave(int exit_code) {
  std::cout.flush();
  ::_exit(exit_code);
}

// Reports how a hub ended. Returns the exit code.
int report_end(const Result<void>& ended) {
  if (ended) return kDone;
  std::cerr << "fairlead hub: " << printable_lines(ended.error().message) << '\n';
  return exit_code_for(ended.error().code);
}

HubPorts ports_for(const HubCommandOptions& options, HubConnections& connections,
                   LoopWatch::Loop& watched, const Logger& logger) {
  HubPorts ports;
  ports.turned = [&watched] { watched.turned(); };
  ports.sink_of = [&connections](const std::string& cluster) {
    return connections.sink_of(cluster);
  };
  ports.absent_kinds = [&connections] { return connections.absent_kinds(); };
  ports.read_configuration = [&options, logger,
                              roles = effective_role_settings(options.configuration)]() {
    auto read = configuration_of(options);
    if (const auto now = effective_role_settings(options.configuration); read && roles && now)
      for (const std::string& path : changed_role_settings(*roles, *now))
        logger({Severity::warn, "a changed setting takes effect with a restart", {{"key", path}}});
    if (read) return std::optional(*read);
    logger({Severity::error,
            "the configuration cannot be used: the old one stays in force",
            {{"why", read.error().message}}});
    return std::optional<Configuration>();
  };
  ports.follow = [&connections](const Configuration& configuration, const Watch& watch) {
    connections.follow(configuration, watch);
  };
  ports.notify = [&connections, identity = identity()](const Notice& notice) {
    connections.notify(notice, identity);
  };
  ports.recommend = [](const Recommendation& recommendation) {
    std::cout << write_line(recommendation.seq, recommendation.time, recommendation.intent) << '\n'
              << std::flush;
  };
  return ports;
}

Result<std::shared_ptr<const AccessProviders>> access_providers(const std::string& path) {
  if (path.empty()) return std::shared_ptr<const AccessProviders>(new AccessProviders());
  return load_access_providers(path);
}

/// Exports the log of an older version before it is raised to this one's.
Result<void> keep_way_back(const std::string& data, const Logger& logger) {
  const auto file = export_before_upgrade(data, {});
  if (!file) return file.error();
  if (*file)
    logger(
        {Severity::info,
         "the log is of an older version: it was exported, so that the older program can import it",
         {{"file", (*file)->string()}}});
  return {};
}

/// Where the data directory has no log, and the ring no longer has the beginning of its own, copies
/// the log of --copy-from. A signal ends the process, as it has nothing to lose yet.
Result<void> copy_if_needed(const HubCommandOptions& options, const HubRoleSettings& roles,
                            LogReplication& replication, const Logger& logger) {
  std::error_code ignored;
  if (!roles.replication.on() || options.copy_from.server.empty() ||
      std::filesystem::exists(std::filesystem::path(options.data) / "log", ignored))
    return {};
  const auto needed = replication.needs_copy();
  if (!needed) return needed.error();
  return *needed ? copy_log(options.copy_from, options.data, logger) : Result<void>();
}

/// Returns how other replicas are asked at their --advertise: as the one of --copy-from, whose name
/// is in the certificate of each.
Result<HubPlace> others_of(const HubCommandOptions& options) {
  if (auto address = parse_server(options.advertise); !options.advertise.empty() && !address)
    return in_context("--advertise", address.error());
  HubPlace others = options.copy_from;
  if (others.server.empty()) return others;
  const auto server = parse_server(others.server);
  if (!server) return in_context("--copy-from", server.error());
  if (others.name.empty()) others.name = server->host;
  return others;
}

/// Returns null where no Lease is named.
Result<std::unique_ptr<LogReplication>> replication_for(const HubCommandOptions& options,
                                                        const HubRoleSettings& roles,
                                                        const Credentials& credentials,
                                                        Inbox& inbox, const Logger& logger) {
  if (roles.election.lease.empty()) return std::unique_ptr<LogReplication>();
  auto others = others_of(options);
  if (!others) return others.error();
  auto made = LogReplication::make(
      roles, credentials, {identity(), replica_name(options.data), options.advertise, *others},
      logger, [&inbox] { inbox.wake(); });
  if (!made) return made;
  if (auto copied = copy_if_needed(options, roles, **made, logger); !copied) return copied.error();
  return made;
}

/// Returns null where the log is local.
Result<ReplicatedLog*> join_log(const HubRoleSettings& roles, LogReplication* replication,
                                RocksdbLog& log) {
  return roles.replication.on() ? replication->join(log) : nullptr;
}

void close_log(RocksdbLog& log, const Result<void>& ended, Seq last, const Logger& logger) {
  if (!ended)
    return logger({Severity::error,
                   "the log takes no more events: nothing is written any more, the process ends",
                   {{"why", ended.error().message}}});
  logger({Severity::info, "stopped", {{"seq", std::to_string(last.value)}}});
  if (auto moved = log.move_to_tables(); !moved)
    logger({Severity::warn,
            "the next opening of the log takes longer",
            {{"why", moved.error().message}}});
}

Result<void> expect_descriptors() {
  const std::size_t limit = descriptor_shares().limit;
  if (limit >= kDescriptorsMin) return {};
  return Error{ErrorCode::unavailable, "the limit of open files is " + std::to_string(limit) +
                                           " (ulimit -n): a hub needs at least " +
                                           std::to_string(kDescriptorsMin)};
}

std::function<void(LogTime)> clock_behind(const Logger& logger) {
  return [logger](LogTime reported) {
    logger({Severity::warn,
            "the clock is behind the log: log time goes at half speed until it has caught up",
            {{"log", to_rfc3339(reported)}}});
  };
}

std::function<void(LogTime, LogTime)> clock_ahead(const Logger& logger) {
  return [logger](LogTime reported, LogTime utc) {
    logger({Severity::warn,
            "the clock was set ahead: log time goes on as before, and catches up if it stays there",
            {{"log", to_rfc3339(reported)}, {"clock", to_rfc3339(utc)}}});
  };
}

/// What runs the hub: alone, or as one of several.
struct HubRun {
  const HubCommandOptions& options;
  const Configuration& configuration;
  const Credentials& credentials;
  Replica& replica;
  HubConnections& connections;
  Inbox& inbox;
  HubStatus& status;
  SignalThread& signals;
  LoopWatch& watch;
  const Logger& logger;
};

ServedLogSource served_by(const RocksdbLog& log, const std::string& data, PresentState& present,
                          const HubStatus& status, const LogReplication* replication) {
  ServedLogSource served = served_log_of_hub(log, data, &present);
  served.now = [] { return SystemClock().now(); };
  if (replication != nullptr)
    served.replication = [&status, replication] {
      return replication->report(status.stats().role);
    };
  return served;
}

Result<void> run_alone(const HubRun& hub) {
  Leader leader(hub.replica);
  const auto started = hub.signals.while_folding([&]() -> Result<void> {
    auto folded = hub.replica.fold(progress_on_terminal("folding the log: "));
    return folded ? leader.begin(hub.configuration) : folded;
  });
  if (!started) return started;
  if (auto connected = hub.connections.connect_hub(hub.credentials, hub.configuration); !connected)
    return connected;
  auto watched = hub.watch.watch("the hub");
  HubLoop loop(leader, hub.inbox, hub.status,
               ports_for(hub.options, hub.connections, *watched, hub.logger));
  return loop.run();
}

Result<void> run_elected(const HubRun& hub, ReplicatedLog* log, LogReplication& replication) {
  const auto started = hub.signals.while_folding(
      [&] { return hub.replica.fold(progress_on_terminal("folding the log: ")); });
  if (!started) return started;
  auto watched = hub.watch.watch("the hub");
  RolePorts ports;
  ports.hub = ports_for(hub.options, hub.connections, *watched, hub.logger);
  // Cheap, and no proof: what is sent all the same names what it was derived from.
  ports.hub.sink_of = [&](const std::string& cluster) {
    return replication.leads() ? hub.connections.sink_of(cluster) : nullptr;
  };
  ports.connect = [&](const Configuration& configuration) -> Result<bool> {
    if (!hub.connections.ended()) return false;
    if (auto connected = hub.connections.connect_hub(hub.credentials, configuration); !connected)
      return connected.error();
    return true;
  };
  ports.disconnect = [&] { hub.connections.disconnect(); };
  RoleLoop loop(hub.replica, log, replication, hub.inbox, hub.status, std::move(ports),
                hub.configuration, replication.copy_terms(), hub.logger);
  replication.elect();
  return loop.run();
}

Result<void> run_hub(const HubCommandOptions& options) {
  auto configuration = configuration_of(options);
  if (!configuration) return configuration.error();
  auto roles = effective_role_settings(options.configuration);
  if (!roles) return roles.error();
  auto addresses = listen_addresses(options.listen);
  if (!addresses) return addresses.error();
  auto judging = webhook_place(options.webhook);
  if (!judging) return judging.error();
  auto credentials = find_credentials(options.kubeconfig, {options.context});
  if (!credentials) return credentials.error();
  auto providers = access_providers(options.access_providers);
  if (!providers) return in_context("--clusterprofile-provider-file", providers.error());
  Signals signals;
  const Logger logger = stderr_logger();
  if (configuration->export_before_upgrade)
    if (auto kept = keep_way_back(options.data, logger); !kept) return kept;
  Inbox inbox(kInboxFactsMax);
  LoopWatch watch(say_at_once, end_process);
  watch.start();
  SignalThread signal_thread(signals, inbox, watch, logger);
  auto replication = signal_thread.while_folding(
      [&] { return replication_for(options, *roles, *credentials, inbox, logger); });
  if (!replication) return replication.error();
  auto log = open_data_directory(options.data, OpenMode::write);
  if (!log) return log.error();
  HubStatus status(*replication ? HubRole::follower : HubRole::alone);
  HubConnections connections(inbox, logger, std::move(*providers));
  PresentState present([&inbox] { inbox.wake(); });
  const QuestionService service(
      served_by(**log, options.data, present, status, replication->get()));
  AdmissionFeed feed(*configuration);
  auto webhook = *judging
                     ? WebhookListener::start(**judging, feed, inbox, *credentials, logger, watch)
                     : std::unique_ptr<WebhookListener>();
  if (!webhook) return webhook.error();
  auto watched = connections.watched_by(watch);
  HubListeners listeners({status, connections, service, options.data, webhook->get(), watch});
  if (auto listening = listeners.start(*addresses, *credentials, logger); !listening)
    return listening;

  SystemClock clock((*log)->last_time(), clock_behind(logger), clock_ahead(logger));
  SnapshotStore snapshots(options.data);
  auto ring_watched = *replication ? (*replication)->watched_by(watch) : nullptr;
  const auto replicated =
      signal_thread.while_folding([&] { return join_log(*roles, replication->get(), **log); });
  if (!replicated) return replicated.error();
  EventLog& written = *replicated ? static_cast<EventLog&>(**replicated) : **log;
  const auto mode = options.recommend_only ? WriteMode::recommend : WriteMode::apply;
  HubSettings settings{identity(), mode, &snapshots};
  if (*webhook) settings.admission = &feed;
  settings.stops = [&inbox] { return inbox.stops(); };
  settings.present = &present;
  if (*replicated) settings.facts_max = kPacedBatchFactsMax;
  Replica replica(written, clock, std::move(settings), logger);
  const HubRun hub{options, *configuration, *credentials,  replica, connections,
                   inbox,   status,         signal_thread, watch,   logger};
  auto ended = *replication ? run_elected(hub, *replicated, **replication) : run_alone(hub);
  ring_watched.reset();
  if (*replicated) (*replicated)->close();  // the ring's thread writes the log, too
  close_log(**log, ended, replica.stats().seq, logger);
  // First, because an I/O thread may wait for a place in the inbox. (After an error the loop has
  // not closed it.)
  inbox.close();
  connections.stop();
  watched.clear();
  listeners.save_index();
  if (kLeavesMemory) leave(report_end(ended));
  return ended;
}

}  // namespace

void add_hub_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<HubCommandOptions>();
  CLI::App* hub = app.add_subcommand(
      "hub", "Run on a hub: watch, log, and keep ClusterQueues equal to what claims are granted");
  hub->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig of the hub; default: as kubectl finds one, else the Pod's own account");
  hub->add_option("--context", options->context, "Context of it; default: its current-context");
  hub->add_option("--data", options->data, "Data directory, with the log")->capture_default_str();
  add_configuration_options(*hub, options->configuration);
  hub->add_option("--listen", options->listen.plain,
                  "ADDRESS:PORT for /livez and /readyz, and on loopback for /metrics, /audit/ and "
                  "/log/; default: none");
  hub->add_option("--listen-secure", options->listen.secure,
                  "ADDRESS:PORT for all of these with TLS 1.3, to callers that RBAC allows");
  hub->add_option("--certificate", options->listen.certificate,
                  "Folder with tls.crt and tls.key for it, read again when they change");
  hub->add_option("--frame-ancestors", options->listen.frame_ancestors, kFrameAncestorsHelp);
  hub->add_option("--webhook-listen", options->webhook.listen,
                  "ADDRESS:PORT for the validating webhook (POST /admit) with TLS 1.3");
  hub->add_option("--webhook-certificate", options->webhook.certificate,
                  "Folder with tls.crt and tls.key for it, read again when they change");
  hub->add_option(
      "--webhook-self-signed", options->webhook.self_signed,
      "SERVICE.NAMESPACE in front of it: the hub makes the certificate, in the Secret of "
      "that name");
  hub->add_option("--clusterprofile-provider-file", options->access_providers,
                  "Exec plugins for access providers of ClusterProfiles, as for Kueue");
  CLI::Option* copy = hub->add_option(
      "--copy-from", options->copy_from.server,
      "Of a replicated log: http:// or https://HOST:PORT of another replica, whose log is copied "
      "into an empty data directory where the ring no longer has its beginning");
  hub->add_option("--copy-from-token-file", options->copy_from.token_file,
                  "File with the bearer token for it")
      ->needs(copy);
  hub->add_option("--copy-from-ca", options->copy_from.ca_file,
                  "PEM file of the authorities that its certificate is checked with")
      ->needs(copy);
  hub->add_option("--copy-from-name", options->copy_from.name,
                  "Name in its certificate, where HOST is another")
      ->needs(copy);
  hub->add_option("--advertise", options->advertise,
                  "Of a replicated log: http:// or https://HOST:PORT at which the other replicas "
                  "ask this one, with the options of --copy-from, how much of the log it has");
  CLI::Option* recommend =
      hub->add_flag("--recommend-only", options->recommend_only,
                    "Write nothing: print what would be written, as `fairlead plan` does");
  hub->add_flag("--record", options->record,
                "Write nothing and read no claims: record queues and members' Nodes, for `fairlead "
                "audit`. As `record: true` in the configuration")
      ->excludes(recommend);
  hub->callback([options, &exit_code] {
    const auto enough = expect_descriptors();
    exit_code = report_end(enough ? run_hub(*options) : enough);
  });
}

}  // namespace fairlead
