// The script of the fleet: faults and their times in rounds, the same for the same seed.
//
// Each round has every kind of fault once: a rolling drain, a node that flaps, one that dies, a
// rack without power, an administrator's edits, a cluster that falls silent, one that joins and
// leaves. The seed decides the machines, the amounts and the exact times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

/// What the script does to the fleet: faults, their repairs, and what people do meanwhile.
enum class FaultKind : std::uint8_t {
  cordon,           ///< `nodes` take no more pods
  uncordon,         ///< they do again
  stop,             ///< `nodes` stop answering
  start,            ///< they answer again
  go_silent,        ///< the cluster reports nothing to the hub any more
  come_back,        ///< it reports again
  join,             ///< a cluster appears on the hub
  leave,            ///< it is detached
  assign,           ///< the administrator assigns the cluster's claim to the queues
  edit_claim,       ///< the administrator changes what high-priority-queue is assigned
  overwrite_queue,  ///< the administrator writes a quota by hand over ours
};

/// One entry of the script.
struct ScheduledFault {
  Duration at;  ///< since the fleet began, in its own time
  FaultKind kind{};
  std::string cluster;             ///< empty for overwrite_queue
  std::vector<std::string> nodes;  ///< of cordon, uncordon, stop, start
  std::int64_t cpu = 0;            ///< of edit_claim and overwrite_queue: the new number
  std::string text;                ///< it in words, for a person, without the cluster

  friend bool operator==(const ScheduledFault&, const ScheduledFault&) = default;
};

/// Returns `admin` for what an administrator does, else `fleet`.
std::string_view actor_of(FaultKind kind);

inline constexpr Duration kRoundLength = minutes(40);

/// Returns the faults of round `round` (from 0), by time.
std::vector<ScheduledFault> script_of_round(std::uint64_t seed, std::int64_t round);

}  // namespace fairlead
