// The log that a command is about: in a data directory, in a bundle, or in a running hub; and the
// zone in which its times are written and shown.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "engine/log/event_log.h"
#include "engine/main/client/hub_place.h"
#include "engine/main/client/time_text.h"
#include "replay/history.h"

namespace fairlead {

/// The data directory of a hub that was started without --data.
inline constexpr const char* kUsualData = "fairlead-data";

struct LogPlace {
  std::filesystem::path data{};    ///< data directory of a hub
  std::filesystem::path bundle{};  ///< file that `log export` wrote
  HubPlace hub{};
  std::string time_zone{};  ///< empty: UTC, or of `local` the machine's
  bool local = false;
};

/// Adds the options that say where the log is. `place` outlives the command.
void add_place_options(CLI::App& command, LogPlace& place,
                       NamespaceOption meaning = NamespaceOption::of_hub);
/// Adds --local and --time-zone.
void add_zone_options(CLI::App& command, LogPlace& place);

/// Whether a running hub is asked: it is named, or nothing is and there is no kUsualData here. A
/// place without a name becomes kUsualData otherwise. Fails with `bad_input` for options that
/// contradict each other.
Result<bool> asks_hub(LogPlace& place);
/// What a question to a hub lacks where no kubeconfig is usable either: the three ways are named.
Error no_place(const Error& kubeconfig);

/// Returns the zone of the options. Fails as choose_time_zone() does.
Result<TimeZone> zone_of(const LogPlace& place);

/// What times are counted from on this machine: of what is sent to a hub, only the zone's offset.
TimeFrame frame_here(TimeZone zone);

/// A line on a terminal's stderr that shows how far a log is read; gone with the last copy of the
/// function.
LogProgress progress_of_copy();

/// Opens the history of a place. Of a running hub it is a copy, which is gone with the process:
/// what is computed from all of a log is computed here and not by the hub. Fails as
/// open_history() does, which has `program` too, and as the hub fails to answer.
Result<History> open_history_of(LogPlace& place, const ReachHub& reach, const LogProgress& progress,
                                std::string_view program = {});

}  // namespace fairlead
