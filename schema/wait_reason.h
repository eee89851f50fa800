// Why a Workload waits, from what Kueue wrote in it.
//
// Reasons decide, never texts. Kueue orders the reasons of one condition itself (KEP-10852); this
// rule orders the conditions.
#pragma once

#include <string>

#include "schema/kinds/workloads.h"
#include "schema/words.h"

namespace fairlead {

/// What a Workload waits for.
enum class WaitClass : std::uint8_t {
  unknown,     ///< it is not known, or a reason that this program does not know
  queue,       ///< Kueue has not evaluated it yet
  quota,       ///< quota of its ClusterQueue or cohort
  preemption,  ///< Workloads that Kueue stops for it, or a gate that keeps it from doing so
  topology,    ///< a place in the topology
  device,      ///< devices that Dynamic Resource Allocation cannot resolve
  config,      ///< a correction of its queue, flavors or own specification
  hold,        ///< somebody holds it back, or a backoff
  check,       ///< an admission check
  worker,      ///< a worker cluster that takes it
};
template <>
inline constexpr std::array<std::pair<std::string_view, WaitClass>, 10> kWordsOf<WaitClass>{{
    {"unknown", WaitClass::unknown},
    {"queue", WaitClass::queue},
    {"quota", WaitClass::quota},
    {"preemption", WaitClass::preemption},
    {"topology", WaitClass::topology},
    {"device", WaitClass::device},
    {"config", WaitClass::config},
    {"hold", WaitClass::hold},
    {"check", WaitClass::check},
    {"worker", WaitClass::worker},
}};

inline constexpr std::string_view kWaitingForQuota = "WaitingForQuota";
inline constexpr std::string_view kWaitingForPreempted = "WaitingForPreemptedWorkloads";

struct WaitReason {
  WaitClass of = WaitClass::unknown;
  std::string reason;   ///< Kueue's word; empty where it has none
  std::string message;  ///< of the condition that decides; empty where none does

  friend bool operator==(const WaitReason&, const WaitReason&) = default;
};

/// How far a Workload is.
enum class WaitState : std::uint8_t { waiting, admitted, finished, deleted };
template <>
inline constexpr std::array<std::pair<std::string_view, WaitState>, 4> kWordsOf<WaitState>{{
    {"waiting", WaitState::waiting},
    {"admitted", WaitState::admitted},
    {"finished", WaitState::finished},
    {"deleted", WaitState::deleted},
}};

/// Returns how far a Workload that exists is. One whose record does not say is waiting, for an
/// unknown reason.
WaitState wait_state_of(const WorkloadFacts& workload);

/// Returns why a Workload waits that is neither admitted nor finished. While its API server is
/// silent the reason is not known: the caller has WaitReason{} then.
WaitReason wait_reason_of(const WorkloadFacts& workload);

}  // namespace fairlead
