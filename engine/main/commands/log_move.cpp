// `fairlead log export`, `import` and `prune`.
#include <iostream>

#include "engine/base/json.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/log_export.h"
#include "engine/main/client/position.h"
#include "engine/main/commands/log_command.h"
#include "replay/bundle/bundle.h"
#include "schema/codec.h"
#include "snapshots/data_directory.h"
#include "snapshots/folded_states.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

std::string counted(std::uint64_t many, const char* what) {
  return std::to_string(many) + " " + what + (many == 1 ? "" : "s");
}

int print_report(const char* did, const BundleReport& report, const std::filesystem::path& file,
                 LogOutput output, std::ostream& out, std::ostream& err) {
  if (output == LogOutput::json)
    out << to_text(Json{{"file", file.string()},
                        {"first_seq", report.first.value},
                        {"last_seq", report.last.value},
                        {"events", report.events},
                        {"commits", report.commits},
                        {"snapshots", report.snapshots},
                        {"bytes", report.bytes},
                        {"digest", report.chain.hex()}})
        << '\n';
  else
    out << did << ' ' << counted(report.events, "event") << ", seq " << report.first.value << " to "
        << report.last.value << ", in " << counted(report.commits, "group commit") << ", and "
        << counted(report.snapshots, "snapshot") << '\n'
        << "bytes  " << report.bytes << '\n'
        << "chain  " << report.chain.hex() << '\n';
  return finish_log_output(0, out, err);
}

Result<BundleReport> export_to(const std::filesystem::path& data, const ExportedPart& part) {
  const auto log = open_data_directory(data, OpenMode::read);
  if (!log) return log.error();
  if (const std::string damage = (*log)->damage(); !damage.empty() && part.to.empty())
    return Error{ErrorCode::corrupt,
                 data.string() + ": the log is " + damage + "; export what is before with --to"};
  Seq last = (*log)->last_seq();
  if (!part.to.empty()) {
    const auto event = last_event(**log, "--to", absolute(part.to, frame_of(**log, part.zone)));
    if (!event) return event.error();
    last = *event;
  }
  return export_bundle(**log, SnapshotStore(data), last, part.file, progress_of_copy());
}

/// The result of pruning, for a person or a program.
struct Pruned {
  LogTail cut;
  std::uint64_t forgotten = 0;
  Seq last;
  Seq snapshot;  ///< from this event on State can be recomputed
};

/// Returns the first snapshot at or after `cut`: from there on State can be recomputed. Fails with
/// `bad_input` if no good one is.
Result<Seq> snapshot_behind(const ReadableLog& log, const SnapshotStore& snapshots, Seq cut) {
  const auto newest = newest_of(log, &snapshots, log.last_seq());
  if (!newest) return newest.error();
  if (!*newest || (*newest)->info.seq < cut)
    return Error{ErrorCode::bad_input,
                 "there is no good snapshot at or after seq " + std::to_string(cut.value) +
                     ": without one no state could be restored any more; take one with "
                     "`fairlead snapshot take`"};
  const auto list = snapshots.list();
  if (!list) return list.error();
  for (const SnapshotInfo& info : *list)
    if (info.seq >= cut && voucher_of(log, info) == Voucher::given) return info.seq;
  return (*newest)->info.seq;
}

Result<Pruned> prune(const std::filesystem::path& data, const std::string& before) {
  {
    // Opening for writing would make a log where there is none.
    const auto exists = open_data_directory(data, OpenMode::read);
    if (!exists) return exists.error();
    // Opening it for writing would lock out the program that wrote it.
    if ((*exists)->schema_version() < kSchemaVersion)
      return Error{ErrorCode::bad_input,
                   data.string() + " is the log of an older version, with schema version " +
                       std::to_string((*exists)->schema_version()) +
                       ": prune it with that program, or start `fairlead hub` of this one first"};
  }
  const auto log = open_data_directory(data, OpenMode::write, progress_of_copy());
  if (!log) return log.error();
  const auto keep = first_event(**log, "--before", before);
  if (!keep) return keep.error();
  if (*keep > (*log)->last_seq())
    return Error{ErrorCode::bad_input,
                 "--before " + before + " is behind the end of the log: seq " +
                     std::to_string((*log)->last_seq().value) + " at " +
                     to_rfc3339((*log)->last_time()) + "; the last event is always kept"};
  const auto cut = (*log)->tail_before(*keep);
  if (!cut) return cut.error();
  Pruned pruned{*cut, 0, (*log)->last_seq(), {}};
  if (cut->last < (*log)->first_seq()) return pruned;
  const auto snapshot = snapshot_behind(**log, SnapshotStore(data), cut->last);
  if (!snapshot) return snapshot.error();
  pruned.snapshot = *snapshot;
  pruned.forgotten = next(cut->last).value - (*log)->first_seq().value;
  if (auto done = (*log)->prune_before(*keep); !done) return done.error();
  FoldedStates::remove_all(data);  // they hold what was forgotten
  return pruned;
}

}  // namespace

int log_export(const std::filesystem::path& data, const ExportedPart& part, LogOutput output,
               std::ostream& out, std::ostream& err) {
  const auto report = export_to(data, part);
  if (!report) return report_log_error(report.error(), err);
  return print_report("exported", *report, part.file, output, out, err);
}

int log_export(const ReachHub& reach, const HubPlace& hub, const ExportedPart& part,
               LogOutput output, std::ostream& out, std::ostream& err) {
  const auto ask = reach(hub);
  if (!ask) return report_log_error(ask.error(), err);
  const auto report = export_from_hub(*ask, part.file, with_offset(part.to, frame_here(part.zone)),
                                      progress_of_copy());
  if (!report) return report_log_error(report.error(), err);
  return print_report("exported", *report, part.file, output, out, err);
}

int log_import(const std::filesystem::path& file, const std::filesystem::path& data,
               LogOutput output, std::ostream& out, std::ostream& err) {
  const auto import = [&]() -> Result<BundleReport> {
    const auto bundle = open_bundle(file);
    if (!bundle) return bundle.error();
    return import_bundle(**bundle, data, progress_of_copy());
  };
  const auto report = import();
  if (!report) {
    const int exit_code = report_log_error(report.error(), err);
    return report.error().code == ErrorCode::corrupt ? kAnswerIsNo : exit_code;
  }
  return print_report("imported", *report, file, output, out, err);
}

int log_prune(const std::filesystem::path& data, const std::string& before, LogOutput output,
              std::ostream& out, std::ostream& err) {
  const auto pruned = prune(data, before);
  if (!pruned) return report_log_error(pruned.error(), err);
  const Seq first = next(pruned->cut.last);
  if (output == LogOutput::json)
    out << to_text(Json{{"forgotten", pruned->forgotten},
                        {"first_seq", first.value},
                        {"last_seq", pruned->last.value},
                        {"state_from_seq", pruned->snapshot.value}})
        << '\n';
  else if (pruned->forgotten == 0)
    out << "nothing to forget: the log begins at seq " << first.value << '\n';
  else
    out << "forgot " << counted(pruned->forgotten, "event") << "; kept seq " << first.value
        << " to " << pruned->last.value << "; the state is known from seq "
        << pruned->snapshot.value << " on\n";
  return finish_log_output(0, out, err);
}

}  // namespace fairlead
