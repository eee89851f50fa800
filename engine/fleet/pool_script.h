// The script of a super cluster pool, in rounds, the same for the same seed.
//
// Each round has once everything that placements follow or must withstand: a quota that grows and
// one that is too large, pods that come and go, a node that flaps and one that dies, a tenant
// that edits a placement and one that clears it, a cluster that is lost and returns, one that is
// drained. A round ends as it began. The seed decides the machines, the amounts and the exact
// times; the clusters take turns from round to round.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

enum class PoolFaultKind : std::uint8_t {
  stop,       ///< the node stops answering
  start,      ///< it answers again
  go_silent,  ///< the cluster reports nothing to the hub any more, and its syncer cannot reach it
  come_back,  ///< both work again
  drain,      ///< the administrator drains the cluster
  undrain,
  set_quota,  ///< the tenant changes the cpu of its quota, and the memory with it
  edit,       ///< the tenant writes the placements of its namespace by hand
  clear,      ///< the tenant removes them
  scale,      ///< the tenant wants another number of pods
  restart,    ///< the tenant replaces all of them
};

struct PoolFault {
  Duration at;  ///< since the fleet began, in its own time
  PoolFaultKind kind{};
  std::string subject;      ///< a cluster, or the app `tenant/name`
  std::string value;        ///< of stop and start: the node; of edit: the placements
  std::int64_t amount = 0;  ///< of set_quota: cpu; of scale: pods
  std::string text;         ///< the fault for a person, without the subject

  friend bool operator==(const PoolFault&, const PoolFault&) = default;
};

/// Returns `tenant`, `admin` or `fleet`.
std::string_view actor_of(PoolFaultKind kind);

inline constexpr Duration kPoolRoundLength = minutes(48);

/// Returns the faults of round `round` (from 0), by time.
std::vector<PoolFault> pool_script_of_round(std::uint64_t seed, std::int64_t round);

}  // namespace fairlead
