// `fairlead log`: look at a log, even a running hub's, check it, move it and shorten it.
//
// Only `import` and `prune` write, and only they acquire the writer's lock.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "engine/main/client/log_page.h"
#include "engine/main/client/log_place.h"

namespace fairlead {

/// Prints a summary of the log and whether its chain holds; exit code 1 if not.
int log_stat(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err,
             TimeZone zone = {});
/// Prints the selected events, one per line.
int log_cat(const LogPlace& place, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err);
/// Recomputes the log's chain; prints the first bad seq, with exit code 1, if a bit differs from
/// what was written.
/// `reach` is for a place that is a running hub, of whose log a copy is verified.
int log_verify(LogPlace place, LogOutput output, std::ostream& out, std::ostream& err,
               const ReachHub& reach = {});

/// What `log export` writes.
struct ExportedPart {
  std::filesystem::path file{};
  std::string to{};  ///< the position of its last event; empty: all
  TimeZone zone{};   ///< of `to`
};
/// Writes the log up to a position into a bundle file.
int log_export(const std::filesystem::path& data, const ExportedPart& part, LogOutput output,
               std::ostream& out, std::ostream& err);
/// Exports a running hub's log.
int log_export(const ReachHub& reach, const HubPlace& hub, const ExportedPart& part,
               LogOutput output, std::ostream& out, std::ostream& err);
/// Makes a data directory out of a bundle file.
int log_import(const std::filesystem::path& file, const std::filesystem::path& data,
               LogOutput output, std::ostream& out, std::ostream& err);
/// Removes the events before a position, if a snapshot holds the state that they fold to.
int log_prune(const std::filesystem::path& data, const std::string& before, LogOutput output,
              std::ostream& out, std::ostream& err);

/// Prints the error and returns the exit code. A log that does not exist, or belongs to another
/// account, was named by mistake: that is bad input.
int report_log_error(const Error& error, std::ostream& err);
/// Returns `exit_code`, or the code of an operating failure if the output could not be written.
int finish_log_output(int exit_code, std::ostream& out, std::ostream& err);

}  // namespace fairlead
