#include "snapshots/folded_states.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/fold/evolve.h"
#include "engine/log/private_files.h"

namespace fairlead {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFolder = "folded";
constexpr std::size_t kNameDigits = 16;

// The log's directory is named by its inode, which who hands out a copy does not know beforehand.
std::string folder_of(const fs::path& data, std::string_view program) {
  struct stat log{};
  if (::stat((data / "log").c_str(), &log) != 0) return "none";
  return sha256("fold " + std::to_string(kFoldVersion) + "\nprogram " + std::string(program) +
                "\ndirectory " + std::to_string(log.st_ino))
      .hex()
      .substr(0, kNameDigits);
}

}  // namespace

FoldedStates::FoldedStates(const fs::path& data, std::string_view program)
    : data_(data), store_(data / kFolder, folder_of(data, program)) {}

bool FoldedStates::is_private() const {
  return expect_private(data_) && expect_private(data_ / kFolder) &&
         expect_private(store_.directory());
}

Result<std::vector<SnapshotInfo>> FoldedStates::list() const {
  if (!is_private()) return std::vector<SnapshotInfo>();
  return store_.list();
}

Result<std::optional<Snapshot>> FoldedStates::newest(Seq seq) const {
  if (!is_private()) return std::optional<Snapshot>();
  return store_.newest(seq);
}

Result<std::string> FoldedStates::bytes(Seq seq) const { return store_.bytes(seq); }

std::optional<Seq> FoldedStates::nearest(Seq seq) const { return store_.nearest(seq); }

void FoldedStates::remove_others() const {
  std::error_code error;
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_ / kFolder, error))
    if (entry.path() != store_.directory()) others.push_back(entry.path());
  for (const fs::path& other : others) fs::remove_all(other, error);
}

Result<SnapshotInfo> FoldedStates::save(const State& state, const Digest& chain) {
  return store_.save(state, chain);
}

void FoldedStates::remove_all(const fs::path& data) {
  std::error_code ignored;
  fs::remove_all(data / kFolder, ignored);
}

Result<std::vector<SnapshotInfo>> SnapshotsForQuestions::list() const {
  auto infos = snapshots_.list();
  if (!infos) return infos;
  const auto folded = folded_.list();
  if (!folded) return folded.error();
  // Behind a snapshot of the same seq, for which the log may vouch.
  for (const SnapshotInfo& info : *folded)
    infos->insert(std::upper_bound(
                      infos->begin(), infos->end(), info,
                      [](const SnapshotInfo& a, const SnapshotInfo& b) { return a.seq < b.seq; }),
                  info);
  return infos;
}

// Decodes one state where that goes: of a large fleet it takes seconds.
Result<std::optional<Snapshot>> SnapshotsForQuestions::newest(Seq seq) const {
  const std::optional<Seq> snapshot = snapshots_.nearest(seq);
  if (folded_.nearest(seq) > snapshot) {
    auto folded = newest_of(log_, &folded_, seq);
    if (!folded || (*folded && (*folded)->info.seq > snapshot)) return folded;
  }
  auto vouched = newest_of(log_, &snapshots_, seq);
  if (!vouched || *vouched) return vouched;
  return newest_of(log_, &folded_, seq);
}

}  // namespace fairlead
