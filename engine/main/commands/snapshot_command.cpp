// `fairlead snapshot`: the folded states that shorten a start and a question about the past.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>

#include "engine/base/json.h"
#include "engine/base/printable.h"
#include "engine/fold/evolve.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "schema/codec.h"
#include "snapshots/data_directory.h"
#include "snapshots/snapshot_store.h"
#include "snapshots/state_codec.h"

namespace fairlead {

namespace {

struct SnapshotCommandOptions {
  std::string data = "fairlead-data";
  std::string output = "text";
  std::size_t keep = 0;
};

Json to_json(const SnapshotInfo& info) {
  return {{"seq", info.seq.value},
          {"time", to_rfc3339(info.log_time)},
          {"fold_version", info.fold_version},
          {"bytes", info.bytes},
          {"state", info.state_digest.hex()},
          {"log", info.log_digest.hex()}};
}

// With "fault" (empty: none), and null for numbers that cannot be read.
Json to_json(const SnapshotVerdict& verdict) {
  Json json = verdict.info.fold_version == 0 ? Json{{"seq", verdict.info.seq.value},
                                                    {"time", nullptr},
                                                    {"fold_version", nullptr},
                                                    {"bytes", nullptr},
                                                    {"state", nullptr},
                                                    {"log", nullptr}}
                                             : to_json(verdict.info);
  json["fault"] = verdict.fault;
  return json;
}

void print(const SnapshotInfo& info, const std::string& remark) {
  if (info.fold_version == 0) {
    std::cout << std::setw(12) << info.seq.value << "  " << std::left << std::setw(30) << "-"
              << std::right << "  " << std::setw(12) << "-"
              << "  " << remark << '\n';
    return;
  }
  std::cout << std::setw(12) << info.seq.value << "  " << std::left << std::setw(30)
            << to_rfc3339(info.log_time) << std::right << "  " << std::setw(12) << info.bytes
            << "  " << info.state_digest.hex().substr(0, 16) << (remark.empty() ? "" : "  ")
            << remark << '\n';
}

void print_heading() {
  std::cout << "         SEQ  TIME                                   BYTES  STATE\n";
}

// Returns the exit code `answer` if the output could be written.
Result<int> answered(int answer) {
  if (auto written = flush_output(); !written) return written.error();
  return answer;
}

Result<std::unique_ptr<RocksdbLog>> open_for_reading(const std::string& data) {
  auto log = open_data_directory(data, OpenMode::read);
  if (!log &&
      (log.error().code == ErrorCode::not_found || log.error().code == ErrorCode::incompatible))
    return Error{ErrorCode::bad_input, log.error().message};
  return log;
}

Result<void> expect_log(const std::filesystem::path& data) {
  std::error_code error;
  if (std::filesystem::exists(data / "log", error)) return {};
  return Error{ErrorCode::bad_input,
               data.string() + (error ? ": " + error.message() : " holds no Fairlead log")};
}

Result<int> list(const SnapshotCommandOptions& options) {
  if (auto there = expect_log(options.data); !there) return there.error();
  if (options.output != "json") print_heading();
  for (const SnapshotVerdict& verdict : SnapshotStore(options.data).survey()) {
    if (options.output == "json")
      std::cout << to_text(to_json(verdict)) << '\n';
    else
      print(verdict.info, verdict.fault.empty() ? "" : "BAD: " + verdict.fault);
  }
  return answered(0);
}

// Fails where a snapshot cannot be taken, before the log is opened for writing: that would make a
// log where there is none, and lock out the older program that wrote it.
Result<void> expect_takeable(const std::string& data) {
  const auto log = open_for_reading(data);
  if (!log) return log.error();
  if (auto whole = expect_before_damage(**log, end_of(**log)); !whole) return whole;
  if ((*log)->last_seq() == Seq{}) return Error{ErrorCode::bad_input, "the log is empty"};
  if ((*log)->schema_version() >= kSchemaVersion) return {};
  return Error{ErrorCode::bad_input,
               data + " is the log of an older version: start `fairlead hub` of this one first"};
}

// As a hub does it, in an epoch of its own: a snapshot counts only where the log itself names its
// state, in the Checkpoint behind it.
Result<SnapshotInfo> take_snapshot(EventLog& log, SnapshotStore& store) {
  const auto before =
      state_at(log, &store, log.last_seq(), progress_on_terminal("folding the log: "));
  if (!before) return before.error();
  const Epoch epoch{before->epoch.value + 1};
  const auto append = [&](Fact fact) -> Result<void> {
    const EventDraft draft{std::string(kSelf), Seq{}, std::move(fact)};
    const auto events = log.append({&draft, 1}, log.last_time(), epoch);
    if (!events) return events.error();
    return {};
  };
  if (auto begun = append(
          EpochStarted{"fairlead snapshot take", FAIRLEAD_VERSION, kFoldVersion, kSchemaVersion});
      !begun)
    return begun.error();
  const auto state = state_from(log, *before, log.last_seq());
  if (!state) return state.error();
  auto taken = store.save(*state, log.chain());
  if (!taken) return taken;
  if (auto noted = append(Checkpoint{taken->state_digest, taken->seq.value, taken->log_digest});
      !noted)
    return noted.error();
  return taken;
}

Result<int> take(const SnapshotCommandOptions& options) {
  if (auto takeable = expect_takeable(options.data); !takeable) return takeable.error();
  auto log = open_data_directory(options.data, OpenMode::write);
  if (!log && log.error().code == ErrorCode::conflict)
    return Error{ErrorCode::conflict,
                 log.error().message + " (a hub takes its snapshots itself: log.snapshotEvery)"};
  if (!log) return log.error();
  SnapshotStore store(options.data);
  const auto taken = take_snapshot(**log, store);
  if (!taken) return taken.error();
  if (options.output == "json") {
    std::cout << to_text(to_json(*taken)) << '\n';
  } else {
    print_heading();
    print(*taken, "");
  }
  return answered(0);
}

Result<int> verify(const SnapshotCommandOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return log.error();
  auto progress = progress_on_terminal("folding the log: ");
  auto verdicts = verify_snapshots(**log, SnapshotStore(options.data));
  progress = {};  // its line is gone before the answer
  if (!verdicts) return verdicts.error();
  bool good = true;
  if (options.output != "json") print_heading();
  for (const SnapshotVerdict& verdict : *verdicts) {
    good = good && verdict.fault.empty();
    if (options.output == "json")
      std::cout << to_text(to_json(verdict)) << '\n';
    else
      print(verdict.info, verdict.fault.empty() ? "good" : "BAD: " + verdict.fault);
  }
  return answered(good ? 0 : 1);
}

// Removes nothing of a damaged log: its snapshots are evidence of the events that it had.
Result<int> prune(const SnapshotCommandOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return log.error();
  if (auto whole = expect_before_damage(**log, end_of(**log)); !whole) return whole.error();
  const auto pruning = SnapshotStore(options.data).prune(**log, options.keep);
  if (!pruning) return pruning.error();
  for (const SnapshotVerdict& verdict : pruning->faulty)
    std::cerr << "fairlead snapshot prune: snapshot " << verdict.info.seq.value
              << " is left and not counted: " << verdict.fault << '\n';
  const bool json = options.output == "json";
  const std::string why = "the log was pruned and begins at seq " +
                          std::to_string((*log)->first_seq().value) +
                          ": its first states are restored from this snapshot";
  for (const Seq seq : pruning->removed) {
    if (json)
      std::cout << to_text(Json{{"removed", seq.value}}) << '\n';
    else
      std::cout << "removed " << seq.value << '\n';
  }
  for (const Seq seq : pruning->needed) {
    if (json)
      std::cout << to_text(Json{{"kept", seq.value}, {"why", why}}) << '\n';
    else
      std::cout << "kept " << seq.value << ": " << why << '\n';
  }
  return answered(0);
}

using Action = Result<int> (*)(const SnapshotCommandOptions&);

CLI::App* add(CLI::App& snapshot, const char* name, const char* what, Action action,
              const std::shared_ptr<SnapshotCommandOptions>& options, int& exit_code) {
  CLI::App* command = snapshot.add_subcommand(name, what);
  command->add_option("--data", options->data, "Data directory, also of a running hub")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "text or json (one line each)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([name, action, options, &exit_code] {
    const auto answer = action(*options);
    if (answer) {
      exit_code = *answer;
      return;
    }
    std::cerr << "fairlead snapshot " << name << ": " << printable_lines(answer.error().message)
              << '\n';
    exit_code = exit_code_for(answer.error().code);
  });
  return command;
}

}  // namespace

void add_snapshot_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SnapshotCommandOptions>();
  CLI::App* snapshot = app.add_subcommand(
      "snapshot", "Folded states beside the log: they shorten a start and a question");
  snapshot->require_subcommand(1);
  add(*snapshot, "list", "Which there are, damaged ones too", list, options, exit_code);
  add(*snapshot, "take", "Take one of the log's last event", take, options, exit_code);
  add(*snapshot, "verify",
      "Hold each against the log: its bytes, its place in the chain, the state that the events "
      "fold to; exit 1 if one is bad",
      verify, options, exit_code);
  add(*snapshot, "prune",
      "Remove all but the newest. Of a log that was pruned one stays that its first events go on "
      "from; damaged ones are named and left, and do not count",
      prune, options, exit_code)
      ->add_option("--keep", options->keep, "How many good ones are left (of each fold version)")
      ->required();
}

}  // namespace fairlead
