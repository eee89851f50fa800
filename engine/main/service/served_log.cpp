#include "engine/main/service/served_log.h"

#include <system_error>
#include <utility>

#include "engine/base/digest.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/runtime/build_commit.h"
#include "snapshots/folded_states.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

namespace {

// Nothing is deleted with the last copy: the log belongs to the caller.
template <class T>
std::shared_ptr<const T> borrowed(const T& object) {
  return {std::shared_ptr<const T>(), &object};
}

// Differs once something was appended to the log of a data directory: names and sizes of its files.
std::string files_of(const std::filesystem::path& data) {
  std::string files;
  std::error_code error;
  std::filesystem::directory_iterator at(data / "log", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code gone;
    const auto size = at->file_size(gone);
    files += at->path().filename().string() + " " + std::to_string(gone ? 0 : size) + "\n";
  }
  return files;
}

// A history that was opened, and opened again when its files have changed.
class OpenedHistory {
 public:
  OpenedHistory(std::filesystem::path data, std::filesystem::path bundle)
      : data_(std::move(data)), bundle_(std::move(bundle)) {}

  Result<ServedLog> now() {
    // Before the log is opened: what is appended meanwhile is noticed with the next question.
    std::string files = data_.empty() ? "" : files_of(data_);
    if (served_.log && files == files_) return served_;
    auto history = open_history(data_, bundle_, build_identity());
    if (!history) return history.error();
    served_.log = std::move(history->log);
    served_.vouched_snapshots = std::move(history->snapshots);
    served_.snapshots = served_.vouched_snapshots;
    if (history->folded) served_.snapshots = std::move(history->folded);
    served_.option = data_.empty() ? "--bundle" : std::string(kDataOption);
    served_.path = data_.empty() ? bundle_.string() : data_.string();
    files_ = std::move(files);
    return served_;
  }

 private:
  const std::filesystem::path data_, bundle_;
  std::string files_;
  ServedLog served_;
};

}  // namespace

ServedLogSource served_log_of_hub(const RocksdbLog& log, const std::filesystem::path& data,
                                  PresentState* present) {
  const auto snapshots = std::make_shared<const SnapshotStore>(data);
  const auto folded = std::make_shared<SnapshotsForQuestions>(log, data, build_identity());
  const ServedLog served{
      borrowed<ReadableLog>(log), folded,       snapshots, borrowed(log), snapshots,
      std::string(kDataOption),   data.string()};
  ServedLogSource source{[served]() -> Result<ServedLog> { return served; },
                         [&log] { return std::to_string(log.last_seq().value); }};
  if (present != nullptr)
    source.present = [present](const PresentState::NodesRead& nodes) {
      return present->ask(nodes);
    };
  return source;
}

Result<ServedLogSource> served_log_in(const std::filesystem::path& data,
                                      const std::filesystem::path& bundle) {
  const auto history = std::make_shared<OpenedHistory>(data, bundle);
  if (auto opened = history->now(); !opened) return opened.error();
  return ServedLogSource{
      [history] { return history->now(); },
      [data] { return data.empty() ? "" : sha256(files_of(data)).hex().substr(0, 16); }};
}

}  // namespace fairlead
