#include "engine/main/client/log_place.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "engine/main/client/log_export.h"
#include "engine/main/client/terminal_progress.h"

namespace fairlead {

namespace {

// A folder for a copy of a hub's log; it is removed once the copy is open.
class CopyFolder {
 public:
  static Result<CopyFolder> make() {
    std::error_code error;
    std::string path = std::filesystem::temp_directory_path(error) / "fairlead-copy-XXXXXX";
    if (error || ::mkdtemp(path.data()) == nullptr)
      return Error{ErrorCode::unavailable, "no temporary directory can be made (TMPDIR)"};
    return CopyFolder(path);
  }
  ~CopyFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  CopyFolder(CopyFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  CopyFolder(const CopyFolder&) = delete;
  CopyFolder& operator=(const CopyFolder&) = delete;
  CopyFolder& operator=(CopyFolder&&) = delete;

  std::filesystem::path file() const { return path_ / "copy.fairlead"; }

 private:
  explicit CopyFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

Result<History> copy_of_hub(const HubPlace& hub, const ReachHub& reach,
                            const LogProgress& progress) {
  const auto ask = reach(hub);
  if (!ask) return ask.error();
  const auto folder = CopyFolder::make();
  if (!folder) return folder.error();
  const auto copied = export_from_hub(*ask, folder->file(), "", progress);
  if (!copied) return copied.error();
  return open_history("", folder->file());  // which maps the file: it may be removed
}

}  // namespace

void add_place_options(CLI::App& command, LogPlace& place, NamespaceOption meaning) {
  CLI::Option_group* group = command.add_option_group(
      "Log",
      "Where the log is; default: the directory fairlead-data if there is one here, else "
      "the hub of the kubeconfig's context");
  group->add_option("--data", place.data, "Data directory of a hub, running or not");
  group->add_option("--bundle", place.bundle, "File that `fairlead log export` wrote");
  add_hub_options(command, *group, place.hub, meaning);
  group->require_option(0, 1);
}

void add_zone_options(CLI::App& command, LogPlace& place) {
  CLI::Option* local = command.add_flag(
      "--local", place.local, "Read and show times in the zone of TZ, else of this machine");
  command
      .add_option("--time-zone", place.time_zone,
                  "Read and show times in this zone (Europe/Berlin); default: UTC. JSON and YAML "
                  "stay in UTC")
      ->excludes(local);
}

Result<bool> asks_hub(LogPlace& place) {
  const HubBehindApiServer& behind = place.hub.behind;
  const bool copied = !place.data.empty() || !place.bundle.empty();
  if (!behind.context.empty() && (copied || !place.hub.server.empty()))
    return Error{ErrorCode::bad_input,
                 "--context is of a kubeconfig: expected it without --data, --bundle and --server"};
  if (copied) return false;
  const bool named = !place.hub.server.empty() || !behind.kubeconfig.empty() ||
                     !behind.context.empty() ||
                     behind.namespace_ != HubBehindApiServer{}.namespace_;
  std::error_code ignored;
  if (named || !std::filesystem::is_directory(kUsualData, ignored)) return true;
  place.data = kUsualData;
  return false;
}

Error no_place(const Error& kubeconfig) {
  return {
      kubeconfig.code,
      "expected --data DIR, --bundle FILE or --server URL, or a kubeconfig of a hub's cluster: " +
          kubeconfig.message};
}

Result<TimeZone> zone_of(const LogPlace& place) {
  if (!place.local && place.time_zone.empty()) return TimeZone();
  return choose_time_zone(place.time_zone);
}

TimeFrame frame_here(TimeZone zone) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const LogTime time{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
  return {time, time, zone};
}

LogProgress progress_of_copy() { return log_progress_on_terminal("reading the log: "); }

Result<History> open_history_of(LogPlace& place, const ReachHub& reach, const LogProgress& progress,
                                std::string_view program) {
  const auto hub = asks_hub(place);
  if (!hub) return hub.error();
  if (*hub) return copy_of_hub(place.hub, reach, progress);
  return open_history(place.data, place.bundle, program);
}

}  // namespace fairlead
