// `fairlead log`: look at the log of a data directory, also of a running hub, and check it. Nothing
// is ever written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace fairlead {

enum class LogOutput : std::uint8_t { text, json };

/// Which events `log cat` prints; empty members do not restrict.
struct LogSelection {
  std::string from{};    ///< `12`, `seq:12` or an RFC 3339 time; inclusive
  std::string to{};      ///< the same; inclusive
  std::string kind{};    ///< a Kubernetes kind (ClusterQueue) or a fact (PatchIntended)
  std::string object{};  ///< NAME or NAMESPACE/NAME
};

/// Prints what is in the log and whether its chain holds; exit code 1 if not.
int log_stat(const std::filesystem::path& data, LogOutput output, std::ostream& out,
             std::ostream& err);
/// Prints the selected events, one a line.
int log_cat(const std::filesystem::path& data, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err);
/// Recomputes the log; exit code 1, and the first bad seq, if a bit differs from what was written.
int log_verify(const std::filesystem::path& data, LogOutput output, std::ostream& out,
               std::ostream& err);

}  // namespace fairlead
