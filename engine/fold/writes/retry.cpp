#include "engine/fold/writes/retry.h"

#include <algorithm>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

// Doubling ends at the bound, so no number of attempts overflows.
Duration doubled(Duration first, Duration most, std::int64_t attempts) {
  Duration wait = first;
  for (std::int64_t i = 1; i < attempts && wait < most; ++i) wait = {wait.ns * 2};
  return std::min(wait, most);
}

}  // namespace

Duration wait_after_conflicts(std::int64_t attempts) {
  return doubled(kConflictRetry, kRefusalRetryMax, attempts);
}

Duration wait_after_refusals(TermsReader state, const WriteKey& key, RejectionCause cause,
                             std::int64_t attempts) {
  switch (cause) {
    case RejectionCause::content: return doubled(kRefusalRetry, kRefusalRetryMax, attempts);
    case RejectionCause::outage:
      return doubled(std::max(kConflictRetry, write_interval(state, view_of(key))), kOutageRetryMax,
                     attempts);
    case RejectionCause::rights: return doubled(kRefusalRetry, kRightsRetryMax, attempts);
  }
  return {};
}

void note_held_up(StateView<MultiKueue, WriteTables> state, const WriteKey& key,
                  const WriteState& write) {
  const bool held_up = write.refusal && write.refusal->cause != RejectionCause::content;
  const bool changed =
      held_up ? state.writes.held_up.insert(key).second : state.writes.held_up.erase(key) > 0;
  // The conditions of the checks report that Workloads cannot be written.
  if (changed && key.object.kind == Kind::workload)
    for (const auto& [name, check] : state.multikueue.checks)
      state.multikueue.dirty_checks.insert(name);
}

bool lacks_rights(const WriteTables& writes, Kind kind) {
  const auto& held_up = writes.held_up;
  for (auto at = held_up.lower_bound(WriteKeyView{kHub, kind, "", "", false});
       at != held_up.end() && at->cluster == kHub && at->object.kind == kind; ++at)
    if (writes.by_key.find(*at)->second.refusal->cause == RejectionCause::rights) return true;
  return false;
}

}  // namespace fairlead
