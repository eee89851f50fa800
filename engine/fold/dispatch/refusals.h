// Why a Workload is not dispatched to the clusters of its list, for conditions and audits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/devices/obstacles.h"
#include "engine/fold/dispatch/candidates.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// What one worker of the list answers to a Workload that uses devices.
struct WorkerAnswer {
  std::string worker;
  std::string cluster;
  Obstacle obstacle{};  ///< why it is not asked
  std::string reason;   ///< "NoDevices", "Leaving"; empty: it fits there
  std::string detail;   ///< "gpus/gpu"
  FitAnswer fit;        ///< where it fits
};

/// Returns what each worker answers now, in the order of the list: beside all that is used and
/// reserved by others, what the Workload itself has reserved being free. Empty for a Workload that
/// uses no devices.
std::vector<WorkerAnswer> worker_answers(DispatchReader state, const NamespacedName& id);
/// Returns what a cluster of the list answers device by device, with the same devices free. Empty
/// where it cannot be asked.
std::vector<RequestObstacles> obstacles_of(DispatchReader state, const NamespacedName& id,
                                           const std::string& cluster);
/// Returns them as the condition says them: "w1: NoDevices gpus/gpu; w2: NotWatched". Workers where
/// it fits are left out.
std::string refusals_text(const std::vector<WorkerAnswer>& answers);

/// The condition on Workloads that use devices.
inline constexpr const char* kDevicesReserved = "fairlead.io/DevicesReserved";
/// Returns the condition without its message; without a status there should be none.
ConditionWish devices_condition(const DeviceDispatch& devices);
/// Returns its message.
std::string devices_message(DispatchReader state, const NamespacedName& id,
                            const WorkloadRecord& record);

}  // namespace fairlead
