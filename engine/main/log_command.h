// `fairlead log`: look at a log, also of a running hub, check it, move it and shorten it.
//
// Only `import` and `prune` write, and only they take the writer's lock.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "engine/main/log_page.h"

namespace fairlead {

/// Where the log is: one of the two.
struct LogPlace {
  std::filesystem::path data{};    ///< data directory of a hub
  std::filesystem::path bundle{};  ///< file that `log export` wrote
};

/// Prints what is in the log and whether its chain holds; exit code 1 if not.
int log_stat(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err);
/// Prints the selected events, one a line.
int log_cat(const LogPlace& place, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err);
/// Recomputes the log; exit code 1, and the first bad seq, if a bit differs from what was written.
int log_verify(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err);

/// Writes the log up to position `to` (empty: all) into a bundle file.
int log_export(const std::filesystem::path& data, const std::filesystem::path& file,
               const std::string& to, LogOutput output, std::ostream& out, std::ostream& err);
/// Makes a data directory out of a bundle file.
int log_import(const std::filesystem::path& file, const std::filesystem::path& data,
               LogOutput output, std::ostream& out, std::ostream& err);
/// Forgets the events before a position, if a snapshot stands for them.
int log_prune(const std::filesystem::path& data, const std::string& before, LogOutput output,
              std::ostream& out, std::ostream& err);

/// Says what went wrong; the exit code. A log that is not there, or somebody else's, was named by
/// mistake: that is bad input.
int report_log_error(const Error& error, std::ostream& err);
/// `exit_code`, if the output could be written.
int finish_log_output(int exit_code, std::ostream& out, std::ostream& err);

}  // namespace fairlead
