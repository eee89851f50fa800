#include "replay/beginning.h"

#include <utility>
#include <vector>

namespace fairlead {

Result<std::optional<Snapshot>> oldest_beginning(const ReadableLog& log,
                                                 const SnapshotSource* snapshots) {
  if (snapshots == nullptr) return std::optional<Snapshot>();
  const auto all = snapshots->list();
  if (!all) return all.error();
  for (const SnapshotInfo& info : *all) {
    if (next(info.seq) < log.first_seq()) continue;
    auto newest = newest_of(log, snapshots, info.seq);
    if (!newest) return newest.error();
    // newest_of passes over a damaged one and may then return an earlier one, which cannot go on.
    if (*newest && can_go_on(log, (*newest)->state)) return newest;
  }
  return std::optional<Snapshot>();
}

Result<std::optional<State>> state_for_pruned(const ReadableLog& log,
                                              const SnapshotSource* snapshots, Seq seq) {
  if (log.first_seq() <= Seq{1} || seq == Seq{}) return std::optional<State>();
  auto newest = newest_of(log, snapshots, Seq{seq.value - 1});
  if (!newest) return newest.error();
  if (!*newest || !can_go_on(log, (*newest)->state)) return std::optional<State>();
  return std::optional(std::move((*newest)->state));
}

}  // namespace fairlead
