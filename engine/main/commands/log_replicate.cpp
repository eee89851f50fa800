#include "engine/main/commands/log_replicate.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/base/printable.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/service/log_replication.h"
#include "engine/main/service/ring_servers.h"
#include "snapshots/data_directory.h"

namespace fairlead {

namespace {

/// Attempts to write one slot that somebody else writes meanwhile.
constexpr int kWriteTries = 5;

/// The log in a data directory, and the servers that keep its ring.
struct Replicated {
  HubRoleSettings settings;
  std::unique_ptr<RocksdbLog> log;
  std::unique_ptr<RingServers> servers;
  std::optional<RingPlace> ours;  ///< of the log, if it is a copy of a replicated one
  std::optional<NamedLog> named;  ///< by the Lease

  bool is_copy() const { return ours && named && ours->log == named->id; }
  Error other_log(const std::string& advice) const {
    return {ErrorCode::conflict, "Lease " + settings.election.lease + " names log " + named->id +
                                     ", which this is no copy of" + advice};
  }
};

// A holder that renews: another process may append meanwhile.
Result<void> expect_no_leader(Replicated& with) {
  const auto before = with.servers->read_lease();
  if (!before) return before.error();
  if (!*before || (*before)->holder.empty()) return {};
  const Duration observed = with.settings.election.lease_duration;
  std::cerr << "fairlead log: " << printable((*before)->holder) << " holds the Lease "
            << with.settings.election.lease << ": looking for " << observed.ns / 1'000'000'000
            << " s whether it renews it\n";
  std::this_thread::sleep_for(std::chrono::nanoseconds(observed.ns));
  const auto after = with.servers->read_lease();
  if (!after) return after.error();
  if (!*after || (*after)->resource_version == (*before)->resource_version) return {};
  return Error{ErrorCode::conflict, "Lease " + with.settings.election.lease + " is held by " +
                                        (*after)->holder + ": stop all hubs of this log first"};
}

Result<Replicated> open(const ReplicateOptions& options) {
  Replicated opened;
  auto settings = effective_role_settings(options.configuration);
  if (!settings) return settings.error();
  if (!settings->replication.on())
    return Error{ErrorCode::bad_input,
                 "log.replication: expected kubernetes or etcd, which say where the ring is "
                 "(--config, --set)"};
  opened.settings = *std::move(settings);
  auto log = open_data_directory(options.data, OpenMode::write);
  if (!log) return log.error();
  opened.log = *std::move(log);
  auto credentials = find_credentials(options.kubeconfig, {options.context});
  if (!credentials) return credentials.error();
  auto servers = RingServers::make(opened.settings, *credentials, "fairlead-log",
                                   {[] {}, [] {}, [](const std::string&) {}});
  if (!servers) return servers.error();
  opened.servers = *std::move(servers);
  if (auto free = expect_no_leader(opened); !free) return free.error();
  auto ours = opened.log->ring_place();
  if (!ours) return ours.error();
  opened.ours = *std::move(ours);
  auto named = opened.servers->read_name();
  if (!named) return named.error();
  opened.named = *std::move(named);
  return opened;
}

/// Returns the last commit of the log as the ring has it.
Result<RingCommit> last_commit(const RocksdbLog& log, const NamedLog& named) {
  RingCommit last{named.id, named.slots, 0, {}, 0, {}};
  std::uint64_t commits = 0;
  auto walked =
      log.for_each_pack({}, log.last_seq(), [&](const PackHeader& header, std::string_view pack) {
        ++commits;
        if (header.last() == log.last_seq()) {
          last.first = header.first;
          last.count = header.count;
          last.pack = pack;
        }
        return Result<PackWalk>(PackWalk::go_on);
      });
  if (!walked) return walked.error();
  if (commits == 0)
    return Error{ErrorCode::bad_input, "the log is empty: log.replication.create begins one"};
  last.commit = commits - 1;
  if (last.pack.size() <= kRingRecordBytesMax) return last;
  return Error{ErrorCode::bad_input,
               "the last commit of the log has " + std::to_string(last.pack.size()) +
                   " bytes, and the ring stores " + std::to_string(kRingRecordBytesMax) +
                   ": start the hub alone once more and stop it"};
}

/// Writes a commit into its slot. Fails with `conflict` if the ring has another one of its number,
/// or is a lap ahead.
Result<StoreVersion> write_slot(RingServers& servers, const RingCommit& commit) {
  for (int tries = 0; tries < kWriteTries; ++tries) {
    const auto slot = servers.read(commit.slot());
    if (!slot) return slot.error();
    if (*slot && (*slot)->commit == commit) return (*slot)->version;
    if (*slot && !(*slot)->commit.pack.empty() && (*slot)->commit.commit >= commit.commit)
      return Error{ErrorCode::conflict,
                   "the ring holds commit " + std::to_string((*slot)->commit.commit) +
                       ", and this copy ends with another commit " + std::to_string(commit.commit) +
                       ": take the replica that is ahead (`fairlead log stat`); --replace begins "
                       "the ring anew with this one"};
    const auto answer = servers.replace(commit, *slot ? (*slot)->version : 0);
    if (!answer) return answer.error();
    if (answer->result == StoreResult::stored) return answer->version;
  }
  return Error{ErrorCode::conflict, "slot " + std::to_string(commit.slot()) +
                                        " of the ring is written by somebody else"};
}

Result<std::string> replicate(const ReplicateOptions& options) {
  auto with = open(options);
  if (!with) return with.error();
  RingServers& servers = *with->servers;
  const auto& [ours, named] = std::tie(with->ours, with->named);
  if (named && !with->is_copy() && !options.replace)
    return with->other_log("; --replace puts this log in its place");
  const std::int64_t window = with->settings.replication.window;
  const bool kept =
      with->is_copy() && !options.replace && named->slots == static_cast<std::uint32_t>(window);
  const NamedLog log = kept ? *named : new_log(window);
  if (!kept) {
    if (named)
      if (auto removed = servers.remove_slots(named->slots); !removed) return removed.error();
    if (auto written = servers.write_name(log); !written) return written.error();
  }
  if (auto made = servers.make_slots(log); !made) return made.error();
  auto last = last_commit(*with->log, log);
  if (!last) return last.error();
  // A ring that goes on has a count of its own: it is not how many commits this log has.
  if (kept) last->commit = ours->next - 1;
  const auto version = write_slot(servers, *last);
  if (!version) return version.error();
  RingPlace place{
      log.id, log.slots, last->commit + 1, *version, with->log->last_seq(), with->log->chain()};
  place.base = kept ? ours->base : last->commit;
  if (auto set = with->log->set_ring_place(place); !set) return set.error();
  return "log " + log.id + ": " + std::to_string(log.slots) + " slots, commit " +
         std::to_string(last->commit) + ", seq " + std::to_string(place.last.value);
}

Result<std::string> unreplicate(const ReplicateOptions& options) {
  auto with = open(options);
  if (!with) return with.error();
  RingServers& servers = *with->servers;
  const auto& [ours, named] = std::tie(with->ours, with->named);
  if (!ours && !named) return std::string("the log is not replicated");
  if (ours && named) {
    if (!with->is_copy()) return with->other_log("");
    const auto slots = servers.list();
    if (!slots) return slots.error();
    for (const RingSlot& slot : *slots)
      if (!slot.commit.pack.empty() && slot.commit.commit >= ours->next && !options.replace)
        return Error{ErrorCode::conflict,
                     "the ring holds commit " + std::to_string(slot.commit.commit) +
                         ", and this copy ends before commit " + std::to_string(ours->next) +
                         ": take the replica that is ahead (`fairlead log stat`), or lose what "
                         "this one lacks with --replace"};
  }
  if (named) {
    if (auto removed = servers.remove_slots(named->slots); !removed) return removed.error();
    if (auto written = servers.write_name(std::nullopt); !written) return written.error();
  }
  if (auto set = with->log->set_ring_place(std::nullopt); !set) return set.error();
  return "the log is local: " + std::to_string(with->log->last_seq().value) + " events";
}

using ReplicateWork = Result<std::string> (*)(const ReplicateOptions&);

void add_replicate_command(CLI::App& log, const char* name, const char* about, const char* replace,
                           ReplicateWork work, int& exit_code) {
  const auto options = std::make_shared<ReplicateOptions>();
  CLI::App* command = log.add_subcommand(name, about);
  command->add_option("--data", options->data, "Data directory of a hub that is not running")
      ->required();
  command->add_option("--kubeconfig", options->kubeconfig,
                      "Kubeconfig of the hub; default: as kubectl finds one");
  command->add_option("--context", options->context, "Context of it; default: its current-context");
  add_configuration_options(*command, options->configuration);
  command->add_flag("--replace", options->replace, replace);
  command->callback([options, work, &exit_code] {
    const auto done = work(*options);
    if (done)
      std::cout << *done << '\n';
    else
      std::cerr << "fairlead log: " << printable_lines(done.error().message) << '\n';
    exit_code = done ? kDone : exit_code_for(done.error().code);
  });
}

}  // namespace

void add_replicate_commands(CLI::App& log, int& exit_code) {
  add_replicate_command(
      log, "replicate",
      "Make the log in a data directory one that several hubs share\n"
      "It is named in the Lease, the slots that log.replication describes are made, and the last "
      "commit is written. While no hub runs. Done again it completes what is missing",
      "Begin the ring anew with this log, whatever log the Lease names; other replicas copy it",
      replicate, exit_code);
  add_replicate_command(
      log, "unreplicate",
      "Make the log in a data directory local again\n"
      "The slots and the name in the Lease are deleted. While no hub runs, on the replica that is "
      "ahead",
      "Also if the ring holds commits that this copy lacks, which are lost then", unreplicate,
      exit_code);
}

}  // namespace fairlead
